//! Answers from a tape.

use serde_json::{Value, json};

use crate::wire::{HttpRequest, Wire};

use super::Error;
use super::difference;
use super::exchange::{RecordedExchange, RecordedRequest};
use super::reader::Tape;
use super::recorder::{recorded_request, with_keys};
use super::redaction::Redaction;
use super::subject::Subject;

/// How much of what the user said is shown when nothing fits.
const SAID_CHARS_MAX: usize = 80;

/// Which exchange answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// The n-th request gets the n-th answer and must be the same to the letter, apart from
    /// its headers: those are the transport's.
    Strict,
    /// A request gets the first answer that was given to the same model over the same wire
    /// when the user had last said the same words. Each answers once; when all that fit are
    /// used up, they begin anew.
    Lenient,
}

/// Answers requests from a tape.
#[derive(Debug)]
pub struct TapePlayer {
    exchanges: Vec<RecordedExchange>,
    /// How often each exchange has answered.
    uses: Vec<usize>,
    matching: Matching,
    /// The same as when the tape was recorded: what it took out of the tape must be taken
    /// out of what is asked before they are compared.
    redaction: Redaction,
    /// How many requests were answered.
    answered: usize,
}

impl TapePlayer {
    /// Plays `tape`.
    pub fn new(tape: Tape, matching: Matching, redaction: Redaction) -> Self {
        Self {
            uses: vec![0; tape.exchanges.len()],
            exchanges: tape.exchanges,
            matching,
            redaction,
            answered: 0,
        }
    }

    /// What came back when this was asked. If it failed, `failure` says how, after the chunks.
    ///
    /// # Errors
    /// Nothing on the tape answers it.
    pub fn answer(
        &mut self,
        wire: Wire,
        request: &HttpRequest,
    ) -> Result<&RecordedExchange, Error> {
        let redaction = with_keys(&self.redaction, request);
        let asked = recorded_request(request, &redaction);
        let index = match self.matching {
            Matching::Strict => self.next(wire, &asked)?,
            Matching::Lenient => self.fitting(wire, &asked)?,
        };
        self.uses[index] += 1;
        self.answered += 1;
        Ok(&self.exchanges[index])
    }

    /// How many exchanges have not answered yet.
    pub fn unused(&self) -> usize {
        self.uses.iter().filter(|uses| **uses == 0).count()
    }

    fn next(&self, wire: Wire, asked: &RecordedRequest) -> Result<usize, Error> {
        let number = self.answered + 1;
        let recorded = self
            .exchanges
            .get(self.answered)
            .ok_or(Error::Exhausted { number })?;
        let before = compared(&recorded.wire, &recorded.request);
        let now = compared(wire.name(), asked);
        match difference::first(&before, &now) {
            None => Ok(self.answered),
            Some(difference) => Err(Error::Different {
                number,
                difference: Box::new(difference),
            }),
        }
    }

    fn fitting(&self, wire: Wire, asked: &RecordedRequest) -> Result<usize, Error> {
        let subject = Subject::of(wire.name(), asked);
        let fits = |index: &usize| {
            let exchange = &self.exchanges[*index];
            Subject::of(&exchange.wire, &exchange.request) == subject
        };
        // The first of those used least: all of them once, then all of them again.
        let fitting = (0..self.exchanges.len()).filter(fits);
        fitting
            .min_by_key(|index| self.uses[*index])
            .ok_or_else(|| Error::NothingFits {
                wire: subject.wire,
                model: subject.model,
                said: subject.said.chars().take(SAID_CHARS_MAX).collect(),
            })
    }
}

fn compared(wire: &str, request: &RecordedRequest) -> Value {
    json!({"wire": wire, "url": request.url, "body": request.body})
}

#[cfg(test)]
mod tests;
