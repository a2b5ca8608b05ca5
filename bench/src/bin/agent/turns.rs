//! One turn with a call, and whoever wants to keep it.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use harn_agent::{PreparedLoop, RuntimeOptions};
use harn_bench::{Effort, Goal, Samples, Table, time, versus};
use harn_log::{AnyEventLog, SqliteEventLog};
use tempfile::TempDir;

use crate::ours;
use crate::peer::Peer;

/// How many runs of a peer make a sample: it takes milliseconds for each.
const RUNS: usize = 30;

/// How many of ours make up for one of theirs, so that a sample of ours is no shorter than what
/// the system lets others run in between.
const OURS_PER_RUN: usize = 20;

/// Nothing is kept.
pub(crate) fn without_storage(effort: Effort, table: &mut Table) -> Result<(), String> {
    let mut us = Us::new(RuntimeOptions::default());
    let works = [
        ("Pydantic-AI", "pydantic_ai"),
        ("LangGraph, prebuilt", "langgraph_prebuilt"),
        ("LangGraph, plain nodes", "langgraph_nodes"),
    ];
    let mut measured = Vec::new();
    for (name, work) in works {
        let samples = race(effort, &mut us, &mut Peer::start(work, None)?);
        measured.push((name, samples));
    }
    let time_of = |samples: &(Samples, Samples)| samples.1.median_ns();
    let fastest = measured.iter().map(|(_, samples)| time_of(samples));
    let fastest = fastest.fold(f64::INFINITY, f64::min);
    for (name, samples) in measured {
        let goal = match time_of(&samples) <= fastest {
            true => Goal::SpeedAtLeast(40.0),
            false => Goal::Shown,
        };
        table.times("one tool turn, no storage", name, &samples, goal);
    }
    Ok(())
}

/// Everything is kept, and durable before it is acted upon.
pub(crate) fn durable(effort: Effort, table: &mut Table) -> Result<(), String> {
    // Not in /tmp, which may be memory: a sync has to be a sync.
    let folder = tempfile::tempdir_in("target").map_err(|why| format!("a folder: {why}"))?;
    let mut peer = Peer::start("langgraph_sqlite", Some(&folder.path().join("peer.sqlite")))?;
    let mut us = Us::new(RuntimeOptions {
        log: Some(sqlite(&folder)),
        ..RuntimeOptions::default()
    });
    let samples = race(effort, &mut us, &mut peer);
    table.times(
        "one durable tool turn, SQLite, with barriers",
        "LangGraph, plain nodes, SQLite saver, sync",
        &samples,
        Goal::SpeedAtLeast(15.0),
    );
    Ok(())
}

/// A log in a file.
pub(crate) fn sqlite(folder: &TempDir) -> Arc<AnyEventLog> {
    let file = folder.path().join("ours.sqlite");
    let log = SqliteEventLog::open(file, 128).expect("a log can be opened");
    Arc::new(AnyEventLog::Sqlite(log))
}

fn race(effort: Effort, us: &mut Us, peer: &mut Peer) -> (Samples, Samples) {
    let operations = match effort {
        Effort::Full => RUNS,
        Effort::Smoke => 2,
    };
    us.time(operations * OURS_PER_RUN);
    peer.time(operations);
    versus(
        effort,
        operations,
        |count| us.time(count * OURS_PER_RUN) / OURS_PER_RUN as u32,
        |count| peer.time(count),
    )
}

/// Our side: like those of the peers, an agent that is made once.
struct Us {
    agent: PreparedLoop,
    tasks: tokio::runtime::Runtime,
}

impl Us {
    fn new(options: RuntimeOptions) -> Self {
        let tasks = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        let runtime = ours::runtime(ours::ONE_CALL, options);
        Self {
            agent: ours::prepared(&runtime),
            tasks: tasks.expect("a runtime can be made"),
        }
    }

    fn time(&mut self, count: usize) -> Duration {
        time(|| {
            self.tasks.block_on(async {
                for _ in 0..count {
                    ours::run(&self.agent).await;
                    black_box(());
                }
            });
        })
    }
}
