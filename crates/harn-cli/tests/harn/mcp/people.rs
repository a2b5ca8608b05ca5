//! Tool servers that ask people, where there is no host: `harn hitl` lists and answers.

use std::fs;

use serde_json::{Value, json};

use crate::hitl::{Project, id};
use crate::program::finished;

/// A waiter, who asks for a table as a form or for what the first argument says. Without
/// anybody to ask, it says so.
pub(super) const SERVER: &str = r#"
import json, sys

FIELD = sys.argv[1]
CAN = {}
WAITING = []

def send(message):
    print(json.dumps(dict(message, jsonrpc="2.0")), flush=True)

def answer(request, words):
    send({"id": request["id"], "result": {"content": [{"type": "text", "text": words}]}})

for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if method == "initialize":
        CAN.update(request["params"]["capabilities"])
        info = {"name": "waiter", "version": "1"}
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        send({"id": request["id"], "result": result})
    elif method == "tools/list":
        tool = {"name": "seat", "inputSchema": {"type": "object"}}
        send({"id": request["id"], "result": {"tools": [tool]}})
    elif method == "tools/call":
        if "elicitation" not in CAN:
            answer(request, "nobody can be asked")
            continue
        WAITING.append(request)
        schema = {"type": "object", "properties": {FIELD: {"type": "integer"}}, "required": [FIELD]}
        form = {"mode": "form", "message": "Which one?", "requestedSchema": schema}
        send({"id": "q", "method": "elicitation/create", "params": form})
    elif method is None and request.get("id") == "q":
        answer(WAITING.pop(), json.dumps(request.get("result"), sort_keys=True))
    elif "id" in request:
        send({"id": request["id"], "error": {"code": -32601, "message": "no " + str(method)}})
"#;

/// An agent who is seated by the waiter, and says what the waiter heard.
const PROGRAM: &str = r#"
pipeline default() {
  agent_subscribe("s", { event ->
    if event.type.starts_with("hitl_") { println(event.type) }
  })
  llm_mock({tool_calls: [{name: "waiter__seat", arguments: {}}]})
  llm_mock({text: "Seated."})
  let waiter = {name: "waiter", command: "python3", args: [source_dir() + "/waiter.py", "FIELD"]}
  let options = {provider: "mock", tool_format: "native", session_id: "s", mcp_servers: [waiter]}
  let result = agent_loop("go", nil, options)
  println(result.transcript.messages[result.transcript.messages.count() - 2].content)
}
"#;

/// A project whose waiter asks for `field`.
fn asking_for(field: &str) -> Project {
    let project = Project::with(&PROGRAM.replace("FIELD", field));
    fs::write(project.0.path().join("waiter.py"), SERVER).unwrap();
    project
}

#[test]
fn a_server_asks_a_person_who_answers_in_another_terminal() {
    let project = asking_for("table");
    let mut running = project.start("hitl_requested");
    let request = project.only();
    assert_eq!(request["request_kind"], "question");
    assert_eq!(request["prompt"], "mcp server 'waiter' asks: Which one?");
    assert_eq!(request["session_id"], "s");
    assert_eq!(request["is_waited_for"], true);
    assert_eq!(request["metadata"]["server"], "waiter");
    let asked = &request["metadata"]["schema"]["properties"];
    assert_eq!(*asked, json!({"table": {"type": "integer"}}));
    project
        .answers(&id(&request), &["--text", "7"])
        .exits_with(0);
    assert_eq!(running.line(), "hitl_resolved");
    let heard: Value = serde_json::from_str(&running.line()).unwrap();
    assert_eq!(heard, json!({"action": "accept", "content": {"table": 7}}));
    assert_eq!(project.open(), Vec::<Value>::new());
}

#[test]
fn a_person_may_decline_what_a_server_asks() {
    let project = asking_for("table");
    let mut running = project.start("hitl_requested");
    project
        .answers(&id(&project.only()), &["--value", "null"])
        .exits_with(0);
    assert_eq!(running.line(), "hitl_resolved");
    let heard: Value = serde_json::from_str(&running.line()).unwrap();
    assert_eq!(heard, json!({"action": "decline"}));
}

#[test]
fn a_run_that_was_killed_while_a_server_asked_goes_on_with_the_answer() {
    let project = asking_for("table");
    project.start("hitl_requested").dies();
    let request = project.only();
    assert_eq!(request["is_waited_for"], false);
    project
        .answers(&id(&request), &["--value", r#"{"table": 3}"#])
        .exits_with(0);
    let run = project.harn(&["run", "main.harn"]).exits_with(0);
    let mut lines = run.stdout.lines();
    assert_eq!(lines.next(), Some("hitl_resolved"));
    let heard: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert_eq!(heard, json!({"action": "accept", "content": {"table": 3}}));
    assert_eq!(project.open(), Vec::<Value>::new());
}

#[test]
fn where_nobody_would_find_the_question_a_server_does_not_hear_that_it_may_ask() {
    let project = asking_for("table");
    let mut program = project.program();
    program
        .args(["run", "main.harn"])
        .env("HARN_EVENT_LOG_BACKEND", "memory");
    let run = finished(&mut program).exits_with(0);
    assert_eq!(run.stdout, "nobody can be asked\n");
}

#[test]
fn a_server_that_asks_for_a_secret_is_declined_and_nobody_sees_it() {
    let project = asking_for("password");
    let run = project.harn(&["run", "main.harn"]).exits_with(0);
    let heard: Value = serde_json::from_str(run.stdout.trim_end()).unwrap();
    assert_eq!(heard, json!({"action": "decline"}));
    let warned = "mcp server 'waiter' asks for 'password' in a form";
    assert!(run.stderr.contains(warned), "{}", run.stderr);
    assert_eq!(project.open(), Vec::<Value>::new());
}
