//! The tool calls that the client knows of.
//!
//! Updates reach the client through the journal, a moment after they happened. A question about
//! a call must not overtake the news that the call exists, so it waits for it here; and it
//! calls the call what it was called there. Its arguments are those that are decided about: the
//! client may have seen only the beginning of them.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::Notify;

use super::lock;

/// How long a question waits for its call to be announced. Something is wrong after that, and
/// a question about an unknown call is better than none.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// How many calls are remembered. Questions are about calls that were just announced.
const CALLS_MAX: usize = 256;

/// The tool calls that the client knows of.
#[derive(Default)]
pub(super) struct Announced {
    calls: Mutex<Calls>,
    more: Notify,
}

#[derive(Default)]
struct Calls {
    known: BTreeMap<String, Map<String, Value>>,
    /// The ids, oldest first.
    order: std::collections::VecDeque<String>,
}

/// Whether an update is about a tool call.
pub(super) fn is_about_call(update: &Value) -> bool {
    matches!(
        update["sessionUpdate"].as_str(),
        Some("tool_call" | "tool_call_update")
    )
}

impl Announced {
    /// The client was sent an update.
    pub(super) fn note(&self, update: &Value) {
        let (true, Some(id)) = (is_about_call(update), update["toolCallId"].as_str()) else {
            return;
        };
        let mut calls = lock(&self.calls);
        if !calls.known.contains_key(id) {
            calls.order.push_back(id.to_owned());
            if calls.order.len() > CALLS_MAX
                && let Some(oldest) = calls.order.pop_front()
            {
                calls.known.remove(&oldest);
            }
        }
        let known = calls.known.entry(id.to_owned()).or_default();
        for key in ["title", "kind", "locations"] {
            if let Some(value) = update.get(key) {
                known.insert(key.to_owned(), value.clone());
            }
        }
        drop(calls);
        self.more.notify_waiters();
    }

    /// What the client was told about a call, once it was.
    pub(super) async fn call(&self, id: &str) -> Map<String, Value> {
        let announced = async {
            loop {
                let mut more = std::pin::pin!(self.more.notified());
                more.as_mut().enable();
                if let Some(known) = lock(&self.calls).known.get(id) {
                    return known.clone();
                }
                more.await;
            }
        };
        let announced = tokio::time::timeout(WAIT_MAX, announced).await;
        announced.unwrap_or_default()
    }
}
