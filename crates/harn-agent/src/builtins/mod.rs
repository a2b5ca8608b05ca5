//! The builtins about agents, as JSON: values in, a value or an error out.
//!
//! An interpreter converts and does nothing else, so a program in another language, or a test
//! in Rust, gets the same answers.

mod artifacts;
mod feedback;
mod looping;
mod sessions;
mod skills;
mod tools;
mod transcripts;
mod workers;

pub use workers::worker_surroundings;

use std::sync::Arc;

use harn_llm::desk::Thrown;
use serde_json::{Map, Value};

use crate::callback::Functions;
use crate::runtime::Runtime;
use crate::{daemons, progress, tool_callers, tool_servers};

/// A call of a builtin.
#[derive(Default)]
pub struct Asked {
    /// Which one.
    pub builtin: String,
    /// With what; functions are `null`.
    pub arguments: Vec<Value>,
    /// The functions among the arguments, by their place: `/2/tools/tools/0/handler`.
    pub functions: Functions,
    /// The session whose loop calls it, if one does.
    pub session_id: Option<String>,
    /// Milliseconds since the epoch by the clock of the program, if it was looked at.
    pub now_ms: Option<i64>,
    /// The id of a session that nobody can name, if the builtin begins one.
    pub unnamed_session_id: String,
    /// The id of the worker, if the builtin begins one; empty: a new one.
    pub worker_id: String,
    /// How many readers of events deep it is called; 0: no reader of events calls it.
    pub subscriber_depth: u32,
}

impl Asked {
    /// An argument, or nil.
    pub(crate) fn argument(&self, at: usize) -> &Value {
        self.arguments.get(at).unwrap_or(&Value::Null)
    }

    /// An argument that is a text.
    pub(crate) fn text(&self, at: usize) -> Option<&str> {
        self.argument(at).as_str()
    }

    /// An argument that is a dict; nothing for one that is not.
    fn dict(&self, at: usize) -> Map<String, Value> {
        self.argument(at).as_object().cloned().unwrap_or_default()
    }
}

/// An error that is a text.
fn plain<T>(text: impl Into<String>) -> Result<T, Thrown> {
    Err(Thrown::Plain(text.into()))
}

impl Runtime {
    /// Answers a builtin.
    ///
    /// # Errors
    /// What the program catches.
    pub async fn answer(self: &Arc<Self>, asked: Asked) -> Result<Value, Thrown> {
        match asked.subscriber_depth {
            0 => self.answer_here(asked).await,
            depth => {
                let answering = self.answer_here(asked);
                self.bus.scope_subscriber(depth, answering).await
            }
        }
    }

    async fn answer_here(self: &Arc<Self>, mut asked: Asked) -> Result<Value, Thrown> {
        let session_id = asked.session_id.take();
        asked.session_id = session_id.map(|id| self.workers.session_now(&id));
        let asked = match looping::answer(self, asked).await {
            Ok(answer) => return answer,
            Err(asked) => asked,
        };
        if let Some(answer) = daemons::answer(self, &asked).await {
            return answer;
        }
        if let Some(answer) = tool_servers::builtins::answer(self, &asked).await {
            return answer;
        }
        if let Some(answer) = workers::answer(self, &asked).await {
            return answer;
        }
        if let Some(answer) = tool_callers::answer(self, &asked).await {
            return answer;
        }
        if let Some(answer) = progress::answer(self, &asked).await {
            return answer;
        }
        if let Some(answer) = feedback::answer(self, &asked).await {
            return answer;
        }
        if let Some(answer) = sessions::answer(self, &asked).await {
            return answer;
        }
        if let Some(answer) = transcripts::answer(self, &asked).await {
            return answer;
        }
        if let Some(answer) = skills::answer(self, &asked).await {
            return answer;
        }
        if let Some(answer) = artifacts::answer(self, &asked).await {
            return answer;
        }
        match tools::answer(self, &asked) {
            Some(answer) => answer,
            None => Err(Thrown::Runtime(format!(
                "{} is not something agents can be asked",
                asked.builtin
            ))),
        }
    }
}
