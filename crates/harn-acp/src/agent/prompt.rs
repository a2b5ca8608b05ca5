//! `session/prompt`: one turn.

use std::sync::Arc;

use harn_vm::agent::BoxFuture;
use serde_json::Value;

use super::connection::Connection;
use super::methods::session_id;
use crate::error::Refusal;
use crate::session::{Prompt, Session};

/// A turn that has begun.
pub(super) struct Begun {
    pub(super) session: Arc<Session>,
    /// What the client is answered, when the turn has ended.
    pub(super) ended: BoxFuture<'static, Result<Value, Refusal>>,
}

/// Begins a turn.
///
/// # Errors
/// There is no such session, it has a turn running, or the prompt is not understood.
pub(super) fn begin(connection: &Arc<Connection>, parameters: &Value) -> Result<Begun, Refusal> {
    let session = connection.session(session_id(parameters)?)?;
    let prompt = Prompt::read(&parameters["prompt"])?;
    let ended = session.prompt(&prompt, &connection.peer(), &connection.principal)?;
    Ok(Begun { session, ended })
}
