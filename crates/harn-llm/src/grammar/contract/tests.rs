use serde_json::json;

use super::*;

fn tool(name: &str, description: &str, parameters: Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
        ..ToolSpec::default()
    }
}

fn empty(mode: Mode) -> Contract<'static> {
    Contract {
        mode,
        require_action_or_yield: true,
        ..Contract::default()
    }
}

#[test]
fn signatures_have_comments_and_required_parameters_first() {
    let tool = tool(
        "fetch",
        "Gets a page.\nSlowly.",
        json!({
            "type": "object",
            "properties": {
                "attempts": {"type": "integer", "default": 3},
                "kind": {"enum": ["a", "b"], "description": "Which\nkind."},
                "tags": {"type": "array", "items": {"type": "string"}, "examples": [["x"]]},
                "url": {"type": "string"},
                "where": {"type": "object", "properties": {"x": {"type": "number"}}},
            },
            "required": ["url", "kind", "where"],
        }),
    );
    let expected = "\
/**
 * Gets a page.
 * Slowly.
 * @param kind Which kind.
 * @param attempts (default: 3)
 * @param tags (examples: [\"x\"])
 */
declare function fetch(args: { kind: \"a\" | \"b\", url: string, where: { x: number }, attempts?: number, tags?: string[] }): string;";
    assert_eq!(signature::declaration(&tool), expected);
}

#[test]
fn a_tool_without_parameters_has_a_short_signature() {
    let tool = tool("now", "", json!({"type": "object"}));
    assert_eq!(
        signature::declaration(&tool),
        "declare function now(args: {}): string;"
    );
}

#[test]
fn sections_stand_in_their_order() {
    let shared = json!({
        "type": "object",
        "properties": {"at": {"$ref": "#/$defs/Point"}},
        "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}}}},
    });
    let (full, compact) = (
        tool("mark", "Marks.", shared),
        tool("rare", "Seldom used.\nMore.", json!({})),
    );
    let text = Contract {
        tools: vec![
            Offer {
                tool: &compact,
                is_compact: true,
            },
            Offer {
                tool: &full,
                is_compact: false,
            },
        ],
        tool_examples: Some("  mark({ at: { x: 1 } })\n"),
        ledger: Some("one open deliverable"),
        sentinel: Some("FINISHED"),
        ..Contract::default()
    }
    .render();
    let order = [
        "## Tool Calling Contract\nActive mode: `text`.",
        "## Response protocol",
        "<done>FINISHED</done>",
        "## Tool call examples\n\nmark({ at: { x: 1 } })\n\n## Task ledger",
        "## Shared types\n\ntype Point = { x: number };",
        "## Available tools\n\n/**\n * Marks.\n */\ndeclare function mark(args: { at: Point }): string;",
        "## Other tools\n\n- `rare`: Seldom used.",
    ];
    let mut at = 0;
    for part in order {
        at += text[at..]
            .find(part)
            .unwrap_or_else(|| panic!("{part} is missing after:\n{}", &text[..at]));
    }
}

#[test]
fn native_mode_has_neither_signatures_nor_tags() {
    let tool = tool("mark", "Marks.", json!({}));
    let text = Contract {
        tools: vec![Offer {
            tool: &tool,
            is_compact: false,
        }],
        tool_examples: Some("mark({})"),
        ledger: Some("open"),
        ..empty(Mode::Native)
    }
    .render();
    assert!(text.contains("## Native tool protocol") && text.contains("## Task ledger"));
    for absent in ["<tool_call>", "<done>", "mark", "declare", "examples"] {
        assert!(!text.contains(absent), "{absent} in {text}");
    }
}

#[test]
fn blank_examples_count_as_none() {
    let text = Contract {
        tool_examples: Some(" \n"),
        ..empty(Mode::Text)
    }
    .render();
    assert!(!text.contains("## Tool call examples"));
}

#[test]
fn the_default_sentinel_stands_there_literally() {
    assert!(empty(Mode::Text).render().contains("<done>##DONE##</done>"));
    assert!(empty(Mode::Json).render().contains("##DONE##"));
}

#[test]
fn the_fixed_wording_has_no_name_that_a_tool_may_have() {
    let words = [
        "alpha", "beta", "gamma", "delta", "deploy", "search", "read", "write", "run", "edit",
        "echo", "lookup", "fetch", "delete", "create", "update", "list", "grep", "file", "path",
        "foo", "weather", "calc", "shell", "bash", "get_", "set_", "add_", "plan", "exec", "load",
        "send", "query",
    ];
    for mode in [Mode::Text, Mode::Native, Mode::Json] {
        let text = empty(mode).render().to_lowercase();
        for word in words {
            assert!(!text.contains(word), "{word} in {mode:?}");
        }
    }
}
