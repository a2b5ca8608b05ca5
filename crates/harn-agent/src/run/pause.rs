//! Stopping between two turns.

use super::{Run, texts};
use crate::callback::BoxFuture;

/// Lets somebody stop a loop between two turns.
pub trait Pause: Send + Sync {
    /// Resolves when the loop may go on, which is at once unless it is to stop; gives what the
    /// model is told then. `iterations` are made already.
    fn pass(&self, iterations: usize) -> BoxFuture<'_, Option<String>>;
}

/// Waits as long as somebody wants the loop to stop.
pub(super) async fn pass(run: &Run<'_>) {
    let Some(pause) = &run.pause else {
        return;
    };
    let iterations = run.session.read(|state| state.run.total_iterations);
    if let Some(text) = pause.pass(iterations).await {
        run.say(texts::user(text)).await;
    }
}
