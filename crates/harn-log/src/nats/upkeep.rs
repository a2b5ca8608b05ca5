//! Cursors and compaction.

use tokio::time::Instant;

use super::error::{NatsError, Result};
use super::head;
use super::topic_state::{Anchor, TopicState};
use super::topic_stream::TopicStream;
use crate::error::LogError;
use crate::log::{CompactForce, CompactReport};
use crate::name::{ConsumerId, EventId};

/// Which way a cursor may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    Forward,
    Anywhere,
}

/// Moves a consumer, if what it claims to have read exists.
pub(super) async fn move_cursor(
    stream: &TopicStream,
    consumer: &ConsumerId,
    to: EventId,
    way: Move,
    deadline: Instant,
) -> Result<()> {
    let state = stream.state(deadline).await?;
    let head = state.map_or(0, |state| state.last);
    if to > head {
        return Err(LogError::CursorBeyondHead {
            topic: stream.topic.to_string(),
            consumer: consumer.to_string(),
            cursor: to,
            head,
        });
    }
    let change = |state: &mut TopicState| {
        let cursor = state.cursors.get(consumer.as_str()).copied();
        let is_there = match way {
            Move::Forward => cursor >= Some(to),
            Move::Anywhere => cursor == Some(to),
        };
        if !is_there {
            state.cursors.insert(consumer.to_string(), to);
        }
        Ok::<_, LogError>(!is_there)
    };
    TopicState::update(stream, deadline, change).await?;
    Ok(())
}

/// Removes records up to `before`: notes the last of them as the anchor, then purges.
pub(super) async fn compact(
    stream: &TopicStream,
    before: EventId,
    force: CompactForce,
    deadline: Instant,
) -> Result<CompactReport> {
    if stream.state(deadline).await?.is_none() {
        return Ok(CompactReport::default());
    }
    // An unfinished batch is finished first, because its first record has the rest.
    let head = head::read(stream, deadline).await?;
    let before = before.min(head.id);
    let anchor = anchor_at(stream, before, deadline).await?;
    let change = |state: &mut TopicState| {
        refuse_if_behind(stream, state, before, force)?;
        let noted = state.anchor.as_ref().map_or(0, |anchor| anchor.id);
        let moves = anchor.as_ref().filter(|anchor| anchor.id > noted);
        if let Some(anchor) = moves {
            state.anchor = Some(anchor.clone());
        }
        Ok::<_, LogError>(moves.is_some())
    };
    let noted = TopicState::update(stream, deadline, change).await?;
    let removed = match noted.anchor {
        // Also what a compaction that did not come to its end has left.
        Some(anchor) => stream.purge(anchor.id, deadline).await?,
        None => 0,
    };
    let state = stream.state(deadline).await?;
    let state = state.ok_or_else(|| head::gone(stream))?;
    Ok(CompactReport {
        removed,
        remaining: state.messages,
        latest: Some(state.last).filter(|last| *last > 0),
        checkpointed: false,
    })
}

fn refuse_if_behind(
    stream: &TopicStream,
    state: &TopicState,
    before: EventId,
    force: CompactForce,
) -> Result<()> {
    let lowest = state.cursors.iter().min_by_key(|(_, cursor)| **cursor);
    match (lowest, force) {
        (Some((consumer, cursor)), CompactForce::Respect) if *cursor < before => {
            Err(LogError::CompactionBlocked {
                topic: stream.topic.to_string(),
                before,
                consumer: consumer.clone(),
                cursor: *cursor,
            })
        }
        _ => Ok(()),
    }
}

/// The record at `before`, unless it has gone earlier.
async fn anchor_at(
    stream: &TopicStream,
    before: EventId,
    deadline: Instant,
) -> Result<Option<Anchor>, NatsError> {
    if before == 0 {
        return Ok(None);
    }
    let Some(stored) = stream.at(before, deadline).await? else {
        return Ok(None);
    };
    Ok(Some(Anchor {
        id: before,
        hash: stored.hash(&stream.topic)?.to_owned(),
    }))
}
