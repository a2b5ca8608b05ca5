//! What is known of a topic besides its records: cursors and the anchor.
//!
//! They are one value in a bucket, changed by compare-and-set. So an acknowledgement
//! never overwrites a later one, and a compaction that has looked at the cursors
//! fails if one of them moves before the anchor is noted.
//!
//! Durable consumers would be the obvious place for cursors, but cannot carry them. A
//! server that is killed right after an acknowledgement has forgotten it, because
//! positions are written to disk some time later. Compaction moves the position of a
//! consumer. Going back means to delete it and make it again while others acknowledge.
//! And only what was delivered can be acknowledged on every version of the server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::bucket::Bucket;
use super::error::{Cause, NatsError, Result};
use super::name;
use super::topic_stream::TopicStream;
use crate::name::EventId;

/// The value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TopicState {
    /// The last record that compaction took. It is noted first, so after a crash the
    /// record may still be there.
    #[serde(default)]
    pub(super) anchor: Option<Anchor>,
    /// How far each consumer has read.
    #[serde(default)]
    pub(super) cursors: BTreeMap<String, EventId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Anchor {
    pub(super) id: EventId,
    pub(super) hash: String,
}

impl TopicState {
    /// The value and its revision.
    pub(super) async fn load(
        stream: &TopicStream,
        deadline: Instant,
    ) -> Result<(Self, u64), NatsError> {
        let key = name::flat(&stream.topic);
        let Some(entry) = bucket(stream).get(&key, deadline).await? else {
            return Ok((Self::default(), 0));
        };
        let state =
            serde_json::from_slice(&entry.value).map_err(|why| NatsError::Inconsistent {
                topic: stream.topic.to_string(),
                problem: format!("its cursors cannot be read: {}", Cause::from(why)),
            })?;
        Ok((state, entry.revision))
    }

    /// Stores the value if nobody else did meanwhile, and says whether it was stored.
    async fn store(
        &self,
        stream: &TopicStream,
        revision: u64,
        deadline: Instant,
    ) -> Result<bool, NatsError> {
        let key = name::flat(&stream.topic);
        let text = serde_json::to_string(self).expect("numbers and texts have a JSON form");
        let stored = bucket(stream).put(&key, text, revision, deadline).await;
        Ok(stored?.is_some())
    }

    /// Changes the value. `change` may be called again with what somebody else has
    /// made of it; `false` leaves it as it is.
    pub(super) async fn update<E: From<NatsError>>(
        stream: &TopicStream,
        deadline: Instant,
        mut change: impl FnMut(&mut Self) -> Result<bool, E>,
    ) -> Result<Self, E> {
        loop {
            let (mut state, revision) = Self::load(stream, deadline).await?;
            if !change(&mut state)? {
                return Ok(state);
            }
            match state.store(stream, revision, deadline).await {
                Ok(true) => return Ok(state),
                // Somebody else has changed it, perhaps we ourselves unknowingly.
                Ok(false) => stream.check_time("move a cursor", deadline)?,
                Err(error) if error.is_transient() && Instant::now() < deadline => {
                    stream.connection.pause().await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn bucket(stream: &TopicStream) -> Bucket {
    let name = stream.connection.names().topics_bucket();
    Bucket::new(&stream.connection, name, None)
}
