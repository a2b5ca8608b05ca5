//! Rules about tools that must mean what they say.

use std::process::Stdio;

use crate::language::Programs;
use crate::program::Call;

/// Runs an agent with these options whose model makes these calls, one in each turn, and gives
/// what ran and what was refused.
fn agent(options: &str, calls: &[&str]) -> Call {
    let main = format!(
        "let result = agent_loop(\"Go.\", nil, {options})\n\
         println(\"ran ${{result.tools.successful}}, not ${{result.tools.rejected}}\")\n"
    );
    let turns = calls
        .iter()
        .map(|call| format!("[[turn]]\ncall = [{call}]\n\n"));
    let scenario = format!("{}[[turn]]\ntext = \"Done.\"\n", turns.collect::<String>());
    let programs = Programs::new(&[
        ("main.harn", &main),
        ("s.scenario.toml", &scenario),
        ("notes.md", "buy milk\n"),
    ]);
    programs.harn(&["run", "main.harn", "--scenario", "s.scenario.toml"])
}

const RUN: &str = "{ tool = \"run\", arguments = { command = \"echo hello\" } }";
const WRITE: &str = "{ tool = \"write\", arguments = { path = \"a.md\", content = \"x\" } }";
const READ: &str = "{ tool = \"read\", arguments = { path = \"notes.md\" } }";

#[track_caller]
fn check(rules: &str, calls: &[&str], expected: &str) {
    let call = agent(&format!("{{tools: coding_tools(), {rules}}}"), calls).exits_with(0);
    let told = call.stdout.lines().last().unwrap_or_default();
    assert_eq!(told, expected, "{rules}: {call:?}");
}

#[test]
fn a_deny_pattern_with_wildcards_anywhere_denies() {
    for pattern in ["*run*", "r?n", "{write,run}", "r[u]n", "*u*", "ru{n,s}"] {
        let denied = format!("approval_policy: {{auto_deny: [\"{pattern}\"]}}");
        check(&denied, &[RUN], "ran [], not [run]");
        let denied = format!("permissions: {{deny: [\"{pattern}\"]}}");
        check(&denied, &[RUN], "ran [], not [run]");
        let asked = format!("approval_policy: {{require_approval: [\"{pattern}\"]}}");
        check(&asked, &[RUN], "ran [], not [run]");
    }
    let hook = "register_tool_hook({pattern: \"*u*\", deny: \"no\"})\n";
    let programs = Programs::new(&[
        (
            "main.harn",
            &format!(
                "{hook}println(agent_loop(\"Go.\", nil, {{tools: coding_tools()}}).tools.rejected)\n"
            ),
        ),
        (
            "s.scenario.toml",
            &format!("[[turn]]\ncall = [{RUN}]\n\n[[turn]]\ntext = \"Done.\"\n"),
        ),
    ]);
    let call = programs.harn(&["run", "main.harn", "--scenario", "s.scenario.toml"]);
    call.exits_with(0).prints("[run]");
}

#[test]
fn an_allow_pattern_means_the_same_in_every_list() {
    for list in [
        "policy: {tools: [\"r{ead,ename}\"]}",
        "permissions: {allow: [\"r?ad\"]}",
        "permissions: {allow: {[\"re[a-c]d\"]: true}}",
    ] {
        check(list, &[READ, WRITE], "ran [read], not [write]");
    }
    let paths = "approval_policy: {write_path_allowlist: [\"{docs,notes}/*.md\"]}";
    check(paths, &[WRITE], "ran [], not [write]");
    let constraint = "policy: {tool_arg_constraints: [{tool: \"{read,write}\", arg_key: \"path\", \
                      arg_patterns: [\"n?tes.*\"]}]}";
    check(constraint, &[READ, WRITE], "ran [read], not [write]");
}

#[test]
fn a_pattern_that_cannot_be_read_is_an_error() {
    for rules in [
        "approval_policy: {auto_deny: [\"run[\"]}",
        "approval_policy: {require_approval: [\"run[\"]}",
        "approval_policy: {auto_approve: [\"run[\"]}",
        "approval_policy: {write_path_allowlist: [\"run[\"]}",
        "permissions: {deny: [\"run[\"]}",
        "permissions: {allow: {[\"run[\"]: true}}",
        "permissions: {deny: {run: [\"run[\"]}}",
        "permissions: {deny: {run: {arg_key: \"command\", patterns: \"run[\"}}}",
        "policy: {tools: [\"run[\"]}",
        "policy: {tool_arg_constraints: [{tool: \"run[\"}]}",
        "policy: {tool_arg_constraints: [{tool: \"run\", arg_patterns: [\"run[\"]}]}",
    ] {
        let call = agent(&format!("{{tools: coding_tools(), {rules}}}"), &[RUN]).exits_with(1);
        let told = "pattern 'run[' cannot be read: a '[' is not closed";
        assert!(call.stderr.contains(told), "{rules}: {call:?}");
        assert!(!call.stdout.contains("ran"), "{rules}: {call:?}");
    }
}

/// A tool server with one tool.
const SERVER: &str = r#"
import json, sys

for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if "id" not in request:
        continue
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "files", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "erase", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        open("erased", "w").close()
        result = {"content": [{"type": "text", "text": "erased"}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"],
                          "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"#;

#[test]
fn tools_of_servers_are_asked_about_in_every_mode_of_the_coding_agent() {
    let agent = include_str!("../../../agents/coding.harn");
    for mode in ["ask", "code", "auto"] {
        // The agent that comes with Harn, given a mode and a server as an editor gives them.
        let given = format!(
            "pipeline main() {{\n  let prompt = \"go\"\n  let mode = \"{mode}\"\n  \
             let project_trust = nil\n"
        );
        let main = agent
            .replace("pipeline chat(prompt, session_id, mode, project_trust) {\n", &given)
            .replace(
                "      session_id: session_id,\n",
                "      mcp_servers: [{name: \"files\", command: \"python3\", args: [\"server.py\"]}],\n",
            )
            .replace("return result.visible_text", "println(result.tools.rejected)");
        let call = "{ tool = \"files__erase\", arguments = {} }";
        let scenario = format!("[[turn]]\ncall = [{call}]\n\n[[turn]]\ntext = \"Done.\"\n");
        let programs = Programs::new(&[
            ("main.harn", &main),
            ("server.py", SERVER),
            ("s.scenario.toml", &scenario),
        ]);
        let mut command = programs.command(&["run", "main.harn", "--scenario", "s.scenario.toml"]);
        command.stdin(Stdio::null()).env("PATH", "/usr/bin:/bin");
        let call = crate::program::finished(&mut command).exits_with(0);
        assert_eq!(call.stdout, "[files__erase]\n", "{mode}: {call:?}");
        assert!(!programs.path("erased").exists(), "{mode}");
    }
}

/// An agent with a shell of its own, and what became of a call of it.
#[track_caller]
fn check_shell(rules: &str, arguments: &str, expected: &str) {
    let shell = "tool_registry() |> tool_define(_, \"sh\", \"Runs.\", {parameters: {command: \
                 {type: \"string\"}, folder: {type: \"string\", required: false}}, handler: \
                 { args -> \"ran\" }})";
    let call = format!("{{ tool = \"sh\", arguments = {arguments} }}");
    let call = agent(&format!("{{tools: {shell}, {rules}}}"), &[&call]).exits_with(0);
    let told = call.stdout.lines().last().unwrap_or_default();
    assert_eq!(told, expected, "{rules} {arguments}: {call:?}");
}

#[test]
fn an_argument_that_no_parameter_takes_satisfies_no_rule() {
    let invented = "{ command = \"rm -rf .\", a_note = \"ls\", note = \"ls\" }";
    let honest = "{ command = \"ls -l\" }";
    for rules in [
        "permissions: {allow: {sh: \"ls*\"}}",
        "permissions: {allow: {sh: [\"ls*\", \"pwd\"]}}",
        "policy: {tool_arg_constraints: [{tool: \"sh\", arg_patterns: [\"ls*\"]}]}",
    ] {
        check_shell(rules, honest, "ran [sh], not []");
        check_shell(rules, invented, "ran [], not [sh]");
    }
    let named = "permissions: {allow: {sh: {arg_key: \"note\", patterns: [\"ls\"]}}}";
    check_shell(named, invented, "ran [], not [sh]");
    // One that denies looks at everything there is.
    let denied = "permissions: {deny: {sh: \"ls*\"}}";
    check_shell(denied, invented, "ran [], not [sh]");
}

#[test]
fn tools_of_harn_refuse_an_argument_that_they_do_not_have() {
    for (tool, arguments) in [
        ("run", "{ command = \"touch made\", note = \"ls\" }"),
        ("write", "{ path = \"made\", content = \"\", mode = \"w\" }"),
        ("read", "{ path = \"notes.md\", reason = \"hm\" }"),
    ] {
        let main = "let result = agent_loop(\"Go.\", nil, {tools: coding_tools(), tool_format: \
                    \"native\", permissions: {allow: [\"*\"], on_escalation: { r -> println(\"asked\") }}})\n\
                    println(\"${result.transcript.messages}\")\n\
                    println(\"ran ${result.tools.successful}, not ${result.tools.rejected}\")\n";
        let scenario = format!(
            "[[turn]]\ncall = [{{ tool = \"{tool}\", arguments = {arguments} }}]\n\n\
             [[turn]]\ntext = \"Done.\"\n"
        );
        let programs = Programs::new(&[("main.harn", main), ("s.scenario.toml", &scenario)]);
        let call = programs.harn(&["run", "main.harn", "--scenario", "s.scenario.toml"]);
        let call = call.exits_with(0).prints("ran [], not []");
        let told = match tool {
            "run" => "ERROR: Tool 'run' has no parameter 'note'.",
            "write" => "ERROR: Tool 'write' has no parameter 'mode'.",
            _ => "ERROR: Tool 'read' has no parameter 'reason'.",
        };
        assert!(call.stdout.contains(told), "{call:?}");
        assert!(!programs.path("made").exists());
    }
}

#[test]
fn a_rule_that_fits_no_tool_is_told() {
    let rules = "approval_policy: {auto_deny: [\"wirte\", \"re*\"], require_approval: [\"{ruin,sh}\", \
                 \"*__*\"]}, permissions: {deny: [\"exec*\"]}";
    let call = agent(&format!("{{tools: coding_tools(), {rules}}}"), &[RUN]).exits_with(0);
    for (field, pattern) in [
        ("approval_policy.auto_deny", "wirte"),
        ("approval_policy.require_approval", "{ruin,sh}"),
        ("permissions.deny", "exec*"),
    ] {
        let told = format!("POLICY_PATTERN_FITS_NOTHING: {field} pattern '{pattern}' fits no tool");
        assert!(call.stderr.contains(&told), "{told}: {call:?}");
    }
    let count = call.stderr.matches("POLICY_PATTERN_FITS_NOTHING").count();
    assert_eq!(count, 3, "{call:?}");
}

#[test]
fn a_misspelt_key_of_a_rule_is_no_rule_that_says_nothing() {
    for (rules, told) in [
        (
            "policy: {tolls: [\"read\"]}",
            "policy: unknown key 'tolls'; did you mean 'tools'?",
        ),
        (
            "policy: {tool_arg_constraints: [{tool: \"run\", arg_pattern: [\"ls\"]}]}",
            "policy.tool_arg_constraints: unknown key 'arg_pattern'; did you mean 'arg_patterns'?",
        ),
        (
            "policy: {tool_annotations: {run: {side_efect_level: \"network\"}}}",
            "policy.tool_annotations.run: unknown key 'side_efect_level'; did you mean \
             'side_effect_level'?",
        ),
        (
            "approval_policy: {auto_denny: [\"run\"]}",
            "approval_policy: unknown key 'auto_denny'; did you mean 'auto_deny'?",
        ),
        (
            "permissions: {denny: [\"run\"]}",
            "permissions: unknown key 'denny'; did you mean 'deny'?",
        ),
        (
            "permissions: {allow: {run: {arg_key: \"command\", patterns: [\"x\"], alow: 1}}}",
            "permissions.allow.run: unknown key 'alow'; did you mean 'allow'?",
        ),
        (
            "command_policy: {deny_patern: [\"rm *\"]}",
            "command_policy: unknown key 'deny_patern'; did you mean 'deny_patterns'?",
        ),
        (
            "aproval_policy: {auto_deny: [\"run\"]}",
            "agent_loop: unknown key 'aproval_policy'; did you mean 'approval_policy'?",
        ),
        (
            "permision: {deny: [\"run\"]}",
            "agent_loop: unknown key 'permision'; did you mean 'permissions'?",
        ),
    ] {
        // A run is refused when it is checked, and also where nobody could check it before.
        let checked = agent(&format!("{{tools: coding_tools(), {rules}}}"), &[RUN]);
        let hidden = agent(
            &format!("json_parse(json_stringify({{{rules}}})) + {{tools: coding_tools()}}"),
            &[RUN],
        );
        for call in [checked, hidden] {
            let call = call.exits_with(1);
            assert!(call.stderr.contains(told), "{told}: {call:?}");
        }
    }
    for (program, told) in [
        (
            "let c = json_parse(\"{\\\"dney\\\": [\\\"a.test\\\"]}\")\negress_policy(c)\n",
            "egress_policy: unknown key 'dney'; did you mean 'deny'?",
        ),
        (
            "let c = json_parse(\"{\\\"quorm\\\": 2}\")\nrequest_approval(\"deploy\", c)\n",
            "request_approval: unknown key 'quorm'; did you mean 'quorum'?",
        ),
    ] {
        let programs = Programs::new(&[("main.harn", program)]);
        let call = programs.harn(&["run", "main.harn"]).exits_with(1);
        assert!(call.stderr.contains(told), "{told}: {call:?}");
    }
}
