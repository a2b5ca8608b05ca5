//! What may be removed, and by whom.

use std::sync::Arc;

use harn_log::{AnyEventLog, FileEventLog, SqliteEventLog};

use super::*;

/// A project with sessions of these ids, in a log of files or in SQLite.
fn with_sessions(backend: &str, ids: &[&str]) -> Project {
    let project = Project::new();
    for id in ids {
        let text = AGENT.replace("s/1", id);
        fs::write(project.path("main.harn"), text).expect("the folder is ours");
        on(&project, backend, &["run", "main.harn"]).exits_with(0);
    }
    project
}

fn on(project: &Project, backend: &str, arguments: &[&str]) -> Call {
    let mut program = project.program();
    program.env("HARN_EVENT_LOG_BACKEND", backend);
    finished(program.args(arguments))
}

/// The log of a project, as another process has it open.
fn log_of(project: &Project, backend: &str) -> Arc<AnyEventLog> {
    let log = match backend {
        "sqlite" => {
            let log = SqliteEventLog::open(project.path(".harn/events.sqlite"), 128);
            AnyEventLog::Sqlite(log.expect("it is a log"))
        }
        _ => {
            let log = FileEventLog::open(project.path(".harn/events"), 128);
            AnyEventLog::File(log.expect("it is a log"))
        }
    };
    Arc::new(log)
}

#[test]
fn a_session_that_is_in_use_is_not_removed_and_its_owner_is_told() {
    for backend in ["sqlite", "file"] {
        let project = with_sessions(backend, &["s/1", "idle"]);
        let log = log_of(&project, backend);
        let owners = log.owners();
        let claim = owners.claim(owners.scope(), "s/1").expect("nobody has it");
        let owner = owners.owner_of("s/1").expect("it can be asked");
        let host = owner.expect("we have it").host;
        for ids in [&["s/1"][..], &["idle", "s/1"]] {
            let call = on(&project, backend, &[&["sessions", "rm"], ids].concat());
            let call = call.exits_with(1);
            let process = std::process::id();
            let start =
                format!("error: session 's/1' is in use by process {process} on {host}, since ");
            let since = call.stderr.strip_prefix(&start);
            let since = since.unwrap_or_else(|| panic!("no `{start}` in {call:?}"));
            // `2026-11-18T12:03:11Z` and the end of the line.
            assert_eq!((since.len(), &since[10..11]), (21, "T"), "{call:?}");
            assert!(since.ends_with("Z\n"), "{call:?}");
        }
        let listed = on(&project, backend, &["sessions", "list", "--json"]).json();
        assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(2));
        drop(claim);
        on(&project, backend, &["sessions", "rm", "s/1", "idle"]).exits_with(0);
    }
}

#[test]
fn sessions_that_share_a_topic_are_removed_together_and_not_alone() {
    for backend in ["sqlite", "file"] {
        let project = with_sessions(backend, &["a/1", "a_1", "b"]);
        let call = on(&project, backend, &["sessions", "rm", "a/1", "b"]).exits_with(1);
        assert_eq!(
            call.stderr,
            "error: session 'a/1' shares the topic agent_sessions.a_1 with session 'a_1', and a \
             topic can only be emptied as a whole; `harn sessions rm` with both ids removes both\n"
        );
        let removed = on(
            &project,
            backend,
            &["sessions", "rm", "a/1", "a_1", "--json"],
        );
        let removed = removed.exits_with(0).json();
        for (at, id) in ["a/1", "a_1"].into_iter().enumerate() {
            let one = &removed["removed"][at];
            assert_eq!(one["id"], id);
            assert!(one["records"].as_u64() > Some(20), "{removed}");
        }
        let listed = on(&project, backend, &["sessions", "list", "--json"]).json();
        assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(1));
        assert_eq!(listed["sessions"][0]["id"], "b");
    }
}
