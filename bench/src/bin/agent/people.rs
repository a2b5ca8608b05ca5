//! What it costs to wait for a person.
//!
//! On paper: nothing. The log wakes who waits, so between the request and its end there is
//! nothing to do.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use harn_bench::{Effort, Table};
use harn_check::modules::{MemoryFiles, Workspace};
use harn_vm::machine::Stream;
use harn_vm::{EventLogOptions, Outcome, Program, RunOptions, Sink, WorldOptions};
use rustix::time::{ClockId, clock_gettime};

use crate::turns;

/// How many approvals wait at once.
const WAITING: usize = 100;
const PROCESSOR_MAX: Duration = Duration::from_millis(2);

/// Long enough for all of them to wait.
const BEGIN: Duration = Duration::from_secs(1);

/// How much longer they wait than is looked at. When they end, each hears of the others, which
/// is no part of waiting.
const REST: Duration = Duration::from_millis(500);

/// A program that waits for approvals in a log on disk, and what the processor does while all of
/// them wait.
pub(crate) fn measure(effort: Effort, table: &mut Table) -> Result<(), String> {
    let seconds = match effort {
        Effort::Full => 5,
        Effort::Smoke => 1,
    };
    let looked_at = Duration::from_secs(seconds);
    let (cost, ended) = thread::scope(|scope| {
        let waiting = scope.spawn(move || wait_for(BEGIN + looked_at + REST));
        thread::park_timeout(BEGIN);
        let before = processor();
        thread::park_timeout(looked_at);
        let cost = processor().saturating_sub(before);
        (cost, waiting.join())
    });
    ended.map_err(|_| "the program panics")??;
    table.row(
        &format!("{WAITING} approvals wait {seconds} s, in SQLite: processor"),
        "–",
        &format!("{:.1} ms", cost.as_secs_f64() * 1e3),
        "–",
        "–",
        "≤ 2 ms",
        cost <= PROCESSOR_MAX,
    );
    Ok(())
}

/// Waits for approvals until their deadline.
fn wait_for(time: Duration) -> Result<(), String> {
    let milliseconds = time.as_millis();
    let folder = tempfile::tempdir_in("target").map_err(|why| format!("a folder: {why}"))?;
    let log = turns::sqlite(&folder);
    let text = format!(
        "let tasks = range({WAITING}).map({{ n -> spawn {{ try {{ \
           request_approval(\"deploy ${{n}}\", {{deadline: {milliseconds}}}) }} }} }}).to_list()\n\
         for task in tasks {{ await(task) }}"
    );
    let mut workspace = Workspace::new(Box::new(MemoryFiles::new()));
    workspace.set_text("/main.harn", text);
    let options = RunOptions {
        world: WorldOptions {
            event_log: EventLogOptions {
                open: Some(Arc::new(move || Some(Arc::clone(&log)))),
                ..EventLogOptions::default()
            },
            ..WorldOptions::default()
        },
        ..RunOptions::default()
    };
    let ended =
        Program::new(&mut workspace, Path::new("/main.harn")).run(&options, Box::new(Nowhere));
    match ended {
        Ok(Outcome::Ended(Ok(_))) => Ok(()),
        other => Err(format!("the program does not wait: {other:?}")),
    }
}

/// How long the processor has worked for this process.
fn processor() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Takes what nobody reads.
struct Nowhere;

impl Sink for Nowhere {
    fn write(&mut self, _stream: Stream, _text: &str) {}

    fn flush(&mut self) {}
}
