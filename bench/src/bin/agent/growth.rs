//! What a turn costs late in a loop.
//!
//! The conversation is shortened all the time, so that the model's own context does not grow;
//! what else grows with a session may cost nothing per turn.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use harn_agent::{FunctionTool, Runtime, RuntimeOptions, Tool};
use harn_bench::{Effort, Goal, Samples, Table};
use serde_json::json;

use crate::ours;

const EARLY: usize = 100;
const LATE: usize = 10_000;

/// How many turns around the early one and the late one are looked at.
const WINDOW: usize = 100;

const CALL_AFTER_CALL: &str = r#"
piece_chars = 1000

[[turn]]
repeat = true
call = [{ tool = "add", arguments = { a = 2, b = 3 } }]
"#;

/// A loop that calls a tool in each of its turns.
pub(crate) fn measure(effort: Effort, table: &mut Table) -> Result<(), String> {
    let late = match effort {
        Effort::Full => LATE,
        Effort::Smoke => 3 * EARLY,
    };
    let rounds = match effort {
        Effort::Full => 5,
        Effort::Smoke => 1,
    };
    let mut samples = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (early, late) = turns_of(late);
        samples.0.push(late);
        samples.1.push(early);
    }
    let samples = (Samples::of(samples.0), Samples::of(samples.1));
    table.times(
        &format!("cost per turn at turn {late}, no storage"),
        &format!("at turn {EARLY}"),
        &samples,
        Goal::TimeAtMost(1.2),
    );
    Ok(())
}

/// Nanoseconds per turn around the early turn, and around the late one.
fn turns_of(late: usize) -> (f64, f64) {
    let called: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let runtime = ours::runtime(CALL_AFTER_CALL, RuntimeOptions::default());
    let tasks = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime can be made");
    tasks.block_on(run(&runtime, late + WINDOW, clock(&called)));
    let called = called.lock().unwrap_or_else(PoisonError::into_inner);
    let around = |turn: usize| {
        let (first, last) = (turn - WINDOW / 2, turn + WINDOW / 2);
        let took = called[last] - called[first];
        took.as_nanos() as f64 / (last - first) as f64
    };
    (around(EARLY), around(late))
}

/// A tool that notes when it is called. Its results differ, so that nobody sees an agent that
/// goes round in circles, and are long enough to fill the context in some twenty turns.
fn clock(called: &Arc<Mutex<Vec<Instant>>>) -> Arc<dyn Tool> {
    let called = Arc::clone(called);
    let parameters = json!({"a": "int", "b": "int"});
    FunctionTool::new("add", "Adds two numbers.", parameters, move |_| {
        let mut called = called.lock().unwrap_or_else(PoisonError::into_inner);
        called.push(Instant::now());
        let result = format!("{:0>200}", called.len());
        Box::pin(async move { Ok(result) })
    })
}

async fn run(runtime: &Arc<Runtime>, turns: usize, tool: Arc<dyn Tool>) {
    let request = ours::agent(tool)
        .option("max_iterations", turns)
        .option("compaction", "truncate")
        .option("compact_threshold", 1000);
    let result = runtime.run(request).await.expect("the script goes on");
    assert_eq!(result.status, "budget_exhausted");
}
