//! The coding tools, and rules about paths.

use super::Place;
use crate::program::Call;

/// Runs a loop in `work` in which a model makes these calls, one after the other.
fn call_tools(place: &Place, options: &str, calls: &[&str]) -> Call {
    let mut scenario = String::new();
    for call in calls {
        scenario += &format!("[[turn]]\ncall = [{call}]\n\n");
    }
    scenario += "[[turn]]\ntext = \"Done.\"\n";
    place.programs.add("work/once.scenario.toml", scenario);
    let program = format!(
        "let result = agent_loop(\"Go.\", nil, {{{options}, max_iterations: 30}})\n\
         println(result.tools.successful)\n\
         println(result.tools.rejected)\n"
    );
    place.run(&program, &["--scenario", "once.scenario.toml"])
}

fn write(path: &str) -> String {
    format!("{{ tool = \"write\", arguments = {{ path = {path:?}, content = \"x\" }} }}")
}

fn read(path: &str) -> String {
    format!("{{ tool = \"read\", arguments = {{ path = {path:?} }} }}")
}

fn texts(calls: &[String]) -> Vec<&str> {
    calls.iter().map(String::as_str).collect()
}

#[test]
fn a_model_does_not_write_what_the_next_start_runs() {
    let place = Place::new();
    place
        .programs
        .add("work/lib.harn", "pub fn one() { return 1 }\n");
    std::os::unix::fs::symlink("AGENTS.md", place.programs.path("work/innocent.md"))
        .expect("the folder is ours");
    let paths = [
        "harn.toml",
        "./in/../Harn.toml",
        "AGENTS.md",
        "innocent.md",
        "main.harn",
        ".harn/skills/evil/SKILL.md",
        ".mcp.json",
        ".envrc",
        ".github/workflows/ci.yml",
        ".vscode/tasks.json",
    ];
    let calls = paths.map(write);
    let options = "tools: coding_tools(), approval_policy: {auto_approve: [\"*\"]}";
    let call = call_tools(&place, options, &texts(&calls)).exits_with(0);
    assert_eq!(call.stdout, "[]\n[write]\n", "{call:?}");
    let refusals = call.stderr.matches("nobody can").count();
    let shortened = call.stderr.matches("✗ write").count();
    assert_eq!((refusals > 0, shortened), (true, 10), "{call:?}");
    for path in [
        "harn.toml",
        "AGENTS.md",
        ".harn/skills",
        ".mcp.json",
        ".vscode",
    ] {
        assert!(!place.programs.path("work").join(path).exists(), "{path}");
    }
    assert!(
        place
            .programs
            .text("work/main.harn")
            .starts_with("let result")
    );
}

#[test]
fn state_that_was_moved_is_closed_to_tools() {
    let place = Place::new();
    let manifest = "[event_log]\nbackend = \"file\"\ndir = \"logs\"\n";
    place.programs.add("work/harn.toml", manifest);
    place.programs.add("work/memory/store.json", "{}");
    place.programs.add("work/logs/a.jsonl", "{}\n");
    let calls = [
        write("memory/store.json"),
        write("logs/a.jsonl"),
        write("LOGS/a.jsonl"),
        write(".harn/x"),
        read("memory/store.json"),
        read("logs/a.jsonl"),
    ];
    place.programs.add(
        "work/main.harn",
        "let result = agent_loop(\"Go.\", nil, {tools: coding_tools(), max_iterations: 30})\n\
         println(result.tools.successful)\n",
    );
    let mut scenario: String = calls
        .iter()
        .map(|call| format!("[[turn]]\ncall = [{call}]\n\n"))
        .collect();
    scenario += "[[turn]]\ntext = \"Done.\"\n";
    place.programs.add("work/once.scenario.toml", scenario);
    let mut command = place.programs.command(&["run", "main.harn"]);
    command.args(["--scenario", "once.scenario.toml"]);
    command.env("HARN_STATE_DIR", "memory");
    command.current_dir(place.programs.path("work"));
    let call = crate::program::finished(&mut command).exits_with(0);
    assert_eq!(call.stdout, "[]\n", "{call:?}");
    assert_eq!(place.programs.text("work/memory/store.json"), "{}");
    assert_eq!(place.programs.text("work/logs/a.jsonl"), "{}\n");
}

#[test]
fn a_rule_about_paths_looks_at_where_they_lead() {
    let place = Place::new();
    place.programs.add("work/src/a", "a");
    place.programs.add("work/other/a", "a");
    std::os::unix::fs::symlink("../other", place.programs.path("work/src/link"))
        .expect("the folder is ours");
    std::os::unix::fs::symlink("src", place.programs.path("work/sources"))
        .expect("the folder is ours");
    let inside = place
        .programs
        .path("work")
        .canonicalize()
        .expect("it is there");
    let absolute = inside.join("src/c").display().to_string();
    let calls = [
        write("src/link/a"),
        write("src/../other/a"),
        write("src/./../other/a"),
        write("./src/b"),
        write("sources/b"),
        write(&absolute),
    ];
    let allowed = "write_path_allowlist: [\"src/*\"]";
    let constrained = "tool_arg_constraints: [{tool: \"write\", arg_patterns: [\"src/*\"]}]";
    for rule in [
        format!("approval_policy: {{{allowed}}}"),
        format!("policy: {{{constrained}}}"),
        "permissions: {allow: {write: {arg_key: \"path\", patterns: [\"src/*\"]}}}".to_owned(),
    ] {
        let options = format!("tools: coding_tools(), {rule}");
        let call = call_tools(&place, &options, &texts(&calls));
        assert_eq!(place.programs.text("work/other/a"), "a", "{rule} {call:?}");
        assert_eq!(place.programs.text("work/src/b"), "x", "{rule} {call:?}");
        assert_eq!(place.programs.text("work/src/c"), "x", "{rule} {call:?}");
        std::fs::remove_file(place.programs.path("work/src/b")).expect("it was made");
        std::fs::remove_file(place.programs.path("work/src/c")).expect("it was made");
    }
}

#[test]
fn the_roots_of_a_policy_hold_for_tools() {
    let place = Place::new();
    place.programs.add("work/near", "secret");
    let calls = [
        read("near"),
        read("in/../near"),
        write("new"),
        "{ tool = \"list\", arguments = {} }".to_owned(),
        "{ tool = \"grep\", arguments = { pattern = \"secret\" } }".to_owned(),
        "{ tool = \"run\", arguments = { command = \"cat near\" } }".to_owned(),
        read("in/file"),
    ];
    let options = "tools: coding_tools(), policy: {workspace_roots: [\"in\"]}";
    let call = call_tools(&place, options, &texts(&calls));
    assert!(!place.programs.path("work/new").exists());
    assert!(!call.stdout.contains("secret"), "{call:?}");
    call.exits_with(0).prints("[read]");
}

#[test]
fn what_probably_holds_secrets_is_not_read_without_a_person() {
    let place = Place::new();
    place.programs.add("work/.env", "KEY=needle\n");
    place.programs.add("work/server.pem", "needle\n");
    let calls = [read(".env"), read("server.pem"), read("./in/../.ENV")];
    let options = "tools: coding_tools(), approval_policy: {auto_approve: [\"*\"]}";
    let call = call_tools(&place, options, &texts(&calls)).exits_with(0);
    assert_eq!(call.stdout, "[]\n[read]\n", "{call:?}");
}

#[test]
fn the_state_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let mode = |path: &str| {
        let facts = std::fs::metadata(place.programs.path("work").join(path));
        let mode = facts.expect("it was made").permissions().mode();
        format!("{path} {:o}", mode & 0o777)
    };
    let program = "store_set(\"k\", 1)\ncheckpoint(\"k\", 1)\n\
                   llm_mock({text: \"Hello.\"})\nagent_loop(\"Go.\", nil, {provider: \"mock\"})\n";
    place.run(program, &[]).exits_with(0);
    for path in [".harn", ".harn/checkpoints"] {
        assert_eq!(mode(path), format!("{path} 700"));
    }
    for path in [
        ".harn/store.json",
        ".harn/checkpoints/main.json",
        ".harn/events.sqlite",
    ] {
        assert_eq!(mode(path), format!("{path} 600"));
    }
    assert_eq!(place.programs.text("work/.harn/.gitignore"), "*\n");

    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.programs.path("work/.harn"), open).expect("it is ours");
    let call = place.run(program, &[]).exits_with(0);
    assert!(call.stderr.contains("other users could read"), "{call:?}");
    assert_eq!(mode(".harn"), ".harn 700");
    let call = place.run(program, &[]).exits_with(0);
    assert!(!call.stderr.contains("other users could read"), "{call:?}");
}
