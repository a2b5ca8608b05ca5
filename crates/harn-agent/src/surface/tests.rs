use serde_json::json;

use super::*;

/// Validates a surface that is written as a program hands it over; each diagnostic as
/// `severity CODE tool field: message`, where a tool that is missing is `-`.
#[track_caller]
fn check(surface: Value, expected: &[&str]) {
    let report = answer(&surface, &Value::Null, None);
    let diagnostics = report["diagnostics"].as_array().unwrap();
    let text = |one: &Value, key: &str| one[key].as_str().unwrap_or("-").to_owned();
    let shown = diagnostics.iter().map(|one| {
        let code = text(one, "code");
        let code = code.strip_prefix("TOOL_SURFACE_").unwrap();
        let (severity, tool, field) =
            (text(one, "severity"), text(one, "tool"), text(one, "field"));
        format!("{severity} {code} {tool} {field}: {}", text(one, "message"))
    });
    assert_eq!(shown.collect::<Vec<_>>(), expected);
    let is_valid = !expected.iter().any(|one| one.starts_with("error"));
    assert_eq!(report["valid"], is_valid);
}

/// A tool about which everything is said.
fn named(name: &str) -> Value {
    json!({
        "name": name, "parameters": {"path": "string"}, "executor": "harn",
        "annotations": {"kind": "read", "side_effect_level": "read_only",
                        "arg_schema": {"arg_aliases": {"file": "path"}}},
    })
}

fn read() -> Value {
    named("read")
}

/// A tool that writes what nobody can read.
fn run() -> Value {
    json!({
        "name": "run", "parameters": {}, "executor": "harn",
        "annotations": {"kind": "execute", "side_effect_level": "process_exec",
                        "emits_artifacts": true},
    })
}

const NO_READER: &str = "error MISSING_RESULT_READER run result_readers: execute tool 'run' can \
                         emit output artifacts but has no active result reader";
const GONE: &str = "warning UNKNOWN_RESULT_READER run result_readers: tool 'run' declares result \
                    reader 'gone' that is not active";

#[test]
fn a_complete_tool_is_fine() {
    check(json!({}), &[]);
    check(json!({"tools": [read()]}), &[]);
    let registry = json!({"_type": "tool_registry", "tools": [read()]});
    check(registry.clone(), &[]);
    check(json!({"tools": registry}), &[]);
}

#[test]
fn a_handler_is_not_looked_at() {
    let mut tool = read();
    for handler in [json!(null), json!("<closure>")] {
        tool["handler"] = handler;
        check(json!({"tools": [tool]}), &[]);
    }
}

#[test]
fn a_tool_says_what_it_is() {
    let schema = "warning MISSING_SCHEMA a parameters: active tool 'a' has no parameter schema";
    let words = "warning MISSING_ANNOTATIONS a annotations: active tool 'a' has no ToolAnnotations";
    let executor = "warning MISSING_EXECUTOR a executor: active tool 'a' has no declared executor";
    check(
        json!({"tools": [{"name": "a"}], "native_tools": [{"function": {"name": "n"}}]}),
        &[
            schema,
            words,
            executor,
            "warning MISSING_SCHEMA n parameters: active tool 'n' has no parameter schema",
            "warning MISSING_ANNOTATIONS n annotations: active tool 'n' has no ToolAnnotations",
        ],
    );
    let odd = json!({"name": "a", "parameters": "x", "annotations": [], "executor": null});
    check(json!({"tools": [odd]}), &[schema, words, executor]);
}

#[test]
fn a_tool_has_a_level() {
    let missing = "warning MISSING_SIDE_EFFECT_LEVEL a side_effect_level: active tool 'a' has no \
                   side-effect level";
    for (annotations, expected) in [
        (json!({}), &[missing][..]),
        (json!({"side_effect_level": null}), &[missing]),
        (json!({"side_effect_level": "none"}), &[missing]),
        (json!({"side_effect_level": "a lot"}), &[missing]),
        (json!({"side_effect_level": "network"}), &[]),
    ] {
        let tool =
            json!({"name": "a", "parameters": {}, "executor": "harn", "annotations": annotations});
        check(json!({"tools": [tool]}), expected);
    }
}

#[test]
fn a_policy_may_say_what_a_tool_does_not() {
    let tool = json!({"name": "a", "parameters": {}, "executor": "harn"});
    let said = json!({"a": {"side_effect_level": "network"}});
    check(
        json!({"tools": [tool], "policy": {"tool_annotations": said}}),
        &[],
    );
}

#[test]
fn native_tools_have_their_schema_in_different_places() {
    let policy = json!({"tool_annotations": {"n": {"side_effect_level": "network"}},
                        "tool_arg_constraints": [{"tool": "n", "arg_key": "x"}]});
    let unknown = "warning UNKNOWN_ARG_CONSTRAINT_KEY n tool_arg_constraints.x: \
                   ToolArgConstraint for 'n' targets unknown argument 'x'";
    let schema = |name: &str| json!({"type": "object", "properties": {name: {}}});
    for (native, expected) in [
        (json!({"name": "n", "input_schema": schema("x")}), &[][..]),
        (json!({"name": "n", "parameters": schema("x")}), &[]),
        (
            json!({"function": {"name": "n", "parameters": schema("x")}}),
            &[],
        ),
        (
            json!({"name": "n", "input_schema": schema("y")}),
            &[unknown],
        ),
    ] {
        check(
            json!({"native_tools": [native], "policy": policy}),
            expected,
        );
    }
}

#[test]
fn what_is_executed_needs_a_reader() {
    check(json!({"tools": [run()]}), &[NO_READER]);
    check(json!({"tools": [run(), read()]}), &[]);
    check(
        json!({"tools": [run(), read()], "policy": {"tools": ["ru*"]}}),
        &[NO_READER],
    );
    let mut other = named("read_command_output");
    other["annotations"]["kind"] = json!("other");
    check(json!({"tools": [run(), other]}), &[]);
    other["name"] = json!("show");
    check(json!({"tools": [run(), other]}), &[NO_READER]);
    let mut search = other;
    search["annotations"]["kind"] = json!("search");
    check(json!({"tools": [run(), search]}), &[]);
}

#[test]
fn not_everything_needs_a_reader() {
    for (key, value) in [
        ("inline_result", json!(true)),
        ("emits_artifacts", json!(false)),
        ("kind", json!("edit")),
    ] {
        let mut tool = run();
        tool["annotations"][key] = value;
        check(json!({"tools": [tool]}), &[]);
    }
}

#[test]
fn a_reader_that_is_declared_is_active() {
    let mut tool = run();
    tool["annotations"]["result_readers"] = json!(["gone"]);
    check(json!({"tools": [tool]}), &[NO_READER, GONE]);
    check(json!({"tools": [tool, read()]}), &[GONE]);
    let mut other = named("gone");
    other["annotations"]["kind"] = json!("other");
    check(json!({"tools": [tool, other]}), &[]);
}

#[test]
fn policies_speak_of_tools_that_are_there() {
    check(
        json!({
            "tools": [read()],
            "policy": {"side_effect_level": "none", "tool_arg_constraints": [
                {"tool": "gone"}, {"tool": "x*"}, {"tool": "read", "arg_key": "path"},
                {"tool": "read", "arg_key": "other"}, {"tool": "read"}, "no constraint"]},
            "approval_policy": {"auto_approve": ["read", "gone", "x*"], "auto_deny": ["away"],
                                "require_approval": ["lost"], "other": ["x"]},
        }),
        &[
            "warning UNKNOWN_ARG_CONSTRAINT_TOOL gone tool_arg_constraints.tool: \
             ToolArgConstraint references tool 'gone' which is not active",
            "warning UNKNOWN_ARG_CONSTRAINT_KEY read tool_arg_constraints.other: \
             ToolArgConstraint for 'read' targets unknown argument 'other'",
            "warning APPROVAL_PATTERN_NO_MATCH - approval_policy.auto_approve: \
             approval_policy.auto_approve pattern 'gone' matches no active tool",
            "warning POLICY_PATTERN_FITS_NOTHING - approval_policy.auto_deny: \
             approval_policy.auto_deny pattern 'away' fits no tool",
            "warning POLICY_PATTERN_FITS_NOTHING - approval_policy.require_approval: \
             approval_policy.require_approval pattern 'lost' fits no tool",
            "error SIDE_EFFECT_CEILING_EXCEEDED read side_effect_level: tool 'read' requires \
             side-effect level 'read_only' but policy ceiling is 'none'",
        ],
    );
}

#[test]
fn a_pattern_that_denies_or_asks_fits_a_tool() {
    let nothing = |field: &str, pattern: &str| {
        format!(
            "warning POLICY_PATTERN_FITS_NOTHING - {field}: {field} pattern '{pattern}' fits no tool"
        )
    };
    let told = [
        nothing("approval_policy.auto_deny", "wr*"),
        nothing("approval_policy.require_approval", "files__*"),
        nothing("permissions.deny", "{run,write}"),
    ];
    check(
        json!({
            "tools": [read()],
            "approval_policy": {
                "auto_deny": ["wr*", "r?ad", "*"], "require_approval": ["files__*", "*__*", "load_skill"],
            },
            "permissions": {"allow": ["gone"], "deny": {"{run,write}": true, "{read,run}": true}},
        }),
        &told.each_ref().map(String::as_str),
    );
}

#[test]
fn prompts_speak_of_tools_that_are_there() {
    let mut late = named("late");
    late["defer_loading"] = json!(true);
    let mut surface = json!({
        "tools": [read(), named("hidden"), late], "policy": {"tools": ["read", "late"]},
        "system": "read(x) hidden(x) late(x) other_tool(x) other(x) runner(x) toolbox(x)",
        "prompts": ["a file b, not a profile"],
    });
    let mut found = vec![
        "warning PROMPT_TOOL_NOT_IN_POLICY hidden prompt: prompt references tool 'hidden' \
         outside the active policy",
        "warning DEFERRED_TOOL_PROMPT_REFERENCE late prompt: prompt references deferred tool \
         'late' but tool_search is not active",
        "warning UNKNOWN_PROMPT_TOOL other_tool prompt: prompt references tool 'other_tool' \
         which is not active",
        "warning UNKNOWN_PROMPT_TOOL runner prompt: prompt references tool 'runner' which is \
         not active",
        "warning UNKNOWN_PROMPT_TOOL toolbox prompt: prompt references tool 'toolbox' which is \
         not active",
        "warning DEPRECATED_ARG_ALIAS read arg_schema.arg_aliases.file: prompt mentions alias \
         'file' for tool 'read'; use canonical argument 'path'",
        "warning DEPRECATED_ARG_ALIAS late arg_schema.arg_aliases.file: prompt mentions alias \
         'file' for tool 'late'; use canonical argument 'path'",
    ];
    check(surface.clone(), &found);
    surface["tool_search"] = json!(true);
    found.remove(1);
    check(surface, &found);
}

#[test]
fn a_word_that_only_contains_an_alias_is_none() {
    check(json!({"tools": [read()], "prompt": "profile files"}), &[]);
}

#[test]
fn a_loop_hands_over_what_it_holds() {
    let tools = [run()];
    let policy = json!({"side_effect_level": "read_only"});
    let found = validate(&Surface {
        tools: &tools,
        policy: Some(&policy),
        prompts: vec!["run(x)", "look_up(x)"],
        ..Surface::default()
    });
    let shown: Vec<String> = found.iter().map(Diagnostic::to_string).collect();
    assert_eq!(
        shown,
        [
            "TOOL_SURFACE_MISSING_RESULT_READER: execute tool 'run' can emit output artifacts \
             but has no active result reader",
            "TOOL_SURFACE_UNKNOWN_PROMPT_TOOL: prompt references tool 'look_up' which is not \
             active",
            "TOOL_SURFACE_SIDE_EFFECT_CEILING_EXCEEDED: tool 'run' requires side-effect level \
             'process_exec' but policy ceiling is 'read_only'",
        ]
    );
    assert_eq!(found[1].severity, Severity::Warning);
    assert_eq!(found[2].severity, Severity::Error);
    let nothing = json!("no policy");
    let odd = Surface {
        native_tools: std::slice::from_ref(&nothing),
        policy: Some(&nothing),
        approval_policy: Some(&nothing),
        ..Surface::default()
    };
    assert!(validate(&odd).is_empty());
}
