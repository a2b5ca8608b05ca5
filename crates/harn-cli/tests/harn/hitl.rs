//! Programs that wait for people, and `harn hitl`, over real processes and a real log.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Call, finished, program};

/// A program that asks, and says when it has if it is to.
const QUESTION: &str = r#"
pipeline default() {
  let asking = spawn { ask_user("Which colour?", {timeout: 1h}) }
  if argv == ["aloud"] {
    while hitl_pending().empty() { sleep(1ms) }
    println("asked")
  }
  println("the answer is ${await(asking)}")
}
"#;

/// An agent whose tool needs an approval.
const AGENT: &str = r#"
fn deploy(args) {
  let approval = request_approval("deploy v1", {reviewers: ["ada", "bob"], quorum: 2, deadline: 1h})
  return "approved by ${approval.reviewers.join(" and ")}"
}

pipeline default() {
  agent_subscribe("s", { event ->
    if event.type.starts_with("hitl_") { println(event.type) }
  })
  let tools = tool_registry() |> tool_define(_, "deploy", "Deploys.", {handler: deploy})
  llm_mock({tool_calls: [{name: "deploy", arguments: {}}]})
  llm_mock({text: "Deployed."})
  let options = {provider: "mock", tools: tools, tool_format: "native", session_id: "s"}
  let result = agent_loop("go", nil, options)
  println(result.transcript.messages[result.transcript.messages.count() - 2].content)
}
"#;

/// A project, gone after the test.
pub(crate) struct Project(pub(crate) TempDir);

impl Project {
    pub(crate) fn with(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        fs::write(folder.path().join("main.harn"), text).expect("the folder is ours");
        Self(folder)
    }

    pub(crate) fn program(&self) -> Command {
        let mut program = program();
        program.current_dir(self.0.path()).env("USER", "ada");
        program
    }

    pub(crate) fn harn(&self, arguments: &[&str]) -> Call {
        finished(self.program().args(arguments))
    }

    /// Starts the program, and waits until it has said this.
    pub(crate) fn start(&self, said: &str) -> Running {
        let mut child = self
            .program()
            .args(["run", "main.harn", "--", "aloud"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program was built with the tests");
        let stdout = child.stdout.take().expect("it is piped");
        let mut running = Running {
            child,
            stdout: BufReader::new(stdout),
        };
        while running.line() != said {}
        running
    }

    /// What is open.
    pub(crate) fn open(&self) -> Vec<Value> {
        let listed = self.harn(&["hitl", "list", "--json"]).exits_with(0).json();
        listed["requests"].as_array().expect("a list").clone()
    }

    /// The only request that is open.
    #[track_caller]
    pub(crate) fn only(&self) -> Value {
        let mut open = self.open();
        assert_eq!(open.len(), 1, "{open:?}");
        open.remove(0)
    }

    #[track_caller]
    pub(crate) fn answers(&self, id: &str, how: &[&str]) -> Call {
        let arguments = [&["hitl", "answer", id], how].concat();
        self.harn(&arguments)
    }

    /// The events of the session about people: type, request and outcome.
    fn events(&self) -> Vec<(String, String, Value)> {
        let shown = self.harn(&["events", "show", "--session", "s", "--json"]);
        let lines = shown.stdout.lines().map(|line| {
            let record: Value = serde_json::from_str(line).expect("a record a line");
            record["payload"]["event"].clone()
        });
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        lines
            .filter(|event| text(&event["type"]).starts_with("hitl_"))
            .map(|event| {
                (
                    text(&event["type"]),
                    text(&event["request_id"]),
                    event["outcome"].clone(),
                )
            })
            .collect()
    }
}

/// A program that runs.
pub(crate) struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Running {
    #[track_caller]
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.stdout.read_line(&mut line).expect("we print UTF-8");
        assert!(read > 0, "it has ended");
        line.trim_end().to_owned()
    }

    /// Ends it as a power cut would.
    pub(crate) fn dies(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it is ours");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _it_may_have_ended = self.child.kill();
        let _it_may_have_ended = self.child.wait();
    }
}

pub(crate) fn id(request: &Value) -> String {
    request["request_id"]
        .as_str()
        .expect("it has one")
        .to_owned()
}

#[test]
fn a_question_is_answered_in_another_terminal() {
    let project = Project::with(QUESTION);
    let mut running = project.start("asked");
    let request = project.only();
    assert_eq!(request["request_kind"], "question");
    assert_eq!(request["prompt"], "Which colour?");
    assert_eq!(request["agent"], "harn");
    assert_eq!(request["is_waited_for"], true);
    let said = project
        .answers(&id(&request), &["--text", "blue"])
        .exits_with(0);
    assert_eq!(said.stderr, format!("answered {}\n", id(&request)));
    assert_eq!(running.line(), "the answer is blue");
    assert_eq!(project.open(), Vec::<Value>::new());
}

#[test]
fn a_run_that_was_killed_goes_on_with_the_answer() {
    let project = Project::with(AGENT);
    project.start("hitl_requested").dies();
    let request = project.only();
    assert_eq!(request["is_waited_for"], false);
    assert_eq!(request["session_id"], "s");
    assert_eq!(request["approvers"], json!(["ada", "bob"]));
    let said = project.answers(&id(&request), &["--approve"]).exits_with(0);
    assert!(said.stderr.contains("when it is started again"), "{said:?}");
    project
        .answers(&id(&request), &["--approve", "--reviewer", "bob"])
        .exits_with(0);
    assert_eq!(project.open(), Vec::<Value>::new());
    let run = project.harn(&["run", "main.harn"]).exits_with(0);
    assert_eq!(run.stdout, "hitl_resolved\napproved by ada and bob\n");
    assert_eq!(
        project.events(),
        [
            ("hitl_requested".to_owned(), id(&request), Value::Null),
            ("hitl_resolved".to_owned(), id(&request), json!("answered")),
        ]
    );
    let verified = project.harn(&["events", "verify"]);
    assert!(verified.stdout.contains("interrupted"), "{verified:?}");
    verified.exits_with(0);
}

#[test]
fn a_program_that_is_started_again_waits_for_the_same_answer_and_no_longer() {
    let project = Project::with(QUESTION);
    project.start("asked").dies();
    let first = project.only();
    let again = project.start("asked");
    let second = project.only();
    assert_eq!(second["is_waited_for"], true);
    let same = ["request_id", "timestamp", "deadline"];
    for key in same {
        assert_eq!(first[key], second[key], "{key}");
    }
    again.dies();
    project
        .answers(&id(&first), &["--text", "red"])
        .exits_with(0);
    let run = project.harn(&["run", "main.harn"]).exits_with(0);
    assert_eq!(run.stdout, "the answer is red\n");
    // What was answered is over: the next run asks again.
    let _running = project.start("asked");
    assert_ne!(id(&project.only()), id(&first));
}

#[test]
fn two_programs_that_run_do_not_share_a_question() {
    let project = Project::with(QUESTION);
    let mut first = project.start("asked");
    let first_id = id(&project.only());
    let mut second = project.start("asked");
    let open = project.open();
    assert_eq!(open.len(), 2);
    project
        .answers(&id(&open[1]), &["--text", "two"])
        .exits_with(0);
    assert_eq!(second.line(), "the answer is two");
    project
        .answers(&first_id, &["--value", "[1]"])
        .exits_with(0);
    assert_eq!(first.line(), "the answer is [1]");
}

#[test]
fn a_program_that_is_interrupted_takes_its_question_back() {
    let project = Project::with(QUESTION);
    let mut running = project.start("asked");
    let request = project.only();
    let process = i32::try_from(running.child.id()).expect("a process id");
    let process = rustix::process::Pid::from_raw(process).expect("a process id");
    rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it runs");
    let status = running.child.wait().expect("it is ours");
    assert_eq!(status.code(), Some(130));
    assert_eq!(project.open(), Vec::<Value>::new());
    let late = project
        .answers(&id(&request), &["--text", "blue"])
        .exits_with(1);
    assert_eq!(
        late.stderr,
        format!("error: {} is over: it was cancelled\n", id(&request))
    );
}

#[test]
fn what_cannot_be_answered_is_refused_in_words() {
    let project = Project::with(AGENT);
    let nothing = project.harn(&["hitl", "list"]).exits_with(1);
    assert!(
        nothing.stderr.contains("there is no event log here"),
        "{nothing:?}"
    );
    let mut running = project.start("hitl_requested");
    let id = id(&project.only());
    for (request, how, said) in [
        (
            "nobody",
            &["--approve"][..],
            "there is no request nobody; `harn hitl list` shows what is open".to_owned(),
        ),
        (
            &id,
            &["--text", "yes"],
            format!("{id} is an approval, which needs to be approved or denied"),
        ),
        (
            &id,
            &["--approve", "--reviewer", "eve"],
            format!("{id} can be answered by ada, bob and not by eve"),
        ),
    ] {
        let call = project.answers(request, how).exits_with(1);
        assert_eq!(call.stderr, format!("error: {said}\n"));
    }
    let no_json = project.answers(&id, &["--value", "{"]).exits_with(1);
    assert!(
        no_json.stderr.starts_with("error: --value is no JSON: "),
        "{no_json:?}"
    );
    project.answers(&id, &[]).exits_with(2);
    project.answers(&id, &["--approve", "--deny"]).exits_with(2);
    // The end of an id is enough.
    let end = &id[id.len() - 12..];
    project
        .answers(end, &["--deny", "--reason", "not today"])
        .exits_with(0);
    let twice = project
        .answers(&id, &["--approve", "--reviewer", "bob"])
        .exits_with(1);
    assert!(
        twice.stderr.starts_with(&format!("error: {id} ")),
        "{twice:?}"
    );
    assert_eq!(running.line(), "hitl_resolved");
    assert!(running.line().contains("not today"));
}

#[test]
fn the_list_can_be_narrowed() {
    let project = Project::with(AGENT);
    let _running = project.start("hitl_requested");
    let count = |arguments: &[&str]| {
        let arguments = [&["hitl", "list", "--json"], arguments].concat();
        let listed = project.harn(&arguments).exits_with(0).json();
        listed["requests"].as_array().expect("a list").len()
    };
    assert_eq!(count(&["--kind", "approval"]), 1);
    assert_eq!(count(&["--kind", "question", "--kind", "dual_control"]), 0);
    assert_eq!(count(&["--agent", "s"]), 1);
    assert_eq!(count(&["--agent", "harn"]), 0);
    project
        .harn(&["hitl", "list", "--kind", "riddle"])
        .exits_with(2);
    let text = project.harn(&["hitl", "list"]).exits_with(0);
    let lines: Vec<&str> = text.stdout.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines[1].contains("approval") && lines[1].ends_with("ada, bob  deploy v1"),
        "{lines:?}"
    );
}
