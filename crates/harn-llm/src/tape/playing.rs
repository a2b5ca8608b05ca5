//! A transport that gives back what a tape has.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use crate::Error;
use crate::transport::{Body, HttpAnswer, Later, TimeLimits, Transport};
use crate::wire::HttpRequest;

use super::exchange::{Chunk, Failure, RecordedExchange};
use super::language::wire_of;
use super::player::TapePlayer;

/// Gives back what a tape has, without waiting as the network made us wait.
#[derive(Debug)]
pub struct Playing {
    /// Held only while an exchange is looked up.
    player: Mutex<TapePlayer>,
}

impl Playing {
    /// Plays what `player` finds.
    pub fn new(player: TapePlayer) -> Self {
        Self {
            player: Mutex::new(player),
        }
    }

    /// How many exchanges have not answered yet.
    pub fn unused(&self) -> usize {
        let player = self.player.lock();
        player.unwrap_or_else(PoisonError::into_inner).unused()
    }

    fn answer(&self, request: &HttpRequest) -> Result<HttpAnswer, Error> {
        let player = self.player.lock();
        let mut player = player.unwrap_or_else(PoisonError::into_inner);
        let recorded = player.answer(wire_of(request), request)?;
        replayed(recorded.clone())
    }
}

impl Transport for Playing {
    fn send<'a>(
        &'a self,
        request: &'a HttpRequest,
        _limits: &'a TimeLimits,
    ) -> Later<'a, Result<HttpAnswer, Error>> {
        Box::pin(std::future::ready(self.answer(request)))
    }
}

fn replayed(recorded: RecordedExchange) -> Result<HttpAnswer, Error> {
    let failure = recorded.failure.as_ref().map(Failure::to_error);
    let Some(response) = recorded.response else {
        let never_sent = "the tape has neither an answer nor a failure for this request";
        let missing = || Error::new(crate::Category::Generic, never_sent);
        return Err(failure.unwrap_or_else(missing));
    };
    Ok(HttpAnswer {
        status: response.status,
        headers: response.headers.into_iter().collect(),
        body: Box::new(RecordedBody {
            chunks: response.chunks.into(),
            failure,
        }),
    })
}

struct RecordedBody {
    chunks: VecDeque<Chunk>,
    /// After the chunks.
    failure: Option<Error>,
}

impl Body for RecordedBody {
    fn chunk(&mut self) -> Later<'_, Result<Option<Bytes>, Error>> {
        let next = match (self.chunks.pop_front(), self.failure.take()) {
            (Some(chunk), failure) => {
                self.failure = failure;
                Ok(Some(Bytes::from(chunk.bytes)))
            }
            (None, Some(failure)) => Err(failure),
            (None, None) => Ok(None),
        };
        Box::pin(std::future::ready(next))
    }
}
