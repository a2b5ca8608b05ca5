//! What has to be in the journal before a loop goes on.
//!
//! | before | what has to survive |
//! |---|---|
//! | a question to a model, hooks, calls | answers that were received: the death of the process |
//! | a call that may change something | that it has begun: a power cut |
//! | the result of the loop | everything: a power cut |
//!
//! A call that may change something is not made while the journal cannot be written: after a
//! crash nobody would know that it was. Whatever else the loop does, it goes on with.

use std::sync::atomic::Ordering;
use std::time::Duration;

use harn_llm::desk::Thrown;

use super::Run;

/// How long the loop waits before it tries again to write its journal: ten seconds in all. A disk
/// that was full for a moment ends no run.
const PAUSES_MS: [u64; 12] = [
    50, 100, 200, 350, 600, 900, 1_200, 1_300, 1_300, 1_300, 1_300, 1_400,
];

impl Run<'_> {
    /// Resolves when no answer that was received is lost with this process.
    pub(super) async fn secure_answers(&self) {
        if !self.answers_secured.load(Ordering::Relaxed) {
            self.session.hand_over().await;
            self.answers_secured.store(true, Ordering::Relaxed);
        }
    }

    /// Resolves when everything that the loop has done would survive a power cut.
    ///
    /// # Errors
    /// The journal cannot be written, and could not be for ten seconds.
    pub(super) async fn before_side_effect(&self, tool: &str) -> Result<(), Thrown> {
        let mut pauses = PAUSES_MS.into_iter();
        loop {
            let Err(failure) = self.session.sync().await else {
                self.answers_secured.store(true, Ordering::Relaxed);
                return Ok(());
            };
            let Some(pause) = pauses.next() else {
                return Err(Thrown::Runtime(format!(
                    "agent_loop: {failure}; it stopped before the call of `{tool}`"
                )));
            };
            self.runtime.sleep(Duration::from_millis(pause)).await;
        }
    }
}
