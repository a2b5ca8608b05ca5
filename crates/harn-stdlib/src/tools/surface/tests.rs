use super::*;
use crate::json;

/// Validates a surface that is written as JSON; each diagnostic as `severity CODE tool field`.
#[track_caller]
fn check(surface: &str, expected: &[&str]) {
    let surface = json::parse(surface).unwrap();
    let report = validate(&Input {
        surface: &surface,
        options: &Value::Nil,
    });
    let report = as_dict(&report).unwrap();
    let Some(Value::List(diagnostics)) = report.get("diagnostics") else {
        unreachable!("a report lists diagnostics");
    };
    let shown = diagnostics.iter().filter_map(as_dict).map(|one| {
        let keys = ["severity", "code", "tool", "field"];
        keys.map(|key| text_of(one, key).to_string()).join(" ")
    });
    let shown: Vec<String> = shown.map(|one| one.replace("TOOL_SURFACE_", "")).collect();
    assert_eq!(shown, expected);
    let is_valid = !expected.iter().any(|one| one.starts_with("error"));
    assert_eq!(report.get("valid").unwrap().show(), is_valid.to_string());
}

/// A tool about which everything is said.
const READ: &str = r#"{"name": "read", "parameters": {"path": "string"}, "executor": "harn",
    "annotations": {"kind": "read", "side_effect_level": "read_only",
                    "arg_schema": {"arg_aliases": {"file": "path"}}}}"#;

#[test]
fn a_complete_tool_is_fine() {
    check("{}", &[]);
    check(&format!(r#"{{"tools": [{READ}]}}"#), &[]);
    let registry = format!(r#"{{"_type": "tool_registry", "tools": [{READ}]}}"#);
    check(&registry, &[]);
    check(&format!(r#"{{"tools": {registry}}}"#), &[]);
}

#[test]
fn a_tool_says_what_it_is() {
    check(
        r#"{"tools": [{"name": "a"}], "native_tools": [{"function": {"name": "n"}}]}"#,
        &[
            "warning MISSING_SCHEMA a parameters",
            "warning MISSING_ANNOTATIONS a annotations",
            "warning MISSING_EXECUTOR a executor",
            "warning MISSING_SCHEMA n parameters",
            "warning MISSING_ANNOTATIONS n annotations",
        ],
    );
    check(
        r#"{"tools": [{"name": "a", "parameters": {}, "annotations": {}, "executor": "harn"}]}"#,
        &["warning MISSING_SIDE_EFFECT_LEVEL a side_effect_level"],
    );
}

#[test]
fn what_is_executed_needs_a_reader() {
    let run = r#"{"name": "run", "parameters": {}, "executor": "harn", "annotations":
        {"kind": "execute", "side_effect_level": "process_exec", "emits_artifacts": true,
         "result_readers": ["gone"]}}"#;
    let unknown = "warning UNKNOWN_RESULT_READER run result_readers";
    let missing = "error MISSING_RESULT_READER run result_readers";
    check(&format!(r#"{{"tools": [{run}]}}"#), &[missing, unknown]);
    check(&format!(r#"{{"tools": [{run}, {READ}]}}"#), &[unknown]);
    let others = format!(r#"{{"tools": [{run}, {READ}], "policy": {{"tools": ["ru*"]}}}}"#);
    check(&others, &[missing, unknown]);
}

#[test]
fn policies_speak_of_tools_that_are_there() {
    check(
        &format!(
            r#"{{"tools": [{READ}],
            "policy": {{"side_effect_level": "none", "tool_arg_constraints": [
                {{"tool": "gone"}}, {{"tool": "x*"}}, {{"tool": "read", "arg_key": "path"}},
                {{"tool": "read", "arg_key": "other"}}]}},
            "approval_policy": {{"auto_approve": ["read", "gone", "x*"], "auto_deny": ["away"]}}}}"#
        ),
        &[
            "warning UNKNOWN_ARG_CONSTRAINT_TOOL gone tool_arg_constraints.tool",
            "warning UNKNOWN_ARG_CONSTRAINT_KEY read tool_arg_constraints.other",
            "warning APPROVAL_PATTERN_NO_MATCH  approval_policy.auto_approve",
            "warning APPROVAL_PATTERN_NO_MATCH  approval_policy.auto_deny",
            "error SIDE_EFFECT_CEILING_EXCEEDED read side_effect_level",
        ],
    );
}

#[test]
fn prompts_speak_of_tools_that_are_there() {
    let hidden = READ.replace("\"read\", \"par", "\"hidden\", \"par");
    let late = READ.replace(
        "\"read\", \"par",
        "\"late\", \"defer_loading\": true, \"par",
    );
    let surface = format!(
        r#"{{"tools": [{READ}, {hidden}, {late}], "policy": {{"tools": ["read", "late"]}},
        "system": "read(x) hidden(x) late(x) other_tool(x) other(x)", "prompts": ["a file b"]"#
    );
    let found = [
        "warning PROMPT_TOOL_NOT_IN_POLICY hidden prompt",
        "warning DEFERRED_TOOL_PROMPT_REFERENCE late prompt",
        "warning UNKNOWN_PROMPT_TOOL other_tool prompt",
        "warning DEPRECATED_ARG_ALIAS read arg_schema.arg_aliases.file",
        "warning DEPRECATED_ARG_ALIAS late arg_schema.arg_aliases.file",
    ];
    check(&format!("{surface}}}"), &found);
    let searches = format!(r#"{surface}, "tool_search": true}}"#);
    check(&searches, &[found[0], found[2], found[3], found[4]]);
}

#[test]
fn patterns_have_a_star_at_one_end() {
    for (pattern, name, expected) in [
        ("*", "a", true),
        ("ab*", "abc", true),
        ("*bc", "abc", true),
        ("abc", "abc", true),
        ("ab", "abc", false),
        ("*b*", "abc", false),
    ] {
        assert_eq!(matches(pattern, name), expected, "{pattern}");
    }
}
