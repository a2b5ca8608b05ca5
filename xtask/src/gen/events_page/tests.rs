//! One small catalogue with a bit of everything, and what the page makes of it.

use super::*;

const CATALOGUE: &str = r##"{
  "variants": [{
    "type": "tool_call", "group": "tool_dispatch", "since": 1, "host": "special",
    "host_types": ["tool_a", "tool_b"],
    "meaning": "A call to <tool>.", "emitted_by": "Dispatcher.", "emitter": "runtime", "emitted_when": "Before it runs.",
    "ordering": "pending* -> (completed | failed)",
    "fields": [
      {"name": "session_id", "type": "string", "required": true, "skip_if": null, "default": null, "since": 1, "doc": "Session."},
      {"name": "kind", "type": "ToolKind?", "required": false, "skip_if": "null", "default": null, "since": 2, "doc": "read | edit"},
      {"name": "reason", "type": "string", "required": true, "skip_if": null, "default": null, "compat_default": "", "since": 3, "doc": "Why."}
    ],
    "notes": ["Ids look like `tool-<n>`."], "renamed_from": "call"
  }, {
    "type": "mcp_ready", "group": "mcp_client", "since": 3, "host": "no", "host_types": [],
    "meaning": "M.", "emitted_by": "B.", "emitter": "nobody", "emitted_when": "W.", "ordering": "O.", "fields": []
  }],
  "types": {"ToolKind": {
    "kind": "tagged_enum", "encoding": "plain string", "doc": "A kind.", "on_unknown": "other",
    "values": [
      {"value": "read", "rust": "Read", "since": "later", "doc": "Reads."},
      {"value": "mcp", "rust": "Mcp", "since": "2", "doc": "Asks.", "fields": [
        {"name": "server", "type": "string", "required": false, "skip_if": "empty_string", "default": "", "doc": "Name."}
      ]}
    ]
  }},
  "legacy_tags": {"call": {"maps_to": "tool_call", "fields": [], "rename": {"why": "reason"}}},
  "reserved_tags": ["model_job"]
}"##;

#[track_caller]
fn check(expected: &str) {
    let page = render(&Catalogue::parse(CATALOGUE).unwrap());
    assert!(
        page.contains(expected),
        "not on the page: {expected}\n{page}"
    );
}

#[test]
fn the_intro_counts_the_events() {
    check("# Events\n\nEverything an agent session does is published as one of 2 kinds of event.");
}

#[test]
fn groups_link_to_their_events() {
    check("| [Tool dispatch](#tool-dispatch) | [`tool_call`](#tool_call) |");
    check("| [MCP client](#mcp-client) | [`mcp_ready`](#mcp_ready) |");
}

#[test]
fn an_event_tells_its_story() {
    check(
        "### `tool_call`\n\nA call to &lt;tool&gt;.\n\n- Since: version 1\n- Emitted by: Dispatcher.\n- When: Before it runs.\n- Order: pending\\* -&gt; (completed | failed)\n",
    );
    check("- Hosts may emit it: yes, by sending `tool_a`, `tool_b`\n");
    check("- Hosts may emit it: no\n");
    check("- Emitted by: nobody in this version. Specified and not built: B.\n");
    check("- Earlier name: `call`\n- Note: Ids look like `tool-<n>`.\n");
}

#[test]
fn fields_tell_how_they_are_written_and_read() {
    check("| `session_id` | `string` | always | error | 1 | Session. |");
    check(
        "| `kind` | [`ToolKind?`](#toolkind) | left out when null | `null` | 2 | read \\| edit |",
    );
    check("| `reason` | `string` | always | error when strict, otherwise `\"\"` | 3 | Why. |");
}

#[test]
fn types_list_their_values_and_the_keys_of_each() {
    check("### `ToolKind`\n\nA kind.\n\nWritten as: plain string.\n\n| value | since | meaning |");
    check("| `read` | later | Reads. |");
    check("Keys of `mcp`:\n\n| field | type | on write | absent on read | meaning |");
    check("| `server` | `string` | left out when empty string | `\"\"` | Name. |");
    check("A value the reader does not know: other.");
}

#[test]
fn old_and_reserved_tags_close_the_page() {
    check("| `call` | [`tool_call`](#tool_call) | `why` is now `reason` |");
    check("events of your own: `model_job`.\n");
}
