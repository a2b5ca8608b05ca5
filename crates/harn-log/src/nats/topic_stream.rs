//! The stream in which a topic is kept.
//!
//! It holds one message per record and nothing else, and nobody can delete one from
//! the middle, so a message's sequence is the record's id. Purging what is old does
//! not change what is counted.
//!
//! A server of version 2.9 crashes when it is asked for a message of a stream that it
//! is just making for somebody else. So nobody asks for messages, or for a consumer,
//! before the stream is known to have had one.

use std::time::Duration;

use async_nats::Subject;
use async_nats::jetstream::stream::{Config, RawMessage, StorageType};
use async_nats::jetstream::{ErrorCode, message::StreamMessage};
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::connection::{Connection, unreachable};
use super::error::{NatsError, Result, if_found};
use super::message::{self, Place};
use crate::event::LogEvent;
use crate::name::{EventId, Topic};

/// How long the server remembers messages to recognise repetitions. It keeps that in
/// memory, and we find repetitions ourselves, so it is as short as can be.
const DUPLICATE_WINDOW: Duration = Duration::from_millis(100);

/// How often to try to make a stream whose subjects another one seems to have.
const OVERLAPS_MAX: u32 = 20;

/// The stream of one topic. It need not exist.
#[derive(Clone)]
pub(super) struct TopicStream {
    pub(super) connection: Connection,
    pub(super) topic: Topic,
    pub(super) name: String,
    pub(super) subject: Subject,
}

/// What a stream holds.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct StreamState {
    pub(super) messages: u64,
    /// The newest id ever assigned; 0 before the first.
    #[serde(rename = "last_seq")]
    pub(super) last: EventId,
}

/// What the server says about a stream, as far as we need it.
#[derive(Deserialize)]
pub(super) struct StreamInfo {
    pub(super) config: StreamSubjects,
    pub(super) state: StreamState,
}

#[derive(Deserialize)]
pub(super) struct StreamSubjects {
    pub(super) name: String,
    #[serde(default)]
    pub(super) subjects: Vec<String>,
}

/// A message as it is stored.
pub(super) struct Stored {
    pub(super) id: EventId,
    pub(super) event: LogEvent,
    pub(super) place: Option<Place>,
    pub(super) message: StreamMessage,
}

impl TopicStream {
    pub(super) fn new(connection: &Connection, topic: &Topic) -> Self {
        Self {
            connection: connection.clone(),
            topic: topic.clone(),
            name: connection.names().stream(topic),
            subject: connection.names().subject(topic).into(),
        }
    }

    /// Makes the stream if it is not there.
    pub(super) async fn ensure(&self, deadline: Instant) -> Result<StreamState, NatsError> {
        if let Some(state) = self.state(deadline).await? {
            return Ok(state);
        }
        let config = Config {
            name: self.name.clone(),
            description: Some(format!("harn-log topic {}", self.topic)),
            subjects: vec![self.subject.to_string()],
            storage: StorageType::File,
            num_replicas: self.connection.replicas(),
            duplicate_window: DUPLICATE_WINDOW,
            deny_delete: true,
            max_messages: -1,
            max_bytes: -1,
            max_messages_per_subject: -1,
            max_consumers: -1,
            max_message_size: -1,
            ..Config::default()
        };
        make(&self.connection, &config, deadline).await?;
        let state = self.state(deadline).await?;
        state.ok_or_else(|| unreachable("create a stream", "it has gone again"))
    }

    /// What the stream holds; `None` if there is none.
    pub(super) async fn state(&self, deadline: Instant) -> Result<Option<StreamState>, NatsError> {
        state_of(&self.connection, &self.name, deadline).await
    }

    /// The message of a record.
    pub(super) async fn at(
        &self,
        id: EventId,
        deadline: Instant,
    ) -> Result<Option<Stored>, NatsError> {
        self.get(json!({ "seq": id }), deadline).await
    }

    /// The first message at this id or after it.
    pub(super) async fn at_or_after(
        &self,
        id: EventId,
        deadline: Instant,
    ) -> Result<Option<Stored>, NatsError> {
        let wanted = json!({ "seq": id, "next_by_subj": self.subject.as_str() });
        self.get(wanted, deadline).await
    }

    /// The newest message, and what the stream holds.
    pub(super) async fn last(
        &self,
        deadline: Instant,
    ) -> Result<(Option<StreamState>, Option<Stored>), NatsError> {
        loop {
            let state = self.state(deadline).await?;
            let Some(filled) = state.filter(|state| state.messages > 0) else {
                return Ok((state, None));
            };
            if let Some(stored) = self.at(filled.last, deadline).await? {
                return Ok((state, Some(stored)));
            }
            // Everything was compacted between the two questions.
            self.check_time("read the end of a topic", deadline)?;
        }
    }

    /// Something has to be done again because of others. That must not go on for ever.
    pub(super) fn check_time(
        &self,
        doing: &'static str,
        deadline: Instant,
    ) -> Result<(), NatsError> {
        match Instant::now() < deadline {
            true => Ok(()),
            false => Err(unreachable(doing, "others were faster all the time")),
        }
    }

    /// Asks the leader, which has everything that was acknowledged.
    async fn get(
        &self,
        wanted: serde_json::Value,
        deadline: Instant,
    ) -> Result<Option<Stored>, NatsError> {
        #[derive(Deserialize)]
        struct Answer {
            message: RawMessage,
        }
        let request = format!("STREAM.MSG.GET.{}", self.name);
        let answer = self
            .connection
            .call::<Answer>("read a record", &request, &wanted, deadline)
            .await;
        let Some(Answer { message }) = if_found(answer)? else {
            return Ok(None);
        };
        let id = message.sequence;
        let message = StreamMessage::try_from(message)
            .map_err(|why| message::damaged(&self.topic, id, why))?;
        Ok(Some(Stored {
            id,
            event: message::record(&self.topic, id, &message.payload)?,
            place: message::place(&self.topic, id, &message.headers)?,
            message,
        }))
    }

    /// Removes everything up to and including `up_to`; returns how many that were.
    pub(super) async fn purge(&self, up_to: EventId, deadline: Instant) -> Result<u64, NatsError> {
        #[derive(Deserialize)]
        struct Answer {
            purged: u64,
        }
        let request = format!("STREAM.PURGE.{}", self.name);
        let answer: Answer = self
            .connection
            .call(
                "remove old records",
                &request,
                &json!({ "seq": up_to + 1 }),
                deadline,
            )
            .await?;
        Ok(answer.purged)
    }
}

/// Makes a stream unless it is there.
pub(super) async fn make(
    connection: &Connection,
    config: &Config,
    deadline: Instant,
) -> Result<(), NatsError> {
    let request = format!("STREAM.CREATE.{}", config.name);
    for attempt in 1.. {
        let made = connection
            .call::<StreamInfo>("create a stream", &request, config, deadline)
            .await;
        match made {
            Ok(_) => break,
            // Somebody with other settings was faster, which is as good.
            Err(error) if error.is_refusal(&[ErrorCode::STREAM_NAME_EXIST]) => break,
            // Somebody is just making it, or it is really another one.
            Err(error) if error.is_refusal(&[ErrorCode::STREAM_SUBJECT_OVERLAP]) => {
                if state_of(connection, &config.name, deadline)
                    .await?
                    .is_some()
                {
                    break;
                }
                if attempt == OVERLAPS_MAX {
                    return Err(error);
                }
                connection.pause().await;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What a stream holds; `None` if there is none.
pub(super) async fn state_of(
    connection: &Connection,
    stream: &str,
    deadline: Instant,
) -> Result<Option<StreamState>, NatsError> {
    let request = format!("STREAM.INFO.{stream}");
    let info = connection
        .call::<StreamInfo>("look at a stream", &request, &(), deadline)
        .await;
    Ok(if_found(info)?.map(|info| info.state))
}

impl Stored {
    /// The hash the record carries.
    pub(super) fn hash(&self, topic: &Topic) -> Result<&str, NatsError> {
        message::hash_of(topic, self.id, &self.event)
    }

    /// The hash the record carries, if we have published it.
    pub(super) fn hash_if_by(&self, us: &TopicStream) -> Option<String> {
        let is_ours = message::writer(&self.message.headers) == us.connection.writer();
        let hash = self.hash(&us.topic).ok().filter(|_| is_ours);
        hash.map(str::to_owned)
    }
}
