//! Proving to a server over HTTP who asks.
//!
//! ```text
//! 401 ──► metadata of the server ──► metadata of its authorization server ──► our checks
//!                                                                                 │
//!   token ◄── code ◄── redirect to a port of this machine ◄── a person, in a browser
//!     │
//!     └─► the keychain, or a file for its owner alone; renewed under one lock
//! ```
//!
//! Nothing begins before a server has refused a request. What the protocol says is done by
//! rmcp's [`AuthorizationManager`]; everything it fetches goes through our
//! [`Fetcher`](crate::fetcher::Fetcher), and before it may go on we check what it tolerates:
//! an authorization server without PKCE, endpoints on foreign origins, guessed endpoints, an
//! issuer that is another one than last time.
//!
//! A token belongs to the URL of one server. It is never written to a journal, and no request
//! to another origin carries it.

mod browser;
mod challenge;
mod client;
mod credential;
mod endpoints;
mod failure;
mod redirect;
mod vault;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use harn_agent::events::Clock;
use harn_agent::llm::Secret;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, CredentialStore,
    InMemoryCredentialStore, OAuthClientConfig,
};
use url::Url;

pub use browser::{Browser, CommandBrowser};
pub use failure::Failure;
pub use vault::{CommandKeychain, Keychain, Vault};

pub(crate) use challenge::Challenge;

use client::OAuthFetcher;
use credential::{Credential, Identity};
use redirect::Redirect;

use crate::fetcher::Fetcher;

/// What authorization servers and people see.
const CLIENT_NAME: &str = "Harn";

/// What some authorization servers want to hear before they give a token that can be renewed.
const OFFLINE_ACCESS: &str = "offline_access";

/// How long a person has to log in.
const LOGIN_TIME_MAX: Duration = Duration::from_secs(5 * 60);

/// A token is renewed so long before it ends that a request can still arrive with it.
const RENEW_BEFORE_MS: i64 = 30_000;

/// Proves who we are to one server.
pub struct Authorizer {
    /// The URL of the server, without a fragment.
    server: Url,
    /// Who we are, if somebody has agreed on that with the authorization server; or the URL of
    /// a document that says so.
    client_id: Option<String>,
    client_secret: Option<Secret>,
    /// Asked for if the server does not say which it wants.
    scopes: Vec<String>,
    /// Knows the origin of the server, which a person has configured.
    fetcher: Fetcher,
    vault: Arc<Vault>,
    /// Nobody to send anywhere if there is none: then no login is waited for.
    browser: Option<Arc<dyn Browser>>,
    clock: Arc<dyn Clock>,
}

/// What is known about a server that wants to know who asks.
pub struct AuthorizedServer {
    /// Its URL.
    pub url: Url,
    /// Who we are to its authorization server: an id, or the URL of a document about us.
    pub client_id: Option<String>,
    /// The proof of that.
    pub client_secret: Option<Secret>,
    /// Asked for if the server does not say which it wants.
    pub scopes: Vec<String>,
}

/// An authorization server whose metadata we have checked.
struct Checked {
    manager: AuthorizationManager,
    metadata: AuthorizationMetadata,
    /// What the manager has learnt, which it does not give out otherwise.
    learnt: InMemoryCredentialStore,
}

impl Authorizer {
    /// For one server.
    pub fn new(
        server: AuthorizedServer,
        fetcher: &Fetcher,
        vault: Arc<Vault>,
        browser: Option<Arc<dyn Browser>>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let mut url = server.url;
        url.set_fragment(None);
        Self {
            fetcher: fetcher.naming(&url),
            server: url,
            client_id: server.client_id,
            client_secret: server.client_secret,
            scopes: server.scopes,
            vault,
            browser,
            clock,
        }
    }

    /// The server that is asked for access.
    pub fn resource(&self) -> &Url {
        &self.server
    }

    /// The token for the next request, if there is one; renewed if it is about to end. Without
    /// one the request is sent as it is, and the server says what it wants.
    ///
    /// # Errors
    /// When it cannot be read, or the authorization server cannot be reached.
    pub async fn token(&self) -> Result<Option<Secret>, Failure> {
        let Some(kept) = self.vault.load(&self.server).await? else {
            return Ok(None);
        };
        if !self.is_ending(&kept) {
            return Ok(kept.access_token());
        }
        let _lock = self.vault.lock(&self.server).await?;
        match self.vault.load_anew(&self.server).await? {
            // Somebody else was faster.
            Some(kept) if !self.is_ending(&kept) => Ok(kept.access_token()),
            Some(kept) => self.renew(&kept, None).await,
            None => Ok(None),
        }
    }

    /// A token for a request that was refused, without asking anybody. None: somebody has to
    /// log in. To be called with the token that was sent.
    ///
    /// # Errors
    /// When the authorization server cannot be reached or does not keep the rules.
    pub(crate) async fn silently(
        &self,
        challenge: &Challenge,
        sent: Option<&Secret>,
    ) -> Result<Option<Secret>, Failure> {
        let _lock = self.vault.lock(&self.server).await?;
        let Some(kept) = self.vault.load_anew(&self.server).await? else {
            return Ok(None);
        };
        let token = kept.access_token();
        if token.is_some() && token.as_ref() != sent {
            return Ok(token);
        }
        match challenge.wants_more_scopes() {
            true => Ok(None),
            false => self.renew(&kept, Some(challenge)).await,
        }
    }

    /// Asks a person, if there is one.
    ///
    /// # Errors
    /// [`Failure::NobodyThere`] without a browser; otherwise why it came to nothing. A server
    /// that wants what was granted already would want it again after the next login.
    pub(crate) async fn login(&self, challenge: &Challenge) -> Result<Secret, Failure> {
        let Some(browser) = &self.browser else {
            return Err(Failure::NobodyThere);
        };
        // Two calls that were refused together send nobody to two pages.
        let _one_at_a_time = self.vault.one_login(&self.server).await;
        let before = self.vault.load_anew(&self.server).await?;
        if let Some(token) = before.as_ref().and_then(Credential::access_token)
            && challenge.is_older_than(&token)
        {
            return Ok(token);
        }
        if before
            .as_ref()
            .is_some_and(|kept| challenge.wants_no_more_than(&kept.scopes()))
        {
            return Err(Failure::GrantedAlready);
        }
        let mut checked = self.discover(Some(challenge)).await?;
        let issuer = checked.metadata.issuer.clone();
        let before = before.filter(|kept| kept.issuer == issuer);
        let known = before.as_ref().and_then(|kept| kept.client.clone());
        let redirect = Redirect::listen(known.as_ref().and_then(|one| one.redirect_port)).await?;
        let scopes = self
            .wanted_scopes(&checked, challenge, before.as_ref())
            .await;
        let identity = self
            .identify(&mut checked, known, &redirect, &scopes)
            .await?;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let page = checked.manager.get_authorization_url(&scopes).await?;
        let page = Url::parse(&page).map_err(|_| Failure::Endpoint("authorization"))?;
        let answer = async {
            browser.open(&page).await.map_err(Failure::Browser)?;
            redirect.wait(&page).await
        };
        let answer = tokio::time::timeout(LOGIN_TIME_MAX, answer).await;
        let answer = answer.map_err(|_| Failure::TimedOut(LOGIN_TIME_MAX))??;
        let exchange = checked.manager.exchange_code_for_token_with_issuer(
            &answer.code,
            &answer.state,
            answer.issuer.as_deref(),
        );
        exchange.await?;
        self.keep(&checked, Some(identity)).await
    }

    /// Forgets what was kept. Says whether there was anything.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub async fn logout(&self) -> Result<bool, Failure> {
        let _lock = self.vault.lock(&self.server).await?;
        self.vault.remove(&self.server).await
    }

    fn is_ending(&self, kept: &Credential) -> bool {
        let ends = kept.ends_at_ms();
        ends.is_some_and(|ends| self.clock.now_ms() + RENEW_BEFORE_MS >= ends)
    }

    /// Renews a token without anybody; to be called under the lock. None: it cannot be renewed.
    async fn renew(
        &self,
        kept: &Credential,
        challenge: Option<&Challenge>,
    ) -> Result<Option<Secret>, Failure> {
        let Some(identity) = kept.client.clone().filter(|_| kept.can_be_renewed()) else {
            return Ok(None);
        };
        let mut checked = self.discover(challenge).await?;
        if checked.metadata.issuer != kept.issuer || !kept.renews_at(&checked.metadata) {
            // Whoever answers for the server now is not who gave us the token.
            self.vault.remove(&self.server).await?;
            return Ok(None);
        }
        checked.learnt.save(kept.stored()?).await?;
        checked
            .manager
            .configure_client(identity.config("http://127.0.0.1/"))?;
        match checked.manager.refresh_token().await {
            Ok(_) => self.keep(&checked, Some(identity)).await.map(Some),
            Err(AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Keeps what the manager has learnt.
    async fn keep(&self, checked: &Checked, identity: Option<Identity>) -> Result<Secret, Failure> {
        let stored = checked.learnt.load().await?;
        let stored = stored.ok_or(Failure::NoToken)?;
        let credential = Credential::new(&self.server, &checked.metadata, identity, &stored)?;
        let token = credential.access_token().ok_or(Failure::NoToken)?;
        self.vault.save(&self.server, &credential).await?;
        Ok(token)
    }

    /// Finds the authorization server and checks it.
    async fn discover(&self, challenge: Option<&Challenge>) -> Result<Checked, Failure> {
        let client = Arc::new(OAuthFetcher(self.fetcher.clone()));
        let server = self.server.clone();
        let mut manager = AuthorizationManager::new_with_oauth_http_client(server, client).await?;
        let header = challenge.map(Challenge::header);
        let found = manager.resolve_metadata_from_challenge(header).await?;
        if !found.source.is_discovered() {
            return Err(Failure::NoMetadata);
        }
        endpoints::check(&found.metadata, self.fetcher.named())?;
        manager.set_metadata(found.metadata.clone());
        let learnt = InMemoryCredentialStore::new();
        manager.set_credential_store(learnt.clone());
        Ok(Checked {
            manager,
            metadata: found.metadata,
            learnt,
        })
    }

    /// What is asked for: what the server says it wants, else what was configured, else what its
    /// metadata say; and what was granted before, if it wants more.
    async fn wanted_scopes(
        &self,
        checked: &Checked,
        challenge: &Challenge,
        before: Option<&Credential>,
    ) -> Vec<String> {
        let mut scopes = Vec::new();
        if challenge.wants_more_scopes() {
            scopes.extend(before.map(Credential::scopes).unwrap_or_default());
        }
        let challenged = challenge.scopes();
        match (challenged.is_empty(), self.scopes.is_empty()) {
            (false, _) => scopes.extend(challenged),
            (true, false) => scopes.extend(self.scopes.iter().cloned()),
            (true, true) => scopes.extend(checked.manager.select_initial_scopes(&[]).await),
        }
        if !scopes.is_empty() && endpoints::offers_offline_access(&checked.metadata) {
            scopes.push(OFFLINE_ACCESS.to_owned());
        }
        let mut seen = BTreeSet::new();
        scopes.retain(|scope| seen.insert(scope.clone()));
        scopes
    }

    /// Who we are: as configured, else by our document, else as registered with this issuer
    /// before, else as registered now.
    async fn identify(
        &self,
        checked: &mut Checked,
        known: Option<Identity>,
        redirect: &Redirect,
        scopes: &[String],
    ) -> Result<Identity, Failure> {
        let has_document = self.client_id.as_deref().is_some_and(is_document);
        let reads_documents = endpoints::reads_documents(&checked.metadata);
        let identity = match &self.client_id {
            Some(id) if !has_document || reads_documents => Identity {
                id: id.clone(),
                secret: self
                    .client_secret
                    .as_ref()
                    .map(|one| one.expose().to_owned()),
                redirect_port: None,
            },
            _ => match known.filter(|known| known.redirect_port == Some(redirect.port())) {
                Some(known) => known,
                None => return register(checked, redirect, scopes).await,
            },
        };
        checked
            .manager
            .configure_client(identity.config(&redirect.uri()))?;
        Ok(identity)
    }
}

/// Registers us with the authorization server.
async fn register(
    checked: &mut Checked,
    redirect: &Redirect,
    scopes: &[String],
) -> Result<Identity, Failure> {
    if checked.metadata.registration_endpoint.is_none() {
        return Err(Failure::NoIdentity);
    }
    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let uri = redirect.uri();
    let config = checked.manager.register_client(CLIENT_NAME, &uri, &scopes);
    let OAuthClientConfig {
        client_id,
        client_secret,
        ..
    } = config.await?;
    Ok(Identity {
        id: client_id,
        secret: client_secret,
        redirect_port: Some(redirect.port()),
    })
}

/// Whether an id is the URL of a document about us.
fn is_document(id: &str) -> bool {
    id.starts_with("https://")
}
