//! Tools that answer at once and report later.
//!
//! ```text
//! begin ─► handle {status: "running"} ─► the model goes on
//!    └───► work, anywhere ─► complete ─► inbox of the session ─► the model's next turn
//! ```
//!
//! The session that began an operation is the only one that hears of it. When its loop ends,
//! what is still under way is cancelled: nobody would read the report.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harn_events::{EventBus, InboxSource};
use harn_llm::desk::timestamp;
use serde_json::{Value, json};

use crate::runtime::Runtime;

/// How many characters of a result the model is told. Whoever needs more can ask for less at
/// a time.
const RESULT_CHARS_MAX: usize = 16_000;

/// The operations that are under way, by session.
#[derive(Default)]
pub(crate) struct LongRunning {
    begun: AtomicU64,
    open: Mutex<BTreeMap<String, BTreeMap<u64, Arc<AtomicBool>>>>,
}

impl LongRunning {
    fn open(&self) -> MutexGuard<'_, BTreeMap<String, BTreeMap<u64, Arc<AtomicBool>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop of a session has ended.
    pub(crate) fn cancel(&self, session_id: &str) {
        let cancelled = self.open().remove(session_id);
        for flag in cancelled.into_iter().flat_map(BTreeMap::into_values) {
            flag.store(true, Ordering::Release);
        }
    }

    /// Takes an operation off the list; whether it was still there.
    fn close(&self, session_id: &str, number: u64) -> bool {
        let mut open = self.open();
        let Some(of_session) = open.get_mut(session_id) else {
            return false;
        };
        let was_open = of_session.remove(&number).is_some();
        if of_session.is_empty() {
            open.remove(session_id);
        }
        was_open
    }
}

/// Something that goes on after its tool has answered. It reports once: with what came of it,
/// or, if it is dropped before, that nothing did.
pub struct Operation {
    number: u64,
    handle: Value,
    started_ms: i64,
    session_id: Option<String>,
    is_cancelled: Arc<AtomicBool>,
    all: Arc<LongRunning>,
    bus: EventBus,
    now: Arc<dyn Fn() -> i64 + Send + Sync>,
}

impl Runtime {
    /// Begins something that a session will hear of; `None` for a session: nobody will.
    pub fn begin_operation(
        &self,
        session_id: Option<&str>,
        operation: &str,
        descriptor: &str,
    ) -> Operation {
        let all = Arc::clone(&self.long_running);
        let number = all.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let is_cancelled = Arc::new(AtomicBool::new(session_id.is_none()));
        if let Some(session_id) = session_id {
            let mut open = all.open();
            let of_session = open.entry(session_id.to_owned()).or_default();
            of_session.insert(number, Arc::clone(&is_cancelled));
        }
        let desk = Arc::clone(self.desk());
        let started_ms = self.now_ms();
        Operation {
            handle: json!({
                "handle_id": format!("hso-{:x}-{number}", std::process::id()),
                "started_at": timestamp(started_ms),
                "ended_at": null,
                "duration_ms": 0,
                "status": "running",
                "operation": operation,
                "command_or_op_descriptor": descriptor,
            }),
            number,
            started_ms,
            session_id: session_id.map(str::to_owned),
            is_cancelled,
            all,
            bus: self.bus().clone(),
            now: Arc::new(move || (desk.ports().now)()),
        }
    }
}

impl Operation {
    /// What the tool answers now.
    pub fn handle(&self) -> &Value {
        &self.handle
    }

    /// Whether nobody wants to hear of it any more. Whoever works should look now and then.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire)
    }

    /// Reports what came of it.
    pub fn complete(mut self, outcome: Result<Value, String>) {
        self.report(outcome);
    }

    fn report(&mut self, outcome: Result<Value, String>) {
        let Some(session_id) = self.session_id.take() else {
            return;
        };
        if !self.all.close(&session_id, self.number) {
            return;
        }
        let mut report = self.handle.take();
        let now_ms = (self.now)();
        report["ended_at"] = json!(timestamp(now_ms));
        report["duration_ms"] = json!(now_ms - self.started_ms);
        match outcome {
            Ok(result) => {
                report["status"] = json!("completed");
                put_result(&mut report, result);
            }
            Err(error) => {
                report["status"] = json!("failed");
                report["error"] = json!(error);
            }
        }
        let content = report.to_string();
        let source = InboxSource::Outside;
        self.bus
            .push_feedback(&session_id, "tool_result", &content, source);
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        self.report(Err("the operation was given up".to_owned()));
    }
}

/// A result that is too long is cut, and the model is told of how much.
fn put_result(report: &mut Value, result: Value) {
    let (kept, total) = match result {
        Value::Array(mut items) => {
            let total = items.len();
            let mut chars = 0;
            let fits = items.iter().take_while(|item| {
                chars += item.to_string().chars().count() + 1;
                chars <= RESULT_CHARS_MAX
            });
            items.truncate(fits.count());
            let left_out = items.len() < total;
            (Value::Array(items), left_out.then_some(total))
        }
        Value::String(text) => {
            let total = text.chars().count();
            let kept = text.chars().take(RESULT_CHARS_MAX).collect();
            (
                Value::String(kept),
                (total > RESULT_CHARS_MAX).then_some(total),
            )
        }
        other => (other, None),
    };
    report["result"] = kept;
    if let Some(total) = total {
        report["result_truncated"] = json!(true);
        report["result_total"] = json!(total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Program;

    fn reports(program: &Program, session_id: &str) -> Vec<(String, Value)> {
        let items = program.runtime.bus().drain_feedback(session_id);
        let items = items.into_iter();
        items
            .map(|(kind, content)| (kind, serde_json::from_str(&content).unwrap()))
            .collect()
    }

    #[test]
    fn an_operation_reports_once_to_its_session() {
        let program = Program::default();
        let one = program
            .runtime
            .begin_operation(Some("s"), "search", "search x");
        let two = program
            .runtime
            .begin_operation(Some("s"), "search", "search y");
        let (first, second) = (one.handle().clone(), two.handle().clone());
        assert_eq!(
            first["handle_id"],
            format!("hso-{:x}-1", std::process::id())
        );
        assert_eq!(
            (&first["status"], &first["ended_at"]),
            (&json!("running"), &Value::Null)
        );
        program.wait(5);
        two.complete(Err("no such place".to_owned()));
        one.complete(Ok(json!(["a"])));
        assert!(reports(&program, "t").is_empty());
        let said = reports(&program, "s");
        assert_eq!((&*said[0].0, said.len()), ("tool_result", 2));
        assert_eq!(said[0].1["handle_id"], second["handle_id"]);
        assert_eq!(
            (
                &said[0].1["status"],
                &said[0].1["error"],
                said[0].1.get("result")
            ),
            (&json!("failed"), &json!("no such place"), None)
        );
        assert_eq!(
            (
                &said[1].1["status"],
                &said[1].1["result"],
                &said[1].1["duration_ms"]
            ),
            (&json!("completed"), &json!(["a"]), &json!(5))
        );
    }

    #[test]
    fn the_end_of_a_loop_cancels_what_is_under_way() {
        let program = Program::default();
        let mine = program.runtime.begin_operation(Some("s"), "search", "");
        let other = program.runtime.begin_operation(Some("t"), "search", "");
        program.mock("Done.");
        program.run("go", "s");
        assert!(mine.is_cancelled() && !other.is_cancelled());
        mine.complete(Ok(json!("late")));
        assert!(reports(&program, "s").is_empty());
        drop(other);
        assert_eq!(reports(&program, "t")[0].1["status"], "failed");
    }

    #[test]
    fn a_result_that_is_too_long_is_cut() {
        let program = Program::default();
        let many: Vec<String> = (0..5000).map(|number| format!("path/{number}")).collect();
        let operation = program.runtime.begin_operation(Some("s"), "search", "");
        operation.complete(Ok(json!(many)));
        let report = reports(&program, "s").remove(0).1;
        assert_eq!(
            (&report["result_truncated"], &report["result_total"]),
            (&json!(true), &json!(5000))
        );
        assert!(report.to_string().len() < 17_000);
        let long = program.runtime.begin_operation(Some("s"), "search", "");
        long.complete(Ok(json!("ä".repeat(20_000))));
        let report = reports(&program, "s").remove(0).1;
        assert_eq!(report["result"].as_str().unwrap().chars().count(), 16_000);
    }
}
