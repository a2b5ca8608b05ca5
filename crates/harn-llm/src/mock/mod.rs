//! A model that answers from a script, so that programs and their tests run without a key.
//!
//! ```text
//! Request ─► log ─► fixtures of the command line ─► queue of `llm_mock` ─► default answer
//!                        │                               │                       │
//!                        └───────────────────────────────┴───────────────────────┴─► cache ─► Answer
//! ```
//!
//! A [`Mock`] is plain data and belongs to one execution of a program; two executions cannot
//! notice each other. Who owns it asks [`Mock::intercepts`] before a call and, if it does,
//! neither checks keys nor touches the network.
//!
//! | file | idea |
//! |---|---|
//! | `entry` | one scripted answer, as programs and fixture files write it |
//! | `matching` | the text of a conversation, and the patterns it is compared with |
//! | `queue` | which entry answers |
//! | `answer` | what an entry says, and what is said without one |
//! | `log` | what was asked |
//! | `cache` | which conversations a provider would remember |
//! | `fixtures` | scripted answers in a file, and recording them |
//! | `by_hash` | one file per request, found again by its hash |

mod answer;
pub mod by_hash;
mod cache;
mod display;
mod entry;
pub mod fixtures;
mod log;
mod matching;
mod queue;
#[cfg(test)]
mod tests;

use std::cell::LazyCell;

use serde_json::Value;

use crate::glob;
use crate::{Error, Reply, Request};

pub use answer::stop_of_word;
pub use matching::{MatchTextBytes, match_text, prompt_text};

use cache::Cache;
use entry::Entry;
use log::Log;
use queue::Queue;

/// The provider's name.
pub const PROVIDER: &str = "mock";

/// The scripted model of one execution of a program.
#[derive(Clone, Debug, Default)]
pub struct Mock {
    /// What the command line gave. `Some` means that nothing else may answer for it: a
    /// conversation that fits no entry is an error, also once all entries are used up.
    fixtures: Option<Queue>,
    /// What a scope sets aside.
    scene: Scene,
    /// What was set aside, innermost last.
    scopes: Vec<Scene>,
    asked_bytes: MatchTextBytes,
}

/// What a program scripted and what came of it.
#[derive(Clone, Debug, Default)]
struct Scene {
    queue: Queue,
    log: Log,
    cache: Cache,
}

/// What the mock said.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The answer.
    pub reply: Reply,
    /// Who gave it: `mock`, unless a fixture speaks for somebody else.
    pub provider: String,
}

impl Mock {
    /// Queues an answer that a program scripted.
    ///
    /// # Errors
    /// The text that the program sees, if the entry is none.
    pub fn add(&mut self, entry: &Value) -> Result<(), String> {
        let entry = Entry::from_program(entry).map_err(|reason| format!("llm_mock: {reason}"))?;
        self.scene.queue.add(entry);
        Ok(())
    }

    /// What was asked so far, in order, as programs see it.
    pub fn calls(&self) -> Value {
        self.scene.log.to_value()
    }

    /// Forgets everything: queue, log, cache, scopes and the fixtures of the command line.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Sets queue, log and cache aside and begins with empty ones.
    pub fn push_scope(&mut self) {
        self.scopes.push(std::mem::take(&mut self.scene));
    }

    /// Goes back to what the last [`push_scope`](Self::push_scope) set aside.
    ///
    /// # Errors
    /// The text that the program sees, if nothing is.
    pub fn pop_scope(&mut self) -> Result<(), String> {
        let no_scope = "llm_mock_pop_scope: no scope to pop";
        self.scene = self.scopes.pop().ok_or(no_scope)?;
        Ok(())
    }

    /// Replays the lines of a fixture file; from now on nothing else is asked. `file` is the
    /// name that errors show. Lines of a second file come after those of the first.
    ///
    /// # Errors
    /// Which line of the file is wrong and why. Then none of its lines is replayed.
    pub fn load_fixtures(&mut self, file: &str, text: &str) -> Result<(), String> {
        let entries = fixtures::read(file, text)?;
        let queue = self.fixtures.get_or_insert_default();
        entries.into_iter().for_each(|entry| queue.add(entry));
        Ok(())
    }

    /// Whether the mock answers calls to that provider.
    pub fn intercepts(&self, provider: &str) -> bool {
        provider == PROVIDER || self.is_scripted()
    }

    /// Whether there is a script, so that capability gates and key checks are skipped.
    pub fn is_scripted(&self) -> bool {
        self.fixtures.is_some() || !self.scene.queue.is_empty()
    }

    /// Answers, after writing into the log what was asked. `native_tools` are the tools as
    /// they would be sent.
    ///
    /// # Errors
    /// What the script says should fail, or that the fixtures have nothing to say.
    pub fn answer(
        &mut self,
        request: &Request,
        native_tools: Option<&[Value]>,
    ) -> Result<Answer, Error> {
        self.scene.log.push(request, native_tools);
        // All that was ever said: written down for patterns only.
        let text = LazyCell::new(|| match_text(&request.messages));
        let fits = |pattern: &str| glob::matches(pattern, &text);
        let from_fixtures = self.fixtures.as_mut().and_then(|queue| queue.take(fits));
        let entry = from_fixtures.or_else(|| self.scene.queue.take(fits));
        let (mut answer, reports_cache) = match entry {
            Some(entry) => {
                let asked_bytes = self.asked_bytes.of(&request.messages);
                (
                    answer::scripted(&entry, asked_bytes)?,
                    entry.reports_cache(),
                )
            }
            None if self.fixtures.is_some() => return Err(answer::no_fixture(&text)),
            None => (answer::default(request, native_tools), false),
        };
        if request.cache && !reports_cache {
            self.scene.cache.apply(request, &mut answer.reply.usage);
        }
        Ok(answer)
    }

    /// What is put between two texts. It is neither scripted nor logged.
    pub fn completion(model: &str, prefix: &str, suffix: Option<&str>) -> Answer {
        answer::completion(model, prefix, suffix)
    }

    /// The pieces of a streamed answer: each word of the last message. Neither scripted nor
    /// logged.
    pub fn stream_words(request: &Request) -> Vec<String> {
        answer::stream_words(request)
    }
}
