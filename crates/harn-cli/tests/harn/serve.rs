//! `harn serve acp`, as an editor starts it.

mod listening;
mod sdk;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::program;

/// A model that runs a command and then says something.
const RUNS: &str = r#"
[[turn]]
when = "Go"
call = [{ tool = "run", arguments = { command = "echo from a process" } }]

[[turn]]
text = "Done."
repeat = true
"#;

/// A folder with a program and a scenario.
fn folder(program: &str, scenario: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    fs::write(folder.path().join("agent.harn"), program).expect("it can be written");
    fs::write(folder.path().join("s.toml"), scenario).expect("it can be written");
    folder
}

/// The command that serves, with nothing of the person who runs the tests around it.
fn command(folder: &Path, options: &[&str]) -> Command {
    let mut command = program();
    command.args(["serve", "acp", "--scenario", "s.toml"]);
    command.args(options).current_dir(folder);
    command.env("HARN_LLM_PROVIDER", "openai");
    command.env("HARN_LLM_MODEL", "gpt-4o");
    command.env("PATH", "/usr/bin:/bin");
    command
}

/// An editor that has started an agent.
struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    cwd: PathBuf,
    last_id: u64,
    seen: Vec<Value>,
}

impl Editor {
    fn start(folder: &Path, options: &[&str]) -> Self {
        let mut command = command(folder, options);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let output = child.stdout.take().expect("it is piped");
        let mut editor = Self {
            input: child.stdin.take(),
            lines: BufReader::new(output).lines(),
            child,
            cwd: folder.canonicalize().expect("it is there"),
            last_id: 0,
            seen: Vec::new(),
        };
        editor.call("initialize", json!({"protocolVersion": 1}));
        editor
    }

    fn ask(&mut self, method: &str, parameters: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters});
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{message}").expect("the agent reads");
        id
    }

    fn read(&mut self) -> Option<Value> {
        let line = self.lines.next()?.expect("it is UTF-8");
        let message: Value = serde_json::from_str(&line).expect("every line is a message");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        self.seen.push(message.clone());
        Some(message)
    }

    #[track_caller]
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.ask(method, parameters);
        loop {
            let message = self.read().expect("every request is answered");
            if message["method"] == "session/request_permission" {
                self.refuse(&message);
                continue;
            }
            if message["id"] == id {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].clone();
            }
        }
    }

    /// The error that a request is answered with.
    #[track_caller]
    fn refusal(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.ask(method, parameters);
        loop {
            let message = self.read().expect("every request is answered");
            if message["id"] == id {
                assert!(message.get("result").is_none(), "{message}");
                return message["error"].clone();
            }
        }
    }

    /// Does not agree to what the agent wants to do.
    fn refuse(&mut self, question: &Value) {
        let outcome = json!({"outcome": "selected", "optionId": "reject_once"});
        let answer =
            json!({"jsonrpc": "2.0", "id": question["id"], "result": {"outcome": outcome}});
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{answer}").expect("the agent reads");
    }

    fn session(&mut self) -> String {
        let parameters = json!({"cwd": self.cwd, "mcpServers": []});
        let session = self.call("session/new", parameters);
        session["sessionId"]
            .as_str()
            .expect("it has an id")
            .to_owned()
    }

    fn prompt(&mut self, session: &str, text: &str) -> Value {
        let prompt = json!([{"type": "text", "text": text}]);
        self.call(
            "session/prompt",
            json!({"sessionId": session, "prompt": prompt}),
        )
    }

    fn said(&self) -> String {
        let updates = self.seen.iter().map(|message| &message["params"]["update"]);
        let chunks = updates.filter(|one| one["sessionUpdate"] == "agent_message_chunk");
        chunks
            .filter_map(|one| one["content"]["text"].as_str())
            .collect()
    }

    /// Closes the input; gives the status and what was said to the operator.
    fn leave(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        while self.read().is_some() {}
        let output = self.child.wait_with_output().expect("it ends");
        let told = String::from_utf8(output.stderr).expect("we print UTF-8");
        (output.status.code(), told)
    }
}

#[test]
fn the_output_is_the_protocol_and_nothing_else() {
    let program = "pipeline answer(prompt, session_id) {\n\
                   println(\"printed\")\n\
                   agent_loop(prompt, \"You run.\", {session_id: session_id, tools: coding_tools()})\n}";
    let folder = folder(program, RUNS);
    let mut editor = Editor::start(folder.path(), &["agent.harn"]);
    let session = editor.session();
    let answer = editor.prompt(&session, "Go");
    assert_eq!(answer["stopReason"], "end_turn");
    assert_eq!(editor.said(), "Done.");
    let (status, told) = editor.leave();
    assert_eq!(status, Some(0), "{told}");
    assert!(told.contains("printed"), "{told}");
}

#[test]
fn a_session_that_another_agent_has_open_is_neither_loaded_nor_deleted() {
    let program = "pipeline answer(prompt, session_id) {\n\
                   agent_loop(prompt, \"You talk.\", {session_id: session_id})\n}";
    let folder = folder(program, "[[turn]]\ntext = \"Heard.\"\nrepeat = true\n");
    let mut first = Editor::start(folder.path(), &["agent.harn"]);
    let session = first.session();
    first.prompt(&session, "one");
    let mut second = Editor::start(folder.path(), &["agent.harn"]);
    let cwd = second.cwd.clone();
    let parameters = json!({"sessionId": session, "cwd": cwd, "mcpServers": []});
    for method in ["session/load", "session/resume", "session/delete"] {
        let error = second.refusal(method, parameters.clone());
        assert_eq!(error["code"], -32603, "{method}: {error}");
        let process = first.child.id();
        let told = format!("session '{session}' is in use by process {process} on ");
        let message = error["message"].as_str().expect("it says why");
        assert!(message.starts_with(&told), "{method}: {error}");
        assert_eq!(error["data"]["reason"], "in_use", "{method}");
        assert_eq!(error["data"]["sessionId"], session, "{method}");
        assert_eq!(error["data"]["owner"]["process"], process, "{method}");
    }
    assert_eq!(first.leave().0, Some(0));
    second.call("session/load", parameters);
    second.prompt(&session, "two");
    assert_eq!(second.leave().0, Some(0));
}

#[test]
fn a_session_goes_on_in_another_process() {
    let program = "pipeline answer(prompt, session_id) {\n\
                   agent_loop(prompt, \"You talk.\", {session_id: session_id})\n}";
    let folder = folder(program, "[[turn]]\ntext = \"Heard.\"\nrepeat = true\n");
    let mut first = Editor::start(folder.path(), &["agent.harn"]);
    let session = first.session();
    first.prompt(&session, "one");
    assert_eq!(first.leave().0, Some(0));
    let mut second = Editor::start(folder.path(), &["agent.harn"]);
    let parameters = json!({"sessionId": session, "cwd": second.cwd, "mcpServers": []});
    second.call("session/load", parameters);
    assert_eq!(second.said(), "Heard.");
    second.prompt(&session, "two");
    assert_eq!(second.said(), "Heard.Heard.");
    assert_eq!(second.leave().0, Some(0));
}

#[test]
fn a_process_that_was_killed_leaves_its_sessions_behind() {
    let scenario = "[[turn]]\nwhen = \"Go\"\ntext = \"I begin.\"\n\
                    call = [{ tool = \"run\", arguments = { command = \"echo x >> ran; cat pipe\" } }]\n\
                    [[turn]]\ntext = \"I go on.\"\nrepeat = true\n";
    let program = "pipeline answer(prompt, session_id) {\n\
                   agent_loop(prompt, \"You run.\", {session_id: session_id, tools: coding_tools()})\n}";
    let folder = folder(program, scenario);
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("there is a mkfifo").success());
    let mut first = Editor::start(folder.path(), &["agent.harn"]);
    let session = first.session();
    let prompt = json!([{"type": "text", "text": "Go"}]);
    first.ask(
        "session/prompt",
        json!({"sessionId": session, "prompt": prompt}),
    );
    // Whoever opens it to write waits for somebody to open it to read: the command has begun.
    let pipe = fs::OpenOptions::new()
        .write(true)
        .open(&pipe)
        .expect("it can be opened");
    first.child.kill().expect("it runs");
    first.child.wait().expect("it ends");
    drop(pipe);
    let mut second = Editor::start(folder.path(), &["agent.harn"]);
    let parameters = json!({"sessionId": session, "cwd": second.cwd, "mcpServers": []});
    second.call("session/load", parameters);
    let updates = second
        .seen
        .iter()
        .map(|message| &message["params"]["update"]);
    let ends = updates.filter(|one| one["status"] == "failed").count();
    assert_eq!(
        ends, 1,
        "the call that was running has ended: {:#?}",
        second.seen
    );
    let answer = second.prompt(&session, "Go on");
    assert_eq!(answer["stopReason"], "end_turn");
    let ran = fs::read_to_string(folder.path().join("ran")).expect("it ran");
    assert_eq!(ran, "x\n", "no tool ran twice");
    second.leave();
}

#[test]
fn the_coding_agent_has_modes_and_asks_before_it_runs_something() {
    let folder = folder("", RUNS);
    let mut editor = Editor::start(folder.path(), &[]);
    let parameters = json!({"cwd": editor.cwd, "mcpServers": []});
    let session = editor.call("session/new", parameters);
    assert_eq!(session["modes"]["currentModeId"], "code");
    let id = session["sessionId"].as_str().expect("it has an id");
    let answer = editor.prompt(id, "Go");
    assert_eq!(answer["stopReason"], "end_turn");
    assert_eq!(editor.said(), "Done.");
    let updates = editor
        .seen
        .iter()
        .map(|message| &message["params"]["update"]);
    assert!(updates.into_iter().any(|one| one["status"] == "failed"));
    editor.leave();
}

#[test]
fn personas_of_a_project_are_modes_of_a_program_that_takes_one() {
    let program = "pipeline answer(prompt, mode) { return \"I am ${mode}.\" }";
    let folder = folder(program, RUNS);
    let manifest = "[[personas]]\nname = \"reader\"\n[[personas]]\nname = \"writer\"\n";
    fs::write(folder.path().join("harn.toml"), manifest).expect("it can be written");
    let mut editor = Editor::start(folder.path(), &["agent.harn"]);
    let session = editor.session();
    editor.call(
        "session/set_mode",
        json!({"sessionId": session, "modeId": "writer"}),
    );
    editor.prompt(&session, "Who are you?");
    assert_eq!(editor.said(), "I am writer.");
    editor.leave();
}
