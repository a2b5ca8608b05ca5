//! The same commands on a log that is shared by several machines: a real NATS server.

use std::fs;
use std::time::Duration;

use harn_log::{EventLog, LogEvent, Topic, block_on};
use serde_json::json;

use super::ORDERS;
use crate::program::{Call, finished, program};

#[path = "../../../../harn-log/tests/log/support/nats_server.rs"]
#[expect(dead_code, reason = "the tests of the log do more with a server")]
mod nats_server;

use nats_server::NatsServer;

/// How long a server may take to start.
const LIMIT: Duration = Duration::from_secs(20);

/// Calls `harn events` in a project whose log is on the server.
fn events(server: &NatsServer, arguments: &[&str]) -> Call {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let manifest = format!(
        "[event_log]\nbackend = \"nats\"\n\n[event_log.nats]\nurl = \"{}\"\nprefix = \"cli\"\n\
         accept_unsynced = true\n",
        server.url()
    );
    fs::write(folder.path().join("harn.toml"), manifest).expect("the folder is ours");
    let mut program = program();
    finished(program.current_dir(&folder).arg("events").args(arguments))
}

#[test]
fn a_log_on_nats_is_looked_at_like_any_other() {
    let server = NatsServer::start();
    let log = server.open("cli");
    let topic = Topic::new(ORDERS).expect("a plain name");
    for number in 1..=3 {
        let event = LogEvent::at("placed", json!({"number": number}), 0);
        block_on(log.append(&topic, event)).expect("the server is there");
    }
    let topics = events(&server, &["topics", "--json"]).exits_with(0);
    assert!(topics.stdout.contains(ORDERS), "{topics:?}");
    let shown = events(&server, &["show", ORDERS, "--json"]).exits_with(0);
    let numbers = shown.stdout.lines().map(|line| {
        let record: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
        record["payload"]["number"].clone()
    });
    assert_eq!(numbers.collect::<Vec<_>>(), [1, 2, 3]);
    events(&server, &["verify"]).exits_with(0);
    let exported = events(&server, &["export", "--all"]).exits_with(0);
    assert_eq!(exported.stdout.lines().count(), 3);
}

#[test]
fn a_server_that_is_not_there_is_a_clear_error() {
    let server = NatsServer::start();
    server.kill();
    let call = events(&server, &["topics"]).exits_with(1);
    assert!(call.stderr.contains(&server.url()), "{call:?}");
}
