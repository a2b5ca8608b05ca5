//! Everything one program knows of models, may spend on them and has asked them.
//!
//! ```text
//! options ─► parse ─► attempts: does the answer fit the schema? ─► result
//!                        │
//!                        └─► providers: the one asked for, then its fallbacks
//!                               │
//!                               └─► tries: permit, budget, somebody who stands in or
//!                                   exchange, pause
//! ```
//!
//! Each arrow is a file: `structured` for attempts, `asking` for providers and tries,
//! `result` for what programs get. The state is that of one execution of a program: its mock,
//! its budget, its configuration. Two desks cannot notice each other.
//!
//! Programs speak JSON with the desk, so whoever wires builtins to it converts values and
//! nothing else.

mod asking;
mod call_log;
mod completion;
mod health;
mod known;
mod lines;
mod opening;
mod ports;
mod probe;
mod questions;
mod result;
mod stand_in;
mod stream;
mod structured;
#[cfg(test)]
mod tests;
mod trace;
mod turn;
mod variants;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use crate::budget::Spending;
use crate::catalog::config::Provider;
use crate::catalog::introspect::Catalog;
use crate::catalog::{Capabilities, Config};
use crate::mock::Mock;
use crate::options::{self, CallOptions};
use crate::rate::RateLimits;
use crate::tape::Redaction;
use crate::transport::Transport;
use crate::{Category, Error, Totals};

pub use call_log::timestamp;
pub use known::KnownModels;
pub use lines::{lines_to, transcript_in};
pub use ports::{Ports, SchemaErrors};
pub use probe::Probed;
pub use stand_in::Staged;
pub use stream::StreamCall;
pub use trace::{LoopComplete, ToolExecution, Trace};
pub use turn::TurnAnswer;
pub use variants::{Question, argument_envelope};

/// Everything one program knows of models, may spend on them and has asked them.
pub struct Desk {
    environment: BTreeMap<String, String>,
    transport: Arc<dyn Transport>,
    ports: Ports,
    state: Mutex<State>,
}

/// What changes while a program runs.
#[derive(Default)]
struct State {
    config: Config,
    capabilities: Capabilities,
    mock: Mock,
    spending: Spending,
    /// The tokens of the conversations that budgets look at.
    asked_tokens: Option<Totals<1>>,
    rates: RateLimits,
    trace: Trace,
    recording: Recording,
    staged: Option<Staged>,
    call_log: call_log::CallLog,
    /// The logs of loops that have one of their own, by their folders.
    loop_logs: BTreeMap<Arc<Path>, call_log::LoopLog>,
}

/// Where answers are written to and come from, if somebody wants that.
pub struct Recording {
    /// Takes secrets out of what is written, and out of what providers complain about.
    pub redaction: Redaction,
    /// Takes a line for each call, in the format of fixture files.
    pub lines: Option<TakeLine>,
    /// Takes a line for everything that is asked and heard.
    pub transcript: Option<TakeLine>,
    /// Keeps an answer per request, by its hash.
    pub by_hash: Option<ByHash>,
}

/// Takes a line.
pub type TakeLine = Box<dyn FnMut(&str) + Send>;

/// Whether answers by hash are kept or given again.
pub enum ByHash {
    /// They are kept there.
    Record(Box<dyn crate::mock::by_hash::Store + Send>),
    /// They come from there, and from nowhere else.
    Replay(Box<dyn crate::mock::by_hash::Store + Send>),
}

/// What a desk starts with.
pub struct Setup {
    /// The variables of the environment.
    pub environment: BTreeMap<String, String>,
    /// Providers and models.
    pub config: Config,
    /// What models can do.
    pub capabilities: Capabilities,
    /// The mock, perhaps with fixtures already.
    pub mock: Mock,
    /// How requests reach providers.
    pub transport: Arc<dyn Transport>,
    /// What else it needs of the world.
    pub ports: Ports,
    /// Where answers are written to, or come from.
    pub recording: Recording,
    /// A scenario that answers instead of providers.
    pub staged: Option<Staged>,
}

/// What a program catches.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Thrown {
    /// A text.
    #[error("{0}")]
    Plain(String),
    /// A failure of the runtime.
    #[error("{0}")]
    Runtime(String),
    /// An error with a category.
    #[error("{1}")]
    Categorised(Category, String),
    /// A dict.
    #[error("{}", .0["message"].as_str().map_or_else(|| .0.to_string(), str::to_owned))]
    Dict(Value),
}

impl Desk {
    /// A desk with nothing asked yet.
    pub fn new(setup: Setup) -> Self {
        Self {
            environment: setup.environment,
            transport: setup.transport,
            ports: setup.ports,
            state: Mutex::new(State {
                config: setup.config,
                capabilities: setup.capabilities,
                mock: setup.mock,
                recording: setup.recording,
                staged: setup.staged,
                ..State::default()
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn catalog<'a>(&'a self, state: &'a State) -> Catalog<'a> {
        Catalog {
            config: &state.config,
            capabilities: &state.capabilities,
            environment: &self.environment,
        }
    }

    /// An error as one may show it. Some providers repeat the key that they refuse.
    fn without_secrets(&self, error: Error) -> Error {
        let message = self.state().recording.redaction.text(&error.message);
        Error { message, ..error }
    }

    fn now(&self) -> i64 {
        (self.ports.now)()
    }

    /// Reads the options of a call and tells the operator what was odd about them.
    fn parse(
        &self,
        prompt: &str,
        system: Option<&str>,
        options: &Map<String, Value>,
    ) -> Result<CallOptions, Thrown> {
        let state = self.state();
        let context = options::Context {
            catalog: self.catalog(&state),
            mocked: state.is_scripted(),
        };
        let call = options::parse(prompt, system, options, context);
        drop(state);
        let call = call.map_err(|invalid| Thrown::Plain(invalid.to_string()))?;
        for warning in &call.warnings {
            (self.ports.warn)(warning);
        }
        Ok(call)
    }
}

impl State {
    /// How a provider is configured; as good as nothing for one that only has a name.
    fn provider(&self, name: &str) -> Provider {
        let entry = self.config.providers.get(name);
        entry.cloned().unwrap_or_default()
    }
}

impl Default for Recording {
    fn default() -> Self {
        Self {
            redaction: Redaction::none(),
            lines: None,
            transcript: None,
            by_hash: None,
        }
    }
}

impl Recording {
    fn replays(&self) -> bool {
        matches!(self.by_hash, Some(ByHash::Replay(_)))
    }
}
