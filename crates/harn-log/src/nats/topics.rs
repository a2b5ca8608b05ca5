//! Questions about topics that need no task.

use serde::Deserialize;
use serde_json::json;

use super::connection::Connection;
use super::error::Result;
use super::reader;
use super::topic_state::TopicState;
use super::topic_stream::{StreamInfo, TopicStream};
use crate::name::{ConsumerId, EventId, Topic};
use crate::provenance::{EventLogVerificationReport, Link, Verifier};

/// How many records are read at once.
const CHUNK: usize = 1_000;

/// All topics that ever had a record, sorted.
pub(super) async fn list(connection: &Connection) -> Result<Vec<Topic>> {
    #[derive(Deserialize)]
    struct Page {
        total: usize,
        #[serde(default)]
        streams: Option<Vec<StreamInfo>>,
    }
    let names = connection.names();
    let mut topics = Vec::new();
    let mut offset = 0;
    loop {
        let wanted = json!({ "offset": offset, "subject": names.all_subjects() });
        let deadline = connection.deadline();
        let page: Page = connection
            .call("list topics", "STREAM.LIST", &wanted, deadline)
            .await?;
        let streams = page.streams.unwrap_or_default();
        offset += streams.len();
        let is_last = streams.is_empty() || offset >= page.total;
        let used = streams.into_iter().filter(|info| info.state.last > 0);
        for info in used.filter(|info| names.is_ours(&info.config.name)) {
            let subject = info.config.subjects.first();
            topics.extend(subject.and_then(|subject| names.topic(subject)));
        }
        if is_last {
            break;
        }
    }
    topics.sort();
    topics.dedup();
    Ok(topics)
}

/// How far a consumer has read.
pub(super) async fn cursor(stream: &TopicStream, consumer: &ConsumerId) -> Result<Option<EventId>> {
    let deadline = stream.connection.deadline();
    let (state, _) = TopicState::load(stream, deadline).await?;
    Ok(state.cursors.get(consumer.as_str()).copied())
}

/// Recomputes the chain of a topic. What compaction has noted but not yet purged is
/// not looked at.
pub(super) async fn verify(stream: &TopicStream) -> Result<EventLogVerificationReport> {
    let deadline = stream.connection.deadline();
    let (noted, _) = TopicState::load(stream, deadline).await?;
    let anchor = noted.anchor.map(|anchor| Link {
        id: anchor.id,
        hash: Some(anchor.hash),
    });
    let mut position = anchor.as_ref().map_or(0, |anchor| anchor.id);
    let mut verifier = Verifier::new(&stream.topic, anchor);
    let state = stream.state(deadline).await?;
    let head = state.map(|state| state.last).filter(|last| *last > 0);
    while head.is_some_and(|head| position < head) {
        let deadline = stream.connection.deadline();
        let records = reader::read(stream, position, CHUNK, deadline).await?;
        for (id, event) in &records {
            verifier.check(*id, event);
            position = *id;
        }
        if records.is_empty() {
            break;
        }
    }
    Ok(verifier.finish(head))
}
