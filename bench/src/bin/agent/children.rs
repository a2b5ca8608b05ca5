//! A thousand agents that one process has started.
//!
//! On paper: a child is a session, a loop and a worker's record, some 20 KB together while it
//! waits for its model, and its two turns cost what any turns cost, 15 µs or so each; the record
//! of the worker is written down four times, which costs as much again.

use std::sync::Arc;
use std::time::Instant;

use harn_agent::{Asked, Callback, Functions, Runtime, RuntimeOptions};
use harn_bench::{Effort, Table};
use serde_json::{Value, json};

use crate::{kept_by, ours};

const CHILDREN: usize = 1000;

/// How much a child may take that has begun and waits.
const BYTES_MAX: usize = 64 << 10;

/// The least that all of them together have to get done.
const TURNS_PER_SECOND: f64 = 5_000.0;

/// All children are started, wait for each other, and come to their end.
pub(crate) fn measure(effort: Effort, table: &mut Table) -> Result<(), String> {
    let count = match effort {
        Effort::Full => CHILDREN,
        Effort::Smoke => 20,
    };
    let tasks = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|why| format!("a thread of tasks: {why}"))?;
    let runtime = ours::runtime(ours::ONE_CALL, RuntimeOptions::default());
    // What is needed once is there already.
    tasks.block_on(all_of(&runtime, 1));
    let (bytes, handles) = kept_by(|| tasks.block_on(started(&runtime, count)));
    let each = bytes / count;
    let began = Instant::now();
    tasks.block_on(finished(&runtime, handles));
    tasks.block_on(all_of(&runtime, count));
    // Two turns each: a call, and a text.
    let turns = 2.0 * 2.0 * count as f64;
    let per_second = turns / began.elapsed().as_secs_f64();
    table.row(
        &format!("{count} sub-agents in one process: memory"),
        "–",
        &format!("{each} B each"),
        "–",
        &format!("{:.1} MB in all", bytes as f64 / 1e6),
        &format!("≤ {BYTES_MAX} B"),
        each <= BYTES_MAX,
    );
    table.row(
        &format!("{count} sub-agents in one process: turns in total"),
        "–",
        &format!("{per_second:.0} turns/s"),
        "–",
        "–",
        &format!("≥ {TURNS_PER_SECOND:.0} turns/s"),
        per_second >= TURNS_PER_SECOND,
    );
    Ok(())
}

/// Starts children, which have not been polled yet when this returns.
async fn started(runtime: &Arc<Runtime>, count: usize) -> Vec<Value> {
    let mut handles = Vec::with_capacity(count);
    for _ in 0..count {
        handles.push(start(runtime).await);
    }
    handles
}

async fn all_of(runtime: &Arc<Runtime>, count: usize) {
    let handles = started(runtime, count).await;
    finished(runtime, handles).await;
}

async fn start(runtime: &Arc<Runtime>) -> Value {
    let add = |arguments: Vec<Value>| {
        let number = |key: &str| arguments[0][key].as_i64().unwrap_or(0);
        Ok(json!((number("a") + number("b")).to_string()))
    };
    let mut functions = Functions::default();
    let add = Arc::new(add) as Arc<dyn Callback>;
    functions.insert("/1/tools/tools/0/handler", add);
    let tool = json!({
        "name": "add", "description": "Adds two numbers.",
        "parameters": {"a": "int", "b": "int"},
    });
    let options = json!({
        "provider": "openai", "model": "gpt-4o", "tool_format": "native", "background": true,
        "tools": {"_type": "tool_registry", "tools": [tool]},
        "carry": {"persist_state": false},
    });
    let asked = Asked {
        builtin: "sub_agent_run".to_owned(),
        arguments: vec![json!(ours::ASKED), options],
        functions,
        ..Asked::default()
    };
    runtime.answer(asked).await.expect("it starts")
}

async fn finished(runtime: &Arc<Runtime>, handles: Vec<Value>) {
    let asked = Asked {
        builtin: "wait_agent".to_owned(),
        arguments: vec![Value::Array(handles)],
        ..Asked::default()
    };
    let done = runtime.answer(asked).await.expect("all of them complete");
    for worker in done.as_array().expect("it is a list") {
        assert_eq!(worker["result"]["summary"], "The sum is 5.");
    }
}
