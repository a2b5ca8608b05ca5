//! `harn run --bridge`: a program, and a host on each client library at its standard input and
//! output. Both are processes of their own.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::host::{Ended, SCENARIO, asked, host, initialize, input, lit};
use crate::stage::{Editor, Stage, check_wires};

/// Runs a program with a host of each library at its standard input and output, and looks at
/// the status of the program, what it printed, and what became of the host.
#[track_caller]
fn check(program: &str, calls: &Value, look: impl Fn(Option<i32>, &str, &Ended)) {
    let stages = Editor::ALL.map(|editor| {
        let stage = Stage::of(program, SCENARIO);
        let (status, ended) = run(&stage, editor, calls);
        let printed = fs::read_to_string(stage.aside("stderr")).expect("it is there");
        look(status, &printed, &ended);
        stage
    });
    check_wires(&stages);
}

/// Gives how both ended.
#[track_caller]
fn run(stage: &Stage, editor: Editor, calls: &Value) -> (Option<i32>, Ended) {
    let people = json!({"approved": true, "reviewer": "ada"});
    // The program asks as soon as its host is answered, so the host has it all by then.
    let mut ready = initialize();
    ready["calls"] = calls.clone();
    ready["people"] = people;
    stage.script(&[ready, json!({"do": "serve"})]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
    command.args(["run", "--bridge", "agent.harn", "--progress", "none"]);
    command.args(["--scenario", "agent.scenario.toml"]);
    command.current_dir(stage.project());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let errors = fs::File::create(stage.aside("stderr")).expect("the folder can be written");
    let mut child = command.stderr(errors).spawn().expect("it starts");
    let ended = host(stage, editor, 1, |host| {
        host.arg("bare")
            .env("HARN_TEST_PROGRAM", child.id().to_string());
        host.stdin(child.stdout.take().expect("it is piped"));
        host.stdout(child.stdin.take().expect("it is piped"));
    });
    (child.wait().expect("it ends").code(), ended)
}

const BORROWS: &str = r#"
println(host_tool_list())
println(host_has("math", "add"))
println(host_call("math.add", {a: 1, b: 2}))
for operation in ["math.divide", "math.gone", "math.broken", "other.thing"] {
  println(unwrap_err(try { host_call(operation) }))
}
println(host_tool_call("lamp", {on: true}))
println(unwrap_err(try { host_tool_call("door") }))
println(request_approval("deploy", {reviewers: ["ada"]}).reviewers)
let slow = spawn { host_call("math.slow") }
host_call("math.ready")
cancel(slow)
host_call("math.bye")
println("good bye")
"#;

#[test]
fn a_program_without_sessions_uses_what_its_host_lends() {
    let calls = json!({
        "math.add": [{"result": 3}],
        "math.divide": [{"error": {"code": -32001, "message": "not today"}}],
        "math.gone": [{"error": {"code": -32601, "message": "no more"}}],
        "math.broken": [{"error": {"code": 7150, "message": "out of order"}}],
        "math.slow": [],
        "math.ready": [{"meet": "math.slow"}, {"result": null}],
        "math.bye": [{"withdrawn": "math.slow"}, {"result": null}],
        "lamp": [{"result": {"is_on": true}}],
    });
    let parts = [
        "[{deprecated: false, description: , name: lamp, schema: nil}]",
        "true",
        "3",
        "not today",
        "math.gone",
        "out of order (7150)",
        "other.thing",
        "{is_on: true}",
        "Method not found",
        "[ada]",
        "good bye",
    ];
    check(BORROWS, &calls, |status, printed, host| {
        assert_eq!(status, Some(0), "{printed}");
        assert_lines(printed, &parts);
        assert!(host.status.success());
        let served = &host.outcomes[1];
        assert_eq!(served["withdrawn"], json!(["math.slow"]));
        // What it does not lend it is not called for, and what it lends is asked once.
        let mut names = asked(served);
        assert!(!names.contains(&"other.thing"), "{names:?}");
        names.retain(|name| *name == "_harn/host/capabilities");
        assert_eq!(names.len(), 1);
    });
}

/// Each line has a part of its own in it.
#[track_caller]
fn assert_lines(printed: &str, parts: &[&str]) {
    assert_eq!(printed.lines().count(), parts.len(), "{printed}");
    for (line, part) in printed.lines().zip(parts) {
        assert!(line.contains(part), "no `{part}` in `{line}`");
    }
}

const STEERED: &str = r#"
for mode in ["finish_step", "wait_for_completion", "interrupt_immediate"] {
  let lamp = {
    parameters: {on: {type: "bool"}},
    executor: "host_bridge",
    host_capability: "lamp.switch",
  }
  let options = {
    session_id: mode,
    tools: tool_registry() |> tool_define(_, "lamp", "Switches the lamp.", lamp),
    tool_format: "native",
    structural_validator: { turn ->
      host_call("look.${mode}", {})
      nil
    },
    approval_policy: {require_approval: ["lamp"]},
  }
  println(agent_loop("light it", "You look after a desk.", options).visible_text)
}
"#;

#[test]
fn the_loops_of_a_program_without_sessions_are_steered() {
    let steer = |mode: &str| json!([input(mode), {"result": null}]);
    let calls = json!({
        "look.finish_step": steer("finish_step"),
        "look.wait_for_completion": steer("wait_for_completion"),
        "look.interrupt_immediate": steer("interrupt_immediate"),
        "lamp": [lit()],
    });
    let expected = [
        "_harn/host/capabilities",
        // The call is made, and then it is heard.
        "look.finish_step",
        "permission",
        "lamp",
        "look.finish_step",
        // The model answers before that.
        "look.wait_for_completion",
        "permission",
        "lamp",
        "look.wait_for_completion",
        "look.wait_for_completion",
        // There is no call.
        "look.interrupt_immediate",
        "look.interrupt_immediate",
    ];
    check(STEERED, &calls, |status, printed, host| {
        assert_eq!(status, Some(0), "{printed}");
        assert_eq!(printed, "I do.\nI do.\nI do.\n");
        assert_eq!(asked(&host.outcomes[1]), expected);
    });
}

const ASKS_TWICE: &str = r#"
println(unwrap_err(try { host_call("math.add") }))
println(unwrap_err(try { host_call("math.add") }))
exit(3)
"#;

#[test]
fn a_program_outlives_a_host_that_vanishes_during_a_call() {
    let calls = json!({"math.add": [{"vanish": true}]});
    check(ASKS_TWICE, &calls, |status, printed, host| {
        assert_eq!(host.status.signal(), Some(9));
        assert_eq!(status, Some(3), "{printed}");
        assert_lines(printed, &["closed the connection", "math.add"]);
    });
}

#[test]
fn a_program_that_is_interrupted_withdraws_what_it_asked() {
    let calls = json!({"math.add": [{"interrupt": true}]});
    check(ASKS_TWICE, &calls, |status, printed, host| {
        assert_eq!(status, Some(130), "{printed}");
        assert!(host.status.success());
        assert_eq!(host.outcomes[1]["withdrawn"], json!(["math.add"]));
    });
}
