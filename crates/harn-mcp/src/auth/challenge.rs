//! What a server says when it refuses a request.

use harn_agent::llm::Secret;
use rmcp::transport::auth::WWWAuthenticateParams;
use url::Url;

/// A refusal that a token could change.
#[derive(Clone, Debug)]
pub(crate) struct Challenge {
    /// The header `WWW-Authenticate`; empty if there was none.
    header: String,
    /// The token of the request that was refused.
    sent: Option<Secret>,
    error: Option<String>,
    scope: Option<String>,
}

impl Challenge {
    /// Reads what the server at `url` has said to a request with the token `sent`.
    pub(crate) fn read(header: &str, url: &Url, sent: Option<&Secret>) -> Self {
        let told = WWWAuthenticateParams::parse(header, url);
        Self {
            header: header.to_owned(),
            sent: sent.cloned(),
            error: told.error,
            scope: told.scope,
        }
    }

    pub(crate) fn header(&self) -> &str {
        &self.header
    }

    /// Whether the token is good, but not good enough.
    pub(crate) fn wants_more_scopes(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    /// The scopes that are wanted, as one text.
    pub(crate) fn scope(&self) -> Option<&str> {
        self.scope.as_deref()
    }

    pub(crate) fn scopes(&self) -> Vec<String> {
        let scopes = self.scope().unwrap_or_default().split_whitespace();
        scopes.map(str::to_owned).collect()
    }

    /// Whether more scopes are wanted, but none that are not among those `granted`.
    pub(super) fn wants_no_more_than(&self, granted: &[String]) -> bool {
        let is_granted = |scope: &String| granted.contains(scope);
        self.wants_more_scopes() && self.scopes().iter().all(is_granted)
    }

    /// Whether `token` came after the request that was refused.
    pub(crate) fn is_older_than(&self, token: &Secret) -> bool {
        self.sent.as_ref() != Some(token)
    }
}
