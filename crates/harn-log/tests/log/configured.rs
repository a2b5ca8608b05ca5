//! A log as it is configured.

use std::time::Instant;

use harn_log::{EventLog, EventLogConfig, open_event_log};

use crate::support::{Driver, LIMIT, block_on, topic};

/// What `harn.toml` says about retention happens when the log is opened.
#[test]
fn a_log_keeps_what_its_manifest_says() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "[event_log]\nbackend = \"file\"\n\n\
                    [[event_log.retention]]\ntopics = \"t*\"\nmax_count = 3\n";
    let open = || {
        let config = EventLogConfig::for_base_dir_in(folder.path(), &|_| None).unwrap();
        Driver(open_event_log(&config).unwrap())
    };
    std::fs::write(
        folder.path().join("harn.toml"),
        "[event_log]\nbackend = \"file\"",
    )
    .unwrap();
    let log = open();
    for name in ["t1", "other"] {
        log.append_numbers(&topic(name), 10);
    }
    drop(log);
    std::fs::write(folder.path().join("harn.toml"), manifest).unwrap();
    let log = open();
    // It happens beside us, and nobody says when; asking is all one can do.
    let started = Instant::now();
    while log.ids(&topic("t1"), None, 100) != [8, 9, 10] {
        assert!(started.elapsed() < LIMIT, "the oldest should go");
    }
    assert_eq!(log.ids(&topic("other"), None, 100).len(), 10);
    assert_eq!(block_on(log.0.latest(&topic("t1"))).unwrap(), Some(10));
}
