//! Small values that change, in a key-value bucket.
//!
//! A bucket is a stream that keeps one message per subject. Its sequence is the
//! value's revision: whoever wants to change a value says which revision it has seen,
//! and of two who have seen the same one only the first succeeds.

use std::time::Duration;

use async_nats::header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE;
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RawMessage, StorageType};
use async_nats::{HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::connection::{Connection, Published, unreachable};
use super::error::{NatsError, Result, if_found};
use super::topic_stream::{make, state_of};

/// Marks a value as deleted, as every key-value client expects it.
const OPERATION_HEADER: &str = "KV-Operation";

/// A bucket. It is made when something is put into it.
pub(super) struct Bucket {
    connection: Connection,
    name: String,
    /// How long values last.
    max_age: Option<Duration>,
}

/// A value and its revision.
pub(super) struct Entry {
    pub(super) value: Vec<u8>,
    pub(super) revision: u64,
    /// Whether it was deleted. Its revision still counts.
    pub(super) is_deleted: bool,
}

impl Bucket {
    pub(super) fn new(connection: &Connection, name: String, max_age: Option<Duration>) -> Self {
        Self {
            connection: connection.clone(),
            name,
            max_age,
        }
    }

    /// The subject of a key.
    pub(super) fn subject(&self, key: &str) -> String {
        format!("$KV.{}.{key}", self.name)
    }

    fn stream(&self) -> String {
        format!("KV_{}", self.name)
    }

    /// The value of a key, from the leader.
    ///
    /// A bucket that somebody is just making must not be asked for values; see
    /// [`topic_stream`](super::topic_stream).
    pub(super) async fn get(
        &self,
        key: &str,
        deadline: Instant,
    ) -> Result<Option<Entry>, NatsError> {
        #[derive(Deserialize)]
        struct Answer {
            message: RawMessage,
        }
        const DOING: &str = "read a value";
        let state = state_of(&self.connection, &self.stream(), deadline).await?;
        if state.is_none_or(|state| state.last == 0) {
            return Ok(None);
        }
        let request = format!("STREAM.MSG.GET.{}", self.stream());
        let wanted = json!({ "last_by_subj": self.subject(key) });
        let answer = self
            .connection
            .call::<Answer>(DOING, &request, &wanted, deadline)
            .await;
        let Some(Answer { message }) = if_found(answer)? else {
            return Ok(None);
        };
        let message = StreamMessage::try_from(message).map_err(|why| unreachable(DOING, why))?;
        Ok(Some(Entry {
            is_deleted: message.headers.get(OPERATION_HEADER).is_some(),
            value: message.payload.to_vec(),
            revision: message.sequence,
        }))
    }

    /// Sets a value if its revision is still this one; 0 if there should be none.
    /// `None` if it is not.
    pub(super) async fn put(
        &self,
        key: &str,
        value: String,
        revision: u64,
        deadline: Instant,
    ) -> Result<Option<u64>, NatsError> {
        let headers = HeaderMap::new();
        self.publish(key, headers, value, revision, deadline).await
    }

    /// Deletes a value if its revision is still this one, and says whether it was.
    pub(super) async fn delete(
        &self,
        key: &str,
        revision: u64,
        deadline: Instant,
    ) -> Result<bool, NatsError> {
        let mut headers = HeaderMap::new();
        headers.insert(OPERATION_HEADER, "DEL");
        let value = String::new();
        let deleted = self.publish(key, headers, value, revision, deadline).await;
        Ok(deleted?.is_some())
    }

    async fn publish(
        &self,
        key: &str,
        mut headers: HeaderMap,
        value: String,
        revision: u64,
        deadline: Instant,
    ) -> Result<Option<u64>, NatsError> {
        headers.insert(
            NATS_EXPECTED_LAST_SUBJECT_SEQUENCE,
            HeaderValue::from(revision),
        );
        loop {
            let subject = self.subject(key).into();
            let published = self
                .connection
                .publish(
                    "store a value",
                    subject,
                    headers.clone(),
                    value.clone(),
                    deadline,
                )
                .await?;
            match published {
                Published::Stored(revision) => return Ok(Some(revision)),
                Published::Conflict => return Ok(None),
                Published::NoStream if Instant::now() < deadline => {
                    self.ensure(deadline).await?;
                    self.connection.pause().await;
                }
                Published::NoStream => {
                    return Err(unreachable("store a value", "no bucket takes it"));
                }
            }
        }
    }

    async fn ensure(&self, deadline: Instant) -> Result<(), NatsError> {
        let config = Config {
            name: self.stream(),
            subjects: vec![self.subject(">")],
            storage: StorageType::File,
            num_replicas: self.connection.replicas(),
            max_messages_per_subject: 1,
            max_age: self.max_age.unwrap_or_default(),
            duplicate_window: self
                .max_age
                .unwrap_or(Duration::from_secs(2))
                .min(Duration::from_secs(2)),
            discard: DiscardPolicy::New,
            allow_rollup: true,
            deny_delete: true,
            allow_direct: true,
            max_messages: -1,
            max_bytes: -1,
            max_consumers: -1,
            max_message_size: -1,
            ..Config::default()
        };
        make(&self.connection, &config, deadline).await
    }

    /// How long values of the bucket last, if there is one.
    pub(super) async fn age(&self, deadline: Instant) -> Result<Option<Duration>, NatsError> {
        #[derive(Deserialize)]
        struct Info {
            config: Age,
        }
        #[derive(Deserialize)]
        struct Age {
            max_age: u64,
        }
        let request = format!("STREAM.INFO.{}", self.stream());
        let info = self
            .connection
            .call::<Info>("look at a bucket", &request, &(), deadline)
            .await;
        let age = |info: Info| Duration::from_nanos(info.config.max_age);
        Ok(if_found(info)?.map(age))
    }
}
