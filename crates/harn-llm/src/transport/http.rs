//! The network.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use reqwest::{Method, NoProxy, Proxy, RequestBuilder, Url};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use super::{Body, HttpAnswer, Later, TimeLimits, Transport};
use crate::audience;
use crate::wire::HttpRequest;
use crate::{Category, Error};

/// How the message of an error begins if nothing listens where the provider should be.
pub(crate) const NOT_REACHED: &str = "cannot connect to the provider";

/// How long we wait for a connection, whatever the limits of the exchange are.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);

/// What the caller knows about the way to the network.
#[derive(Clone, Debug, Default)]
pub struct HttpOptions {
    /// The proxy for everything but `no_proxy`.
    pub proxy: Option<String>,
    /// Hosts to be reached without it, as in the variable `NO_PROXY`.
    pub no_proxy: Option<String>,
}

impl HttpOptions {
    /// As the usual variables of an environment say.
    pub fn of(environment: &BTreeMap<String, String>) -> Self {
        let variable = |names: [&str; 2]| {
            let mut set = names.iter().filter_map(|name| environment.get(*name));
            set.find(|value| !value.is_empty()).cloned()
        };
        Self {
            proxy: variable(["HTTPS_PROXY", "https_proxy"]),
            no_proxy: variable(["NO_PROXY", "no_proxy"]),
        }
    }
}

/// HTTP over TCP and TLS, with connections kept open between requests.
pub struct Http {
    options: HttpOptions,
    /// Made when the first request needs it: reading whom the machine trusts takes time that
    /// a program without models should not pay.
    client: OnceLock<Result<reqwest::Client, Error>>,
    /// The last place that was asked. Most programs ask only one, and taking a URL apart costs
    /// more than anything else that is done to a request here.
    place: Mutex<Option<Place>>,
}

/// A URL as it was written and as it was read.
struct Place {
    written: String,
    url: Url,
}

impl Http {
    /// Nothing is opened before the first request.
    pub fn new(options: HttpOptions) -> Self {
        Self {
            options,
            client: OnceLock::new(),
            place: Mutex::default(),
        }
    }

    fn client(&self) -> Result<&reqwest::Client, Error> {
        let client = self.client.get_or_init(|| connect(&self.options));
        client.as_ref().map_err(Clone::clone)
    }

    /// The URL in parts; nothing if it is none.
    fn url(&self, written: &str) -> Option<Url> {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = place.as_ref().filter(|place| place.written == written) {
            return Some(place.url.clone());
        }
        let url = Url::parse(written).ok()?;
        *place = Some(Place {
            written: written.to_owned(),
            url: url.clone(),
        });
        Some(url)
    }

    fn begin(&self, method: Method, url: &str) -> Result<RequestBuilder, Error> {
        let client = self.client()?;
        Ok(match self.url(url) {
            Some(url) => client.request(method, url),
            // The client says what is wrong with it.
            None => client.request(method, url),
        })
    }

    async fn exchange(
        &self,
        request: &HttpRequest,
        limits: &TimeLimits,
    ) -> Result<HttpAnswer, Error> {
        if let Some(url) = self.url(&request.url) {
            audience::check(&request.headers, &url)?;
        }
        let until = Instant::now() + limits.whole;
        let mut sending = match &request.body {
            Value::Null => self.begin(Method::GET, &request.url)?,
            body => {
                let body = serde_json::to_vec(body).map_err(|error| unsent(&error))?;
                let sending = self.begin(Method::POST, &request.url)?.body(body);
                sending.header("content-type", "application/json")
            }
        };
        for (name, value) in &request.headers {
            sending = sending.header(name, value.expose());
        }
        let waiting = timeout_at(until, sending.send()).await;
        let response = waiting
            .map_err(|_| too_long(limits.whole))?
            .map_err(|error| broken(&error))?;
        let headers = response.headers().iter().filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        });
        Ok(HttpAnswer {
            status: response.status().as_u16(),
            headers: headers.collect(),
            body: Box::new(NetworkBody {
                response,
                until,
                limits: *limits,
            }),
        })
    }
}

impl Transport for Http {
    fn send<'a>(
        &'a self,
        request: &'a HttpRequest,
        limits: &'a TimeLimits,
    ) -> Later<'a, Result<HttpAnswer, Error>> {
        Box::pin(self.exchange(request, limits))
    }
}

struct NetworkBody {
    response: reqwest::Response,
    until: Instant,
    limits: TimeLimits,
}

impl NetworkBody {
    async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let left = self.until.saturating_duration_since(Instant::now());
        match timeout(self.limits.idle.min(left), self.response.chunk()).await {
            Ok(chunk) => chunk.map_err(|error| broken(&error)),
            Err(_) if left < self.limits.idle => Err(too_long(self.limits.whole)),
            Err(_) => Err(Error::new(
                Category::Timeout,
                format!(
                    "the provider was silent for {} s: timed out",
                    self.limits.idle.as_secs_f64()
                ),
            )),
        }
    }
}

impl Body for NetworkBody {
    fn chunk(&mut self) -> Later<'_, Result<Option<Bytes>, Error>> {
        Box::pin(self.next())
    }
}

fn connect(options: &HttpOptions) -> Result<reqwest::Client, Error> {
    let mut builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls()?)
        .connect_timeout(CONNECT_TIME_MAX)
        // A redirect would carry the key to a place nobody chose.
        .redirect(reqwest::redirect::Policy::none())
        // A provider that packs its stream would hold pieces of it back.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .user_agent(concat!("harn/", env!("CARGO_PKG_VERSION")))
        .no_proxy();
    if let Some(proxy) = &options.proxy {
        let proxy = Proxy::all(proxy).map_err(|error| unsent(&error))?;
        let except = options.no_proxy.as_deref().and_then(NoProxy::from_string);
        builder = builder.proxy(proxy.no_proxy(except));
    }
    builder.build().map_err(|error| unsent(&error))
}

/// TLS that trusts what the machine trusts.
fn tls() -> Result<ClientConfig, Error> {
    let mut roots = RootCertStore::empty();
    // A machine without certificates can still talk to servers of its own without TLS.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unsent(&error))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

fn unsent(error: &dyn std::error::Error) -> Error {
    Error::new(
        Category::Generic,
        format!("the request cannot be made: {error}"),
    )
}

fn too_long(limit: Duration) -> Error {
    let seconds = limit.as_secs_f64();
    Error::new(
        Category::Timeout,
        format!("no whole answer within {seconds} s: timed out"),
    )
}

/// The error of a connection. reqwest's own words would show the whole URL, and a key can be
/// part of one, so only the causes below it are told.
fn broken(error: &reqwest::Error) -> Error {
    let what = match () {
        () if error.is_timeout() => "the connection timed out",
        () if error.is_connect() => NOT_REACHED,
        () if error.is_builder() => "the request cannot be made",
        () => "the connection broke",
    };
    let mut message = what.to_owned();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(": ");
        message.push_str(&error.to_string());
        cause = error.source();
    }
    let category = match () {
        () if error.is_timeout() => Category::Timeout,
        () if error.is_builder() => Category::Generic,
        () => Category::TransientNetwork,
    };
    Error::new(category, message)
}
