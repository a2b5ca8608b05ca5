//! Hosts that lend an agent what they can do, one on each client library.
//!
//! They talk to it as editors do. A host is a process, and one that vanishes is killed.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Stdio};

use serde_json::{Value, json};

use crate::acpx::Acpx;
use crate::sdk::{assert_updates, statuses};
use crate::stage::{Editor, Stage};

/// An agent whose lamp is its host's. Before its calls are made, the host may look at them: that
/// is the moment to interrupt.
const DESK: &str = r#"
fn look(turn) {
  try { host_call("desk.look", {}) }
  return nil
}

fn deploy(arguments) {
  return "deployed for ${request_approval("deploy", {reviewers: ["ada"]}).reviewers[0]}"
}

fn tools() {
  let lamp = {
    parameters: {on: {type: "bool"}},
    executor: "host_bridge",
    host_capability: "lamp.switch",
  }
  return tool_registry()
    |> tool_define(_, "lamp", "Switches the lamp.", lamp)
    |> tool_define(_, "deploy", "Deploys.", {handler: deploy})
}

pipeline chat(prompt, session_id) {
  let options = {
    session_id: session_id,
    tools: tools(),
    tool_format: "native",
    structural_validator: look,
    approval_policy: {require_approval: ["lamp"]},
  }
  return agent_loop(prompt, "You look after a desk.", options).visible_text
}
"#;

/// What its model says.
pub(crate) const SCENARIO: &str = r#"
first_pause_ms = 0
pause_ms = 0

[[turn]]
when = "light*"
text = "I switch it on."
call = [{ tool = "lamp", arguments = { on = true } }]
repeat = true

[[turn]]
when = "*lit*"
text = "It is on."
repeat = true

[[turn]]
when = "*rather not*"
text = "Then not."
repeat = true

[[turn]]
when = "*permission_denied*"
text = "I may not."
repeat = true

[[turn]]
when = "*closed the connection*"
text = "It has gone."
repeat = true

[[turn]]
when = "Hurry*"
text = "I do."
repeat = true

[[turn]]
when = "*deployed for ada*"
text = "It is out."
repeat = true

[[turn]]
when = "deploy*"
call = [{ tool = "deploy", arguments = {} }]
repeat = true

[[turn]]
text = "What a pity."
repeat = true
"#;

/// The calls of a host whose lamp does something else than the usual.
fn lamp(actions: Value) -> Value {
    json!({"desk.look": [{"result": null}], "lamp": actions})
}

pub(crate) fn lit() -> Value {
    json!({"result": "lit"})
}

pub(crate) fn input(mode: &str) -> Value {
    json!({"once": {"content": "Hurry", "mode": mode}})
}

pub(crate) fn initialize() -> Value {
    json!({"do": "initialize", "harn": {"bridge": {"version": 1}}})
}

fn light(calls: Value) -> Value {
    json!({"do": "prompt", "text": "light it", "calls": calls})
}

/// What became of a host: how it ended, and what came of its steps.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) outcomes: Vec<Value>,
}

/// Lets a host do what the script says, to its end.
#[track_caller]
pub(crate) fn host(
    stage: &Stage,
    editor: Editor,
    number: u8,
    finish: impl FnOnce(&mut Command),
) -> Ended {
    let mut command = editor.command("host");
    let report = stage.aside(&format!("report-{number}"));
    command.arg(stage.aside("steps.json")).arg(&report);
    command.env(
        "HARN_TEST_WIRE",
        stage.aside(&format!("wires/host-{number}")),
    );
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::piped());
    finish(&mut command);
    let child = command.spawn().expect("the host is installed");
    // It holds the other ends of pipes, which nobody else must.
    drop(command);
    let output = child.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(told, "", "{editor:?}");
    let report = fs::read_to_string(report).expect("it has done something");
    let outcomes = report.lines().map(serde_json::from_str);
    Ended {
        status: output.status,
        outcomes: outcomes
            .map(|outcome| outcome.expect("it is JSON"))
            .collect(),
    }
}

/// What a host was asked, by the names of calls or else by methods.
pub(crate) fn asked(outcome: &Value) -> Vec<&str> {
    let asked = outcome["asked"].as_array().expect("it is a list");
    let names = asked.iter().map(|one| match one["method"].as_str() {
        Some("session/request_permission") => Some("permission"),
        method => one["name"].as_str().or(method),
    });
    names.map(|name| name.expect("it has a name")).collect()
}

/// What a host does with an agent until it vanishes in the middle of a call.
fn work(stage: &Stage) -> Vec<Value> {
    let refused = json!({"code": -32001, "message": "I would rather not"});
    let interrupt = json!({
        "desk.look": [input("interrupt_immediate"), {"result": null}], "lamp": [lit()],
    });
    vec![
        initialize(),
        json!({"do": "new", "cwd": stage.project()}),
        light(lamp(json!([lit()]))),
        json!({"do": "prompt", "text": "light it", "permit": "reject_once"}),
        json!({
            "do": "prompt", "text": "light it", "permit": "allow_once",
            "calls": lamp(json!([{"error": refused}])),
        }),
        json!({
            "do": "prompt", "text": "deploy it", "people": {"approved": true, "reviewer": "ada"},
        }),
        light(lamp(json!([input("finish_step"), lit()]))),
        light(lamp(json!([input("wait_for_completion"), lit()]))),
        light(interrupt),
        light(lamp(json!([{"cancel": true}]))),
        light(lamp(json!([{"vanish": true}]))),
    ]
}

/// What it does when it has come back: another process that knows the session.
fn return_to(stage: &Stage, id: &Value) -> Vec<Value> {
    let again = |step: &str| json!({"do": step, "session": id, "cwd": stage.project()});
    let mut meanwhile = again("load_until");
    meanwhile["text"] = json!("It has gone.");
    vec![
        initialize(),
        meanwhile,
        // Whatever is left of the turn is over then.
        json!({"do": "close"}),
        again("load"),
        light(lamp(json!([lit()]))),
    ]
}

#[track_caller]
fn check_agent(editor: Editor) {
    let stage = Stage::of(DESK, SCENARIO);
    let agent = stage.listen(None);
    let connect = |command: &mut Command| {
        command.arg("ws").arg(agent.url("ws"));
    };
    stage.script(&work(&stage));
    let first = host(&stage, editor, 1, connect);
    assert_eq!(first.status.signal(), Some(9), "{editor:?} has vanished");
    let turns = &first.outcomes;
    let id = &turns[1]["sessionId"];
    assert_lending(&turns[2], &turns[3], &turns[4]);
    assert_people(&turns[5]);
    assert_steering(&turns[6..9]);
    let cancelled = &turns[9];
    assert_eq!(cancelled["stopReason"], "cancelled");
    assert_eq!(cancelled["withdrawn"], json!(["lamp"]));
    assert_eq!(turns.len(), 10, "the last one has no end");

    stage.script(&return_to(&stage, id));
    let second = host(&stage, editor, 2, connect);
    assert!(second.status.success(), "{editor:?}");
    let [_, meanwhile, _, _, again] = &second.outcomes[..] else {
        panic!("it has done everything");
    };
    let ends = meanwhile["updates"]
        .as_array()
        .expect("it is a list")
        .iter();
    let lost = ends.rev().find(|update| update["status"] == "failed");
    let lost = &lost.expect("the call has an end")["_meta"]["harn"];
    assert_eq!(lost["errorCategory"], "host_bridge_error");
    assert_eq!(again["text"], "I switch it on.It is on.");
    for outcome in first.outcomes.iter().chain(&second.outcomes) {
        assert_updates(outcome);
    }
    stage.check_wire();
}

/// A tool that is lent is called with the client's consent, and may refuse by itself.
#[track_caller]
fn assert_lending(used: &Value, forbidden: &Value, refused: &Value) {
    assert_eq!(used["text"], "I switch it on.It is on.");
    let turn = ["desk.look", "permission", "lamp", "desk.look"];
    // What the host lends is asked once.
    let first = [&["_harn/host/capabilities"][..], &turn].concat();
    assert_eq!(asked(used), first);
    let call = &used["asked"][3];
    assert_eq!(call["method"], "_harn/host/builtin");
    assert_eq!(call["args"], json!([{"on": true}]));
    assert_eq!(statuses(used), ["pending", "in_progress", "completed"]);
    let updates = used["updates"].as_array().expect("it is a list");
    let end = updates
        .iter()
        .find(|update| update["status"] == "completed");
    let executor = &end.expect("it has one")["_meta"]["harn"]["executor"];
    assert_eq!(executor, "host_bridge");
    assert_eq!(forbidden["text"], "I switch it on.I may not.");
    assert_eq!(asked(forbidden), ["desk.look", "permission", "desk.look"]);
    assert_eq!(refused["text"], "I switch it on.Then not.");
    let updates = refused["updates"].as_array().expect("it is a list");
    let end = updates.iter().find(|update| update["status"] == "failed");
    let category = &end.expect("it has one")["_meta"]["harn"]["errorCategory"];
    assert_eq!(category, "permission_denied");
}

/// The host was told of an approval that is needed, and has given it.
#[track_caller]
fn assert_people(turn: &Value) {
    assert_eq!(turn["text"], "It is out.");
    let told = turn["told"].as_array().expect("it is a list");
    let requested = json!({"method": "_harn/hitl/requested", "kind": "approval"});
    assert_eq!(told.iter().filter(|one| **one == requested).count(), 1);
    assert_eq!(turn["answers"][0]["outcome"], "recorded");
}

/// What the host says is heard when its mode allows, and each of them once.
#[track_caller]
fn assert_steering(turns: &[Value]) {
    let [finish, wait, interrupt] = turns else {
        panic!("there are three modes");
    };
    // After the call, and instead of an answer to it.
    assert_eq!(finish["text"], "I switch it on.I do.");
    assert_eq!(statuses(finish).last(), Some(&"completed"));
    // After the answer to the call.
    assert_eq!(wait["text"], "I switch it on.It is on.I do.");
    // Before the call, which is not made.
    assert_eq!(interrupt["text"], "I switch it on.I do.");
    assert_eq!(asked(interrupt), ["desk.look", "desk.look"]);
    assert_eq!(statuses(interrupt).last(), Some(&"failed"));
    for turn in turns {
        assert!(turn["answers"][0]["index"].is_u64(), "{turn}");
        let updates = turn["updates"].as_array().expect("it is a list").iter();
        let heard = updates.filter(|update| update["content"]["text"] == "Hurry");
        assert_eq!(heard.count(), 1);
    }
}

#[test]
fn a_python_host_lends_steers_vanishes_and_comes_back() {
    check_agent(Editor::Python);
}

#[test]
fn a_typescript_host_lends_steers_vanishes_and_comes_back() {
    check_agent(Editor::TypeScript);
}

#[test]
fn a_client_that_lends_nothing_is_asked_for_nothing_by_the_same_program() {
    let stage = Stage::of(DESK, SCENARIO);
    let told = Acpx::new(&stage).run(&["--approve-all", "--format", "quiet", "exec", "light it"]);
    // The lamp is nobody's, and the model is told so.
    told.exits_with(0).says("I may not.");
    let wire = stage.wire_text();
    let frames = wire.lines().map(serde_json::from_str);
    let frames = frames.map(|frame| -> Value { frame.expect("a line is a frame") });
    let asks = frames.filter(|frame| frame.get("id").is_some() && frame.get("method").is_some());
    let methods: Vec<Value> = asks.map(|frame| frame["method"].clone()).collect();
    let is_of_the_bridge = |method: &&Value| {
        let method = method.as_str().expect("it is text");
        method.starts_with('_') || !method.contains('/')
    };
    assert_eq!(methods.iter().find(is_of_the_bridge), None);
    stage.check_wire();
}
