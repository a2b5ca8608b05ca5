//! Patterns of commands that are not wanted.

use harn_machine::{Context, Failure, Registry, Value, argument};

use super::parts::{fitting, taken_apart};

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("__command_doubt", command_doubt),
        ("__command_pattern", command_pattern),
    ]);
}

/// `__command_pattern(params, patterns)`: the first pattern that fits, or nil.
fn command_pattern(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (Value::Dict(params), Value::List(patterns)) =
        (argument(arguments, 0), argument(arguments, 1))
    else {
        return Ok(Value::Nil);
    };
    let patterns: Vec<String> = patterns.iter().map(Value::show).collect();
    Ok(fitting(params, &patterns).map_or(Value::Nil, |pattern| pattern.as_str().into()))
}

/// `__command_doubt(params)`: why a command is not understood, or nil.
fn command_doubt(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(match argument(arguments, 0) {
        Value::Dict(params) => match taken_apart(params) {
            Ok(_) => Value::Nil,
            Err(problem) => problem.reason.into(),
        },
        _ => Value::Nil,
    })
}

/// Whether the pieces of a pattern between its `*` are found in a line, in order.
pub(super) fn fits(pattern: &str, line: &str) -> bool {
    if pattern.is_empty() {
        return false;
    }
    let mut rest = line;
    for piece in pattern.split('*') {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_found_in_order() {
        for (pattern, line, expected) in [
            ("rm", "rm -rf x", true),
            ("rm -rf *", "sudo rm -rf /tmp", true),
            ("git push*--force", "git push origin --force", true),
            ("git push*--force", "--force git push", false),
            ("*", "anything", true),
            ("", "anything", false),
        ] {
            assert_eq!(fits(pattern, line), expected, "{pattern} {line}");
        }
    }
}
