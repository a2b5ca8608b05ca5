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

use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use harn_agent::llm::Secret;
use harn_agent::tool_servers::{Endpoint, HttpEndpoint, ServerConfig, ServerError};
use http::header::{AUTHORIZATION, HeaderMap};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::{Client, ClientBuilder, NoProxy, Proxy, redirect};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use serde_json::Value;
use url::Url;

pub use web::{Proxies, Web};

use access::Access;
use client::HttpClient;
pub(crate) use fault::HttpFault;

use crate::auth::{AuthorizedServer, Authorizer};

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

/// How often one piece of work has somebody log in, for the first time or for more scopes.
const LOGINS_MAX: usize = 3;

/// Opens a transport to a service. Nothing is sent before the link uses it.
///
/// # Errors
/// What is wrong with its description, without any value of it.
pub(crate) fn open(
    config: &ServerConfig,
    endpoint: &HttpEndpoint,
    web: &Web,
) -> Result<StreamableHttpClientTransport<HttpClient>, ServerError> {
    let client = dress(config, endpoint, web).map_err(|problem| broken(config, &problem))?;
    let transport = StreamableHttpClientTransportConfig::with_uri(endpoint.url.as_str())
        .max_sse_event_size(client.bytes_max);
    Ok(StreamableHttpClientTransport::with_client(
        client, transport,
    ))
}

fn dress(config: &ServerConfig, endpoint: &HttpEndpoint, web: &Web) -> Result<HttpClient, String> {
    let url = address(endpoint)?;
    let headers = headers(&endpoint.headers)?;
    let is_configured = headers.contains_key(AUTHORIZATION);
    let authorizer = (!is_configured).then(|| authorizer(endpoint, &url, web));
    Ok(HttpClient {
        client: client(&url, web)?,
        headers,
        access: Arc::new(Access::new(authorizer, web.wanted.clone())),
        bytes_max: config.limits.frame_bytes_max,
    })
}

fn address(endpoint: &HttpEndpoint) -> Result<Url, String> {
    let url = Url::parse(&endpoint.url).map_err(|_| "has a 'url' that is none".to_owned())?;
    match matches!(url.scheme(), "http" | "https") && url.has_host() {
        true => Ok(url),
        false => Err("has a 'url' that is not an http or https URL".to_owned()),
    }
}

/// What an error of the transport says about access: the resource, and the scopes that are
/// wanted. `None` if it is about something else.
pub(crate) fn auth_required(
    config: &ServerConfig,
    error: &(dyn std::error::Error + 'static),
) -> Option<(String, Option<String>)> {
    let Endpoint::Http(endpoint) = &config.endpoint else {
        return None;
    };
    let error = error.downcast_ref::<StreamableHttpError<HttpFault>>()?;
    let url = address(endpoint).ok()?;
    let challenge = access::read(error, &url, None)?;
    Some((endpoint.url.clone(), challenge.scope().map(str::to_owned)))
}

/// How often somebody has logged in for one piece of work.
#[derive(Default)]
pub(crate) struct Attempts(usize);

impl Attempts {
    /// Whether it may be asked for once more.
    fn admit(&mut self) -> bool {
        self.0 += 1;
        self.0 <= LOGINS_MAX
    }
}

/// Asks somebody for what a server wanted last. Says whether that is worth another try; it is
/// not if there is nobody, or if they were asked often enough.
///
/// # Errors
/// Why the login came to nothing.
pub(crate) async fn login(
    config: &ServerConfig,
    web: &Web,
    attempts: &mut Attempts,
) -> Result<bool, ServerError> {
    let Some(authorizer) = authorizer_of(config, web) else {
        return Ok(false);
    };
    let wanted = {
        let wanted = web.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        wanted.get(authorizer.resource()).cloned()
    };
    let Some(challenge) = wanted.filter(|_| attempts.admit()) else {
        return Ok(false);
    };
    match authorizer.login(&challenge).await {
        Ok(_) => Ok(true),
        Err(failure) if failure.is_nobody_there() => Ok(false),
        Err(failure) => Err(broken(
            config,
            &format!("wants a login, which failed: {failure}"),
        )),
    }
}

/// The document in which a server describes itself.
///
/// # Errors
/// It cannot be fetched, or is no card.
pub(crate) async fn card(source: &str, folder: &Path, web: &Web) -> Result<Value, ServerError> {
    let card = web.cards.card(source, folder, &web.fetcher).await;
    card.map_err(|error| ServerError::Unreachable(format!("mcp_server_card: {error}")))
}

fn broken(config: &ServerConfig, problem: &str) -> ServerError {
    ServerError::Broken {
        server: config.name.clone(),
        problem: problem.to_owned(),
    }
}

/// What proves to a server who asks, if that is a service.
fn authorizer_of(config: &ServerConfig, web: &Web) -> Option<Authorizer> {
    let Endpoint::Http(endpoint) = &config.endpoint else {
        return None;
    };
    let url = address(endpoint).ok()?;
    Some(authorizer(endpoint, &url, web))
}

fn authorizer(endpoint: &HttpEndpoint, url: &Url, web: &Web) -> Authorizer {
    let client_id = endpoint.client_id.clone();
    let server = AuthorizedServer {
        url: url.clone(),
        client_id: client_id.or_else(|| web.client_document.clone()),
        client_secret: endpoint.client_secret.clone(),
        scopes: endpoint.scopes.clone(),
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
            return Err(format!(
                "is given the header '{name}', which the protocol sets"
            ));
        }
        let header = HeaderName::from_bytes(name.as_bytes());
        let header =
            header.map_err(|_| format!("is given '{name}', which is not the name of a header"))?;
        let value = HeaderValue::from_str(value.expose());
        let mut value =
            value.map_err(|_| format!("is given a value of '{name}' that no header can have"))?;
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
    let builder = through(builder, &web.proxies)
        .map_err(|_| "has to be reached through a proxy that is not a URL".to_owned())?;
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
