//! How a request is sent, as its options say.

use std::sync::Arc;

use harn_machine::value::Dict;
use harn_machine::{Context, HttpProxy, Route, TlsOptions, Value};

use super::header::shown;
use super::retry::Retries;
use crate::files::root;
use crate::tasks::milliseconds;

const TIMEOUT_MS: u64 = 30_000;
const REDIRECTS_MAX: i64 = 10;

/// How a request is sent.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// How long one attempt may take.
    pub(crate) timeout_ms: u64,
    pub(crate) read_timeout_ms: Option<u64>,
    pub(super) retries: Retries,
    /// How many redirects are followed; `None`: none, and a redirect is an answer like others.
    pub(crate) redirects_max: Option<i64>,
    pub(crate) route: Arc<Route>,
}

impl Options {
    /// Reads options. What is of another kind than expected counts as missing.
    pub(crate) fn of(context: &mut Context<'_>, options: &Dict, session: Option<u64>) -> Self {
        let names = ["timeout_ms", "timeout", "total_timeout_ms"];
        let timeout = names.iter().find_map(|name| time(options, name));
        let follows = options.get("follow_redirects").is_none_or(Value::is_truthy);
        Self {
            timeout_ms: timeout.unwrap_or(TIMEOUT_MS),
            read_timeout_ms: time(options, "read_timeout_ms"),
            retries: Retries::of(options),
            redirects_max: follows
                .then(|| number(options, "max_redirects").unwrap_or(REDIRECTS_MAX)),
            route: Arc::new(Route {
                session,
                connect_timeout_ms: time(options, "connect_timeout_ms"),
                proxy: proxy(options),
                tls: tls(context, options),
                decompresses: options.get("decompress").is_none_or(Value::is_truthy),
            }),
        }
    }
}

/// A time in milliseconds.
fn time(options: &Dict, name: &str) -> Option<u64> {
    let time = milliseconds(options.get(name)?)?;
    Some(u64::try_from(time).unwrap_or(0))
}

/// A whole number.
pub(crate) fn number(options: &Dict, name: &str) -> Option<i64> {
    match options.get(name)? {
        Value::Int(number) => Some(*number),
        Value::Float(number) => Some(*number as i64),
        _ => None,
    }
}

fn text(options: &Dict, name: &str) -> Option<String> {
    Some(shown(options, name)).filter(|text| !text.is_empty())
}

/// Through whom connections are made.
pub(crate) fn proxy(options: &Dict) -> Option<HttpProxy> {
    let (url, except) = match options.get("proxy")? {
        Value::Nil => return None,
        Value::Dict(proxy) => (shown(proxy, "url"), except(proxy.get("no_proxy"))),
        url => (url.to_text().to_string(), None),
    };
    let login = match options.get("proxy_auth") {
        Some(Value::Dict(login)) => {
            let password = text(login, "pass").or_else(|| text(login, "password"));
            Some((shown(login, "user"), password.unwrap_or_default()))
        }
        _ => None,
    };
    Some(HttpProxy { url, except, login })
}

/// Hosts as text or as a list.
fn except(hosts: Option<&Value>) -> Option<String> {
    match hosts? {
        Value::Nil => None,
        Value::List(hosts) => {
            let hosts: Vec<String> = hosts
                .iter()
                .map(|host| host.to_text().to_string())
                .collect();
            Some(hosts.join(","))
        }
        hosts => Some(hosts.to_text().to_string()),
    }
}

/// Whom to trust and as whom to speak.
pub(crate) fn tls(context: &mut Context<'_>, options: &Dict) -> TlsOptions {
    let Some(Value::Dict(tls)) = options.get("tls") else {
        return TlsOptions::default();
    };
    let mut path = |name: &str| text(tls, name).map(|path| root::resolve(context, &path));
    TlsOptions {
        authorities: path("ca_bundle_path"),
        certificate: path("client_cert_path"),
        key: path("client_key_path"),
        identity: path("client_identity_path"),
        pins: match tls.get("pinned_sha256") {
            None | Some(Value::Nil) => Vec::new(),
            Some(Value::List(pins)) => pins.iter().map(|pin| pin.to_text().to_string()).collect(),
            Some(pin) => vec![pin.to_text().to_string()],
        },
    }
}
