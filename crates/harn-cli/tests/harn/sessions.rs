//! What `harn run` keeps of agents, and `harn sessions`, on real logs.

mod damage;
mod long;
mod removal;
mod shown;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Call, finished, program};
use crate::pseudo_terminal::OnTerminal;

/// An agent with a tool and two turns.
const AGENT: &str = r#"
pipeline default() {
  llm_mock({text: "I look.", tool_calls: [{name: "look", arguments: {path: "a.txt"}}]})
  llm_mock({text: "It says hello."})
  let tools = tool_define(tool_registry(), "look", "Looks", {
    parameters: {path: "string"},
    annotations: {kind: "read"},
    handler: { a -> "one\ntwo\nthree\nfour" },
  })
  agent_loop("What is in the File?", nil, {
    provider: "mock", model: "gpt-4o", tools: tools, session_id: "s/1", tool_format: "native",
  })
}
"#;

/// An agent that waits until it is stopped.
const WAITING: &str = r#"
pipeline default() {
  llm_mock({tool_calls: [{name: "rest", arguments: {}}]})
  let tools = tool_define(tool_registry(), "rest", "Rests", {
    parameters: {},
    annotations: {kind: "read"},
    handler: { a ->
      println("resting")
      sleep(60s)
    },
  })
  agent_loop("Rest", nil, {
    provider: "mock", model: "gpt-4o", tools: tools, session_id: "w", tool_format: "native",
  })
}
"#;

/// A project, gone after the test.
struct Project {
    folder: TempDir,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        Self { folder }
    }

    /// A project in which an agent has run.
    fn with_session() -> Self {
        let project = Self::new();
        project.run(AGENT, &[]).exits_with(0);
        project
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn program(&self) -> Command {
        let mut program = program();
        program.current_dir(self.folder.path());
        program
    }

    fn run(&self, text: &str, arguments: &[&str]) -> Call {
        fs::write(self.path("main.harn"), text).expect("the folder is ours");
        finished(self.program().args(["run", "main.harn"]).args(arguments))
    }

    fn harn(&self, arguments: &[&str]) -> Call {
        finished(self.program().arg("sessions").args(arguments))
    }

    /// The kinds of a session's last events.
    fn last_events(&self, id: &str, count: usize) -> Vec<Value> {
        let answer = self.harn(&["show", id, "--events", "--json"]).exits_with(0);
        let answer = answer.json();
        let events = answer["events"].as_array().expect("a list");
        events[events.len() - count..].to_vec()
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is there");
    let names = entries.map(|entry| entry.expect("it is there").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.into_string().expect("plain names"))
        .collect();
    names.sort();
    names
}

#[test]
fn a_program_without_agents_leaves_no_file() {
    let project = Project::new();
    let text = "pipeline default() { println(transcript_stats(transcript()).message_count ?? 0) }";
    project.run(text, &[]);
    project.run("println(1)", &[]).exits_with(0);
    assert_eq!(names_in(project.folder.path()), ["main.harn"]);
}

#[test]
fn sessions_are_listed_and_found_by_what_is_known_about_them() {
    let project = Project::with_session();
    let call = project.harn(&["list", "--json"]).exits_with(0);
    let listed = &call.json()["sessions"][0];
    for (name, value) in [
        ("id", json!("s/1")),
        ("status", json!("done")),
        ("turns", json!(2)),
        ("messages", json!(4)),
        ("tool_calls", json!(1)),
        ("compactions", json!(0)),
    ] {
        assert_eq!(listed[name], value, "{listed}");
    }
    assert!(listed["input_tokens"].as_u64() > Some(0), "{listed}");
    for (arguments, is_found) in [
        (&["list", "IN THE FILE"][..], true),
        (&["list", "nobody said that"], false),
        (&["list", "--status", "done", "--status", "stuck"], true),
        (&["list", "--status", "stuck"], false),
        (&["list", "--since", "1h"], true),
        (&["list", "--since", "2999-01-01"], false),
        (&["list", "--limit", "0"], false),
    ] {
        let call = project.harn(arguments).exits_with(0);
        assert_eq!(call.stdout.contains("s/1"), is_found, "{arguments:?}");
        assert_eq!(call.stderr.is_empty(), is_found, "{arguments:?}");
    }
}

#[test]
fn a_conversation_is_shown_as_people_read_it() {
    let project = Project::with_session();
    let call = project.harn(&["show", "s/1"]).exits_with(0);
    let (_, conversation) = call.stdout.split_once("\n\n").expect("a heading first");
    let expected = "user\n  What is in the File?\n\nassistant\n  I look.\n  \
        → look {\"path\":\"a.txt\"}\n    one\n    two\n    three\n    … 1 more line\n\n\
        assistant\n  It says hello.\n";
    assert_eq!(conversation, expected);
    let whole = project.harn(&["show", "s", "--full"]).exits_with(0);
    assert!(whole.stdout.contains("    three\n    four\n"), "{whole:?}");
}

#[test]
fn the_state_is_shown_at_any_record_of_the_journal() {
    let project = Project::with_session();
    let answer = project
        .harn(&["show", "s/1", "--json"])
        .exits_with(0)
        .json();
    let last = answer["last_record"].as_u64().expect("it has a journal");
    assert_eq!(answer["transcript"]["messages"][0]["role"], "user");
    let mut messages = 0;
    for index in 0..=last {
        let index = index.to_string();
        let answer = project.harn(&["show", "s/1", "--json", "--at", &index]);
        let answer = answer.exits_with(0).json();
        let now = answer["messages"].as_u64().expect("a number");
        assert!(now >= messages && now <= messages + 1, "{index}");
        messages = now;
        assert_eq!(answer["last_record"].to_string(), index);
    }
    assert_eq!(messages, 4);
    let beyond = (last + 1).to_string();
    let call = project
        .harn(&["show", "s/1", "--at", &beyond])
        .exits_with(1);
    assert!(
        call.stderr.contains(&format!("ends with record {last}")),
        "{call:?}"
    );
}

#[test]
fn events_are_shown_with_the_time_since_the_first() {
    let project = Project::with_session();
    let call = project.harn(&["show", "s/1", "--events"]).exits_with(0);
    let first = call.stdout.lines().next().expect("there are events");
    assert!(first.starts_with("+0.000s  iteration_start "), "{first}");
    assert!(call.stdout.contains(r#"look {"path":"a.txt"}"#), "{call:?}");
}

#[test]
fn sessions_are_exported_in_three_forms() {
    let project = Project::with_session();
    let transcript = project.harn(&["export", "s/1"]).exits_with(0).json();
    assert_eq!(transcript["id"], "s/1");
    assert_eq!(transcript["messages"].as_array().map(Vec::len), Some(4));
    let lines = project
        .harn(&["export", "s/1", "--format", "jsonl"])
        .exits_with(0);
    let lines: Vec<Value> = lines
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    for topic in ["agent_sessions.s_1", "observability.agent_events.s_1"] {
        assert!(lines.iter().any(|line| line["topic"] == topic), "{topic}");
    }
    let call = project.harn(&["export", "s/1", "--format", "md", "-o", "s.md"]);
    assert_eq!(call.exits_with(0).stderr, "session s/1 written to s.md\n");
    let text = fs::read_to_string(project.path("s.md")).expect("it is complete");
    assert!(
        text.starts_with("# Session s/1\n\ndone: 2 turns, "),
        "{text}"
    );
    assert!(
        text.contains("**look**\n\n```json\n{\"path\":\"a.txt\"}\n```\n"),
        "{text}"
    );
}

#[test]
fn removed_sessions_are_gone_and_can_come_again() {
    let project = Project::with_session();
    let call = project.harn(&["rm", "s/1", "s/2"]).exits_with(1);
    assert_eq!(
        call.stderr,
        "error: no session 's/2'; did you mean 's/1'?\n"
    );
    let answer = project.harn(&["rm", "s/1", "--json"]).exits_with(0).json();
    assert_eq!(answer["removed"][0]["id"], "s/1");
    assert!(
        answer["removed"][0]["records"].as_u64() > Some(20),
        "{answer}"
    );
    let call = project.harn(&["list"]).exits_with(0);
    assert_eq!((&*call.stdout, &*call.stderr), ("", "no sessions\n"));
    let call = project.harn(&["show", "s/1"]).exits_with(1);
    assert_eq!(call.stderr, "error: no session 's/1'; the log has none\n");
    project.run(AGENT, &[]).exits_with(0);
    let answer = project.harn(&["list", "--json"]).exits_with(0).json();
    assert_eq!(answer["sessions"][0]["turns"], 2);
}

#[test]
fn a_person_is_asked_before_anything_is_removed() {
    let project = Project::with_session();
    let remove = |typed: &str| {
        let mut program = project.program();
        program.args(["sessions", "rm", "s/1"]);
        OnTerminal::start(&mut program, 79).typing(typed).end()
    };
    for typed in ["n\n", "\n", "\u{4}"] {
        let (code, written) = remove(typed);
        assert_eq!(code, Some(1), "{written}");
        assert!(
            written.contains("Remove session s/1 for good? [y/N] "),
            "{written}"
        );
        assert!(written.contains("nothing was removed"), "{written}");
    }
    let (code, written) = remove("y\n");
    assert_eq!(code, Some(0), "{written}");
    assert!(written.contains("session s/1 removed: "), "{written}");
    project.run(AGENT, &[]).exits_with(0);
    let mut program = project.program();
    program.args(["sessions", "rm", "s/1", "--yes"]);
    let (code, written) = OnTerminal::start(&mut program, 79).end();
    assert_eq!(code, Some(0), "{written}");
    assert!(!written.contains("[y/N]"), "{written}");
}

#[test]
fn a_session_that_is_run_again_starts_anew() {
    let project = Project::with_session();
    let before = project.harn(&["show", "s/1", "--json"]).json();
    project.run(AGENT, &[]).exits_with(0);
    let after = project
        .harn(&["show", "s/1", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(
        (&after["turns"], &after["messages"]),
        (&json!(2), &json!(4))
    );
    assert!(after["last_record"].as_u64() > before["last_record"].as_u64());
}

#[test]
fn what_a_failing_program_did_is_kept() {
    for (end, code) in [("throw \"no\"", 1), ("exit(7)", 7)] {
        let project = Project::new();
        let text = AGENT.replace("\n  })\n}\n", &format!("\n  }})\n  {end}\n}}\n"));
        project.run(&text, &[]).exits_with(code);
        let answer = project.harn(&["list", "--json"]).exits_with(0).json();
        assert_eq!(answer["sessions"][0]["status"], "done", "{end}");
    }
}

/// The events that end a run which was given up.
#[track_caller]
fn check_closed(project: &Project) {
    let last = project.last_events("w", 3);
    let kinds: Vec<&Value> = last.iter().map(|event| &event["kind"]).collect();
    assert_eq!(
        kinds,
        ["tool_call_update", "iteration_end", "loop_checkpoint"]
    );
    assert_eq!(last[0]["event"]["status"], "failed");
    assert_eq!(
        last[1]["event"]["iteration_info"]["skip_reason"],
        "cancelled"
    );
    assert_eq!(last[2]["event"]["kind"], "loop_exit");
    let answer = project.harn(&["list", "--json"]).exits_with(0).json();
    assert_eq!(answer["sessions"][0]["status"], "cancelled");
}

#[test]
fn a_run_whose_time_is_over_closes_what_it_has_opened() {
    let project = Project::new();
    project
        .run(WAITING, &["--timeout", "500ms"])
        .exits_with(124);
    check_closed(&project);
}

#[test]
fn an_interrupt_closes_what_was_opened_and_ends_with_its_status() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let project = Project::new();
        let mut child = resting(&project, "--default-signal=INT,HUP");
        send(signal, &child);
        assert_eq!(child.wait().expect("it ends").code(), Some(code));
        check_closed(&project);
    }
}

#[test]
fn what_was_started_to_outlive_its_terminal_does() {
    let project = Project::new();
    let mut child = resting(&project, "--ignore-signal=HUP");
    send("HUP", &child);
    send("TERM", &child);
    assert_eq!(child.wait().expect("it ends").code(), Some(143));
}

/// A program that waits, started with signals as an option of `env` says.
fn resting(project: &Project, signals: &str) -> Child {
    fs::write(project.path("main.harn"), WAITING).expect("the folder is ours");
    let mut program = Command::new("/usr/bin/env");
    program
        .env_clear()
        .current_dir(project.folder.path())
        .arg(signals)
        .arg(env!("CARGO_BIN_EXE_harn"))
        .args(["run", "main.harn"])
        .stdout(Stdio::piped());
    let mut child = program.spawn().expect("it runs");
    let stdout = child.stdout.take().expect("it is piped");
    let mut line = String::new();
    BufReader::new(stdout)
        .read_line(&mut line)
        .expect("it says that it waits");
    assert_eq!(line, "resting\n");
    child
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill")
        .args([&format!("-{signal}"), &child.id().to_string()])
        .status();
    assert!(sent.expect("every system has kill").success());
}

#[test]
fn a_log_that_cannot_be_opened_is_told_once_and_the_run_goes_on() {
    let project = Project::new();
    fs::write(project.path("file"), "").expect("the folder is ours");
    fs::write(project.path("main.harn"), AGENT).expect("the folder is ours");
    let mut program = project.program();
    program
        .args(["run", "main.harn"])
        .env("HARN_STATE_DIR", "file");
    let call = finished(&mut program).exits_with(0);
    let warnings = call.stderr.matches("sessions are not kept").count();
    assert_eq!(warnings, 1, "{call:?}");
    // Then files in a folder take the events, if one is named.
    let call = finished(program.env("HARN_EVENT_LOG_DIR", "logs")).exits_with(0);
    assert!(call.stderr.contains("sessions are not kept"), "{call:?}");
    assert_eq!(names_in(&project.path("logs")).len(), 1);
}

#[test]
fn the_log_is_that_of_the_project_wherever_one_stands() {
    let project = Project::new();
    fs::write(project.path("harn.toml"), "").expect("the folder is ours");
    fs::write(project.path("main.harn"), AGENT).expect("the folder is ours");
    fs::create_dir(project.path("below")).expect("the folder is ours");
    let mut below = program();
    below.current_dir(project.path("below"));
    finished(below.args(["run", "../main.harn"])).exits_with(0);
    assert!(project.path(".harn/events.sqlite").is_file());
    let mut below = program();
    below.current_dir(project.path("below"));
    let call = finished(below.args(["sessions", "list"])).exits_with(0);
    assert!(call.stdout.contains("s/1"), "{call:?}");
}

#[test]
fn tests_keep_nothing_unless_they_are_asked_to() {
    let project = Project::new();
    let text = AGENT.replace("pipeline default()", "pipeline test_agent()");
    fs::write(project.path("main.harn"), text).expect("the folder is ours");
    let mut program = project.program();
    finished(program.args(["test", "main.harn"])).exits_with(0);
    assert_eq!(names_in(project.folder.path()), ["main.harn"]);
    finished(program.env("HARN_EVENT_LOG_DIR", project.path("logs"))).exits_with(0);
    assert_eq!(names_in(&project.path("logs")).len(), 1);
}

/// An agent with a tool that is called in two turns.
const TWO_CALLS: &str = r#"
pipeline default() {
  for path in ["a", "b"] {
    llm_mock({text: "I look.", tool_calls: [{name: "look", arguments: {path: path}}]})
  }
  llm_mock({text: "So."})
  let tools = tool_define(tool_registry(), "look", "Looks", {
    parameters: {path: "string"},
    annotations: {kind: "read"},
    handler: { a -> "seen ${a.path}" },
  })
  agent_loop("Look", nil, {
    provider: "mock", model: "gpt-4o", tools: tools, session_id: "s", tool_format: "native",
  })
}
"#;

/// Reads what another program has left, from the middle on.
const READ_FROM_THE_MIDDLE: &str = r#"
pipeline default() {
  let topic = "observability.agent_events.s"
  let newest = event_log.latest(topic)
  let events = event_log.subscribe({topic: topic, from_cursor: newest - 12})
  for event in stream.take(events, 12) {
    let used = event.payload.event?.iteration_info?.session_tools_used
    if used != nil {
      println(used)
    }
  }
}
"#;

#[test]
fn whoever_reads_stored_events_sees_all_tools_of_the_session() {
    let project = Project::new();
    let log = "[event_log]\nbackend = \"sqlite\"\n";
    fs::write(project.path("harn.toml"), log).expect("the folder is ours");
    project.run(TWO_CALLS, &[]).exits_with(0);
    let events = |arguments: &[&str]| {
        let call = finished(project.program().arg("events").args(arguments));
        call.exits_with(0).stdout
    };
    let commands: [&[&str]; 2] = [
        &["tail", "--session", "s", "-n", "12", "--json"],
        &[
            "show",
            "--session",
            "s",
            "--type",
            "iteration_end",
            "--json",
        ],
    ];
    for command in commands {
        let lines = events(command);
        let records = lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        let infos =
            records.map(|record: Value| record["payload"]["event"]["iteration_info"].clone());
        let mut lists = infos.filter_map(|info| info.get("session_tools_used").cloned());
        let last = lists.next_back();
        assert_eq!(last, Some(json!(["look", "look"])), "{command:?}: {lines}");
    }
    let shown = project
        .harn(&["show", "s", "--events", "--json"])
        .exits_with(0)
        .json();
    let shown = shown["events"].as_array().expect("a list").iter();
    let infos = shown.map(|line| &line["event"]["iteration_info"]);
    let lists: Vec<&Value> = infos
        .filter_map(|info| info.get("session_tools_used"))
        .collect();
    assert_eq!(lists, [&json!(["look"]), &json!(["look", "look"])]);
    let read = project.run(READ_FROM_THE_MIDDLE, &[]).exits_with(0);
    assert_eq!(read.stdout, "[look, look]\n");
}
