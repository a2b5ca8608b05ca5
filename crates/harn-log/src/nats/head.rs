//! The end of a topic, where the next record goes.
//!
//! JetStream stores one message at a time, so a batch is several. To keep it whole,
//! its first message carries all of it, and everybody who wants to append follows
//! one rule:
//!
//! > Whoever finds an unfinished batch at the end of a topic finishes it.
//!
//! A record contains the hash of the one before, so nobody can append without having
//! seen the end of the topic, and nobody gets in between by accident: the stream
//! takes a record only where it expects to be. Two who finish the same batch publish
//! the same records, and each is stored once.

use async_nats::HeaderMap;
use tokio::time::Instant;

use super::connection::Published;
use super::error::{NatsError, Result};
use super::message::{self, Before, Place};
use super::topic_state::TopicState;
use super::topic_stream::{Stored, TopicStream};
use crate::name::EventId;

/// The newest record of a topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// Its id, or 0 if there has been none.
    pub(super) id: EventId,
    pub(super) hash: Option<String>,
}

/// Reads the end of a topic that has a stream, once no batch there is unfinished.
pub(super) async fn read(stream: &TopicStream, deadline: Instant) -> Result<Head, NatsError> {
    loop {
        let (state, last) = stream.last(deadline).await?;
        match last {
            None => {
                let id = state.map_or(0, |state| state.last);
                if let Some(head) = after_compaction(stream, id, deadline).await? {
                    return Ok(head);
                }
                stream.connection.pause().await;
            }
            Some(last) => match last.place {
                Some(place) if !place.is_last() => {
                    finish(stream, &last, place, deadline).await?;
                    stream.check_time("finish a batch", deadline)?;
                }
                _ => {
                    let hash = last.hash(&stream.topic)?.to_owned();
                    return Ok(Head {
                        id: last.id,
                        hash: Some(hash),
                    });
                }
            },
        }
    }
}

/// The end of a topic without records: what compaction left a note of. `None` if more
/// was appended and compacted between the two questions, which is noted first.
async fn after_compaction(
    stream: &TopicStream,
    id: EventId,
    deadline: Instant,
) -> Result<Option<Head>, NatsError> {
    let (noted, _) = TopicState::load(stream, deadline).await?;
    match noted.anchor {
        None if id == 0 => Ok(Some(Head::default())),
        Some(anchor) if anchor.id == id => Ok(Some(Head {
            id,
            hash: Some(anchor.hash),
        })),
        Some(anchor) if anchor.id > id && id > 0 && Instant::now() < deadline => Ok(None),
        anchor => Err(NatsError::Inconsistent {
            topic: stream.topic.to_string(),
            problem: format!(
                "the stream is empty after event {id}, but compaction went up to event {}",
                anchor.map_or(0, |anchor| anchor.id)
            ),
        }),
    }
}

/// Publishes what is missing of the batch to which the newest record belongs. It may
/// come back early, so whoever calls it looks again.
async fn finish(
    stream: &TopicStream,
    last: &Stored,
    place: Place,
    deadline: Instant,
) -> Result<(), NatsError> {
    let first_id = last.id + 1 - place.number;
    let first = match place.number {
        1 => None,
        _ => stream.at(first_id, deadline).await?,
    };
    let first = first.as_ref().map_or(&last.message, |first| &first.message);
    let batch = message::message_id(&first.headers);
    let rest = message::rest(&stream.topic, first_id, &first.payload)?;
    let of = place.of;
    let places = (2..).map(|number| Place { number, of });
    let missing = rest.into_iter().zip(places);
    let missing: Vec<_> = missing
        .filter(|(_, other)| other.number > place.number)
        .collect();
    if missing.is_empty() {
        let problem = "its batch is unfinished, and the rest of it cannot be found";
        return Err(message::damaged(&stream.topic, last.id, problem));
    }
    for (line, place) in missing {
        // The same for all who finish it, and recognised by whoever began it.
        let message_id = format!("{batch}+{}", place.number);
        let id = first_id + place.number - 1;
        let headers = message::headers(id, &message_id, Before::Stored, Some(place));
        if !publish(stream, headers, line, deadline).await? {
            return Ok(());
        }
    }
    Ok(())
}

/// Publishes one record. `false` if somebody else is at it too, or if the connection
/// is gone.
async fn publish(
    stream: &TopicStream,
    headers: HeaderMap,
    line: &str,
    deadline: Instant,
) -> Result<bool, NatsError> {
    let (subject, line) = (stream.subject.clone(), line.to_owned());
    let published = stream
        .connection
        .publish("finish a batch", subject, headers, line, deadline)
        .await;
    match published {
        Ok(Published::Stored(_)) => Ok(true),
        Ok(Published::Conflict) => Ok(false),
        Ok(Published::NoStream) => Err(gone(stream)),
        Err(error) if error.is_transient() && Instant::now() < deadline => {
            stream.connection.pause().await;
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// The stream was there and is no more.
pub(super) fn gone(stream: &TopicStream) -> NatsError {
    NatsError::Inconsistent {
        topic: stream.topic.to_string(),
        problem: format!("its stream '{}' is gone", stream.name),
    }
}
