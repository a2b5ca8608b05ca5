//! What a turn of a long session costs, and what it costs to look at the session, to take it up
//! again and to fork it.
//!
//! On paper: a turn with a call is some 13 records of the journal and 24 events, 17 KB in SQLite
//! with hashes and headers, however old the session is. Ten thousand turns are 130,000 records of
//! the journal; a record takes some 3 µs to be read, so all of them less than half a second.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use harn_agent::session::{Change, conversation, load_session};
use harn_agent::{FunctionTool, Runtime, RuntimeOptions, Tool};
use harn_bench::{Effort, Table};
use harn_log::{AnyEventLog, EventLog, Topic, block_on};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

use crate::{ours, turns};

const TURNS: usize = 10_000;
const SESSION: &str = "long";

/// How much more a late turn may take than an early one.
const RATIO_MAX: f64 = 1.1;
const PROCESSOR_MAX: Duration = Duration::from_millis(1500);

const NATIVE: &str = r#"
piece_chars = 1000

[[turn]]
repeat = true
call = [{ tool = "add", arguments = { a = 2, b = 3 } }]
"#;

const TEXT: &str = r#"
piece_chars = 1000

[[turn]]
repeat = true
text = "<tool_call>add({ a: 2, b: 3 })</tool_call>"
"#;

/// Loops with both kinds of calls, in SQLite.
pub(crate) fn measure(effort: Effort, table: &mut Table) -> Result<(), String> {
    let count = match effort {
        Effort::Full => TURNS,
        Effort::Smoke => 300,
    };
    for (format, script) in [("text", TEXT), ("native", NATIVE)] {
        let folder = tempfile::tempdir_in("target").map_err(|why| format!("a folder: {why}"))?;
        let log = turns::sqlite(&folder);
        let at_call = run(&log, format, script, count);
        // As many turns early and late, so that what doubles now and then has room.
        let window = (count / 20).max(20);
        let (early, late) = (50..50 + window, count - 1 - window..count - 1);
        let time = |turns: &Range<usize>| at_call[turns.end].saturating_sub(at_call[turns.start]);
        let micros = |turns: &Range<usize>| time(turns).as_secs_f64() * 1e6 / window as f64;
        let names = (
            format!("turn {count} of a stored session, {format} calls, SQLite"),
            "turn 100".to_owned(),
        );
        ratio(
            table,
            &names,
            "processor",
            "µs",
            (micros(&late), micros(&early)),
        );
        let stored = stored_bytes(&log)?;
        let bytes = |turns: &Range<usize>| {
            stored[turns.clone()].iter().sum::<usize>() as f64 / window as f64
        };
        ratio(table, &names, "stored", "B", (bytes(&late), bytes(&early)));
        if format == "native" {
            look(table, count, &log);
        }
    }
    Ok(())
}

fn ratio(table: &mut Table, names: &(String, String), what: &str, unit: &str, costs: (f64, f64)) {
    let ratio = costs.0 / costs.1;
    table.row(
        &format!("{}: {what}", names.0),
        &names.1,
        &format!("{:.1} {unit}", costs.0),
        &format!("{:.1} {unit}", costs.1),
        &format!("{ratio:.2} ×"),
        &format!("≤ {RATIO_MAX:.2} ×"),
        ratio <= RATIO_MAX,
    );
}

/// Runs a loop of so many turns; gives how long the processor has worked at each call.
fn run(log: &Arc<AnyEventLog>, format: &str, script: &str, count: usize) -> Vec<Duration> {
    let called: Arc<Mutex<Vec<Duration>>> = Arc::default();
    let runtime = ours::runtime(script, options(log, None));
    let request = ours::agent(clock(&called))
        .option("session_id", SESSION)
        .option("tool_format", format)
        .option("compaction", false)
        .option("max_iterations", count);
    let result = tasks().block_on(runtime.run(request));
    let result = result.expect("the script goes on");
    assert_eq!(result.status, "budget_exhausted");
    std::mem::take(&mut *called.lock().unwrap_or_else(PoisonError::into_inner))
}

fn options(log: &Arc<AnyEventLog>, resumes: Option<String>) -> RuntimeOptions {
    RuntimeOptions {
        log: Some(Arc::clone(log)),
        resumes,
        ..RuntimeOptions::default()
    }
}

fn tasks() -> tokio::runtime::Runtime {
    let tasks = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    tasks.expect("a runtime can be made")
}

/// A tool that notes when it is called. Its results differ, so that nobody sees an agent that
/// goes round in circles.
fn clock(called: &Arc<Mutex<Vec<Duration>>>) -> Arc<dyn Tool> {
    let called = Arc::clone(called);
    let parameters = json!({"a": "int", "b": "int"});
    FunctionTool::new("add", "Adds two numbers.", parameters, move |_| {
        let mut called = called.lock().unwrap_or_else(PoisonError::into_inner);
        called.push(processor());
        let result = format!("{:0>8}", called.len());
        Box::pin(async move { Ok(result) })
    })
}

/// How long the processor has worked for this program.
fn processor() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_nanos(time.tv_nsec.unsigned_abs())
}

/// Bytes of the records of each turn: kinds, payloads and headers.
fn stored_bytes(log: &AnyEventLog) -> Result<Vec<usize>, String> {
    let mut bytes: Vec<usize> = Vec::new();
    for (name, start) in [
        (format!("agent_sessions.{SESSION}"), "iteration_started"),
        (
            format!("observability.agent_events.{SESSION}"),
            "iteration_start",
        ),
    ] {
        let topic = Topic::new(name).map_err(|why| why.to_string())?;
        let (mut from, mut turn) = (None, 0);
        loop {
            let chunk = block_on(log.read_range_bytes(&topic, from, 1024));
            let chunk = chunk.map_err(|why| why.to_string())?;
            let Some((last, _)) = chunk.last() else {
                break;
            };
            from = Some(*last);
            for (_, record) in &chunk {
                turn += usize::from(record.kind == start);
                bytes.resize(bytes.len().max(turn), 0);
                if let Some(bytes) = turn.checked_sub(1).and_then(|turn| bytes.get_mut(turn)) {
                    let headers = record.headers.iter();
                    let headers: usize = headers.map(|(name, text)| name.len() + text.len()).sum();
                    *bytes += record.kind.len() + record.payload.len() + headers;
                }
            }
        }
    }
    Ok(bytes)
}

/// Shows the session, takes it up again, and forks it.
fn look(table: &mut Table, count: usize, log: &Arc<AnyEventLog>) {
    let name = format!("a session of {count} turns, SQLite");
    let (took, parts) = took(|| {
        let state = block_on(load_session(&**log, SESSION, None)).expect("it can be read");
        conversation::of(&state).len()
    });
    assert!(parts >= count, "{parts}");
    cost(table, &format!("show {name}: processor"), took);
    let runtime = ours::runtime(NATIVE, options(log, Some(SESSION.to_owned())));
    let (took, session) = self::took(|| open(&runtime, SESSION));
    assert_eq!(session.read(|state| state.run.tools_used.len()), count);
    cost(table, &format!("take up {name}: processor"), took);
    let (took, ()) = self::took(|| {
        let content = session.read(|state| state.content());
        let fork = open(&runtime, "fork");
        let content = Box::new(content.child_of(SESSION));
        fork.record(Change::Forked { content });
        block_on(fork.barrier());
    });
    cost(table, &format!("fork {name}: processor"), took);
}

fn open(runtime: &Arc<Runtime>, id: &str) -> Arc<harn_agent::session::Session> {
    let opened = tasks().block_on(runtime.open_session(id));
    opened.unwrap_or_else(|why| panic!("{id} cannot be opened: {why}"))
}

fn took<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let before = processor();
    let result = work();
    (processor().saturating_sub(before), result)
}

fn cost(table: &mut Table, work: &str, took: Duration) {
    table.row(
        work,
        "–",
        &format!("{:.0} ms", took.as_secs_f64() * 1e3),
        "–",
        "–",
        &format!("≤ {} ms", PROCESSOR_MAX.as_millis()),
        took <= PROCESSOR_MAX,
    );
}
