//! Several processes that want one session.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Call, finished, program};

/// An agent that says that it has begun and rests until it is killed.
const RESTING: &str = r#"
pipeline default() {
  llm_mock({tool_calls: [{name: "rest", arguments: {}}]})
  let tools = tool_define(tool_registry(), "rest", "Rests", {
    parameters: {},
    annotations: {kind: "read"},
    handler: { a ->
      println("resting")
      sleep(600s)
    },
  })
  agent_loop("Rest", nil, {
    provider: "mock", model: "gpt-4o", tools: tools, session_id: "talk", tool_format: "native",
  })
}
"#;

/// An agent with one turn.
const TALKING: &str = r#"
pipeline default() {
  llm_mock({text: "Hello."})
  agent_loop("Talk", nil, {provider: "mock", model: "gpt-4o", session_id: "talk"})
  println("said")
}
"#;

const BACKENDS: [&str; 2] = ["sqlite", "file"];

/// A project whose log is of one backend.
struct Project {
    folder: TempDir,
    backend: &'static str,
}

impl Project {
    fn new(backend: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        fs::write(folder.path().join("resting.harn"), RESTING).expect("the folder is ours");
        fs::write(folder.path().join("talking.harn"), TALKING).expect("the folder is ours");
        Self { folder, backend }
    }

    fn harn(&self, arguments: &[&str]) -> Command {
        let mut program = program();
        program.current_dir(self.folder.path());
        program.env("HARN_EVENT_LOG_BACKEND", self.backend);
        program.args(arguments);
        program
    }

    fn call(&self, arguments: &[&str]) -> Call {
        finished(&mut self.harn(arguments))
    }

    /// Starts processes that want the same session; gives the one that has it, once all others
    /// have been refused, with what these have said.
    fn race(&self, processes: usize) -> (Child, Vec<String>) {
        let (sender, outcomes) = mpsc::channel();
        for _ in 0..processes {
            let mut run = self.harn(&["run", "resting.harn"]);
            run.stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = run.spawn().expect("the program was built with the tests");
            let sender = sender.clone();
            std::thread::spawn(move || {
                let mut line = String::new();
                let stdout = child.stdout.as_mut().expect("it is piped");
                BufReader::new(stdout).read_line(&mut line).expect("UTF-8");
                let _the_test_has_failed = sender.send((child, line));
            });
        }
        let (mut owners, mut refused) = (Vec::new(), Vec::new());
        for _ in 0..processes {
            let (mut child, line) = outcomes.recv().expect("each process does something");
            if line == "resting\n" {
                owners.push(child);
                continue;
            }
            let mut complaint = String::new();
            let stderr = child.stderr.as_mut().expect("it is piped");
            stderr.read_to_string(&mut complaint).expect("UTF-8");
            assert_eq!(
                child.wait().expect("it ends").code(),
                Some(1),
                "{complaint}"
            );
            refused.push(complaint);
        }
        assert_eq!(owners.len(), 1, "{refused:?}");
        (owners.remove(0), refused)
    }

    /// How often the session was opened, as its journal says.
    fn generations(&self) -> usize {
        let export = self.call(&["sessions", "export", "talk", "--format", "jsonl"]);
        let export = export.exits_with(0);
        let records = export.stdout.lines().map(|line| {
            let record: Value = serde_json::from_str(line).expect("JSON");
            record
        });
        records
            .filter(|record| record["event"]["kind"] == "opened")
            .count()
    }

    #[track_caller]
    fn verify(&self) {
        self.call(&["events", "verify"]).exits_with(0);
    }
}

fn kill(mut child: Child) {
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
}

#[test]
fn of_processes_that_want_one_session_one_has_it_and_the_others_write_nothing() {
    for backend in BACKENDS {
        for processes in [2, 3, 5, 8] {
            let project = Project::new(backend);
            let (owner, refused) = project.race(processes);
            let told = format!(
                "agent_loop: session 'talk' is in use by process {} on ",
                owner.id()
            );
            for complaint in refused {
                assert!(complaint.contains(&told), "{complaint}");
            }
            kill(owner);
            assert_eq!(project.generations(), 1, "{backend}, {processes} processes");
            project.verify();
        }
    }
}

#[test]
fn a_killed_owner_frees_its_session_at_once() {
    for backend in BACKENDS {
        let project = Project::new(backend);
        for generation in 1..=5 {
            let (owner, _) = project.race(1);
            project.call(&["run", "talking.harn"]).exits_with(1);
            kill(owner);
            let answer = project.call(&["run", "talking.harn"]);
            answer.exits_with(0).prints("said");
            assert_eq!(project.generations(), 2 * generation, "{backend}");
        }
        project.verify();
    }
}

#[test]
fn a_session_that_is_in_use_is_read_by_all() {
    for backend in BACKENDS {
        let project = Project::new(backend);
        let (owner, _) = project.race(1);
        let shown = project.call(&["sessions", "show", "talk"]).exits_with(0);
        assert!(shown.stdout.contains("Rest"), "{shown:?}");
        project.call(&["events", "verify"]).exits_with(0);
        kill(owner);
    }
}

/// A program goes on when it is refused, and can tell why.
#[test]
fn a_program_can_tell_that_a_session_is_in_use() {
    let project = Project::new("sqlite");
    let text = r#"
pipeline default() {
  let refused = try { agent_session_open("talk") }
  println(error_category(unwrap_err(refused)))
}
"#;
    fs::write(project.folder.path().join("asking.harn"), text).expect("the folder is ours");
    let (owner, _) = project.race(1);
    let answer = project.call(&["run", "asking.harn"]);
    answer.exits_with(0).prints("resource_busy");
    kill(owner);
}

/// Somebody who chats hears it before anything is asked.
#[test]
fn a_chat_does_not_go_on_with_a_session_that_is_in_use() {
    for backend in BACKENDS {
        let project = Project::new(backend);
        let (owner, _) = project.race(1);
        for arguments in [&["chat", "--continue"][..], &["chat", "--session", "talk"]] {
            let call = project.call(arguments).exits_with(1);
            let told = format!(
                "error: session 'talk' is in use by process {} on ",
                owner.id()
            );
            assert!(call.stderr.starts_with(&told), "{backend}: {call:?}");
            assert_eq!(call.stdout, "", "{backend}");
        }
        kill(owner);
    }
}
