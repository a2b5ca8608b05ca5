//! What all connections over HTTP have in common.

use std::sync::Arc;

use harn_agent::events::{Clock, SystemClock};
use harn_agent::tool_servers::ServerConfig;

use super::access::Wanted;
use crate::auth::{Browser, Failure, Vault};
use crate::card::Cards;
use crate::fetcher::{FetchLimits, Fetcher, NamedOrigins, SystemResolver};

/// What connections over HTTP share: how strangers are asked, where logins are kept, and who
/// could log in.
#[derive(Clone)]
pub struct Web {
    /// Asks for what servers point at.
    pub fetcher: Fetcher,
    /// Keeps logins.
    pub vault: Arc<Vault>,
    /// How a person is reached. Without one nobody is waited for.
    pub browser: Option<Arc<dyn Browser>>,
    /// The URL of a document about us, for servers that have no `client_id`.
    pub client_document: Option<String>,
    /// Knows when tokens end.
    pub clock: Arc<dyn Clock>,
    /// The proxies for servers that a person has configured.
    pub proxies: Proxies,
    /// Cards that were fetched lately.
    pub(crate) cards: Arc<Cards>,
    /// What servers wanted to know when they were last left without an answer.
    pub(super) wanted: Wanted,
}

/// The proxies of the usual variables.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    /// For `http`.
    pub http: Option<String>,
    /// For `https`.
    pub https: Option<String>,
    /// Hosts that are reached without.
    pub except: Option<String>,
}

impl Proxies {
    pub(super) fn any(&self) -> bool {
        self.http.is_some() || self.https.is_some()
    }
}

impl Web {
    /// Logins are kept in `vault`, and strangers are asked by `fetcher`; nobody is there to log
    /// in.
    pub fn new(fetcher: Fetcher, vault: Vault) -> Self {
        Self {
            fetcher,
            vault: Arc::new(vault),
            browser: None,
            client_document: None,
            clock: Arc::new(SystemClock),
            proxies: Proxies::default(),
            cards: Arc::default(),
            wanted: Arc::default(),
        }
    }

    /// Whether somebody has logged in to a server.
    ///
    /// # Errors
    /// When what is kept cannot be read.
    pub async fn has_login(&self, server: &ServerConfig) -> Result<bool, Failure> {
        match super::authorizer_of(server, self) {
            Some(authorizer) => self.vault.has_login(authorizer.resource()).await,
            None => Ok(false),
        }
    }

    /// Forgets the login to a server. Says whether there was any.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub async fn logout(&self, server: &ServerConfig) -> Result<bool, Failure> {
        match super::authorizer_of(server, self) {
            Some(authorizer) => authorizer.logout().await,
            None => Ok(false),
        }
    }
}

impl Default for Web {
    fn default() -> Self {
        let resolver = Arc::new(SystemResolver);
        let limits = FetchLimits::default();
        let fetcher = Fetcher::new(resolver, NamedOrigins::default(), limits);
        Self::new(fetcher, Vault::default())
    }
}
