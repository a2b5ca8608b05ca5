//! A model that follows a script with everything a real one does: it thinks, speaks in
//! pieces, calls tools, stumbles and hangs up.
//!
//! A scenario is a file, `NAME.scenario.toml`, that says turn by turn what the model answers:
//!
//! ```toml
//! model = "scripted"
//!
//! [[turn]]
//! thinking = "They want to know what is in the file."
//! text = "Let me look."
//! call = [{ tool = "read_file", arguments = { path = "notes.md" } }]
//!
//! [[turn]]
//! error = { category = "rate_limit", retry_after_ms = 1500 }
//!
//! [[turn]]
//! when = "*milk*"
//! text = "You have to buy milk."
//! ```
//!
//! Each question gets the first turn not yet played whose `when` fits the last thing that
//! the user or a tool said. The page `models/scenarios.md` of the book has all keys.
//!
//! Where the mock gives whole answers, a scenario gives the [`StreamEvent`]s of a stream, cut
//! as models cut them and the same way every time. Pauses are suggested, not made: who plays
//! it decides whether anybody waits.
//!
//! | file | idea |
//! |---|---|
//! | `file` | reads a script and says on which line it is wrong |
//! | `said` | the last thing that the user or a tool said |
//! | `cut` | texts in pieces, by a seed |
//! | `performance` | one turn as events |

mod cut;
mod file;
mod performance;
mod said;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::glob;
use crate::mock::MatchTextBytes;
use crate::{Category, Error, Request, StreamEvent};

pub use file::Mistake;

use cut::Chance;
use file::{Script, Turn};

/// How much of what was said is shown when no turn fits.
const SAID_CHARS_MAX: usize = 80;
/// How many waiting turns are named when none fits.
const NAMED_TURNS_MAX: usize = 3;

/// A script and how far it has been played.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: String,
    script: Script,
    /// The turns that were not played yet, and those that repeat.
    left: BTreeSet<usize>,
    /// How many answers were given, failures included.
    answers: u64,
    asked_bytes: MatchTextBytes,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// How long a real model would have taken since the piece before.
    pub pause_ms: u64,
    /// The piece, or the failure that ends the stream; nothing comes after that.
    pub event: Result<StreamEvent, Error>,
}

impl Scenario {
    /// Reads a script; `name` is what errors show.
    ///
    /// # Errors
    /// The first mistake in it, with its line.
    pub fn parse(name: &str, text: &str) -> Result<Self, Mistake> {
        let script = Script::read(name, text)?;
        Ok(Self {
            name: name.to_owned(),
            left: (0..script.turns.len()).collect(),
            script,
            answers: 0,
            asked_bytes: MatchTextBytes::default(),
        })
    }

    /// The answer to the next question, up to its end or to the failure that cuts it off.
    ///
    /// # Errors
    /// The turn says that the call fails, or no turn is left that fits.
    pub fn next(&mut self, request: &Request) -> Result<Vec<Piece>, Error> {
        let said = said::last(&request.messages);
        let index = self.fitting(&said)?;
        let turn = &self.script.turns[index];
        if !turn.repeat {
            self.left.remove(&index);
        }
        self.answers += 1;
        if let Some(error) = &turn.error {
            return Err(error.clone());
        }
        let chance = Chance::new(self.script.seed, self.answers);
        let model = self.script.model.as_deref().unwrap_or(&request.model);
        let system_bytes = request.system.as_deref().map_or(0, str::len) as u64;
        let asked_bytes = self.asked_bytes.of(&request.messages) + system_bytes;
        let pieces = performance::perform(turn, asked_bytes, model, self.answers, chance);
        Ok(self.cut_off(turn, pieces))
    }

    /// How many turns nobody has heard yet. Those that repeat are not counted.
    pub fn remaining(&self) -> usize {
        self.turns_left().filter(|turn| !turn.repeat).count()
    }

    fn turns_left(&self) -> impl Iterator<Item = &Turn> {
        self.left.iter().map(|index| &self.script.turns[*index])
    }

    fn fitting(&self, said: &str) -> Result<usize, Error> {
        let fitting = |index: &usize| {
            let when = self.script.turns[*index].when.as_deref();
            when.is_none_or(|pattern| glob::matches(pattern, said))
        };
        let mut left = self.left.iter().copied();
        left.find(fitting).ok_or_else(|| self.nothing_fits(said))
    }

    fn nothing_fits(&self, said: &str) -> Error {
        let name = &self.name;
        let waiting: Vec<String> = self
            .turns_left()
            .map(|turn| {
                let when = turn.when.as_deref().unwrap_or_default();
                format!("line {} waits for {when:?}", turn.line)
            })
            .collect();
        let message = if waiting.is_empty() {
            let count = self.script.turns.len();
            format!("the scenario {name} is over: all of its turns ({count}) were played")
        } else {
            let said: String = said.chars().take(SAID_CHARS_MAX).collect();
            let shown = waiting[..waiting.len().min(NAMED_TURNS_MAX)].join(", ");
            format!("no turn of the scenario {name} fits {said:?}: {shown}")
        };
        Error::new(Category::Generic, message)
    }

    /// Leaves out what comes after the connection is lost.
    fn cut_off(&self, turn: &Turn, mut pieces: Vec<Piece>) -> Vec<Piece> {
        let Some(after) = turn.disconnect_after else {
            return pieces;
        };
        let mut content = 0;
        let kept = pieces.iter().take_while(|piece| {
            content += usize::from(is_content(piece));
            content <= after && !is_ending(piece)
        });
        pieces.truncate(kept.count());
        let message = format!(
            "the stream ended before the answer did, as line {} of {} wants it",
            turn.line, self.name
        );
        pieces.push(Piece {
            pause_ms: 0,
            event: Err(Error::new(Category::StreamTruncated, message)),
        });
        pieces
    }
}

/// Whether a piece says something, in the sense in which `disconnect_after` counts.
fn is_content(piece: &Piece) -> bool {
    matches!(
        piece.event,
        Ok(StreamEvent::TextDelta { .. }
            | StreamEvent::ThoughtDelta { .. }
            | StreamEvent::ThoughtSummaryDelta { .. }
            | StreamEvent::Refusal { .. }
            | StreamEvent::ToolCallStart { .. }
            | StreamEvent::ToolArgsDelta { .. })
    )
}

/// Whether a piece belongs to the end of an answer, which a lost connection never brings.
fn is_ending(piece: &Piece) -> bool {
    matches!(
        piece.event,
        Ok(StreamEvent::Usage { .. } | StreamEvent::End { .. })
    )
}
