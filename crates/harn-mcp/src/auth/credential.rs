//! What a login leaves behind.

use harn_agent::llm::Secret;
use rmcp::transport::auth::{AuthorizationMetadata, OAuthClientConfig, StoredCredentials};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use super::Failure;

/// Tokens, and whom they may be shown. Nothing of this is ever printed.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Credential {
    /// The URL of the server that the token is for.
    pub(super) server: String,
    /// Who gave the token.
    pub(super) issuer: Option<String>,
    /// Where it is renewed.
    token_endpoint: String,
    /// Who we are to the issuer.
    pub(super) client: Option<Identity>,
    /// As rmcp keeps them.
    tokens: Value,
}

/// Who we are to one issuer.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    /// The port we registered with, if we did.
    pub(super) redirect_port: Option<u16>,
}

impl Identity {
    pub(super) fn config(&self, redirect_uri: &str) -> OAuthClientConfig {
        let config = OAuthClientConfig::new(self.id.clone(), redirect_uri);
        match &self.secret {
            Some(secret) => config.with_client_secret(secret.clone()),
            None => config,
        }
    }
}

impl Credential {
    pub(super) fn new(
        server: &Url,
        metadata: &AuthorizationMetadata,
        client: Option<Identity>,
        stored: &StoredCredentials,
    ) -> Result<Self, Failure> {
        Ok(Self {
            server: server.to_string(),
            issuer: metadata.issuer.clone(),
            token_endpoint: metadata.token_endpoint.clone(),
            client,
            tokens: serde_json::to_value(stored).map_err(|_| Failure::NoToken)?,
        })
    }

    /// For rmcp.
    pub(super) fn stored(&self) -> Result<StoredCredentials, Failure> {
        serde_json::from_value(self.tokens.clone()).map_err(|_| Failure::NoToken)
    }

    pub(super) fn access_token(&self) -> Option<Secret> {
        let token = self.tokens["token_response"]["access_token"].as_str();
        token.map(Secret::new)
    }

    pub(super) fn can_be_renewed(&self) -> bool {
        self.tokens["token_response"]["refresh_token"].is_string()
    }

    /// Whether a refresh token would go where it came from.
    pub(super) fn renews_at(&self, metadata: &AuthorizationMetadata) -> bool {
        let origin = |text: &str| Url::parse(text).ok().map(|url| url.origin());
        let (before, now) = (
            origin(&self.token_endpoint),
            origin(&metadata.token_endpoint),
        );
        before.is_some() && before == now
    }

    /// What was granted.
    pub(super) fn scopes(&self) -> Vec<String> {
        let scopes = self.tokens["granted_scopes"].as_array();
        let scopes = scopes.into_iter().flatten().filter_map(Value::as_str);
        scopes.map(str::to_owned).collect()
    }

    /// When the token ends, if that was said.
    pub(super) fn ends_at_ms(&self) -> Option<i64> {
        let received = self.tokens["token_received_at"].as_i64()?;
        let lasts = self.tokens["token_response"]["expires_in"].as_i64()?;
        received.checked_add(lasts)?.checked_mul(1000)
    }
}
