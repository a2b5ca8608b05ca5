//! `initialize`: what we are and can do.

use serde_json::{Value, json};

use super::connection::Connection;
use crate::client::Told;
use crate::error::Refusal;
use crate::peer::ClientFacts;
use crate::versions;
use crate::wire::{AGENT_EVENT, TOOL_CALL_META, UPDATE_KINDS};

/// Takes note of what the client can do, and says what we can. Who says it again changes
/// nothing but that.
///
/// # Errors
/// The client does not say which version it speaks.
pub(super) fn initialize(connection: &Connection, parameters: &Value) -> Result<Value, Refusal> {
    if parameters["protocolVersion"].as_u64().is_none() {
        let why = "`protocolVersion` has to be a number";
        return Err(Refusal::bad_parameters(why));
    }
    connection.link.introduce(ClientFacts::read(parameters));
    let title = connection.server.options.title.as_deref();
    let version = env!("CARGO_PKG_VERSION");
    Ok(json!({
        "protocolVersion": versions::ACP,
        "agentInfo": {"name": "harn", "title": title.unwrap_or("Harn"), "version": version},
        "authMethods": [],
        "agentCapabilities": capabilities(!connection.server.options.is_ephemeral),
    }))
}

/// What we can do; sessions can be loaded if they are kept.
fn capabilities(is_kept: bool) -> Value {
    let mut sessions = json!({"additionalDirectories": {}});
    if is_kept {
        for name in ["list", "resume", "close", "delete", "fork"] {
            sessions[name] = json!({});
        }
    }
    json!({
        "loadSession": is_kept,
        // A program gets a text.
        "promptCapabilities": {"embeddedContext": true, "image": false, "audio": false},
        "mcpCapabilities": {"http": true, "sse": false},
        "sessionCapabilities": sessions,
        "_meta": {"harn": {
            "version": env!("CARGO_PKG_VERSION"),
            "eventCatalogue": versions::EVENT_CATALOGUE,
            "extensionNotifications": [AGENT_EVENT],
            "extensionMethods": Told::canonical().collect::<Vec<_>>(),
            "sessionUpdateKinds": UPDATE_KINDS,
            "toolCallMeta": TOOL_CALL_META,
            "bridge": versions::BRIDGE,
        }},
    })
}
