//! Sessions, as programs see them.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use serde_json::Value;

use super::Asked;
use crate::runtime::Runtime;

/// Answers; `None` if it is no question about sessions.
pub(super) async fn answer(runtime: &Arc<Runtime>, asked: &Asked) -> Option<Result<Value, Thrown>> {
    let _ = (runtime, asked);
    None
}
