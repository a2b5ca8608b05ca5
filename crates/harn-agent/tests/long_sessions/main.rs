//! A turn costs the same however old its session is.
//!
//! What is measured is counted: bytes that are allocated and bytes that are stored. Both depend on
//! what a turn does and on nothing else, so a test that fails fails always.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(
    clippy::disallowed_macros,
    reason = "tests run side by side, and nothing can be handed to an allocator"
)]

mod heap;
mod lists;
mod turns;

#[global_allocator]
static HEAP: heap::CountingHeap = heap::CountingHeap;

use std::sync::{Arc, Mutex};

use harn_agent::llm::desk::Desk;
use harn_agent::llm::scenario::Scenario;
use harn_agent::{FunctionTool, LoopRequest, Runtime, RuntimeOptions};
use harn_log::AnyEventLog;
use serde_json::json;

/// Who answers, and how calls are written.
#[derive(Clone, Copy, Debug)]
struct Style {
    format: &'static str,
    is_queued: bool,
}

const STYLES: [Style; 4] = [
    Style::of("native", false),
    Style::of("text", false),
    Style::of("native", true),
    Style::of("text", true),
];

impl Style {
    const fn of(format: &'static str, is_queued: bool) -> Self {
        Self { format, is_queued }
    }

    fn desk(self, turns: usize) -> Desk {
        let script = match self.format {
            "native" => {
                "[[turn]]\ntext = \"I look.\"\n\
                call = [{ tool = \"look\", arguments = { path = \"a\" } }]\nrepeat = true\n"
            }
            _ => {
                "[[turn]]\ntext = \"<tool_call>look({ path: \\\"a\\\" })</tool_call>\"\n\
                repeat = true\n"
            }
        };
        let desk = Desk::staged(Scenario::parse("looking", script).unwrap());
        let entry = match self.format {
            "native" => json!({
                "text": "I look.",
                "tool_calls": [{"name": "look", "arguments": {"path": "a"}}],
            }),
            _ => json!({"text": "<tool_call>look({ path: \"a\" })</tool_call>"}),
        };
        for _ in 0..turns * usize::from(self.is_queued) {
            let queued = desk.answer("llm_mock", std::slice::from_ref(&entry));
            queued.unwrap().unwrap();
        }
        desk
    }
}

/// Runs a loop of so many turns that call a tool each; gives what `measure` says at each call.
fn run<T: Send + 'static>(
    style: Style,
    turns: usize,
    log: Option<Arc<AnyEventLog>>,
    measure: impl Fn() -> T + Send + Sync + 'static,
) -> Vec<T> {
    let options = RuntimeOptions {
        log,
        ..RuntimeOptions::default()
    };
    let runtime = Runtime::new(Arc::new(style.desk(turns)), options);
    let measured: Arc<Mutex<Vec<T>>> = Arc::new(Mutex::new(Vec::with_capacity(turns)));
    let seen = Arc::clone(&measured);
    let parameters = json!({"path": "string"});
    let look = FunctionTool::new("look", "Looks.", parameters, move |_| {
        let mut seen = seen.lock().unwrap();
        // Each result is another one, so that nobody thinks that the loop goes in circles.
        let result = format!("seen {:05}", seen.len());
        seen.push(measure());
        Box::pin(async move { Ok(result) })
    });
    let request = LoopRequest::new("Look")
        .option("session_id", "long")
        .option("tool_format", style.format)
        .option("max_iterations", turns)
        // All of it stays, so that whatever grows with a conversation does.
        .option("compaction", false)
        .tool(look);
    let tasks = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let result = tasks.block_on(runtime.run(request)).unwrap();
    assert_eq!(result.tools_used.len(), turns, "{}", result.status);
    drop(runtime);
    let mut measured = measured.lock().unwrap();
    std::mem::take(&mut *measured)
}

/// Says how much more a turn takes late than early, where that is more than a tenth.
#[track_caller]
fn assert_flat(what: impl std::fmt::Debug, early: f64, late: f64) {
    let ratio = late / early;
    assert!(
        ratio <= 1.1,
        "{what:?}: {early:.0} early, {late:.0} late, {ratio:.2} times as much"
    );
}
