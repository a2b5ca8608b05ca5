//! What a model reads when a call is not made.

use harn_llm::sorted_json_pretty;
use serde_json::{Value, json};

/// The result of a call that was denied: pretty JSON.
pub fn denied_result(tool: &str, reason: &str) -> String {
    let result = json!({"error": "permission_denied", "tool": tool, "reason": reason});
    sorted_json_pretty(&result)
}

/// The reason to tell a model when the capability policy denies a call. Models invent tools and
/// arguments, so this one says what to do instead.
pub fn policy_reason(message: &str) -> String {
    format!(
        "{message}. Use one of the declared tools exactly as named and put extra fields inside \
         that tool's arguments."
    )
}

/// The result of a call without all its required arguments; `None` when it has them. An
/// argument that is nil is there.
pub fn missing_arguments<S: AsRef<str>>(
    tool: &str,
    required: &[S],
    arguments: &Value,
) -> Option<String> {
    let required = required.iter().map(AsRef::as_ref);
    let missing: Vec<&str> = required
        .filter(|key| arguments.get(key).is_none())
        .collect();
    (!missing.is_empty()).then(|| {
        format!(
            "ERROR: Tool '{tool}' is missing required parameter(s): {}. Provide all required \
             parameters and try again.",
            missing.join(", ")
        )
    })
}

/// The result of a call with an argument that no parameter takes.
pub fn unknown_argument(tool: &str, argument: &str) -> String {
    format!("ERROR: Tool '{tool}' has no parameter '{argument}'.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denied_result_is_pretty_json() {
        let expected = "{\n  \"error\": \"permission_denied\",\n  \"reason\": \"no\",\n  \
                        \"tool\": \"run\"\n}";
        assert_eq!(denied_result("run", "no"), expected);
    }

    #[test]
    fn a_policy_says_what_to_do_instead() {
        let expected = "tool 'x' exceeds tool ceiling. Use one of the declared tools exactly as \
                        named and put extra fields inside that tool's arguments.";
        assert_eq!(policy_reason("tool 'x' exceeds tool ceiling"), expected);
    }

    #[test]
    fn missing_arguments_are_named() {
        let expected = "ERROR: Tool 'x' is missing required parameter(s): a, b. Provide all \
                        required parameters and try again.";
        let missing = missing_arguments("x", &["a", "c", "b"], &json!({"c": null}));
        assert_eq!(missing.as_deref(), Some(expected));
        assert_eq!(missing_arguments("x", &["c"], &json!({"c": 1})), None);
        assert_eq!(missing_arguments::<&str>("x", &[], &json!({})), None);
    }
}
