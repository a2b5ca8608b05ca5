//! Connections, kept open for the requests that may share them.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use harn_machine::{HttpProxy, NetFailure, NetFailureKind, Route};
use reqwest::{Client, ClientBuilder, NoProxy, Proxy};

use super::failure::failure;
use super::tls;

/// How many ways of making connections are remembered. When there are more, all are forgotten
/// and idle connections close.
const CLIENTS_MAX: usize = 64;

/// One client for each way of making connections.
#[derive(Default)]
pub(super) struct Clients(HashMap<Way, Client>);

#[derive(PartialEq, Eq, Hash)]
struct Way {
    route: Route,
    /// Without TLS nobody has to find out whom the machine trusts, which takes longer than
    /// many requests.
    has_tls: bool,
}

impl Clients {
    /// The client for a route.
    pub(super) fn of(
        &mut self,
        route: &Route,
        url: &str,
        environment: &BTreeMap<String, String>,
    ) -> Result<Client, NetFailure> {
        let is_secure = |url: &str| url.starts_with("https:");
        let proxy = route.proxy.as_ref().map(|proxy| proxy.url.as_str());
        let proxy = proxy.or_else(|| of_environment(environment, "HTTP_PROXY", "http_proxy"));
        let way = Way {
            route: route.clone(),
            has_tls: is_secure(url) || proxy.is_some_and(is_secure),
        };
        if let Some(client) = self.0.get(&way) {
            return Ok(client.clone());
        }
        if self.0.len() >= CLIENTS_MAX {
            self.0.clear();
        }
        let client = way.client(environment)?;
        self.0.insert(way, client.clone());
        Ok(client)
    }

    /// Closes the idle connections of a session.
    pub(super) fn end_session(&mut self, session: u64) {
        self.0.retain(|way, _| way.route.session != Some(session));
    }
}

impl Way {
    fn client(&self, environment: &BTreeMap<String, String>) -> Result<Client, NetFailure> {
        let Self { route, has_tls } = self;
        let impossible = |reason: String| failure(NetFailureKind::Impossible, reason);
        let mut tls = match has_tls {
            true => tls::trusting(&route.tls),
            false => tls::trusting_nobody(),
        }
        .map_err(impossible)?;
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls)
            // Whoever asks looks at every URL first.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("harn/", env!("CARGO_PKG_VERSION")))
            .no_proxy()
            .gzip(route.decompresses)
            .brotli(route.decompresses)
            .deflate(route.decompresses)
            .zstd(route.decompresses);
        if let Some(timeout) = route.connect_timeout_ms {
            builder = builder.connect_timeout(Duration::from_millis(timeout));
        }
        let builder = match &route.proxy {
            Some(proxy) => through(builder, proxy),
            None => through_usual(builder, environment),
        };
        let invalid = |error: reqwest::Error| failure(NetFailureKind::Proxy, reason(&error));
        let client = builder.map_err(invalid)?.build();
        client.map_err(|error| impossible(error.to_string()))
    }
}

/// What is wrong with a proxy.
fn reason(error: &reqwest::Error) -> String {
    let cause = std::error::Error::source(error);
    cause.map_or_else(|| error.to_string(), ToString::to_string)
}

fn through(builder: ClientBuilder, proxy: &HttpProxy) -> reqwest::Result<ClientBuilder> {
    let mut made = Proxy::all(&proxy.url)?;
    if let Some((user, password)) = &proxy.login {
        made = made.basic_auth(user, password);
    }
    let except = proxy.except.as_deref().and_then(NoProxy::from_string);
    Ok(builder.proxy(made.no_proxy(except)))
}

/// The proxies that the usual variables name.
fn through_usual(
    mut builder: ClientBuilder,
    environment: &BTreeMap<String, String>,
) -> reqwest::Result<ClientBuilder> {
    let except = of_environment(environment, "NO_PROXY", "no_proxy");
    let except = || except.and_then(NoProxy::from_string);
    if let Some(url) = of_environment(environment, "HTTP_PROXY", "http_proxy") {
        builder = builder.proxy(Proxy::http(url)?.no_proxy(except()));
    }
    if let Some(url) = of_environment(environment, "HTTPS_PROXY", "https_proxy") {
        builder = builder.proxy(Proxy::https(url)?.no_proxy(except()));
    }
    Ok(builder)
}

fn of_environment<'a>(
    environment: &'a BTreeMap<String, String>,
    upper: &str,
    lower: &str,
) -> Option<&'a str> {
    let set = [upper, lower]
        .into_iter()
        .filter_map(|name| environment.get(name));
    set.map(String::as_str).find(|value| !value.is_empty())
}
