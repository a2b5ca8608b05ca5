//! Calls of tools as some models write them: JSON between tags.

use harn_machine::{Context, Failure, Value, thrown};

use crate::expect::text;
use crate::json;

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

/// `tool_parse_call(text)`
pub(super) fn tool_parse_call(_: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    Ok(parse_calls(&text(args, 0)))
}

fn parse_calls(text: &str) -> Value {
    let mut calls = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(OPEN) {
        let Some((body, after)) = after.split_once(CLOSE) else {
            break;
        };
        // A model that begins anew leaves an open tag behind, which belongs to no call.
        let last = body.rsplit(OPEN).next().unwrap_or(body);
        let mut found = [body, last].into_iter().filter_map(parse_call);
        calls.extend(found.next());
        rest = after;
    }
    Value::list(calls)
}

fn parse_call(body: &str) -> Option<Value> {
    let parsed = json::parse(body.trim()).ok();
    parsed.filter(|call| matches!(call, Value::Dict(_)))
}

/// `tool_format_result(name, result)`
pub(super) fn tool_format_result(
    _: &mut Context<'_>,
    args: &mut [Value],
) -> Result<Value, Failure> {
    if args.len() < 2 {
        return thrown("tool_format_result: requires name and result");
    }
    let mut out = String::from("<tool_result>{\"name\": ");
    json::write_text(&text(args, 0), &mut out);
    out.push_str(", \"result\": ");
    json::write_text(&text(args, 1), &mut out);
    out.push_str("}</tool_result>");
    Ok(out.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(parse_calls(text).show(), expected, "{text}");
    }

    #[test]
    fn calls_are_found_between_tags() {
        check("nothing", "[]");
        check(
            "<tool_call>{\"a\": \"<tool_call>\"}</tool_call>",
            "[{a: <tool_call>}]",
        );
        check(r#"a <tool_call>{"name": "x"}</tool_call> b"#, "[{name: x}]");
        check(
            "<tool_call>\n{\"name\": \"x\"}\n</tool_call><tool_call>{\"name\": \"y\"}</tool_call>",
            "[{name: x}, {name: y}]",
        );
    }

    #[test]
    fn what_is_no_call_is_left_out() {
        check("<tool_call>{name}</tool_call>", "[]");
        check("<tool_call>[1]</tool_call>", "[]");
        check(r#"<tool_call>{"a": 1}"#, "[]");
        check(
            r#"<tool_call>{"a": <tool_call>{"b": 1}</tool_call>"#,
            "[{b: 1}]",
        );
    }
}
