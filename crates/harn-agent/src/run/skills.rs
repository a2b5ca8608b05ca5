//! The phase that decides which skills are active.

use harn_llm::desk::Thrown;

use super::Run;
use super::turn::Turn;

/// Decides which skills are active. A loop without skills has nothing to decide.
pub(super) async fn match_skills(_run: &Run<'_>, turn: Turn) -> Result<Turn, Thrown> {
    Ok(turn)
}
