//! Servers that are services: streamable HTTP, and who is asked to prove who we are.
//!
//! The seam for everything that has to do with HTTP. A link asks for a transport and hands
//! errors of the transport back, to hear whether they mean that somebody has to log in.

use std::sync::Arc;

use harn_agent::tool_servers::{HttpEndpoint, ServerClient, ServerConfig, ServerError};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use serde_json::Value;

use crate::servers::Surroundings;
use crate::stdio::StdioTransport;

/// Opens a transport to a service. Nothing is sent before the link uses it.
///
/// # Errors
/// The service cannot be reached, or may not be.
pub(crate) async fn open(
    config: &ServerConfig,
    _endpoint: &HttpEndpoint,
    _surroundings: &Surroundings,
    _client: &Arc<dyn ServerClient>,
) -> Result<impl Transport<RoleClient, Error = std::io::Error> + 'static + use<>, ServerError> {
    let missing: Result<StdioTransport, _> = Err(ServerError::Unreachable(format!(
        "mcp server '{}' is reached over HTTP, which this build cannot do",
        config.name
    )));
    missing
}

/// What an error of the transport says about authorization: the resource, and the scopes that
/// are wanted. `None` if it is about something else.
pub(crate) fn auth_required(
    _config: &ServerConfig,
    _error: &(dyn std::error::Error + 'static),
) -> Option<(String, Option<String>)> {
    None
}

/// The document in which a server describes itself.
///
/// # Errors
/// It cannot be fetched, or is no JSON.
pub(crate) async fn card(source: &str) -> Result<Value, ServerError> {
    Err(ServerError::Unreachable(format!(
        "mcp_server_card: '{source}' cannot be fetched by this build"
    )))
}
