//! What an error of the protocol means for whoever asked.

use std::error::Error;

use harn_agent::tool_servers::{ServerConfig, ServerError};
use rmcp::service::{ClientInitializeError, ServiceError};

use crate::http;
use crate::stdio::Fault;

/// How a connection tells why it failed.
pub(crate) struct Failures<'a> {
    pub(crate) config: &'a ServerConfig,
    pub(crate) fault: &'a Fault,
}

impl Failures<'_> {
    /// Why no connection came about.
    pub(crate) fn of_start(&self, error: &ClientInitializeError) -> ServerError {
        match error {
            ClientInitializeError::TransportError { error, .. } => self.of_transport(&*error.error),
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => self.of_start(fallback),
            ClientInitializeError::ConnectionClosed(_) => self.ended(),
            ClientInitializeError::JsonRpcError(refusal) => refused(refusal),
            other => self.broken(format!("cannot be talked with: {other}")),
        }
    }

    /// Why a request has no answer.
    pub(crate) fn of_request(&self, what: &str, error: &ServiceError) -> ServerError {
        match error {
            ServiceError::McpError(refusal) => refused(refusal),
            ServiceError::TransportSend(error) => self.of_transport(&*error.error),
            ServiceError::TransportClosed => self.ended(),
            ServiceError::Timeout { timeout } => {
                let limit_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
                self.timed_out(what, limit_ms)
            }
            ServiceError::UnexpectedResponse => {
                self.broken(format!("answered '{what}' with something else"))
            }
            other => self.broken(format!("failed: {other}")),
        }
    }

    /// The connection has ended.
    pub(crate) fn ended(&self) -> ServerError {
        self.fault.error(&self.config.name)
    }

    /// The server took too long.
    pub(crate) fn timed_out(&self, what: &str, limit_ms: u64) -> ServerError {
        ServerError::TimedOut {
            server: self.config.name.clone(),
            what: what.to_owned(),
            limit_ms,
        }
    }

    fn of_transport(&self, error: &(dyn Error + Send + Sync + 'static)) -> ServerError {
        let server = self.config.name.clone();
        if let Some((resource, scope)) = http::auth_required(self.config, error) {
            return ServerError::AuthRequired {
                server,
                resource,
                scope,
            };
        }
        match self.fault.error(&server) {
            // A process that has ended explains itself better than a broken pipe.
            ended @ ServerError::Broken { .. } => ended,
            ServerError::Ended { server, detail } => {
                let detail = format!(": {error}{detail}");
                ServerError::Ended { server, detail }
            }
            other => other,
        }
    }

    /// The server does not keep to the protocol.
    pub(crate) fn broken(&self, problem: String) -> ServerError {
        ServerError::Broken {
            server: self.config.name.clone(),
            problem,
        }
    }
}

fn refused(refusal: &rmcp::ErrorData) -> ServerError {
    ServerError::Refused {
        code: i64::from(refusal.code.0),
        message: refusal.message.to_string(),
        data: refusal.data.clone(),
    }
}
