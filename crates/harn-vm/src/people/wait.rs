//! Waits until there is something new about a request.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use futures_core::Stream;
use harn_agent::HostBridge;
use harn_agent::log::{AnyEventLog, EventId, EventLog, LogError, LogEvent, Topic};
use harn_agent::people::{RESOLVED, RESPONDED};
use serde_json::{Value, json};

use crate::event_log::{Logs, any};

/// Where an answer may come from, besides the program's own log.
#[derive(Clone)]
pub(super) struct Elsewhere {
    pub(super) logs: Logs,
    pub(super) bridge: Option<Arc<dyn HostBridge>>,
    pub(super) request_id: String,
    pub(super) topic: &'static str,
    /// The last event of the kept log that was looked at.
    pub(super) cursor: Arc<AtomicU64>,
}

impl Elsewhere {
    /// The host need not ask anybody any more.
    pub(super) fn tell_resolved(&self) {
        if let Some(bridge) = &self.bridge {
            bridge.notify(RESOLVED, json!({"requestId": self.request_id}));
        }
    }
}

type News = Pin<Box<dyn Future<Output = Result<(), LogError>> + Send>>;

/// Resolves when one of the topics of the program's log has an event after its cursor. Answers
/// that come elsewhere are brought there first.
pub(super) async fn news(
    elsewhere: Elsewhere,
    topics: Vec<(String, EventId)>,
) -> Result<(), LogError> {
    let own = Arc::clone(&elsewhere.logs.own);
    let mut sources: Vec<News> = vec![Box::pin(any(own, topics))];
    if let Some(kept) = elsewhere.logs.kept.clone() {
        sources.push(Box::pin(copied(kept, elsewhere.clone())));
    }
    if let Some(bridge) = elsewhere.bridge.clone() {
        sources.push(Box::pin(answered(bridge, elsewhere)));
    }
    poll_fn(|context| {
        let mut polled = sources
            .iter_mut()
            .rev()
            .map(|one| one.as_mut().poll(context));
        polled.find(Poll::is_ready).unwrap_or(Poll::Pending)
    })
    .await
}

/// Copies the next response that another process gives.
async fn copied(kept: Arc<AnyEventLog>, elsewhere: Elsewhere) -> Result<(), LogError> {
    let topic = Topic::new(elsewhere.topic)?;
    let cursor = elsewhere.cursor.load(Ordering::Relaxed);
    let mut stream = kept.subscribe(&topic, Some(cursor)).await?;
    loop {
        let next = poll_fn(|context| Pin::new(&mut stream).poll_next(context)).await;
        let Some((id, event)) = next.transpose()? else {
            // The log is closed; whoever waits is woken by something else.
            return std::future::pending().await;
        };
        elsewhere.cursor.store(id, Ordering::Relaxed);
        if event.kind == RESPONDED && event.payload["request_id"] == *elsewhere.request_id {
            elsewhere.logs.own.append(&topic, event).await?;
            return Ok(());
        }
    }
}

/// Writes down what the host's person says.
async fn answered(bridge: Arc<dyn HostBridge>, elsewhere: Elsewhere) -> Result<(), LogError> {
    let mut response = bridge.person_answers(&elsewhere.request_id).await;
    if !response.is_object() {
        response = json!({"answer": response});
    }
    response["request_id"] = Value::String(elsewhere.request_id.clone());
    let topic = Topic::new(elsewhere.topic)?;
    let event = LogEvent::new(RESPONDED, response);
    elsewhere
        .logs
        .lasting()
        .append_durable(&topic, event)
        .await?;
    // It is copied, or it is in the program's own log already.
    std::future::pending().await
}
