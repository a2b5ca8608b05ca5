//! Whether a server lets us in, and what is tried until it does.

use std::sync::{Mutex, PoisonError};

use harn_agent::BoxFuture;
use harn_agent::llm::Secret;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use url::Url;

use super::fault::HttpFault;
use crate::auth::{Authorizer, Challenge};

/// How often one request asks for more scopes.
const STEPS_MAX: usize = 3;

/// How often one request tries again with another token: a renewed one, then one of a login.
const TOKENS_MAX: usize = 2;

type Fault = StreamableHttpError<HttpFault>;

/// The door of one server.
pub(crate) struct Access {
    /// None if a person has configured an `Authorization` header: then that is what we have.
    authorizer: Option<Authorizer>,
    /// What the server wanted when it was last left unanswered.
    wanted: Mutex<Option<Challenge>>,
}

impl Access {
    pub(super) fn new(authorizer: Option<Authorizer>) -> Self {
        Self {
            authorizer,
            wanted: Mutex::new(None),
        }
    }

    /// What the server wanted to know when it was last refused an answer.
    pub(super) fn wanted(&self) -> Option<Challenge> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes a request with the token we have, and again with a better one if it is refused.
    /// Whether a person may be asked for it is up to whoever makes it.
    pub(super) async fn with<'a, T>(
        &self,
        may_ask: bool,
        ask: impl Fn(Option<Secret>) -> BoxFuture<'a, Result<T, Fault>> + Send + Sync,
    ) -> Result<T, Fault> {
        let Some(authorizer) = &self.authorizer else {
            return match ask(None).await {
                Err(Fault::AuthRequired(_) | Fault::InsufficientScope(_)) => {
                    Err(HttpFault::HeaderRefused.into())
                }
                answer => answer,
            };
        };
        let mut token = authorizer.token().await.map_err(HttpFault::Login)?;
        let (mut tokens, mut steps) = (0, 0);
        loop {
            let refused = match ask(token.clone()).await {
                Err(refused @ (Fault::AuthRequired(_) | Fault::InsufficientScope(_))) => refused,
                answer => return answer,
            };
            let challenge = read(&refused, authorizer.resource(), token.as_ref());
            let counter = match challenge.wants_more_scopes() {
                true => (&mut steps, STEPS_MAX),
                false => (&mut tokens, TOKENS_MAX),
            };
            let (count, max) = counter;
            *count += 1;
            let found = match *count > max {
                true => None,
                false => self.better(authorizer, &challenge, token.as_ref(), may_ask).await?,
            };
            match found {
                Some(found) => token = Some(found),
                None => {
                    let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
                    *wanted = Some(challenge);
                    return Err(refused);
                }
            }
        }
    }

    /// A token that is better than the one that was refused.
    async fn better(
        &self,
        authorizer: &Authorizer,
        challenge: &Challenge,
        sent: Option<&Secret>,
        may_ask: bool,
    ) -> Result<Option<Secret>, Fault> {
        let silent = authorizer.silently(challenge, sent).await;
        if let Some(token) = silent.map_err(HttpFault::Login)? {
            return Ok(Some(token));
        }
        if !may_ask {
            return Ok(None);
        }
        match authorizer.login(challenge).await {
            Ok(token) => Ok(Some(token)),
            Err(failure) if failure.is_nobody_there() => Ok(None),
            Err(failure) => Err(HttpFault::Login(failure).into()),
        }
    }

    /// Asks a person for what the server wanted last. Says whether there was anything to ask
    /// and somebody to ask it.
    ///
    /// # Errors
    /// Why the login came to nothing.
    pub(super) async fn login(&self) -> Result<bool, HttpFault> {
        let (Some(authorizer), Some(challenge)) = (&self.authorizer, self.wanted()) else {
            return Ok(false);
        };
        match authorizer.login(&challenge).await {
            Ok(_) => Ok(true),
            Err(failure) if failure.is_nobody_there() => Ok(false),
            Err(failure) => Err(HttpFault::Login(failure)),
        }
    }
}

/// What a refusal asks for.
pub(super) fn read(refused: &Fault, url: &Url, sent: Option<&Secret>) -> Challenge {
    let header = match refused {
        Fault::AuthRequired(told) => told.www_authenticate_header.as_str(),
        Fault::InsufficientScope(told) => told.www_authenticate_header.as_str(),
        _ => "",
    };
    Challenge::read(header, url, sent)
}
