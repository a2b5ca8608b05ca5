//! Finding records by a header.
//!
//! The server cannot look into records, so the first question about a header reads
//! the topic once. From then on the index is fed with what is appended, and reads
//! only what others have appended.

use std::collections::{HashMap, VecDeque};

use tokio::time::Instant;

use super::error::{NatsError, Result};
use super::reader;
use super::topic_stream::{Stored, TopicStream};
use crate::name::EventId;

/// How many records are read at once.
const CHUNK: usize = 1_000;

/// The indexes of one topic. They go away with its task, which does when it is idle.
#[derive(Default)]
pub(super) struct KeyIndex {
    by_header: HashMap<String, Values>,
}

#[derive(Default)]
struct Values {
    /// Up to where records have been looked at.
    position: EventId,
    ids: HashMap<String, VecDeque<EventId>>,
}

impl KeyIndex {
    /// Takes note of a record that was appended.
    pub(super) fn feed<'a>(&mut self, id: EventId, value_of: impl Fn(&str) -> Option<&'a String>) {
        for (header, values) in &mut self.by_header {
            if values.position + 1 == id {
                values.take(id, value_of(header));
            }
        }
    }

    /// Reads what has been appended up to `head` and is not in the index.
    pub(super) async fn catch_up(
        &mut self,
        stream: &TopicStream,
        header: &str,
        head: EventId,
        deadline: Instant,
    ) -> Result<(), NatsError> {
        if !self.by_header.contains_key(header) {
            self.by_header.insert(header.to_owned(), Values::default());
        }
        let values = self
            .by_header
            .get_mut(header)
            .expect("it was just inserted");
        while values.position < head {
            let records = reader::read(stream, values.position, CHUNK, deadline).await?;
            for (id, event) in &records {
                values.take(*id, event.headers.get(header));
            }
            if records.len() < CHUNK {
                values.position = values.position.max(head);
            }
        }
        Ok(())
    }

    /// The first record whose header has this value and that is still there.
    pub(super) async fn find(
        &mut self,
        stream: &TopicStream,
        header: &str,
        value: &str,
        deadline: Instant,
    ) -> Result<Option<Stored>, NatsError> {
        let Some(values) = self.by_header.get_mut(header) else {
            return Ok(None);
        };
        while let Some(ids) = values.ids.get_mut(value) {
            let Some(id) = ids.front() else {
                values.ids.remove(value);
                break;
            };
            if let Some(stored) = stream.at(*id, deadline).await? {
                return Ok(Some(stored));
            }
            // Compaction has taken it, here or elsewhere.
            ids.pop_front();
        }
        Ok(None)
    }

    /// Forgets records that were removed.
    pub(super) fn forget(&mut self, up_to: EventId) {
        for values in self.by_header.values_mut() {
            values.ids.retain(|_, ids| {
                let kept = ids.partition_point(|id| *id <= up_to);
                ids.drain(..kept);
                !ids.is_empty()
            });
        }
    }
}

impl Values {
    fn take(&mut self, id: EventId, value: Option<&String>) {
        if let Some(value) = value {
            self.ids.entry(value.clone()).or_default().push_back(id);
        }
        self.position = id;
    }
}
