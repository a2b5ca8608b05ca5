//! Why nobody could be proved to be anybody.

use std::time::Duration;

use rmcp::transport::auth::AuthError;

/// Why there is no token. The texts hold no secret and no code.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A login is needed, and there is nobody to log in.
    #[error("somebody has to log in, and nobody is there")]
    NobodyThere,
    /// The server wants scopes that it has.
    #[error("it wants scopes that were granted already")]
    GrantedAlready,
    /// Neither the server nor anybody else says how to log in.
    #[error("the server asks for a login and publishes no metadata that say where")]
    NoMetadata,
    /// PKCE with S256 is not offered.
    #[error("the authorization server does not offer PKCE with S256")]
    NoPkce,
    /// The metadata name no issuer.
    #[error("the authorization server does not say who it is")]
    NoIssuer,
    /// An endpoint that nobody should be sent to.
    #[error("the {0} endpoint of the authorization server is not an https URL")]
    Endpoint(&'static str),
    /// An endpoint that is somewhere else.
    #[error(
        "the {what} endpoint of {issuer} is on another origin, {endpoint}; name it in HARN_FETCH_ALLOW if that is right"
    )]
    OtherOrigin {
        /// Which endpoint.
        what: &'static str,
        /// Whose.
        issuer: String,
        /// Where it is.
        endpoint: String,
    },
    /// We are nobody to the authorization server.
    #[error("the authorization server registers nobody; give the server a client_id in harn.toml")]
    NoIdentity,
    /// The answer to a login held no token.
    #[error("the authorization server gave no token")]
    NoToken,
    /// No browser could be opened.
    #[error("no browser could be opened: {0}")]
    Browser(String),
    /// No port could be listened on for the answer.
    #[error("the answer to a login cannot be waited for: {0}")]
    Listen(#[source] std::io::Error),
    /// The authorization server said no.
    #[error("the authorization server refused: {0}")]
    Denied(String),
    /// Nobody has logged in.
    #[error("nobody logged in within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// What was kept cannot be read or written.
    #[error("the login cannot be kept: {0}")]
    Vault(String),
    /// The protocol was not kept.
    #[error(transparent)]
    Protocol(#[from] AuthError),
}

impl Failure {
    /// Whether a login by a person could help.
    pub fn is_nobody_there(&self) -> bool {
        matches!(self, Self::NobodyThere)
    }
}
