//! Whether a server lets us in, and what is tried until it does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use harn_agent::BoxFuture;
use harn_agent::llm::Secret;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use url::Url;

use super::fault::HttpFault;
use crate::auth::{Authorizer, Challenge};

type Fault = StreamableHttpError<HttpFault>;

/// What servers wanted to know when they were last left without an answer.
pub(crate) type Wanted = Arc<Mutex<HashMap<Url, Challenge>>>;

/// The door of one server.
pub(crate) struct Access {
    /// None if a person has configured an `Authorization` header: then that is what we have.
    authorizer: Option<Authorizer>,
    wanted: Wanted,
}

impl Access {
    pub(super) fn new(authorizer: Option<Authorizer>, wanted: Wanted) -> Self {
        Self { authorizer, wanted }
    }

    /// Makes a request with the token we have, and once more if there is a better one by now.
    /// Nobody is asked here: requests have little time.
    pub(super) async fn with<'a, T>(
        &self,
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
        let token = authorizer.token().await.map_err(HttpFault::Login)?;
        let answer = ask(token.clone()).await;
        let Some(challenge) = refusal(&answer, authorizer.resource(), token.as_ref()) else {
            return answer;
        };
        let better = authorizer.silently(&challenge, token.as_ref()).await;
        let Some(better) = better.map_err(HttpFault::Login)? else {
            self.leave(authorizer, challenge);
            return answer;
        };
        let answer = ask(Some(better.clone())).await;
        if let Some(challenge) = refusal(&answer, authorizer.resource(), Some(&better)) {
            self.leave(authorizer, challenge);
        }
        answer
    }

    /// For whoever can ask somebody.
    fn leave(&self, authorizer: &Authorizer, challenge: Challenge) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        wanted.insert(authorizer.resource().clone(), challenge);
    }
}

/// What a server wants to know before it answers.
fn refusal<T>(answer: &Result<T, Fault>, url: &Url, sent: Option<&Secret>) -> Option<Challenge> {
    read(answer.as_ref().err()?, url, sent)
}

/// What an error asks for, if it is a refusal.
pub(super) fn read(refused: &Fault, url: &Url, sent: Option<&Secret>) -> Option<Challenge> {
    let header = match refused {
        Fault::AuthRequired(told) => &told.www_authenticate_header,
        Fault::InsufficientScope(told) => &told.www_authenticate_header,
        _ => return None,
    };
    Some(Challenge::read(header, url, sent))
}
