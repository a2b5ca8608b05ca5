//! A request as it will be sent.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, HttpRequest, Value, thrown};
use url::Url;

use super::header::{self, Headers, headers, is_token};
use super::multipart::multipart;
use super::options::Options;

/// A request as it will be sent, and as mocks remember it.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// In upper case.
    pub(crate) method: String,
    /// With its query.
    pub(crate) url: String,
    pub(crate) headers: Headers,
    pub(crate) body: Option<Payload>,
}

/// What a request carries.
#[derive(Clone, Debug)]
pub(crate) struct Payload {
    pub(crate) shown: Text,
    /// The octets, where they are not those of the text.
    octets: Option<Vec<u8>>,
}

/// What a builtin was asked to send.
pub(crate) struct Asked<'a> {
    pub(crate) builtin: &'static str,
    pub(crate) method: &'a str,
    pub(crate) url: &'a str,
    /// A body that is an argument of its own.
    pub(crate) body: Option<Text>,
    pub(crate) options: &'a Dict,
}

impl Prepared {
    /// Reads what a builtin was asked to send.
    pub(crate) fn of(context: &mut Context<'_>, asked: &Asked<'_>) -> Result<Self, Failure> {
        let method = asked.method.to_uppercase();
        if method.is_empty() || !method.bytes().all(is_token) {
            let method = asked.method;
            return thrown(format!(
                "http: invalid method '{method}': invalid HTTP method"
            ));
        }
        let mut prepared = Self {
            method,
            url: with_query(asked)?,
            headers: headers(asked.options)?,
            body: None,
        };
        prepared.body = prepared.payload(context, asked)?;
        Ok(prepared)
    }

    fn payload(
        &mut self,
        context: &mut Context<'_>,
        asked: &Asked<'_>,
    ) -> Result<Option<Payload>, Failure> {
        let given = |name: &str| asked.options.get(name).filter(|value| !value.is_nil());
        let body = match &asked.body {
            Some(body) => Some(body.clone()),
            None => given("body").map(Value::to_text),
        };
        let Some(parts) = given("multipart") else {
            return Ok(body.map(|shown| Payload {
                shown,
                octets: None,
            }));
        };
        if body.is_some_and(|body| !body.is_empty()) {
            return thrown("http: body and multipart options are mutually exclusive");
        }
        let parts = multipart(context, parts)?;
        let content_type = format!("multipart/form-data; boundary={}", parts.boundary);
        header::set(&mut self.headers, "content-type", &content_type)?;
        self.headers.sort();
        Ok(Some(Payload {
            shown: Text::from(String::from_utf8_lossy(&parts.octets).into_owned()),
            octets: Some(parts.octets),
        }))
    }

    /// As the network takes it.
    pub(crate) fn wire(&self, options: &Options, timeout_ms: Option<u64>) -> Box<HttpRequest> {
        Box::new(HttpRequest {
            method: self.method.clone(),
            url: self.url.clone(),
            headers: self.headers.clone(),
            body: self.body.as_ref().map(Payload::octets),
            timeout_ms,
            read_timeout_ms: options.read_timeout_ms,
            route: options.route.clone(),
        })
    }

    /// Whether its URL is one of HTTP.
    ///
    /// # Errors
    /// It is not; `prefix` says who found that.
    pub(crate) fn check_scheme(prefix: &str, url: &str) -> Result<(), Failure> {
        let scheme = url.split_once("://").map(|(scheme, _)| scheme);
        match scheme {
            Some("http" | "https") => Ok(()),
            _ => thrown(format!(
                "{prefix}: URL must start with http:// or https://, got '{url}'"
            )),
        }
    }
}

impl Payload {
    fn octets(&self) -> Vec<u8> {
        match &self.octets {
            Some(octets) => octets.clone(),
            None => self.shown.as_bytes().to_vec(),
        }
    }
}

/// The URL with the parameters of `query`.
fn with_query(asked: &Asked<'_>) -> Result<String, Failure> {
    let Asked { builtin, url, .. } = asked;
    let Some(Value::Dict(query)) = asked.options.get("query") else {
        return Ok((*url).to_owned());
    };
    let mut full = match Url::parse(url) {
        Ok(url) => url,
        Err(error) => return thrown(format!("{builtin}: invalid URL '{url}': {error}")),
    };
    let given = query.iter().filter(|(_, value)| !value.is_nil());
    let mut given = given.peekable();
    if given.peek().is_some() {
        let mut pairs = full.query_pairs_mut();
        for (name, value) in given {
            pairs.append_pair(name, &value.to_text());
        }
    }
    Ok(full.into())
}
