//! The tool calls that the client knows of.
//!
//! Updates reach the client through the journal, a moment after they happened. A question about
//! a call must not overtake the news that the call exists, so it waits for it here; and it
//! calls the call what it was called there. Its arguments are those that are decided about: the
//! client may have seen only the beginning of them.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use harn_vm::agent::events::EventBus;
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
    /// The session, and where its events go; `None`: nobody knows when something was told.
    session: Option<(String, EventBus)>,
    calls: Mutex<Calls>,
    more: Notify,
}

/// A call, as the client knows it.
#[derive(Clone, Default)]
pub(super) struct KnownCall {
    /// Its id on the wire.
    pub(super) id: String,
    /// What the client was told about it.
    pub(super) told: Map<String, Value>,
}

#[derive(Default)]
struct Calls {
    /// By their ids on the wire.
    known: BTreeMap<String, Map<String, Value>>,
    /// These ids, oldest first.
    order: std::collections::VecDeque<String>,
    /// The ids on the wire of calls that have others in events, by those. Of two calls with one
    /// id the later one is meant.
    wire_ids: BTreeMap<String, String>,
    /// The index up to which everything was told.
    told: Option<u64>,
}

/// Whether an update is about a tool call.
pub(super) fn is_about_call(update: &Value) -> bool {
    matches!(
        update["sessionUpdate"].as_str(),
        Some("tool_call" | "tool_call_update")
    )
}

impl Announced {
    pub(super) fn new(session_id: &str, bus: Option<&EventBus>) -> Self {
        Self {
            session: bus.map(|bus| (session_id.to_owned(), bus.clone())),
            ..Self::default()
        }
    }

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
                calls.wire_ids.retain(|_, wire_id| *wire_id != oldest);
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

    /// The client was told everything up to an index. These calls are open, by their ids in
    /// events and on the wire.
    pub(super) fn reach<'a>(
        &self,
        index: Option<u64>,
        open: impl Iterator<Item = (&'a str, &'a str)>,
    ) {
        let mut calls = lock(&self.calls);
        calls.told = calls.told.max(index);
        for (id, wire_id) in open.filter(|(id, wire_id)| id != wire_id) {
            calls.wire_ids.insert(id.to_owned(), wire_id.to_owned());
        }
        drop(calls);
        self.more.notify_waiters();
    }

    /// What the client was told about a call that is open, once it was. An earlier call may have
    /// had the same id, so everything has to be told that has happened until now.
    pub(super) async fn call(&self, id: &str) -> KnownCall {
        let session = self.session.as_ref();
        let newest = session.and_then(|(session_id, bus)| bus.newest_index(session_id));
        let announced = async {
            loop {
                let mut more = std::pin::pin!(self.more.notified());
                more.as_mut().enable();
                if let Some(known) = lock(&self.calls).look(id, newest) {
                    return known;
                }
                more.await;
            }
        };
        let announced = tokio::time::timeout(WAIT_MAX, announced).await;
        announced.unwrap_or_else(|_| KnownCall {
            id: id.to_owned(),
            told: Map::new(),
        })
    }
}

impl Calls {
    fn look(&self, id: &str, newest: Option<u64>) -> Option<KnownCall> {
        if self.told < newest {
            return None;
        }
        let wire_id = self.wire_ids.get(id).map_or(id, String::as_str);
        Some(KnownCall {
            id: wire_id.to_owned(),
            told: self.known.get(wire_id)?.clone(),
        })
    }
}
