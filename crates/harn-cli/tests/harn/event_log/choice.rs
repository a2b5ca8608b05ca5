//! Which log is read, and that reading leaves no trace.

use super::{BACKENDS, Backend, ORDERS, Project};
use crate::program::finished;

/// Every command that only reads.
const READERS: &[&[&str]] = &[
    &["topics"],
    &["show"],
    &["tail"],
    &["export", "--all"],
    &["stats"],
    &["verify"],
];

#[test]
fn the_log_of_the_current_folder_is_the_default() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        for command in READERS {
            let call = project.harn(command).exits_with(0);
            assert!(call.stdout.contains(ORDERS), "{command:?}: {call:?}");
        }
    }
}

#[test]
fn a_log_can_be_named_by_its_path_whatever_its_backend() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let path = project.log_path();
        for command in READERS {
            let mut elsewhere = crate::program::program();
            let named = elsewhere
                .arg("events")
                .args(*command)
                .arg("--log")
                .arg(&path);
            let call = finished(named).exits_with(0);
            assert!(call.stdout.contains(ORDERS), "{command:?}: {call:?}");
        }
    }
}

#[test]
fn a_log_can_be_named_by_its_project() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let mut elsewhere = crate::program::program();
        elsewhere.args(["events", "topics", "--json", "--base"]);
        let call = finished(elsewhere.arg(project.folder())).exits_with(0);
        assert_eq!(call.json()["topics"][1]["topic"], ORDERS);
    }
}

#[test]
fn the_environment_chooses_as_it_does_for_programs_that_write() {
    let project = Project::with_records(Backend::File);
    let other = tempfile::tempdir().unwrap();
    let mut elsewhere = crate::program::program();
    elsewhere
        .current_dir(other.path())
        .env("HARN_EVENT_LOG_BACKEND", "file")
        .env("HARN_EVENT_LOG_DIR", project.log_path());
    let call = finished(elsewhere.args(["events", "topics"])).exits_with(0);
    assert!(call.stdout.contains(ORDERS), "{call:?}");
}

#[test]
fn nothing_is_made_where_there_is_no_log() {
    for (backend, looked_for) in [
        (Backend::Sqlite, "the SQLite file .harn/events.sqlite"),
        (Backend::File, "the folder .harn/events"),
    ] {
        let project = Project::new(backend);
        let before = project.files();
        for command in READERS
            .iter()
            .chain([&&["repair"][..], &&["tail", "-f"][..]])
        {
            let call = project.harn(command).exits_with(1);
            assert_eq!(call.stdout, "");
            let expected = format!("error: there is no event log here; looked for {looked_for}\n");
            assert_eq!(call.stderr, expected);
        }
        assert_eq!(project.files(), before);
        assert!(!project.folder().join(".harn").exists());
    }
}

#[test]
fn a_log_of_another_backend_is_pointed_out() {
    let project = Project::with_records(Backend::File);
    let mut program = project.program();
    program.env("HARN_EVENT_LOG_BACKEND", "sqlite");
    let call = finished(program.args(["events", "topics"])).exits_with(1);
    let expected = "error: there is no event log here; looked for the SQLite file \
                    .harn/events.sqlite. There is one of another backend: --log .harn/events\n";
    assert_eq!(call.stderr, expected);
}

#[test]
fn a_path_that_is_no_log_says_what_it_is() {
    let project = Project::with_records(Backend::File);
    for (path, expected) in [
        (
            "nowhere",
            "error: there is no event log at nowhere: No such file or directory (os error 2)\n",
        ),
        (
            ".harn/events/topics/orders.jsonl",
            "error: .harn/events/topics/orders.jsonl is one topic of a log; \
             use --log .harn/events\n",
        ),
        (
            "harn.toml",
            "error: harn.toml is no event log: neither a SQLite file nor a folder of the file \
             backend. `harn events check` reads JSONL logs\n",
        ),
        (
            ".",
            "error: . is no event log: a folder that is one has a folder `topics`; \
             for the log of a project, use --base\n",
        ),
    ] {
        let call = project.harn(&["topics", "--log", path]).exits_with(1);
        assert_eq!(call.stderr, expected);
    }
}

#[test]
fn logs_that_only_their_writer_can_read_are_not_looked_for() {
    let project = Project::new(Backend::Sqlite);
    for (backend, word) in [("memory", "in memory"), ("postgres", "in Postgres")] {
        let mut program = project.program();
        program.env("HARN_EVENT_LOG_BACKEND", backend);
        let call = finished(program.args(["events", "topics"])).exits_with(1);
        assert!(call.stderr.contains(word), "{call:?}");
    }
}

#[test]
fn a_configuration_that_makes_no_sense_is_told() {
    let project = Project::new(Backend::Sqlite);
    let mut program = project.program();
    program.env("HARN_EVENT_LOG_BACKEND", "redis");
    let call = finished(program.args(["events", "topics"])).exits_with(1);
    assert_eq!(
        call.stderr,
        "error: unsupported event log backend 'redis'\n"
    );
}

#[test]
fn reading_changes_nothing() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let before = project.files();
        for command in READERS {
            project.harn(command).exits_with(0);
            // SQLite keeps these two while it is open; they hold nothing of ours.
            let is_ours = |name: &str| !name.ends_with("-shm") && !name.ends_with("-wal");
            let mut after = project.files();
            after.retain(|(path, _)| is_ours(&path.to_string_lossy()));
            assert!(after == before, "{backend:?} {command:?}");
        }
    }
}

#[test]
fn a_log_that_may_only_be_read_can_be_read() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    let project = Project::with_records(Backend::File);
    for folder in ["topics", "locks", "compacted", "consumers", ""] {
        let path = project.log_path().join(folder);
        set_permissions(path, Permissions::from_mode(0o555)).unwrap();
    }
    let call = project.harn(&["show", ORDERS]);
    for folder in ["", "topics", "locks", "compacted", "consumers"] {
        let path = project.log_path().join(folder);
        set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    call.exits_with(0);
}

#[test]
fn an_unknown_topic_gets_a_suggestion() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        for command in [
            &["show"][..],
            &["tail"],
            &["export"],
            &["stats"],
            &["verify"],
        ] {
            let call = project.harn(&[command, &["order"]].concat()).exits_with(1);
            assert_eq!(call.stdout, "");
            assert_eq!(
                call.stderr,
                "error: no topic 'order'; did you mean 'orders'?\n"
            );
        }
        let call = project.harn(&["show", "banana"]).exits_with(1);
        let expected = "error: no topic 'banana'; `harn events topics` lists all\n";
        assert_eq!(call.stderr, expected);
        let call = project.harn(&["show", "a/b"]).exits_with(1);
        let expected = "error: topic 'a/b' contains unsupported characters\n";
        assert_eq!(call.stderr, expected);
    }
}

#[test]
fn an_unknown_session_gets_a_suggestion() {
    let project = Project::with_records(Backend::Sqlite);
    let call = project.harn(&["show", "--session", "s_2"]).exits_with(1);
    assert_eq!(
        call.stderr,
        "error: no session 's_2'; did you mean 's_1'?\n"
    );
}
