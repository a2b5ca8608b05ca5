//! `skill_define`: a skill as it is kept in a registry, and everything that can be wrong with it.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Value, argument, take, thrown};
use harn_options::{SKILL, Unknown};

use crate::registries::{SKILLS, given, text_of};

/// What must be text if it is given.
const TEXTS: [&str; 7] = [
    "short",
    "description",
    "when_to_use",
    "prompt",
    "invocation",
    "model",
    "effort",
];

/// What must be a list if it is given.
const LISTS: [&str; 4] = ["paths", "allowed_tools", "mcp", "requires_mcp"];

/// `skill_define(registry, name, config | nil)`
pub(super) fn skill_define(_: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    if args.len() < 3 {
        return refuse("requires registry, name, and config dict");
    }
    let mut registry = SKILLS.first("skill_define", args)?;
    let name = match argument(args, 1) {
        Value::Text(name) if !name.is_empty() => name.clone(),
        _ => return refuse("skill name must be a non-empty string"),
    };
    let config = match take(args, 2) {
        Value::Dict(config) => config,
        Value::Nil => Dict::default(),
        _ => return refuse("third argument must be a config dict"),
    };
    let entry = entry(&name, config)?;
    SKILLS.put_in_place(&mut registry, &name, entry);
    Ok(registry.into())
}

fn refuse<T>(reason: &str) -> Result<T, Failure> {
    thrown(format!("skill_define: {reason}"))
}

fn entry(name: &Text, mut config: Dict) -> Result<Dict, Failure> {
    for (key, _) in config.iter() {
        if let Some(unknown) = Unknown::find(&SKILL, "", key, |_| false) {
            return refuse(&unknown.to_string());
        }
    }
    for key in TEXTS {
        if !matches!(given(&config, key), None | Some(Value::Text(_))) {
            return refuse(&format!("'{key}' must be a string"));
        }
    }
    for key in LISTS {
        if !matches!(given(&config, key), None | Some(Value::List(_))) {
            return refuse(&format!("'{key}' must be a list"));
        }
    }
    if let Some(Value::List(tools)) = config.get("allowed_tools") {
        tools
            .iter()
            .try_for_each(|tool| check_tool(&tool.to_text()))?;
    }
    if given(&config, "description").is_none() {
        let short = text_of(&config, "short");
        config.insert(Text::new("description"), short.into());
    }
    config.insert(Text::new("name"), name.clone().into());
    Ok(config)
}

/// A tool is allowed by its name or by its namespace.
fn check_tool(tool: &str) -> Result<(), Failure> {
    match tool.split_once(':') {
        None => Ok(()),
        Some(("namespace", tag)) if tag.trim().is_empty() => {
            refuse("'allowed_tools' entry 'namespace:' missing a tag after the colon")
        }
        Some(("namespace", _)) => Ok(()),
        Some(_) => refuse(&format!(
            "'allowed_tools' entry '{tool}' contains ':' — \
             only the `namespace:<tag>` prefix is recognized"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn define<const N: usize>(config: [(&str, Value); N]) -> Result<Dict, Failure> {
        let config = config.map(|(key, value)| (Text::new(key), value));
        entry(&Text::new("s"), config.into_iter().collect())
    }

    #[track_caller]
    fn check<const N: usize>(config: [(&str, Value); N], expected: &str) {
        assert_eq!(Value::Dict(define(config).unwrap()).show(), expected);
    }

    #[track_caller]
    fn check_refusal<const N: usize>(config: [(&str, Value); N], expected: &str) {
        let refusal = define(config).unwrap_err().value();
        assert_eq!(refusal.show(), format!("skill_define: {expected}"));
    }

    #[test]
    fn an_entry_always_has_a_description() {
        check([], "{description: , name: s}");
        check(
            [("short", "a".into())],
            "{description: a, name: s, short: a}",
        );
        let both = [("short", "a".into()), ("description", "b".into())];
        check(both, "{description: b, name: s, short: a}");
        // What others read stays; what looks like a slip of the hand would get lost.
        check_refusal(
            [("alowed_tools", Value::list(vec![]))],
            "unknown option key 'alowed_tools'; did you mean 'allowed_tools'?",
        );
        let other = [("priority", Value::Int(5)), ("name", "other".into())];
        check(other, "{description: , name: s, priority: 5}");
    }

    #[test]
    fn fields_that_are_known_must_be_of_their_kind() {
        for key in TEXTS {
            check_refusal([(key, Value::Int(5))], &format!("'{key}' must be a string"));
            assert!(define([(key, Value::Nil)]).is_ok(), "{key}");
        }
        for key in LISTS {
            check_refusal([(key, "x".into())], &format!("'{key}' must be a list"));
            assert!(define([(key, Value::list(vec![]))]).is_ok(), "{key}");
        }
    }

    #[test]
    fn tools_are_allowed_by_name_or_namespace() {
        let allowed = |tool: &str| [("allowed_tools", Value::list(vec![tool.into()]))];
        for tool in ["read", "*", "namespace:files"] {
            assert!(define(allowed(tool)).is_ok(), "{tool}");
        }
        check_refusal(
            allowed("namespace:"),
            "'allowed_tools' entry 'namespace:' missing a tag after the colon",
        );
        check_refusal(
            allowed("mcp:github"),
            "'allowed_tools' entry 'mcp:github' contains ':' — \
             only the `namespace:<tag>` prefix is recognized",
        );
    }
}
