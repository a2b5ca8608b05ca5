//! The log on NATS against a bare client of the same server.
//!
//! On paper: the server does most of the work and does the same for both, as both
//! send the same bytes. What we add is a hash, headers that say which record comes
//! before, and two hand-overs between threads.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::{self, stream};
use harn_bench::{Effort, Goal, Table, time, versus};
use harn_log::{EventLog, NatsEventLog};
use tokio::runtime::Runtime;

use super::{event, line, topic};

#[path = "../../../../crates/harn-log/tests/log/support/nats_server.rs"]
#[expect(dead_code, reason = "a benchmark never restarts its server")]
mod nats_server;

/// A server that has not started by then does not start.
const LIMIT: Duration = Duration::from_secs(20);
/// Appends that are under way at the same time.
const IN_FLIGHT: usize = 64;

pub(super) fn append(effort: Effort, runtime: &Runtime, table: &mut Table) {
    let server = nats_server::NatsServer::start();
    let log = server.open("bench");
    let bare = runtime.block_on(connect(server.url()));
    // The same bytes as ours: the record as the server stores it.
    let record: serde_json::Value = serde_json::from_slice(&line()).expect("a line is JSON");
    let payload = record["event"].to_string();
    let samples = versus(
        effort,
        effort.operations(32_000).next_multiple_of(IN_FLIGHT),
        |operations| time(|| runtime.block_on(append_in_flight(&log, operations))),
        |operations| time(|| runtime.block_on(publish_in_flight(&bare, &payload, operations))),
    );
    table.times(
        "nats: append, 512 B events, 64 in flight",
        "`async-nats` publishing the same bytes and waiting for the ack",
        &samples,
        Goal::SpeedAtLeast(0.8),
    );
}

async fn connect(url: String) -> jetstream::Context {
    let client = async_nats::connect(url).await.expect("the server is there");
    let context = jetstream::new(client);
    let config = stream::Config {
        name: "bare".to_owned(),
        subjects: vec!["bare".to_owned()],
        ..stream::Config::default()
    };
    let made = context.create_stream(config).await;
    made.expect("a stream can be made");
    context
}

async fn append_in_flight(log: &Arc<NatsEventLog>, operations: usize) {
    let tasks = (0..IN_FLIGHT).map(|_| {
        let (log, topic) = (Arc::clone(log), topic());
        tokio::spawn(async move {
            for _ in 0..operations / IN_FLIGHT {
                log.append(&topic, event())
                    .await
                    .expect("an append succeeds");
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.expect("no task panics");
    }
}

async fn publish_in_flight(bare: &jetstream::Context, payload: &str, operations: usize) {
    let tasks = (0..IN_FLIGHT).map(|_| {
        let (bare, payload) = (bare.clone(), payload.to_owned());
        tokio::spawn(async move {
            for _ in 0..operations / IN_FLIGHT {
                let sent = bare.publish("bare", payload.clone().into()).await;
                let acknowledged = sent.expect("the server is there").await;
                acknowledged.expect("the server stores it");
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.expect("no task panics");
    }
}
