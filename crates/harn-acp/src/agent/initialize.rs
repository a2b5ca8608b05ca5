//! `initialize`: what we are and can do.

use serde_json::{Value, json};

use super::connection::Connection;
use crate::error::Refusal;
use crate::peer::ClientFacts;

/// The version of the protocol that is spoken here.
const VERSION: u64 = 1;

/// Takes note of what the client can do, and says what we can.
///
/// # Errors
/// The client does not say which version it speaks.
pub(super) fn initialize(connection: &Connection, parameters: &Value) -> Result<Value, Refusal> {
    if parameters["protocolVersion"].as_u64().is_none() {
        let why = "`protocolVersion` has to be a number";
        return Err(Refusal::bad_parameters(why));
    }
    connection.introduce(ClientFacts::read(parameters));
    Ok(json!({
        "protocolVersion": VERSION,
        "agentInfo": {"name": "harn", "title": "Harn", "version": env!("CARGO_PKG_VERSION")},
        "authMethods": [],
        "agentCapabilities": capabilities(connection),
    }))
}

fn capabilities(connection: &Connection) -> Value {
    let is_kept = !connection.server.options.is_ephemeral;
    json!({
        "loadSession": is_kept,
        "promptCapabilities": {"embeddedContext": true, "image": false, "audio": false},
        "mcpCapabilities": {"http": true, "sse": false},
        "sessionCapabilities": {"additionalDirectories": {}},
    })
}
