//! Appending a record unless there is one with its key.
//!
//! Nothing else of ours is on its way meanwhile. Others may append between the look
//! and the append; then the stream refuses the record, and we look again.

use tokio::time::Instant;

use super::connection::{Published, unreachable};
use super::error::{NatsError, Result};
use super::head::{self, Head};
use super::key_index::KeyIndex;
use super::message::{self, Before};
use super::pipeline::Pipeline;
use crate::error::LogError;
use crate::event::LogEvent;
use crate::log::AppendOutcome;
use crate::record::{Draft, Record, Sealed};

/// A header by which a record is found, and its value.
pub(super) struct Key {
    pub(super) header: String,
    pub(super) value: String,
}

/// What the last record must be for a new one to be appended.
pub(super) enum HeadPolicy {
    Any,
    Exactly(Option<String>),
}

/// The record with this key.
pub(super) async fn find(
    pipeline: &Pipeline,
    index: &mut KeyIndex,
    key: &Key,
    deadline: Instant,
) -> Result<Option<Record>> {
    let stream = &pipeline.stream;
    let Some(state) = stream.state(deadline).await? else {
        return Ok(None);
    };
    let Key { header, value } = key;
    index.catch_up(stream, header, state.last, deadline).await?;
    let found = index.find(stream, header, value, deadline).await?;
    Ok(found.map(|stored| (stored.id, stored.event)))
}

/// Appends a record unless there is one with its key.
pub(super) async fn append(
    pipeline: &mut Pipeline,
    index: &mut KeyIndex,
    key: &Key,
    policy: &HeadPolicy,
    mut event: LogEvent,
    deadline: Instant,
) -> Result<AppendOutcome> {
    event.headers.insert(key.header.clone(), key.value.clone());
    // Hashes of records of ours of which we do not know whether they were stored.
    let mut doubtful: Vec<String> = Vec::new();
    loop {
        let head = pipeline.head(deadline).await?;
        let stream = pipeline.stream.clone();
        index
            .catch_up(&stream, &key.header, head.id, deadline)
            .await?;
        let found = index
            .find(&stream, &key.header, &key.value, deadline)
            .await?;
        if let Some(stored) = found {
            let ours = stored.hash_if_by(&stream);
            return Ok(AppendOutcome {
                event_id: stored.id,
                inserted: ours.is_some_and(|hash| doubtful.contains(&hash)),
                event: stored.event,
            });
        }
        if !is_head_as_wanted(pipeline, policy, &head, deadline).await? {
            continue;
        }
        let draft = Draft::new(&stream.topic, event.clone())?;
        let sealed = draft.seal(head.id + 1, head.hash.as_deref());
        let mut payload = String::new();
        sealed.push_event_json(&mut payload);
        message::check_size(&payload, stream.connection.client().max_payload())?;
        match store(pipeline, &sealed, payload, deadline).await {
            Ok(true) => {
                index.feed(sealed.id, |name| sealed.header(name));
                let counters = stream.connection.counters();
                counters.note_records(1, sealed.payload_json().len());
                return Ok(AppendOutcome {
                    event_id: sealed.id,
                    event: sealed.event(),
                    inserted: true,
                });
            }
            Ok(false) => stream.check_time("append", deadline)?,
            Err(error) if error.is_transient() && Instant::now() < deadline => {
                doubtful.push(sealed.hash().to_owned());
                pipeline.stream.connection.pause().await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// `false` if the head has moved, so that everything has to be looked at again.
async fn is_head_as_wanted(
    pipeline: &mut Pipeline,
    policy: &HeadPolicy,
    head: &Head,
    deadline: Instant,
) -> Result<bool> {
    let HeadPolicy::Exactly(expected) = policy else {
        return Ok(true);
    };
    if head.hash == *expected {
        return Ok(true);
    }
    let now = head::read(&pipeline.stream, deadline).await?;
    if now != *head {
        pipeline.set_head(Some(now));
        return Ok(false);
    }
    Err(LogError::StaleTopicHead {
        topic: pipeline.stream.topic.to_string(),
        expected: expected.clone(),
        actual: now.hash,
    })
}

/// Publishes one record and waits for it. `false` if its place is taken.
async fn store(
    pipeline: &mut Pipeline,
    sealed: &Sealed,
    payload: String,
    deadline: Instant,
) -> Result<bool, NatsError> {
    const DOING: &str = "append";
    let stream = pipeline.stream.clone();
    let message_id = stream.connection.next_message_id();
    let headers = message::headers(sealed.id, &message_id, Before::Stored, None);
    pipeline.set_head(None);
    let published = stream
        .connection
        .publish(DOING, stream.subject.clone(), headers, payload, deadline)
        .await?;
    match published {
        Published::Stored(_) => {
            pipeline.set_head(Some(Head {
                id: sealed.id,
                hash: Some(sealed.hash().to_owned()),
            }));
            Ok(true)
        }
        Published::Conflict => Ok(false),
        Published::NoStream => Err(unreachable(DOING, "no stream takes it")),
    }
}
