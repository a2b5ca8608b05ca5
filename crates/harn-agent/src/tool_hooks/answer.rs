//! Reads what functions of programs give back as hooks.

use harn_llm::desk::Thrown;
use harn_llm::options::value::{display, kind, truthy};
use serde_json::Value;

use super::hook::{PostTool, PreTool};

/// Reads `nil`, `{deny: reason}` or `{args: dict}`. A denial comes before new arguments, and a
/// `deny` that is nil or false is none.
pub(super) fn read_pre_tool(answer: &Value) -> Result<PreTool, Thrown> {
    let fields = match answer {
        Value::Null => return Ok(PreTool::Keep),
        Value::Object(fields) => fields,
        other => return Err(pre_tool_error(other)),
    };
    if let Some(reason) = fields.get("deny")
        && (reason.is_string() || truthy(reason))
    {
        return Ok(PreTool::Deny(display(reason)));
    }
    match fields.get("args") {
        None | Some(Value::Null) => Ok(PreTool::Keep),
        Some(arguments @ Value::Object(_)) => Ok(PreTool::Replace(arguments.clone())),
        Some(other) => Err(pre_tool_error(other)),
    }
}

/// Reads `nil`, a text or `{result: text}`.
pub(super) fn read_post_tool(answer: &Value) -> Result<PostTool, Thrown> {
    match answer {
        Value::Null => Ok(PostTool::Keep),
        Value::String(text) => Ok(PostTool::Replace(text.clone())),
        Value::Object(fields) => Ok(match fields.get("result") {
            None | Some(Value::Null) => PostTool::Keep,
            Some(text) => PostTool::Replace(display(text)),
        }),
        other => Err(Thrown::Runtime(format!(
            "PostToolUse hook must return nil, string, or {{result}}, got {}",
            kind(other)
        ))),
    }
}

fn pre_tool_error(value: &Value) -> Thrown {
    Thrown::Runtime(format!(
        "PreToolUse hook must return nil or {{deny, args}}, got {}",
        kind(value)
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_before_a_call() {
        let error = |kind: &str| {
            let text = format!("PreToolUse hook must return nil or {{deny, args}}, got {kind}");
            Err(Thrown::Runtime(text))
        };
        let rows = [
            (json!(null), Ok(PreTool::Keep)),
            (json!({}), Ok(PreTool::Keep)),
            (json!({"deny": "no"}), Ok(PreTool::Deny("no".to_owned()))),
            (json!({"deny": ""}), Ok(PreTool::Deny(String::new()))),
            (json!({"deny": null}), Ok(PreTool::Keep)),
            (json!({"deny": false}), Ok(PreTool::Keep)),
            (
                json!({"deny": "no", "args": {}}),
                Ok(PreTool::Deny("no".to_owned())),
            ),
            (
                json!({"args": {"a": 1}}),
                Ok(PreTool::Replace(json!({"a": 1}))),
            ),
            (json!({"args": [1]}), error("list")),
            (json!("no"), error("string")),
            (json!(true), error("bool")),
            (json!(5), error("int")),
        ];
        for (answer, expected) in rows {
            assert_eq!(read_pre_tool(&answer), expected, "{answer}");
        }
    }

    #[test]
    fn answers_after_a_call() {
        let error = |kind: &str| {
            let text =
                format!("PostToolUse hook must return nil, string, or {{result}}, got {kind}");
            Err(Thrown::Runtime(text))
        };
        let replaced = |text: &str| Ok(PostTool::Replace(text.to_owned()));
        let rows = [
            (json!(null), Ok(PostTool::Keep)),
            (json!({}), Ok(PostTool::Keep)),
            (json!("new"), replaced("new")),
            (json!(""), replaced("")),
            (json!({"result": "new"}), replaced("new")),
            (json!({"result": 5}), replaced("5")),
            (json!({"result": null}), Ok(PostTool::Keep)),
            (json!(5), error("int")),
            (json!(["new"]), error("list")),
            (json!(false), error("bool")),
        ];
        for (answer, expected) in rows {
            assert_eq!(read_post_tool(&answer), expected, "{answer}");
        }
    }
}
