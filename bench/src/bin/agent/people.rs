//! What it costs to wait for a person.
//!
//! On paper: nothing. The log wakes who waits, so between the request and its end there is
//! nothing to do.

use std::path::Path;
use std::sync::Arc;
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

/// Long enough for all of them to wait before the first one ends. When they end, each hears of
/// the others, which is no part of waiting.
const SHORT_MS: u64 = 1000;

/// Programs that wait for approvals in a log on disk, one for a moment and one for longer: the
/// difference is what waiting costs.
pub(crate) fn measure(effort: Effort, table: &mut Table) -> Result<(), String> {
    let seconds = match effort {
        Effort::Full => 5,
        Effort::Smoke => 1,
    };
    // What is needed once is there already.
    waiting_for(SHORT_MS)?;
    let short = least_for(effort, SHORT_MS)?;
    let long = least_for(effort, SHORT_MS + seconds * 1000)?;
    let cost = long.saturating_sub(short);
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

/// The least of several runs: how they end together is a matter of chance, and only adds.
fn least_for(effort: Effort, milliseconds: u64) -> Result<Duration, String> {
    let runs = match effort {
        Effort::Full => 5,
        Effort::Smoke => 1,
    };
    let mut least = waiting_for(milliseconds)?;
    for _ in 1..runs {
        least = least.min(waiting_for(milliseconds)?);
    }
    Ok(least)
}

/// How long the processor works while approvals wait for so many milliseconds.
fn waiting_for(milliseconds: u64) -> Result<Duration, String> {
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
    let before = processor();
    let ended =
        Program::new(&mut workspace, Path::new("/main.harn")).run(&options, Box::new(Nowhere));
    match ended {
        Ok(Outcome::Ended(Ok(_))) => Ok(processor().saturating_sub(before)),
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
