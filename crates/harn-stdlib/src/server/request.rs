//! Requests, from what a program writes to what handlers see.

use harn_machine::Value;
use harn_machine::value::{Bytes, Dict, Text};

use super::BodyLimits;
use crate::encoding::{octets, url};

/// A request that was made.
pub(super) struct Request {
    /// In upper case.
    pub(super) method: String,
    /// Without the query.
    pub(super) path: String,
    query: Dict,
    headers: Dict,
    body: Bytes,
    remote_addr: Value,
    client_ip: Value,
}

impl Request {
    /// The request that a dict describes.
    pub(super) fn read(given: &Dict) -> Self {
        let text = |name: &str, fallback: &str| match given.get(name) {
            None | Some(Value::Nil) => Text::new(fallback),
            Some(value) => value.to_text(),
        };
        let target = text("path", "/");
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let mut query = form(query);
        if let Some(Value::Dict(fields)) = given.get("query") {
            for (name, value) in fields.iter() {
                query.insert(name.clone(), value.clone());
            }
        }
        Self {
            method: text("method", "GET").to_uppercase(),
            path: path.to_owned(),
            query,
            headers: lowercase(given.get("headers")),
            body: match first(given, &["raw_body", "body"]) {
                Value::Nil => Bytes::from(Vec::new()),
                body => Bytes::from(octets(&body)),
            },
            remote_addr: first(given, &["remote_addr", "remote"]),
            client_ip: first(given, &["client_ip", "remote_ip", "ip"]),
        }
    }

    pub(super) fn body_bytes(&self) -> usize {
        self.body.len()
    }

    /// What a handler sees.
    pub(super) fn described(self, parameters: Dict, limits: BodyLimits) -> Value {
        let body = String::from_utf8_lossy(&self.body).into_owned();
        let body_bytes = self.body.len();
        let raw_body = limits.retains_raw.then_some(Value::Bytes(self.body));
        Value::dict([
            ("body", body.into()),
            ("body_bytes", body_bytes.into()),
            ("client_ip", self.client_ip),
            ("headers", self.headers.into()),
            ("method", self.method.into()),
            ("params", parameters.clone().into()),
            ("path", self.path.into()),
            ("path_params", parameters.into()),
            ("query", self.query.into()),
            ("raw_body", raw_body.into()),
            ("remote_addr", self.remote_addr),
        ])
    }
}

/// The first of some fields that is there.
fn first(given: &Dict, names: &[&str]) -> Value {
    let mut values = names.iter().filter_map(|name| given.get(name));
    values.find(|value| !value.is_nil()).cloned().into()
}

/// Headers with their names in lower case and their values as text.
fn lowercase(headers: Option<&Value>) -> Dict {
    let mut out = Dict::default();
    if let Some(Value::Dict(headers)) = headers {
        for (name, value) in headers.iter() {
            out.insert(Text::from(name.to_lowercase()), value.to_text().into());
        }
    }
    out
}

/// The fields of a query; a later one replaces an earlier one.
fn form(query: &str) -> Dict {
    let mut fields = Dict::default();
    for field in query.split('&').filter(|field| !field.is_empty()) {
        let (name, value) = field.split_once('=').unwrap_or((field, ""));
        fields.insert(Text::from(url::decode(name)), url::decode(value).into());
    }
    fields
}
