//! What a model is told about its mistakes, word for word as the specification has it.

use serde_json::Value;

use super::names::ToolNames;

/// How much of a tag is quoted.
const TAG_CHARS: usize = 40;
/// How much of anything else is quoted.
const TEXT_CHARS: usize = 120;

pub(super) const EMPTY_DONE: &str = "<done> block is empty. Emit the configured done sentinel (default `##DONE##`) inside the block.";
pub(super) const NOTHING: &str = "Response contained no <tool_call>, <assistant_prose>, <user_response>, or <done> block. Every response must be composed of these tags only.";
pub(super) const CANDIDATE_EMPTY: &str = "<tool_call> body was empty.";
pub(super) const CANDIDATE_NO_NAME: &str =
    "<tool_call> body did not begin with a `name(` identifier.";
pub(super) const CANDIDATE_UNCLOSED: &str =
    "<tool_call> block did not close before the response ended.";

/// The beginning of a text, with a mark if something follows.
pub(super) fn preview(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

pub(super) fn angle_call(name: &str) -> String {
    format!(
        "Tool call `{name}` was emitted as `<{name}(...)>` instead of `<tool_call>{name}({{ ... }})</tool_call>`. Executed this turn so work moves forward; wrap each call in `<tool_call>` tags on subsequent turns."
    )
}

pub(super) fn unclosed_tag(from_tag: &str) -> String {
    format!(
        "Unclosed tag starting at \"{}\". Close it or remove it; only <tool_call>, <assistant_prose>, <user_response>, and <done> are accepted.",
        preview(from_tag, TAG_CHARS)
    )
}

pub(super) fn unknown_tag(tag: &str) -> String {
    format!(
        "Unknown top-level tag \"{}\". Use <tool_call>, <assistant_prose>, <user_response>, or <done> — no other tags are accepted at the top level.",
        preview(tag, TAG_CHARS)
    )
}

pub(super) fn stray_calls(names: &[&str]) -> String {
    format!(
        "Tool call(s) ({}) were emitted as bare text outside `<tool_call>` tags. Executed this turn so work moves forward; please wrap each call in `<tool_call>...</tool_call>` on subsequent turns.",
        names.join(", ")
    )
}

pub(super) fn stray_text(text: &str) -> String {
    format!(
        "Stray text outside response tags: \"{}\". Wrap all prose in <assistant_prose>...</assistant_prose> or <user_response>...</user_response>, and every tool call in <tool_call>...</tool_call>.",
        preview(text, TEXT_CHARS)
    )
}

pub(super) fn no_call(body: &str) -> String {
    format!(
        "<tool_call> body did not contain a bare `name({{ ... }})` expression. Got: \"{}\"",
        preview(body, TEXT_CHARS)
    )
}

pub(super) fn several_calls(count: usize) -> String {
    format!("<tool_call> body contained {count} calls; emit one call per <tool_call> block.")
}

pub(super) fn no_parenthesis(name: &str) -> String {
    format!("TOOL CALL PARSE ERROR: `{name}(` expected immediately after the tool name.")
}

pub(super) fn bad_value(name: &str, reason: &str) -> String {
    format!(
        "TOOL CALL PARSE ERROR: `{name}(...)` — {reason}. Tool arguments must be a TypeScript object literal: `{{ key: value, key: value }}`."
    )
}

pub(super) fn unclosed_call(name: &str) -> String {
    format!(
        "TOOL CALL PARSE ERROR: `{name}(...)` — missing closing `)`. Every tool call must be a complete TypeScript expression."
    )
}

pub(super) fn no_object(name: &str, value: &Value) -> String {
    format!(
        "TOOL CALL PARSE ERROR: `{name}(...)` — expected an object literal argument, got `{value}`. Wrap the value in braces: `{name}({{ key: value }})`."
    )
}

pub(super) fn no_object_in_json(name: &str) -> String {
    format!("Tool '{name}' must be called with an object literal argument like {name}({{ ... }}).")
}

pub(super) fn unknown_tool(name: &str, tools: &ToolNames) -> String {
    format!(
        "Unknown tool '{name}'. Available tools: [{}]",
        tools.offered()
    )
}

pub(super) fn label_prefix(label: &str, name: &str) -> String {
    format!(
        "Saw `{label}: {name}(...)`. Do not prefix tool calls with `{label}:` — emit bare `{name}({{ ... }})` on its own line. The previous line was treated as prose and no tool ran; re-emit it without the prefix."
    )
}

pub(super) fn candidate_unknown(name: &str) -> String {
    format!("Unknown tool '{name}' in <tool_call> body.")
}

pub(super) fn candidate_no_parenthesis(name: &str) -> String {
    format!("Expected `{name}(` immediately after the tool name in <tool_call> body.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn previews_count_characters_and_show_that_something_is_missing() {
        for (text, chars_max, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "abc…"),
            ("äöüß", 2, "äö…"),
            ("", 3, ""),
        ] {
            assert_eq!(preview(text, chars_max), expected);
        }
    }
}
