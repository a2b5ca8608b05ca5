//! What goes wrong between us and a server over HTTP.

use crate::auth::Failure;
use crate::fetcher::causes;

/// Why a request has no answer. No URL and no header is told: both can hold secrets.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpFault {
    /// The connection could not be made, or broke.
    #[error("the connection failed: {0}")]
    Broken(String),
    /// It sent more than is read.
    #[error("it sent more than {0} bytes")]
    TooLarge(usize),
    /// It did not like what a person has configured.
    #[error("it refused the Authorization header that is configured for it")]
    HeaderRefused,
    /// Nobody could prove who asks.
    #[error("the login failed: {0}")]
    Login(#[source] Failure),
}

impl HttpFault {
    /// What reqwest says, without the URL.
    pub(super) fn of(error: &reqwest::Error) -> Self {
        Self::Broken(match error.is_timeout() {
            true => "timed out".to_owned(),
            false => causes(error),
        })
    }
}
