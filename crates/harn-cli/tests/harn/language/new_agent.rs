//! What `harn new agent` gives runs, answers, and can be served, before a line is changed.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use super::Programs;
use crate::program::{finished, program};

/// What the agent says to the question of its page.
const ANSWER: &str = "You have to buy milk and a new lamp.";

fn project() -> Programs {
    let programs = Programs::new(&[]);
    programs.harn(&["new", "agent", "."]).exits_with(0);
    programs
}

#[test]
fn it_runs() {
    let call = project().harn(&["run", ".", "--scenario", "--progress", "none"]);
    call.exits_with(0).says(&format!("{ANSWER}\n"), "");
}

#[test]
fn it_can_be_talked_with() {
    let project = project();
    let prompts = project.path("prompts");
    std::fs::write(&prompts, "What do I have to buy?\n").unwrap();
    let mut chat = program();
    chat.args(["chat", "main.harn", "--scenario"]);
    chat.current_dir(project.root());
    chat.stdin(std::fs::File::open(prompts).unwrap());
    finished(&mut chat).exits_with(0).prints(ANSWER);
}

/// An editor asks, and reads what is said until its question is answered.
#[test]
fn it_is_served_to_editors() {
    let project = project();
    let mut serve = program();
    serve.args(["serve", "acp", "main.harn", "--scenario"]);
    serve.current_dir(project.root());
    serve.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut serve = serve.stderr(Stdio::null()).spawn().unwrap();
    let mut input = serve.stdin.take().unwrap();
    let mut lines = BufReader::new(serve.stdout.take().unwrap()).lines();
    let mut said = String::new();
    let mut ask = |method: &str, parameters: Value| -> Value {
        let request =
            json!({"jsonrpc": "2.0", "id": method, "method": method, "params": parameters});
        writeln!(input, "{request}").unwrap();
        loop {
            let line = lines.next().expect("an answer").unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == method {
                return message["result"].clone();
            }
            let update = &message["params"]["update"];
            if update["sessionUpdate"] == "agent_message_chunk" {
                said += update["content"]["text"].as_str().unwrap();
            }
        }
    };
    ask(
        "initialize",
        json!({"protocolVersion": 1, "clientCapabilities": {}}),
    );
    let session = ask(
        "session/new",
        json!({"cwd": project.root(), "mcpServers": []}),
    );
    let prompt = json!([{"type": "text", "text": "What do I have to buy?"}]);
    let answer = ask(
        "session/prompt",
        json!({"sessionId": session["sessionId"], "prompt": prompt}),
    );
    assert_eq!(answer["stopReason"], "end_turn", "{answer}");
    assert!(said.ends_with(ANSWER), "{said}");
    // The editor closes, and the agent ends.
    drop(input);
    assert!(serve.wait().unwrap().success());
}
