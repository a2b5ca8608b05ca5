//! What programs ask of the log, and what it answers.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use futures_core::Stream;
use harn_agent::WholeLists;
use harn_agent::log::{AnyEventLog, EventId, EventLog, LogError, LogEvent, Topic};
use serde::Deserialize;
use serde_json::{Value, json};

/// How many events somebody who reads along takes at once.
const BATCH: usize = 128;

/// What the headers begin with that the log adds itself.
const OWN_HEADERS: &str = "harn.provenance.";

/// What a program asks.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(super) enum Asked {
    Check {
        topic: String,
    },
    Append {
        topic: String,
        kind: String,
        payload: Value,
        headers: BTreeMap<String, String>,
        /// Whether it is kept where other processes find it, and the headers it has there.
        #[serde(default)]
        kept: Option<BTreeMap<String, String>>,
    },
    Latest {
        topic: String,
    },
    Read {
        topic: String,
        cursor: EventId,
        limit: usize,
    },
    Wait {
        topic: String,
        cursor: EventId,
    },
    /// Until one of several topics has an event after its cursor.
    WaitAny {
        topics: Vec<(String, EventId)>,
    },
}

/// What the log answers.
pub(super) async fn answer(
    log: Arc<AnyEventLog>,
    whole_lists: Arc<Mutex<WholeLists>>,
    asked: Asked,
) -> Result<Value, LogError> {
    match asked {
        Asked::Check { topic } => Topic::new(topic).map(|_| Value::Null),
        Asked::Append {
            topic,
            kind,
            payload,
            headers,
            kept: _,
        } => {
            let event = LogEvent::new(kind, payload).with_headers(headers);
            Ok(json!(log.append(&Topic::new(topic)?, event).await?))
        }
        Asked::Latest { topic } => {
            let latest = log.latest(&Topic::new(topic)?).await?;
            Ok(json!(latest.filter(|id| *id > 0)))
        }
        Asked::Read {
            topic,
            cursor,
            limit,
        } => {
            let topic = Topic::new(topic)?;
            let mut events = log.read_range(&topic, Some(cursor), limit).await?;
            complete(&log, &whole_lists, &topic, &mut events).await?;
            Ok(described(&topic, events))
        }
        Asked::Wait { topic, cursor } => {
            let topic = Topic::new(topic)?;
            let first = next(Arc::clone(&log), &topic, cursor).await?;
            let after = first.as_ref().map_or(cursor, |(id, _)| *id);
            let more = log.read_range(&topic, Some(after), BATCH - 1).await?;
            let mut events: Vec<_> = first.into_iter().chain(more).collect();
            complete(&log, &whole_lists, &topic, &mut events).await?;
            Ok(described(&topic, events))
        }
        Asked::WaitAny { topics } => any(log, topics).await.map(|()| Value::Null),
    }
}

/// Makes the lists in events of sessions whole. Nearly all programs read topics from one end to
/// the other, so what was read is kept for the records that follow.
async fn complete(
    log: &AnyEventLog,
    whole_lists: &Mutex<WholeLists>,
    topic: &Topic,
    events: &mut [(EventId, LogEvent)],
) -> Result<(), LogError> {
    let lock = || whole_lists.lock().unwrap_or_else(PoisonError::into_inner);
    let mut whole = std::mem::take(&mut *lock());
    for (id, event) in events {
        whole.complete(log, topic, (*id, event)).await?;
    }
    *lock() = whole;
    Ok(())
}

/// Waits until one of several topics has an event after its cursor.
pub(crate) async fn any(
    log: Arc<AnyEventLog>,
    topics: Vec<(String, EventId)>,
) -> Result<(), LogError> {
    let mut streams = Vec::with_capacity(topics.len());
    for (topic, cursor) in topics {
        let topic = Topic::new(topic)?;
        streams.push(Arc::clone(&log).subscribe(&topic, Some(cursor)).await?);
    }
    poll_fn(|context| {
        let mut polled = streams.iter_mut().map(|stream| {
            let event = Pin::new(stream).poll_next(context);
            event.map(|event| event.transpose().map(|_| ()))
        });
        polled.find(Poll::is_ready).unwrap_or(Poll::Pending)
    })
    .await
}

/// The event after a cursor, once there is one.
async fn next(
    log: Arc<AnyEventLog>,
    topic: &Topic,
    cursor: EventId,
) -> Result<Option<(EventId, LogEvent)>, LogError> {
    let mut stream = log.subscribe(topic, Some(cursor)).await?;
    let next = poll_fn(|context| Pin::new(&mut stream).poll_next(context)).await;
    next.transpose()
}

/// Events as programs see them.
fn described(topic: &Topic, events: Vec<(EventId, LogEvent)>) -> Value {
    let events = events.into_iter().map(|(id, mut event)| {
        event
            .headers
            .retain(|name, _| !name.starts_with(OWN_HEADERS));
        json!({
            "id": id,
            "cursor": id,
            "topic": topic.as_str(),
            "kind": event.kind,
            "payload": event.payload,
            "headers": event.headers,
            "occurred_at_ms": event.occurred_at_ms,
        })
    });
    events.collect()
}
