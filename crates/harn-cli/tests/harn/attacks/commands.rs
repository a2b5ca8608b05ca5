//! Commands that a rule must judge part by part.

use crate::language::Programs;
use crate::program::Call;

/// Ways to run `touch x` that a rule about `touch` was passed by.
const TOUCHING: [&str; 18] = [
    "touch x",
    "/usr/bin/touch x",
    "env touch x",
    "command touch x",
    "sh -c 'touch x'",
    "'touch' x",
    "to''uch x",
    "\\touch x",
    "t=touch; $t x",
    "true; touch x",
    "true\ntouch x",
    "true && touch x",
    "true | touch x",
    "echo $(touch x)",
    "echo `touch x`",
    "(touch x)",
    "echo x | xargs touch",
    "eval touch x",
];

/// Runs a program whose model makes one call of `run`; it prints whether the file `x` is there.
fn run(options: &str, command: &str) -> Call {
    let main = format!(
        "llm_mock({{tool_calls: [{{name: \"run\", arguments: {{command: json_parse(read_file(\"command.json\"))}}}}]}})\n\
         llm_mock({{text: \"Done.\"}})\n\
         let options = {{provider: \"mock\", tools: coding_tools(), tool_format: \"native\"}}\n\
         let result = agent_loop(\"Go.\", nil, options + {options})\n\
         println(file_exists(\"x\"))\n\
         println(result.transcript.messages[2].content)\n"
    );
    let command = serde_json::to_string(command).expect("it is a text");
    let programs = Programs::new(&[("main.harn", &main), ("command.json", &command)]);
    programs.harn(&["run", "main.harn"]).exits_with(0)
}

#[track_caller]
fn check(options: &str, command: &str, is_run: bool) {
    let call = run(options, command);
    let is_there = call.stdout.starts_with("true\n");
    assert_eq!(is_there, is_run, "{command:?} {call:?}");
}

#[test]
fn no_spelling_of_a_command_passes_a_rule_that_denies_it() {
    for options in [
        "{permissions: {deny: {run: [\"touch *\"]}}}",
        "{permissions: {deny: {run: {arg_key: \"command\", patterns: [\"touch *\"]}}}}",
    ] {
        for command in TOUCHING {
            check(options, command, false);
        }
        check(options, "echo a > x", true);
    }
}

#[test]
fn a_command_is_allowed_only_if_each_part_is() {
    for options in [
        "{permissions: {allow: {run: [\"echo *\", \"true\"]}}}",
        "{policy: {tool_arg_constraints: [{tool: \"run\", arg_key: \"command\", \
         arg_patterns: [\"echo *\", \"true\"]}]}}",
    ] {
        for command in TOUCHING {
            check(options, command, false);
        }
        for command in ["echo a; touch x", "echo a # b\ntouch x", "echo 'a"] {
            check(options, command, false);
        }
        check(options, "true && echo a > x", true);
    }
}

#[test]
fn a_command_policy_holds_for_every_start_of_a_process() {
    let policy = "{command_policy: {deny_patterns: [\"touch *\"]}}";
    for command in TOUCHING {
        check(policy, command, false);
    }
    check(policy, "echo a > x", true);
    for start in [
        "exec(\"touch\", \"x\")",
        "exec(\"env\", \"touch\", \"x\")",
        "exec_at(\".\", \"/usr/bin/touch\", \"x\")",
        "shell(\"true; to''uch x\")",
        "shell_at(\".\", \"echo $(touch x)\")",
        "host_call(\"process.exec\", {mode: \"argv\", argv: [\"sh\", \"-c\", \"touch x\"]})",
    ] {
        let main = format!(
            "command_policy_push(command_policy({{deny_patterns: [\"touch *\"]}}))\n\
             let result = {start}\n\
             println(file_exists(\"x\"))\n\
             println([result.success, result.error])\n\
             command_policy_pop()\n\
             println(exec(\"echo\", \"fine\").stdout)\n"
        );
        let programs = Programs::new(&[("main.harn", &main)]);
        let call = programs.harn(&["run", "main.harn"]).exits_with(0);
        assert_eq!(
            call.stdout, "false\n[false, permission_denied]\nfine\n\n",
            "{start}"
        );
    }
}

#[test]
fn a_rule_that_would_allow_everything_is_refused() {
    for (options, rule) in [
        ("{permissions: {allow: {run: [\"python *\"]}}}", "python *"),
        ("{permissions: {allow: {run: [\"env *\"]}}}", "env *"),
        (
            "{policy: {tool_arg_constraints: [{tool: \"run\", arg_patterns: [\"bash *\"]}]}}",
            "bash *",
        ),
    ] {
        let main = format!(
            "agent_loop(\"Go.\", nil, {{provider: \"mock\", tools: coding_tools()}} + {options})\n"
        );
        let programs = Programs::new(&[("main.harn", &main)]);
        let call = programs.harn(&["run", "main.harn"]).exits_with(1);
        let expected = format!("rule '{rule}' would allow everything; name the script");
        assert!(call.stderr.contains(&expected), "{call:?}");
    }
}
