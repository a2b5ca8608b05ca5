//! Why a server did not do what was asked.

use harn_llm::Category;

/// Why a server did not do what was asked. The texts are for people and for models; they hold
/// no variable, no header and no token.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ServerError {
    /// It could not be started or reached.
    #[error("{0}")]
    Unreachable(String),
    /// It ended, or its connection did, while somebody waited for it.
    #[error("mcp server '{server}' ended before it answered{detail}")]
    Ended {
        /// Which.
        server: String,
        /// More, with a separator in front; may be empty.
        detail: String,
    },
    /// It has ended too often lately and is not started again for a while.
    #[error(
        "mcp server '{server}' was started {starts} times in {minutes} minutes and is left alone for now"
    )]
    RestartedTooOften {
        /// Which.
        server: String,
        /// How often.
        starts: usize,
        /// In which time.
        minutes: u64,
    },
    /// It did not answer in time.
    #[error("mcp server '{server}' did not answer '{what}' within {limit_ms} ms")]
    TimedOut {
        /// Which.
        server: String,
        /// What was asked.
        what: String,
        /// The limit that was reached.
        limit_ms: u64,
    },
    /// What it sent cannot be understood, or is larger than allowed.
    #[error("mcp server '{server}' {problem}")]
    Broken {
        /// Which.
        server: String,
        /// What is wrong, as the rest of a sentence.
        problem: String,
    },
    /// It answered with an error of the protocol.
    #[error("{message}")]
    Refused {
        /// The code.
        code: i64,
        /// What it says.
        message: String,
        /// More for programs.
        data: Option<serde_json::Value>,
    },
    /// The arguments do not fit what the tool asks for; it was not called.
    #[error("{0}")]
    InvalidArguments(String),
    /// It wants to know who asks. The event `mcp_auth_required` was told.
    #[error("mcp server '{server}' needs authorization; run `harn mcp login {server}`")]
    AuthRequired {
        /// Which.
        server: String,
        /// What access is asked to.
        resource: String,
        /// The scopes it wants.
        scope: Option<String>,
    },
    /// The connection was closed by us.
    #[error("MCP client is disconnected")]
    Disconnected,
    /// It may not be used.
    #[error("{0}")]
    Forbidden(String),
}

impl ServerError {
    /// The kind of failure that events and programs see.
    pub fn category(&self) -> Category {
        match self {
            Self::TimedOut { .. } => Category::Timeout,
            Self::InvalidArguments(_) => Category::SchemaValidation,
            Self::AuthRequired { .. } => Category::Auth,
            Self::Forbidden(_) => Category::ToolRejected,
            Self::Unreachable(_)
            | Self::Ended { .. }
            | Self::RestartedTooOften { .. }
            | Self::Broken { .. }
            | Self::Refused { .. }
            | Self::Disconnected => Category::McpServerError,
        }
    }
}
