//! Options of builtins, where they are written down as a dict.

use harn_check::{CheckOptions, Imported};

use crate::support::{inspect, lines};

const BEFORE_A_RUN: CheckOptions = CheckOptions {
    strict_types: false,
    before_a_run: true,
};

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    let said = lines(&inspect(source, &Imported::default(), BEFORE_A_RUN));
    assert_eq!(said, expected, "{source}");
}

#[track_caller]
fn statement(statement: &str, expected: &[&str]) {
    check(&format!("fn f(x) {{ {statement} }}"), expected);
}

#[test]
fn a_key_that_a_builtin_refuses_is_told_with_the_nearest_one() {
    for (text, expected) in [
        (
            "agent_loop(\"p\", nil, {max_iteration: 3})",
            "error: agent_loop: unknown option key 'max_iteration'; did you mean 'max_iterations'?",
        ),
        (
            "llm_call(\"p\", nil, {provider: \"mock\", temprature: x})",
            "error: llm_call: unknown option key 'temprature'; did you mean 'temperature'?",
        ),
        (
            "sub_agent_run(\"p\", {\"alowed_tools\": []})",
            "error: sub_agent_run: unknown option key 'alowed_tools'; did you mean \
             'allowed_tools'?",
        ),
        (
            "spawn_agent({task: \"t\", node: {}, carry: {retrigerable: true}})",
            "error: spawn_agent: unknown option key 'carry.retrigerable'; did you mean \
             'retriggerable'?",
        ),
        (
            "agent_loop(\"p\", nil, {policy: {tool_arg_constraints: [{tool: \"a\", args: []}]}})",
            "error: agent_loop: policy.tool_arg_constraints: unknown key 'args' (expected \
             one of: tool, arg_patterns, arg_key)",
        ),
        (
            "agent_turn(\"p\", {done_judge: {cadence: {evry: 2}}})",
            "error: agent_turn: unknown option key 'done_judge.cadence.evry'; did you mean 'every'?",
        ),
        (
            "with_required_reason({params: \"why\"})",
            "error: with_required_reason: unknown option key 'params'; did you mean 'param'?",
        ),
    ] {
        statement(text, &[expected]);
    }
    check(
        "skill s { alowed_tools [] }",
        &["error: skill_define: unknown option key 'alowed_tools'; did you mean 'allowed_tools'?"],
    );
}

#[test]
fn a_run_finds_out_by_itself() {
    let source = "agent_loop(\"p\", nil, {max_iteration: 3})";
    let checked = inspect(source, &Imported::default(), CheckOptions::default());
    assert!(lines(&checked).is_empty());
}

#[test]
fn what_has_a_meaning_somewhere_is_no_mistake() {
    for text in [
        "agent_loop(\"p\", nil, {allowed_tools: [], returns: {schema: {}}, temperature: 0})",
        "llm_call(\"p\", nil, {max_iterations: 3, _note: 1})",
        "agent_loop(\"p\", nil, {local: {num_ctx: 1}, tgi: x, acme_models: {a: 1}})",
        "agent_loop(\"p\", nil, {[x]: 3, ...x})",
        "agent_loop(\"p\", nil, x)",
        "agent_loop(...x)",
        "agent_loop(\"p\")",
    ] {
        statement(text, &[]);
    }
    check(
        "fn agent_loop(a, b, c) { a }\nfn f() { agent_loop(1, 2, {anything: 3}) }",
        &[],
    );
}

#[test]
fn a_key_that_stays_is_told_of_if_it_looks_like_a_slip() {
    statement(
        "tool_define(x, \"t\", \"d\", {paramters: {}, handler: x, colour: 1})",
        &["warning: tool_define: option key 'paramters' means nothing; did you mean 'parameters'?"],
    );
    statement(
        "tool_define(x, \"t\", \"d\", {handler: x, annotations: {knd: \"read\", my_note: 1}})",
        &["warning: tool_define: option key 'annotations.knd' means nothing; did you mean 'kind'?"],
    );
}
