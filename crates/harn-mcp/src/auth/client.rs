//! What the OAuth machinery fetches goes through our fetcher.

use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest,
};
use url::Url;

use crate::fetcher::{FetchRequest, Fetcher, Redirects};

/// Fetches for rmcp.
pub(super) struct OAuthFetcher(pub(super) Fetcher);

impl OAuthHttpClient for OAuthFetcher {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let (head, body) = request.request.into_parts();
            let asked = FetchRequest {
                method: head.method,
                url: Url::parse(&head.uri.to_string())?,
                headers: head.headers,
                body,
                // Metadata may have moved within its origin. A code, a secret or a
                // registration is never sent on, whatever rmcp would allow: the fetcher
                // follows GET alone.
                redirects: Redirects::SameOrigin,
            };
            let fetched = self.0.fetch(asked).await?;
            let mut answer = http::Response::builder().status(fetched.status);
            if let Some(headers) = answer.headers_mut() {
                *headers = fetched.headers;
            }
            let answer = answer.body(fetched.body);
            answer.map_err(|error| Box::new(error) as OAuthHttpClientError)
        })
    }
}
