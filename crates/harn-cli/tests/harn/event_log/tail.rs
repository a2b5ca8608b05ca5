//! `harn events tail`: also across processes, and until somebody ends it.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::{BACKENDS, Backend, NOW_MS, ORDERS, Project, SESSION, agent_event, ids};

/// A tail that is under way.
struct Following {
    child: Child,
    /// `None` once nobody reads any more.
    lines: Option<BufReader<ChildStdout>>,
}

impl Following {
    fn start(project: &Project, arguments: &[&str]) -> Self {
        let mut program = interruptible(&project.program());
        program.args(["events", "tail", "-f"]).args(arguments);
        let spawned = program
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = spawned.expect("the program was built with the tests");
        let lines = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let lines = Some(lines);
        Self { child, lines }
    }

    /// The next line; waits for it.
    fn line(&mut self) -> String {
        let mut line = String::new();
        let lines = self.lines.as_mut().expect("somebody still reads");
        lines.read_line(&mut line).expect("we print UTF-8");
        line
    }

    /// Waits for something to be said to the person at the terminal.
    fn said(&mut self) -> String {
        let stderr = self.child.stderr.as_mut().expect("it is a pipe");
        let mut line = String::new();
        BufReader::new(stderr).read_line(&mut line).expect("UTF-8");
        line
    }

    /// Nobody reads any more; waits for the end.
    fn stop_reading(mut self) -> (Option<i32>, String) {
        self.lines = None;
        let status = self.child.wait().expect("it ends");
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().expect("it is a pipe");
        stderr.read_to_string(&mut said).expect("UTF-8");
        (status.code(), said)
    }
}

#[test]
fn the_last_ten_are_shown_unless_told_otherwise() {
    for backend in BACKENDS {
        let project = Project::new(backend);
        for n in 1..=12 {
            project.append_one(ORDERS, "placed", json!({"id": n}));
        }
        let call = project.harn(&["tail", ORDERS, "--json"]).exits_with(0);
        assert_eq!(ids(&call), (3..=12).collect::<Vec<u64>>());
        let call = project.harn(&["tail", "-n", "2", "--json"]).exits_with(0);
        assert_eq!(ids(&call), [11, 12]);
        let call = project
            .harn(&["tail", "--text", "2", "--json"])
            .exits_with(0);
        assert_eq!(ids(&call), [2, 12]);
        let call = project.harn(&["tail", ORDERS, "-n", "1"]).exits_with(0);
        assert_eq!(call.stdout, "12  just now  placed                id=12\n");
    }
}

#[test]
fn what_another_process_appends_is_shown_when_it_comes() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let mut tail = Following::start(&project, &[ORDERS, "-n", "1"]);
        let last = tail.line();
        assert_eq!(
            last,
            "2    3s ago  shipped               by=\"Post\" id=7\n"
        );
        for n in 3..6 {
            project.append_one(ORDERS, "paid", json!({"id": n}));
            let expected = format!("{n}  just now  paid                  id={n}\n");
            assert_eq!(tail.line(), expected);
        }
        assert_eq!(tail.stop_reading(), (Some(0), String::new()));
    }
}

#[test]
fn filters_hold_for_what_comes() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let arguments = ["--session", "s/1", "--type", "plan", "--json"];
        let mut tail = Following::start(&project, &arguments);
        let plan = |session: &str| agent_event(session, NOW_MS, json!({"type": "plan", "plan": 1}));
        let message = agent_event(
            "s/1",
            NOW_MS,
            json!({"type": "user_message", "content": ""}),
        );
        project.append(SESSION, vec![plan("s_1"), message, plan("s/1")]);
        let record: Value = serde_json::from_str(&tail.line()).unwrap();
        assert_eq!(record["id"], 7);
        assert_eq!(tail.stop_reading(), (Some(0), String::new()));
    }
}

#[test]
fn all_topics_can_be_followed_at_once() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let mut tail = Following::start(&project, &["-n", "1", "--json"]);
        tail.line();
        for topic in [SESSION, ORDERS, SESSION] {
            project.append_one(topic, "noted", json!({}));
            let record: Value = serde_json::from_str(&tail.line()).unwrap();
            assert_eq!(record["topic"], topic);
        }
    }
}

#[test]
fn a_topic_that_is_not_there_yet_is_waited_for() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let mut tail = Following::start(&project, &["order"]);
        assert_eq!(
            tail.said(),
            "waiting: no topic 'order'; did you mean 'orders'?\n"
        );
        project.append_one("order", "placed", json!({"id": 1}));
        assert_eq!(tail.line(), "1  just now  placed                id=1\n");
        let mut tail = Following::start(&project, &["--session", "s9"]);
        assert!(tail.said().starts_with("waiting: no session 's9'"));
        let event = json!({"type": "agent_message_chunk", "content": "Hello."});
        let topic = "observability.agent_events.s9";
        project.append(topic, vec![agent_event("s9", NOW_MS, event)]);
        assert_eq!(tail.line(), "1  just now  agent_message_chunk   Hello.\n");
    }
}

#[test]
fn it_ends_with_its_reader_also_when_nothing_comes() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let mut tail = Following::start(&project, &[]);
        tail.line();
        assert_eq!(tail.stop_reading(), (Some(0), String::new()));
    }
}

#[test]
fn an_interrupt_ends_it_after_whole_lines() {
    let project = Project::with_records(Backend::Sqlite);
    let mut tail = Following::start(&project, &[ORDERS, "-n", "1"]);
    tail.line();
    let id = tail.child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status();
    assert!(sent.expect("every system has kill").success());
    assert_eq!(tail.line(), "");
    let status = tail.child.wait().unwrap();
    assert_eq!(status.signal(), Some(2), "shells know what that means");
}

/// The same program, which an interrupt ends. Shells have jobs in the background ignore
/// interrupts, and whatever such a job starts inherits that.
fn interruptible(program: &Command) -> Command {
    let mut wrapped = Command::new("/usr/bin/env");
    wrapped
        .arg("--default-signal=INT")
        .arg(program.get_program())
        .env_clear();
    for (name, value) in program.get_envs() {
        wrapped.env(name, value.unwrap_or_default());
    }
    if let Some(folder) = program.get_current_dir() {
        wrapped.current_dir(folder);
    }
    wrapped
}

impl Drop for Following {
    /// A test that fails leaves nobody behind.
    fn drop(&mut self) {
        let _it_may_have_ended = self.child.kill();
        let _it_is_ours = self.child.wait();
    }
}
