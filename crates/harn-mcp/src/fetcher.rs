//! The one way to ask for what a peer has pointed at.
//!
//! ```text
//! URL ──► is the scheme allowed? ──► resolve ──► is every address allowed? ──► connect to
//!  ▲                                                                           what was checked
//!  └────────── at most three redirects, each from the beginning ◄──────────────────┘
//! ```
//!
//! Metadata of authorization servers, server cards and the like are named by somebody we do
//! not trust, who could name the router at home, another program on this machine or the place
//! where a cloud hands out credentials. So names are resolved here, before a connection is
//! made, and the connection goes to the address that was looked at: a name that answers
//! differently the second time is not asked a second time. Proxies are not used, because they
//! would resolve the name again.
//!
//! Servers that a person has configured are not reached through here, but what they point at
//! is; [`NamedOrigins`] are the exceptions.

mod address;
mod origins;
mod resolver;
mod tls;

#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderMap, LOCATION, PROXY_AUTHORIZATION};
use http::{Method, StatusCode};
use reqwest::{Client, Response, redirect};
use url::{Host, Url};

pub use origins::{NamedOrigins, NotAnOrigin};
pub use resolver::{Resolver, SystemResolver};
pub(crate) use tls::Tls;

use origins::literal;

/// How often a request is sent on.
const REDIRECTS_MAX: usize = 3;

/// Headers that show who asks. They go to the first origin only.
const CREDENTIALS: [http::HeaderName; 3] = [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION];

/// Asks for what peers point at. Cheap to clone.
#[derive(Clone)]
pub struct Fetcher {
    resolver: Arc<dyn Resolver>,
    named: NamedOrigins,
    limits: FetchLimits,
    tls: Arc<Tls>,
}

/// How much one request may cost.
#[derive(Clone, Copy, Debug)]
pub struct FetchLimits {
    /// Bytes of a body.
    pub body_bytes_max: usize,
    /// From the first name that is resolved to the last byte, redirects included.
    pub time_max: Duration,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            body_bytes_max: 1024 * 1024,
            time_max: Duration::from_secs(30),
        }
    }
}

/// What is asked for.
pub struct FetchRequest {
    /// GET for most.
    pub method: Method,
    /// Where.
    pub url: Url,
    /// Sent along; what shows who asks is left out after a change of origin.
    pub headers: HeaderMap,
    /// Sent along.
    pub body: Vec<u8>,
    /// What to do when the answer is somewhere else.
    pub redirects: Redirects,
}

impl FetchRequest {
    /// A GET of `url` that follows redirects anywhere.
    pub fn get(url: Url) -> Self {
        Self {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            body: Vec::new(),
            redirects: Redirects::Anywhere,
        }
    }
}

/// What to do when an answer is somewhere else. Only GET is ever sent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirects {
    /// The redirect is the answer.
    Stop,
    /// Another origin is an error.
    SameOrigin,
    /// Every place is checked like the first.
    Anywhere,
}

/// What came back.
#[derive(Debug)]
pub struct Fetched {
    /// The status of the last answer.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body. That of an event stream is left out: it may never end.
    pub body: Vec<u8>,
}

/// Why nothing came back. Only origins are told: the rest of a URL can hold secrets.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// Neither HTTP nor HTTPS.
    #[error("only http and https URLs are fetched, not `{0}:`")]
    Scheme(String),
    /// HTTP to an origin that nobody has named.
    #[error("{0} has no TLS; name it in HARN_FETCH_ALLOW if that is right")]
    Plain(String),
    /// An address that nobody has named.
    #[error(
        "{origin} is at {address}, which is not a public address; name it in HARN_FETCH_ALLOW if that is right"
    )]
    Address {
        /// The origin that was asked for.
        origin: String,
        /// Where it is.
        address: std::net::IpAddr,
    },
    /// The name has no address.
    #[error("cannot resolve {origin}: {why}")]
    Unresolved {
        /// The origin that was asked for.
        origin: String,
        /// What the system says.
        why: String,
    },
    /// More than three.
    #[error("more than {REDIRECTS_MAX} redirects")]
    TooManyRedirects,
    /// A redirect that would leave the origin.
    #[error("{from} redirects to another origin, {to}")]
    OtherOrigin {
        /// Where the redirect came from.
        from: String,
        /// Where it would lead.
        to: String,
    },
    /// A redirect to something that is no URL.
    #[error("{0} redirects to something that is not a URL")]
    Redirect(String),
    /// More than the limit.
    #[error("the body of the answer has more than {0} bytes")]
    TooLarge(usize),
    /// Longer than the limit.
    #[error("no whole answer within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// The connection could not be made, or broke.
    #[error("the connection to {origin} failed: {why}")]
    Broken {
        /// The origin that was asked.
        origin: String,
        /// Why.
        why: String,
    },
}

impl Fetcher {
    /// A fetcher whose exceptions are `named`.
    pub fn new(resolver: Arc<dyn Resolver>, named: NamedOrigins, limits: FetchLimits) -> Self {
        let tls = Arc::new(Tls::default());
        Self {
            resolver,
            named,
            limits,
            tls,
        }
    }

    /// The same with one more exception: the origin of `url`, which a person has configured.
    #[must_use]
    pub fn naming(&self, url: &Url) -> Self {
        let mut fetcher = self.clone();
        fetcher.named = fetcher.named.with(url);
        fetcher
    }

    /// The origins that were named.
    pub fn named(&self) -> &NamedOrigins {
        &self.named
    }

    /// TLS, for connections that are made elsewhere.
    pub(crate) fn tls(&self) -> Arc<Tls> {
        self.tls.clone()
    }

    /// Asks once and follows where the request allows it.
    ///
    /// # Errors
    /// When a rule forbids it, a limit is reached or the connection fails. Every status is an
    /// answer.
    pub async fn fetch(&self, request: FetchRequest) -> Result<Fetched, FetchError> {
        let limit = self.limits.time_max;
        let answer = tokio::time::timeout(limit, self.follow(request)).await;
        answer.unwrap_or(Err(FetchError::TimedOut(limit)))
    }

    async fn follow(&self, mut request: FetchRequest) -> Result<Fetched, FetchError> {
        for _ in 0..=REDIRECTS_MAX {
            let response = self.send(&request).await?;
            let Some(next) = destination(&response, &request)? else {
                return self.read(&request.url, response).await;
            };
            if next.origin() != request.url.origin() {
                leave_origin(&mut request, &next)?;
            }
            request.url = next;
        }
        Err(FetchError::TooManyRedirects)
    }

    async fn send(&self, request: &FetchRequest) -> Result<Response, FetchError> {
        let url = &request.url;
        let addresses = self.checked(url).await?;
        let client = self.client(url, &addresses)?;
        let answer = client
            .request(request.method.clone(), url.clone())
            .headers(request.headers.clone())
            .body(request.body.clone())
            .send();
        answer.await.map_err(|error| broken(url, &error))
    }

    /// The addresses of a URL, every one of which may be used.
    async fn checked(&self, url: &Url) -> Result<Vec<SocketAddr>, FetchError> {
        match url.scheme() {
            "https" => {}
            "http" if self.named.contains(url) => {}
            "http" => return Err(FetchError::Plain(origin(url))),
            other => return Err(FetchError::Scheme(other.to_owned())),
        }
        let addresses = self.addresses(url).await?;
        let forbidden = |address: &&SocketAddr| !self.named.may_reach(url, address.ip());
        match addresses.iter().find(forbidden) {
            // One address among others is enough to refuse: which of them a connection uses
            // is up to whoever answers.
            Some(address) => Err(FetchError::Address {
                origin: origin(url),
                address: address.ip(),
            }),
            None => Ok(addresses),
        }
    }

    async fn addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, FetchError> {
        let unresolved = |why: String| FetchError::Unresolved {
            origin: origin(url),
            why,
        };
        let port = url.port_or_known_default().unwrap_or(443);
        if let Some(address) = literal(url) {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let Some(Host::Domain(host)) = url.host() else {
            return Err(unresolved("it names no host".to_owned()));
        };
        let found = self.resolver.resolve(host, port).await;
        let found = found.map_err(|error| unresolved(error.to_string()))?;
        match found.is_empty() {
            true => Err(unresolved("it has no address".to_owned())),
            false => Ok(found),
        }
    }

    /// A client for one request, that knows no other address of the host than the checked ones.
    fn client(&self, url: &Url, addresses: &[SocketAddr]) -> Result<Client, FetchError> {
        let tls = match url.scheme() {
            "https" => self.tls.of_machine(),
            _ => self.tls.of_nobody(),
        };
        let tls = tls.map_err(|why| FetchError::Broken {
            origin: origin(url),
            why,
        })?;
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(redirect::Policy::none())
            .user_agent(concat!("harn/", env!("CARGO_PKG_VERSION")))
            .no_proxy();
        if let Some(Host::Domain(host)) = url.host() {
            builder = builder.resolve_to_addrs(host, addresses);
        }
        builder.build().map_err(|error| broken(url, &error))
    }

    async fn read(&self, url: &Url, mut response: Response) -> Result<Fetched, FetchError> {
        let limit = self.limits.body_bytes_max;
        let mut body = Vec::new();
        let status = response.status();
        let headers = response.headers().clone();
        let kind = headers.get(CONTENT_TYPE).map(http::HeaderValue::as_bytes);
        if kind.is_some_and(|kind| kind.starts_with(b"text/event-stream")) {
            return Ok(Fetched {
                status,
                headers,
                body,
            });
        }
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| broken(url, &error))?
        {
            if body.len() + chunk.len() > limit {
                return Err(FetchError::TooLarge(limit));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Fetched {
            status,
            headers,
            body,
        })
    }
}

/// Where an answer sends the request, if it is to be followed.
fn destination(response: &Response, request: &FetchRequest) -> Result<Option<Url>, FetchError> {
    let is_followed = request.redirects != Redirects::Stop && request.method == Method::GET;
    let location = response.headers().get(LOCATION);
    let (true, true, Some(location)) = (is_followed, response.status().is_redirection(), location)
    else {
        return Ok(None);
    };
    let wrong = || FetchError::Redirect(origin(&request.url));
    let location = location.to_str().map_err(|_| wrong())?;
    request.url.join(location).map(Some).map_err(|_| wrong())
}

/// Leaves behind what was meant for the first origin.
fn leave_origin(request: &mut FetchRequest, next: &Url) -> Result<(), FetchError> {
    if request.redirects == Redirects::SameOrigin {
        return Err(FetchError::OtherOrigin {
            from: origin(&request.url),
            to: origin(next),
        });
    }
    for name in &CREDENTIALS {
        request.headers.remove(name);
    }
    Ok(())
}

/// Scheme, host and port, which can be shown.
pub(crate) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// reqwest's own words would show the whole URL, so only the causes below it are told.
fn broken(url: &Url, error: &reqwest::Error) -> FetchError {
    FetchError::Broken {
        origin: origin(url),
        why: causes(error),
    }
}

/// What is behind an error of reqwest, without the URL.
pub(crate) fn causes(error: &reqwest::Error) -> String {
    let mut told = Vec::new();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        told.push(error.to_string());
        cause = error.source();
    }
    match told.is_empty() {
        true => "no answer".to_owned(),
        false => told.join(": "),
    }
}
