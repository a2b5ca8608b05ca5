//! Sessions of which some records cannot be read.

use rusqlite::Connection;

use super::*;

const BACKENDS: [&str; 2] = ["sqlite", "file"];

/// A project in which the sessions `s/1` and `other` have run.
fn with_two_sessions(backend: &str) -> Project {
    let project = Project::new();
    for id in ["s/1", "other"] {
        let text = AGENT.replace("s/1", id);
        fs::write(project.path("main.harn"), text).expect("the folder is ours");
        call(&project, backend, &["run", "main.harn"]).exits_with(0);
    }
    project
}

fn call(project: &Project, backend: &str, arguments: &[&str]) -> Call {
    let mut program = project.program();
    program.env("HARN_EVENT_LOG_BACKEND", backend);
    finished(program.args(arguments))
}

/// Makes the third record of the journal of `s/1` unreadable.
fn damage_one_record(project: &Project, backend: &str) {
    match backend {
        "sqlite" => {
            let log = Connection::open(project.path(".harn/events.sqlite")).expect("it is there");
            let changed = log.execute(
                "UPDATE events SET payload = '{\"index\":' WHERE place = (
                    SELECT first_place + 2 FROM event_runs
                    JOIN topic_heads ON topic_heads.number = event_runs.topic
                    WHERE topic_heads.topic = 'agent_sessions.s_1' AND first_id = 1
                )",
                [],
            );
            assert_eq!(changed.expect("it can be written"), 1);
        }
        _ => {
            let path = project.path(".harn/events/topics/agent_sessions.s_1.jsonl");
            let mut bytes = fs::read(&path).expect("the topic has a file");
            let ends = bytes.iter().enumerate();
            let mut ends = ends.filter(|(_, byte)| **byte == b'\n');
            let (second, _) = ends.nth(1).expect("there are two lines");
            bytes[second + 40] ^= 1;
            fs::write(path, bytes).expect("the folder is ours");
        }
    }
}

/// The status of each session, by its id.
fn statuses(listed: &Value) -> Vec<(&str, &str)> {
    let sessions = listed["sessions"].as_array().expect("a list").iter();
    let mut statuses: Vec<_> = sessions
        .map(|one| {
            let id = one["id"].as_str().expect("each has an id");
            (id, one["status"].as_str().expect("each has a status"))
        })
        .collect();
    statuses.sort_unstable();
    statuses
}

#[test]
fn one_damaged_record_hides_no_session_and_its_session_is_listed_as_damaged() {
    for backend in BACKENDS {
        let project = with_two_sessions(backend);
        damage_one_record(&project, backend);
        let listed = call(&project, backend, &["sessions", "list", "--json"]);
        let listed = listed.exits_with(0).json();
        let expected = [("other", "done"), ("s/1", "damaged")];
        assert_eq!(statuses(&listed), expected, "{backend}");
        let found = call(
            &project,
            backend,
            &["sessions", "list", "--status", "damaged"],
        );
        assert!(found.stdout.contains("s/1"), "{found:?}");
        assert!(!found.stdout.contains("other"), "{found:?}");
    }
}

#[test]
fn what_is_left_of_a_damaged_session_is_shown_and_said_to_be_damaged() {
    for backend in BACKENDS {
        let project = with_two_sessions(backend);
        damage_one_record(&project, backend);
        let shown = call(&project, backend, &["sessions", "show", "s/1"]).exits_with(0);
        assert!(shown.stdout.starts_with("s/1  damaged  "), "{shown:?}");
        assert!(shown.stdout.contains("It says hello."), "{shown:?}");
        let note = "some of its records cannot be read; `harn events verify` says where";
        assert!(shown.stderr.contains(note), "{shown:?}");
    }
}

/// The journal has no end any more, and the name of its topic is all there is to tell.
#[test]
fn a_session_of_which_nothing_can_be_read_is_listed_by_the_name_of_its_topic() {
    let project = with_two_sessions("file");
    let topics = project.path(".harn/events/topics");
    fs::remove_file(topics.join("observability.agent_events.s_1.jsonl")).expect("it is there");
    let journal = topics.join("agent_sessions.s_1.jsonl");
    let bytes = fs::read(&journal).expect("the topic has a file");
    fs::write(&journal, vec![b'x'; bytes.len()]).expect("the folder is ours");
    let listed = call(&project, "file", &["sessions", "list", "--json"]);
    let listed = listed.exits_with(0).json();
    assert_eq!(statuses(&listed), [("other", "done"), ("s_1", "damaged")]);
    let listed = call(&project, "file", &["sessions", "list"]).exits_with(0);
    assert!(listed.stdout.contains("s_1      ?"), "{listed:?}");
}

#[test]
fn a_damaged_session_can_be_removed() {
    let project = with_two_sessions("sqlite");
    damage_one_record(&project, "sqlite");
    call(&project, "sqlite", &["sessions", "rm", "s/1"]).exits_with(0);
    let listed = call(&project, "sqlite", &["sessions", "list", "--json"]);
    assert_eq!(statuses(&listed.exits_with(0).json()), [("other", "done")]);
}
