//! Asks a model again for whom the conversation was too long, with less of it.
//!
//! ```text
//! model_call ─► too long ─► compact ─► a new call ─► model_call
//!     ▲                        │ nothing to archive            │
//!     └────────────────────────┼───────────────────────────────┘
//!                              ▼ the failure, as it was
//! ```
//!
//! The threshold of a compaction is an estimate, and only the provider knows how much its model
//! can read. A loop that does not compact has nothing that it could leave out.

use harn_llm::desk::Thrown;

use super::turn::Turn;
use super::{Run, compact, model_call, preflight};

/// How often a conversation is made shorter for one call.
const RECOVERIES_MAX: u32 = 3;

/// Asks the model, with less of the conversation if it was too long.
pub(super) async fn ask(run: &Run<'_>, turn: Turn) -> Result<Turn, Thrown> {
    let (iteration, prefill) = (turn.iteration, turn.prefill.clone());
    let mut asked = model_call::ask(run, turn).await;
    for attempt in 1..=RECOVERIES_MAX {
        let thrown = match asked {
            Err(thrown) if is_overflow(&thrown) => thrown,
            outcome => return outcome,
        };
        let archived = compact::after_overflow(run, attempt).await?;
        if archived == 0 {
            return Err(thrown);
        }
        let content = format!("attempt {attempt}/{RECOVERIES_MAX} archived {archived} messages");
        run.report("context_overflow_recovery", content).await;
        let turn = Turn {
            prefill: prefill.clone(),
            ..Turn::new(iteration)
        };
        let turn = preflight::make_call(run, turn).await?;
        asked = model_call::ask(run, turn).await;
    }
    asked
}

/// Whether a model was given more than it can read.
pub(super) fn is_overflow(thrown: &Thrown) -> bool {
    matches!(thrown, Thrown::Dict(dict) if dict["reason"] == "context_overflow")
}
