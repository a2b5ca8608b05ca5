//! How a server is encrypted: descriptions that whoever opens the sockets reads.

use harn_machine::value::{Dict, Text};
use harn_machine::{Answer, Context, Failure, Registry, Request, Value, argument, thrown};

use super::options;
use crate::expect::text;
use crate::files::root::resolve;
use crate::files::status;
use crate::json;

/// How long a browser remembers to come encrypted, in seconds: a year.
const HSTS_MAX_AGE: i64 = 31_536_000;

/// The effect that makes a certificate. Its key is chance, so it comes from outside.
pub const CERTIFICATE: &str = "certificate";

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("http_server_security_headers", security_headers),
        ("http_server_tls_edge", edge),
        ("http_server_tls_pem", pem),
        ("http_server_tls_plain", |_, _| {
            Ok(described("plain", false, "http", false, []))
        }),
        ("http_server_tls_self_signed_dev", self_signed),
    ]);
}

fn described<const COUNT: usize>(
    mode: &str,
    terminates: bool,
    scheme: &str,
    hsts: bool,
    more: [(&str, Value); COUNT],
) -> Value {
    let mut fields = Dict::default();
    let common = [
        ("mode", mode.into()),
        ("terminate_tls", terminates.into()),
        ("scheme", scheme.into()),
        ("hsts", hsts.into()),
    ];
    for (name, value) in common.into_iter().chain(more) {
        fields.insert(Text::new(name), value);
    }
    fields.into()
}

/// `http_server_tls_edge(options?)`: somebody before the server encrypts.
fn edge(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let options = options(arguments, 0);
    let flag = |name: &str, fallback: bool| match options.get(name) {
        None | Some(Value::Nil) => fallback,
        Some(value) => value.is_truthy(),
    };
    let age = match options.get("hsts_max_age_seconds") {
        Some(Value::Int(age)) => (*age).max(0),
        _ => HSTS_MAX_AGE,
    };
    let more = [
        ("hsts_max_age_seconds", age.into()),
        (
            "hsts_include_subdomains",
            flag("hsts_include_subdomains", false).into(),
        ),
        ("hsts_preload", flag("hsts_preload", false).into()),
    ];
    Ok(described("edge", false, "https", flag("hsts", true), more))
}

/// `http_server_tls_pem(certificate, key)`
fn pem(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    for (at, what) in ["certificate", "private key"].into_iter().enumerate() {
        let given = text(arguments, at);
        let path = resolve(context, &given);
        if !status(context, path).is_some_and(|facts| facts.is_file) {
            return thrown(format!("http_server_tls_pem: {what} not found: {given}"));
        }
    }
    let more = [
        ("cert_path", text(arguments, 0).into()),
        ("key_path", text(arguments, 1).into()),
    ];
    Ok(described("pem", true, "https", true, more))
}

/// `http_server_tls_self_signed_dev(hosts = ["localhost", "127.0.0.1"])`
fn self_signed(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let hosts: Vec<Value> = match argument(arguments, 0) {
        Value::List(hosts) => hosts.iter().map(|host| host.to_text().into()).collect(),
        _ => vec!["localhost".into(), "127.0.0.1".into()],
    };
    let hosts = Value::list(hosts);
    let mut payload = String::new();
    json::write(&hosts, &mut payload);
    let answer = context.perform(&Request::Other {
        kind: CERTIFICATE,
        payload,
    });
    let made = match answer {
        Answer::Pairs(made) => made,
        Answer::Failed(failure) => {
            let reason = failure.message;
            return thrown(format!("http_server_tls_self_signed_dev: {reason}"));
        }
        _ => Vec::new(),
    };
    let part = |name: &str| {
        let found = made.iter().find(|(one, _)| one == name);
        Value::from(found.map(|(_, text)| text.as_str()))
    };
    let more = [
        ("hosts", hosts),
        ("cert_pem", part("certificate")),
        ("key_pem", part("key")),
    ];
    Ok(described("self_signed_dev", true, "https", false, more))
}

/// `http_server_security_headers(tls)`
fn security_headers(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let tls = options(arguments, 0);
    let holds = |name: &str| tls.get(name).is_some_and(Value::is_truthy);
    if !holds("hsts") {
        return Ok(Dict::default().into());
    }
    let age = match tls.get("hsts_max_age_seconds") {
        Some(Value::Int(age)) => *age,
        _ => HSTS_MAX_AGE,
    };
    let mut value = format!("max-age={age}");
    if holds("hsts_include_subdomains") {
        value.push_str("; includeSubDomains");
    }
    if holds("hsts_preload") {
        value.push_str("; preload");
    }
    Ok(Value::dict([("strict-transport-security", value.into())]))
}
