//! Sessions with many events.

use std::io::Read;

use harn_log::{EventLog, LogEvent, SqliteEventLog, Topic, block_on};

use super::*;

/// As many as some 800 turns leave.
const EVENTS: usize = 20_000;

/// So much may be held, whatever the number of events: some chunks of them.
const HELD_KIB_MAX: u64 = 40 * 1024;

/// What a pipe takes before its writer has to wait.
const PIPE_BYTES: usize = 64 * 1024;

/// A project with a session of many events and no journal.
fn with_many_events() -> Project {
    let project = Project::new();
    let folder = project.path(".harn");
    fs::create_dir_all(&folder).expect("the folder is ours");
    let log = SqliteEventLog::open(folder.join("events.sqlite"), 64).expect("it can be made");
    let topic = Topic::new("observability.agent_events.long").expect("a plain name");
    let plan = "x".repeat(1_000);
    for from in (0..EVENTS).step_by(1_000) {
        let events = (from..from + 1_000).map(|at| {
            let event =
                json!({"type": "plan", "session_id": "long", "plan": format!("{at} {plan}")});
            let mut event = LogEvent::new("plan", json!({"index": at, "event": event}));
            let header = ("session_id".to_owned(), "long".to_owned());
            event.headers.extend([header]);
            event
        });
        block_on(log.append_batch(&topic, events.collect())).expect("it is kept");
    }
    block_on(log.flush()).expect("it is kept");
    project
}

/// KiB of memory of its own that a process has.
fn held_kib(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    kib.and_then(|kib| kib.parse().ok()).expect("Linux says so")
}

/// Events are written while they are read: with the first line and near the last one, `harn` waits
/// for who reads its lines, and holds no more of the session than it is about to write.
#[test]
fn the_events_of_a_long_session_are_shown_without_being_held() {
    let project = with_many_events();
    for form in [&["--events", "--raw"][..], &["--events", "--json"]] {
        let mut child = project
            .program()
            .args(["sessions", "show", "long"])
            .args(form)
            .stdout(Stdio::piped())
            .spawn()
            .expect("harn runs");
        let mut output = child.stdout.take().expect("it is piped");
        let mut shown = vec![0; 4_096];
        output.read_exact(&mut shown).expect("there is more");
        let first = held_kib(&child);
        // Everything but what is in the pipe: then it waits again, or has ended.
        let line_bytes = match form.contains(&"--json") {
            true => 1_100,
            false => 150,
        };
        let mut rest = vec![0; EVENTS * line_bytes - 4 * PIPE_BYTES];
        output.read_exact(&mut rest).expect("there is more");
        let last = held_kib(&child);
        shown.append(&mut rest);
        output.read_to_end(&mut shown).expect("it can be read");
        assert!(child.wait().expect("it ends").success());
        let shown = String::from_utf8(shown).expect("it is text");
        assert!(shown.contains(&format!("{} xxx", EVENTS - 1)), "{form:?}");
        let held = first.max(last);
        assert!(held < HELD_KIB_MAX, "{form:?}: {first}, then {last} KiB");
    }
}
