//! Reading what is stored.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::connection::unreachable;
use super::error::{NatsError, Result};
use super::head;
use super::puller::{Pulled, Puller};
use super::topic_stream::TopicStream;
use crate::name::EventId;
use crate::record::Record;

/// How many records are asked for at once.
const ASK_MAX: u64 = 512;
/// How long the next record may take that is there.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// Records after `after`, at most `limit`.
pub(super) async fn read(
    stream: &TopicStream,
    after: EventId,
    limit: usize,
    deadline: Instant,
) -> Result<Vec<Record>, NatsError> {
    let mut reading = Reading {
        stream,
        position: after,
        limit,
        records: Vec::new(),
    };
    loop {
        match reading.go_on(deadline).await {
            Ok(()) => return Ok(reading.records),
            Err(error) if error.is_transient() && Instant::now() < deadline => {
                stream.connection.pause().await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// How far we have come.
struct Reading<'a> {
    stream: &'a TopicStream,
    position: EventId,
    limit: usize,
    records: Vec<Record>,
}

impl Reading<'_> {
    fn wanted(&self) -> u64 {
        (self.limit - self.records.len()) as u64
    }

    /// Reads until there are enough records or no more.
    async fn go_on(&mut self, deadline: Instant) -> Result<(), NatsError> {
        if self.wanted() == 0 || self.position == EventId::MAX {
            return Ok(());
        }
        let Some(state) = self.stream.state(deadline).await? else {
            return Ok(());
        };
        if self.position >= state.last || state.messages == 0 {
            return Ok(());
        }
        let mut last = state.last;
        if self.wanted().min(last - self.position) == 1 {
            return self.take_one(deadline).await;
        }
        let Some(mut puller) = Puller::open(self.stream, self.position, deadline).await? else {
            return Ok(());
        };
        loop {
            let is_unfinished = self.take_many(&mut puller, last).await?;
            if !is_unfinished || self.wanted() == 0 {
                return Ok(());
            }
            last = head::read(self.stream, deadline).await?.id;
        }
    }

    async fn take_one(&mut self, deadline: Instant) -> Result<(), NatsError> {
        let next = self.stream.at_or_after(self.position + 1, deadline).await?;
        if let Some(stored) = next {
            self.position = stored.id;
            self.records.push((stored.id, stored.event));
        }
        Ok(())
    }

    /// Takes records up to `last`. Says whether the end is an unfinished batch.
    async fn take_many(&mut self, puller: &mut Puller, last: EventId) -> Result<bool, NatsError> {
        let mut is_unfinished = false;
        while self.position < last && self.wanted() > 0 {
            let count = self.wanted().min(last - self.position).min(ASK_MAX);
            puller.ask_now(count).await?;
            for _ in 0..count {
                // It may be that what was asked for was purged on the way. Another consumer
                // begins after that.
                let pulled = timeout(ANSWER_TIMEOUT, puller.next()).await;
                match pulled.map_err(|why| unreachable("read records", why))?? {
                    Pulled::Record {
                        id,
                        event,
                        place,
                        pending,
                    } => {
                        self.position = id;
                        self.records.push((id, event));
                        is_unfinished = place.is_some_and(|place| !place.is_last());
                        if pending == 0 {
                            return Ok(is_unfinished);
                        }
                    }
                    Pulled::Done => return Ok(is_unfinished),
                    Pulled::Broken(error) => return Err(error),
                }
            }
        }
        Ok(is_unfinished && self.position >= last)
    }
}
