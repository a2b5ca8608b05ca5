//! A loop that is made ready once and run as often as somebody has something to say.

use std::sync::Arc;

use harn_llm::desk::Thrown;

use crate::loop_result::LoopResult;
use crate::run::{self, Prepared};
use crate::runtime::{LoopRequest, Runtime};

/// A loop that was made ready: its options are read, its tools are checked, and whom it asks is
/// decided. Each run is about a prompt of its own. Runs share nothing but that, and may go on
/// side by side; with the option `session_id` they are one conversation, one run after the other.
pub struct PreparedLoop {
    runtime: Arc<Runtime>,
    prepared: Prepared,
}

impl Runtime {
    /// Makes a loop ready to be run many times. What the request says as its prompt is not used.
    ///
    /// # Errors
    /// What the program catches: options that are not understood, tools that cannot be run.
    pub fn prepare(self: &Arc<Self>, request: LoopRequest) -> Result<PreparedLoop, Thrown> {
        Ok(PreparedLoop {
            prepared: run::prepare(self, request)?,
            runtime: Arc::clone(self),
        })
    }
}

impl PreparedLoop {
    /// Runs the loop to its end and gives what came of it.
    ///
    /// # Errors
    /// As for [`Runtime::run`].
    ///
    /// # Cancel safety
    /// As for [`Runtime::run`].
    pub async fn run(&self, prompt: &str) -> Result<LoopResult, Thrown> {
        match self.prepared.is_lasting() {
            true => run::run(&self.runtime, &self.prepared, prompt).await,
            false => self.runtime.run(self.prepared.request_for(prompt)).await,
        }
    }
}
