//! `harn events verify`.

use rusqlite::Connection;
use serde_json::json;

use harn_log::LogEvent;

use super::{BACKENDS, Backend, NOW_MS, ORDERS, Project, SESSION, agent_event};

#[test]
fn an_unbroken_chain_has_a_tick() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let call = project.harn(&["verify"]).exits_with(0);
        let expected = "\
✓ observability.agent_events.s_1  4 records
✓ orders                          2 records
";
        assert_eq!(call.stdout, expected);
        assert_eq!(call.stderr, "2 topics, 6 records: no problems\n");
        let call = project.harn(&["verify", ORDERS]).exits_with(0);
        assert_eq!(call.stdout, "✓ orders  2 records\n");
    }
}

/// Makes the first order one of another article, as somebody with an editor would.
fn falsify(project: &Project) {
    match project.backend {
        Backend::Sqlite => {
            let log = Connection::open(project.log_path()).expect("it is as we wrote it");
            let change = "UPDATE events SET payload = '{\"id\":8}' \
                          WHERE topic = 'orders' AND event_id = 1";
            assert_eq!(log.execute(change, []).expect("it is as we wrote it"), 1);
        }
        // A line without a checksum is as good as one with it.
        Backend::File => project.tamper(ORDERS, |bytes| {
            let text = String::from_utf8(bytes.clone()).expect("it is as we wrote it");
            let (first, rest) = text.split_once('\n').expect("it is as we wrote it");
            let (record, _checksum) = first.split_once(",\"crc\":").expect("it is as we wrote it");
            let record = record.replace("{\"id\":7}", "{\"id\":8}");
            // The file keeps its length, as the log remembers it.
            let filler = " ".repeat(first.len() - record.len() - 1);
            *bytes = format!("{record}{filler}}}\n{rest}").into_bytes();
        }),
    }
}

#[test]
fn a_falsified_record_is_found() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        falsify(&project);
        let call = project.harn(&["verify"]).exits_with(1);
        let expected = "\
✓ observability.agent_events.s_1  4 records
✗ orders                          2 records
    event 1: content and hash do not agree
";
        assert_eq!(call.stdout, expected, "{backend:?}");
        assert_eq!(call.stderr, "2 topics, 6 records: 1 problem\n");
    }
}

#[test]
fn json_has_the_promised_keys() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        falsify(&project);
        let answer = project.harn(&["verify", "--json"]).exits_with(1).json();
        assert_eq!(answer["ok"], false);
        assert_eq!(answer["topics"][0]["verified"], true);
        let orders = answer["topics"][1].as_object().unwrap();
        let mut keys: Vec<&str> = orders.keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(
            keys,
            ["errors", "last_hash", "records", "topic", "verified"]
        );
        assert_eq!(
            orders["errors"],
            json!(["event 1: content and hash do not agree"])
        );
        let hash = orders["last_hash"].as_str().unwrap();
        assert!(hash.starts_with("sha256:") && hash.len() == 71, "{hash}");
    }
}

#[test]
fn only_the_first_problems_are_told_to_people() {
    let project = Project::new(Backend::Sqlite);
    for n in 0..8 {
        project.append_one(ORDERS, "placed", json!({"id": n}));
    }
    let log = Connection::open(project.log_path()).unwrap();
    log.execute("UPDATE events SET kind = 'x'", []).unwrap();
    drop(log);
    let call = project.harn(&["verify"]).exits_with(1);
    let lines: Vec<&str> = call.stdout.lines().collect();
    assert_eq!(lines[0], "✗ orders  8 records");
    assert_eq!(lines[5], "    event 5: content and hash do not agree");
    assert_eq!(lines[6..], ["    and 3 more"]);
    assert_eq!(call.stderr, "1 topic, 8 records: 8 problems\n");
}

const JOURNAL: &str = "agent_sessions.s_1";

fn iteration_start(iteration: u64) -> serde_json::Value {
    json!({"type": "iteration_start", "iteration": iteration, "provider": "p", "model": "m"})
}

fn journal_record(index: u64, change: serde_json::Value) -> LogEvent {
    let mut payload = change;
    payload["index"] = json!(index);
    payload["events_before"] = json!(0);
    let kind = payload["change"]
        .as_str()
        .expect("a change has a name")
        .to_owned();
    let mut record = LogEvent::at(kind, payload, NOW_MS);
    record
        .headers
        .insert("session_id".to_owned(), "s/1".to_owned());
    record
}

/// A chain can be whole although what is in it makes no sense.
#[test]
fn events_out_of_order_are_found() {
    for backend in BACKENDS {
        let project = Project::new(backend);
        let events = [iteration_start(1), iteration_start(2)];
        let events = events.map(|event| agent_event("s/1", NOW_MS, event));
        project.append(SESSION, events.into());
        project.append(
            JOURNAL,
            vec![journal_record(0, json!({"change": "opened"}))],
        );
        let call = project.harn(&["verify"]).exits_with(1);
        let expected = "\
✓ agent_sessions.s_1              1 record
✗ observability.agent_events.s_1  2 records
    session s/1, record 1: iteration 2 begins inside iteration 1; an iteration ends before the next one begins
    session s/1, interrupted after record 1: iteration 2 has no end
";
        assert_eq!(call.stdout, expected);
        assert_eq!(call.stderr, "2 topics, 3 records: 1 problem\n");
        let answer = project.harn(&["verify", "--json"]).exits_with(1).json();
        assert_eq!(answer["ok"], false);
        let topic = &answer["topics"][1];
        assert_eq!(topic["verified"], true);
        let session = &topic["sessions"][0];
        assert_eq!(
            (&session["session_id"], &session["records"]),
            (&json!("s/1"), &json!(2))
        );
        assert_eq!(session["violations"][0]["index"], 1);
        assert_eq!(
            session["violations"][0]["what"],
            "iteration 2 begins inside iteration 1"
        );
    }
}

/// A process may die at any time; that is nobody's fault.
#[test]
fn an_interrupted_run_is_told_and_is_no_problem() {
    let project = Project::new(Backend::Sqlite);
    let ledger = json!({
        "root_task": "", "deliverables": [], "rationale": "", "observations": [],
    });
    let started = json!({
        "change": "run_started", "ledger": ledger, "resumed_iterations": 0,
    });
    let opened = journal_record(0, json!({"change": "opened"}));
    project.append(JOURNAL, vec![opened, journal_record(1, started)]);
    let call = project.harn(&["verify"]).exits_with(0);
    let expected = "\
✓ agent_sessions.s_1  2 records
    session s/1, interrupted after record 1: the run of record 1 has no end
";
    assert_eq!(call.stdout, expected);
    assert_eq!(call.stderr, "1 topic, 2 records: no problems\n");
}

/// A journal whose first record is missing.
#[test]
fn a_journal_out_of_order_is_found() {
    let project = Project::new(Backend::Sqlite);
    let ended = json!({"change": "run_ended", "status": "done"});
    project.append(JOURNAL, vec![journal_record(1, ended)]);
    let call = project.harn(&["verify", JOURNAL]).exits_with(1);
    let lines: Vec<&str> = call.stdout.lines().collect();
    assert_eq!(lines[0], "✗ agent_sessions.s_1  1 record");
    assert_eq!(
        lines[1],
        "    session s/1, record 1: the index is 1 where 0 comes next; indexes begin at 0 and rise by one"
    );
    assert_eq!(lines.len(), 4);
}
