//! A thousand agents that one process has started.
//!
//! On paper: a child is a session, a loop and a worker's record, some 30 KB together while its
//! tool runs, and its two turns cost what any turns cost, 15 µs or so each; what is told and
//! kept about the worker costs as much again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use harn_agent::llm::desk::Thrown;
use harn_agent::{Asked, BoxFuture, Callback, Functions, Runtime, RuntimeOptions};
use harn_bench::{Effort, Table};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::{kept_by, ours};

const CHILDREN: usize = 1000;

/// Adds two numbers, when it may.
struct Add {
    called: AtomicUsize,
    gate: Semaphore,
}

impl Add {
    fn new(permits: usize) -> Arc<Self> {
        Arc::new(Self {
            called: AtomicUsize::new(0),
            gate: Semaphore::new(permits),
        })
    }
}

impl Callback for Add {
    fn call(&self, arguments: Vec<Value>) -> BoxFuture<'_, Result<Value, Thrown>> {
        Box::pin(async move {
            self.called.fetch_add(1, Ordering::Relaxed);
            let permit = self.gate.acquire().await;
            permit.expect("nobody closes the gate").forget();
            let number = |key: &str| arguments[0][key].as_i64().unwrap_or(0);
            Ok(json!((number("a") + number("b")).to_string()))
        })
    }
}

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
    tasks.block_on(finished(&runtime, &Add::new(1), 1));
    let add = Add::new(0);
    let (bytes, handles) = kept_by(|| tasks.block_on(waiting(&runtime, &add, count)));
    let each = bytes / count;
    add.gate.add_permits(count);
    tasks.block_on(ended(&runtime, handles));
    let began = Instant::now();
    tasks.block_on(finished(&runtime, &Add::new(count), count));
    // Two turns each: a call, and a text.
    let per_second = 2.0 * count as f64 / began.elapsed().as_secs_f64();
    table.row(
        &format!("{count} sub-agents in one process: memory"),
        "–",
        &format!("{each} B each"),
        "–",
        &format!("{:.1} MB in all", bytes as f64 / 1e6),
        "–",
        true,
    );
    table.row(
        &format!("{count} sub-agents in one process: turns in total"),
        "–",
        &format!("{per_second:.0} turns/s"),
        "–",
        "–",
        "–",
        true,
    );
    Ok(())
}

/// Starts children and waits until the tool of each of them runs.
async fn waiting(runtime: &Arc<Runtime>, add: &Arc<Add>, count: usize) -> Vec<Value> {
    let handles = started(runtime, add, count).await;
    while add.called.load(Ordering::Relaxed) < count {
        tokio::task::yield_now().await;
    }
    handles
}

/// Starts children and waits for their end.
async fn finished(runtime: &Arc<Runtime>, add: &Arc<Add>, count: usize) {
    let handles = started(runtime, add, count).await;
    ended(runtime, handles).await;
}

async fn started(runtime: &Arc<Runtime>, add: &Arc<Add>, count: usize) -> Vec<Value> {
    let mut handles = Vec::with_capacity(count);
    for _ in 0..count {
        handles.push(start(runtime, add).await);
    }
    handles
}

async fn start(runtime: &Arc<Runtime>, add: &Arc<Add>) -> Value {
    let mut functions = Functions::default();
    let add = Arc::clone(add) as Arc<dyn Callback>;
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

async fn ended(runtime: &Arc<Runtime>, handles: Vec<Value>) {
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
