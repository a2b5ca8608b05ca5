//! Servers that are services: streamable HTTP.
//!
//! ```text
//! rmcp's transport: sessions, headers, streams ──► HttpClient: one request
//!                                                     │ 401, 403
//!                                                     ▼
//!                                       Access ──► Authorizer: a token, silently or not
//! ```
//!
//! The server was configured by a person, so it is reached like any other server, through
//! the proxies of the environment. What it points at is fetched by the fetcher.

mod access;
mod body;
mod client;
mod fault;
mod web;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use harn_agent::llm::Secret;
use http::header::{AUTHORIZATION, HeaderMap};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::{Client, ClientBuilder, NoProxy, Proxy, redirect};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use url::Url;

pub use web::{Proxies, Web};

use access::Access;
use client::HttpClient;
pub(crate) use fault::HttpFault;

use crate::auth::{AuthorizedServer, Authorizer, Challenge};

/// How often a request is sent on within its origin.
const REDIRECTS_MAX: usize = 3;

/// How long a connection may take to be made.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);

/// Headers that the protocol sets.
const RESERVED: [&str; 5] = [
    "accept",
    "content-type",
    "content-length",
    "host",
    "last-event-id",
];

/// A server that is a service.
pub(crate) struct Service<'a> {
    pub(crate) url: &'a str,
    /// Sent with every request.
    pub(crate) headers: &'a [(String, Secret)],
    pub(crate) scopes: &'a [String],
    pub(crate) client_id: Option<&'a str>,
    pub(crate) client_secret: Option<&'a Secret>,
    /// How large a message may be.
    pub(crate) bytes_max: usize,
}

/// Where a service is, and whether it lets us in. It outlives a connection, so that a login
/// can come between two tries.
#[derive(Clone)]
pub(crate) struct Door {
    client: HttpClient,
    url: Url,
}

impl Door {
    /// Nothing is sent before a transport is used.
    ///
    /// # Errors
    /// What is wrong with the description, without any value of it.
    pub(crate) fn new(service: &Service<'_>, web: &Web) -> Result<Self, String> {
        let url = Url::parse(service.url).map_err(|_| "its 'url' is not a URL".to_owned())?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err("its 'url' is not an http or https URL".to_owned());
        }
        let headers = headers(service.headers)?;
        let authorizer = (!headers.contains_key(AUTHORIZATION)).then(|| authorizer(service, &url, web));
        let client = HttpClient {
            client: client(&url, web)?,
            headers,
            access: Arc::new(Access::new(authorizer)),
            bytes_max: service.bytes_max,
        };
        Ok(Self { client, url })
    }

    /// A connection to be.
    pub(crate) fn transport(&self) -> StreamableHttpClientTransport<HttpClient> {
        let config = StreamableHttpClientTransportConfig::with_uri(self.url.as_str())
            .max_sse_event_size(self.client.bytes_max);
        StreamableHttpClientTransport::with_client(self.client.clone(), config)
    }

    /// Asks a person for what the server wanted last. Says whether it is worth another try.
    ///
    /// # Errors
    /// Why the login came to nothing.
    pub(crate) async fn login(&self) -> Result<bool, HttpFault> {
        self.client.access.login().await
    }

    /// The scopes that the server wanted last.
    pub(crate) fn wanted(&self) -> Option<Challenge> {
        self.client.access.wanted()
    }
}

/// What an error of a transport says about access: that it is missing, and for which scopes.
pub(crate) fn missing_access(
    error: &(dyn std::error::Error + 'static),
    url: &Url,
) -> Option<Challenge> {
    let error = error.downcast_ref::<StreamableHttpError<HttpFault>>()?;
    match error {
        StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_) => {
            Some(access::read(error, url, None))
        }
        _ => None,
    }
}

fn authorizer(service: &Service<'_>, url: &Url, web: &Web) -> Authorizer {
    let client_id = service.client_id.map(str::to_owned);
    let server = AuthorizedServer {
        url: url.clone(),
        client_id: client_id.or_else(|| web.client_document.clone()),
        client_secret: service.client_secret.cloned(),
        scopes: service.scopes.to_vec(),
    };
    Authorizer::new(
        server,
        &web.fetcher,
        web.vault.clone(),
        web.browser.clone(),
        web.clock.clone(),
    )
}

/// What a person has configured, as secrets.
fn headers(given: &[(String, Secret)]) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let known = name.to_ascii_lowercase();
        if RESERVED.contains(&&*known) || known.starts_with("mcp-") {
            return Err(format!("the header '{name}' is set by the protocol"));
        }
        let header = HeaderName::from_bytes(name.as_bytes());
        let header = header.map_err(|_| format!("'{name}' is not the name of a header"))?;
        let value = HeaderValue::from_str(value.expose());
        let mut value = value.map_err(|_| format!("the header '{name}' has no valid value"))?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

fn client(url: &Url, web: &Web) -> Result<Client, String> {
    let tls = web.fetcher.tls();
    let uses_tls = url.scheme() == "https" || web.proxies.any();
    let mut tls = match uses_tls {
        true => tls.of_machine(),
        false => tls.of_nobody(),
    }?;
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .connect_timeout(CONNECT_TIME_MAX)
        .redirect(within_origin())
        .user_agent(concat!("harn/", env!("CARGO_PKG_VERSION")))
        .no_proxy();
    let builder = through(builder, &web.proxies).map_err(|_| "a proxy is not a URL".to_owned())?;
    builder.build().map_err(|error| error.to_string())
}

fn through(mut builder: ClientBuilder, proxies: &Proxies) -> reqwest::Result<ClientBuilder> {
    let except = || proxies.except.as_deref().and_then(NoProxy::from_string);
    if let Some(url) = &proxies.http {
        builder = builder.proxy(Proxy::http(url)?.no_proxy(except()));
    }
    if let Some(url) = &proxies.https {
        builder = builder.proxy(Proxy::https(url)?.no_proxy(except()));
    }
    Ok(builder)
}

/// A message is sent on within its origin, and only where it stays a message: other redirects
/// would turn it into a question without a body, and another origin would learn our headers.
fn within_origin() -> redirect::Policy {
    redirect::Policy::custom(|attempt| {
        let keeps_body = matches!(
            attempt.status(),
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
        );
        let first = attempt.previous().first().map(Url::origin);
        let stays = first.is_some_and(|first| first == attempt.url().origin());
        match keeps_body && stays && attempt.previous().len() <= REDIRECTS_MAX {
            true => attempt.follow(),
            false => attempt.stop(),
        }
    })
}
