//! URLs taken apart and put together, as browsers do (the URL standard of WHATWG).

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Registry, Value, argument, thrown};
use url::Url;

use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("url_build", url_build), ("url_parse", url_parse)]);
}

fn url_parse(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let url = match Url::parse(&text(arguments, 0)) {
        Ok(url) => url,
        Err(error) => return thrown(format!("url_parse: {error}")),
    };
    let username = Some(url.username()).filter(|name| !name.is_empty());
    Ok(Value::dict([
        ("fragment", url.fragment().into()),
        ("host", url.host_str().into()),
        ("password", url.password().into()),
        ("path", url.path().into()),
        ("port", url.port().map(i64::from).into()),
        ("query", url.query().into()),
        ("scheme", url.scheme().into()),
        ("username", username.into()),
    ]))
}

fn url_build(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let Value::Dict(parts) = argument(arguments, 0) else {
        return thrown("url_build: expected a dict of url parts");
    };
    match built(parts) {
        Ok(url) => Ok(String::from(url).into()),
        Err(reason) => thrown(format!("url_build: {reason}")),
    }
}

/// The parts are set one by one, so that none of them can pass for another.
fn built(parts: &Dict) -> Result<Url, String> {
    let scheme = part(parts, "scheme").filter(|scheme| !scheme.is_empty());
    let scheme = scheme.ok_or("'scheme' is required")?;
    let path = part(parts, "path");
    let path = path.as_deref().unwrap_or("/");
    let mut url = match part(parts, "host") {
        Some(host) => with_host(&scheme, &host, path)?,
        None => without_host(&scheme, path)?,
    };
    if !url.scheme().eq_ignore_ascii_case(&scheme) {
        return Err(format!("invalid scheme '{scheme}'"));
    }
    let cannot = |key: &str| format!("a URL with this scheme or host has no '{key}'");
    if let Some(username) = part(parts, "username") {
        url.set_username(&username)
            .map_err(|()| cannot("username"))?;
    }
    if let Some(password) = part(parts, "password") {
        url.set_password(Some(&password))
            .map_err(|()| cannot("password"))?;
    }
    if let Some(port) = port(parts)? {
        url.set_port(Some(port)).map_err(|()| cannot("port"))?;
    }
    if let Some(query) = part(parts, "query") {
        url.set_query(Some(query.strip_prefix('?').unwrap_or(&query)));
    }
    if let Some(fragment) = part(parts, "fragment") {
        url.set_fragment(Some(fragment.strip_prefix('#').unwrap_or(&fragment)));
    }
    Ok(url)
}

fn with_host(scheme: &str, host: &str, path: &str) -> Result<Url, String> {
    if host.contains(['/', '\\', '?', '#', '@']) {
        return Err(format!("invalid host '{host}'"));
    }
    let url = Url::parse(&format!("{scheme}://{host}"));
    let mut url = url.map_err(|error| error.to_string())?;
    url.set_path(path);
    Ok(url)
}

fn without_host(scheme: &str, path: &str) -> Result<Url, String> {
    let url = Url::parse(&format!("{scheme}:{path}"));
    let url = url.map_err(|error| error.to_string())?;
    // What was meant as a path must not become a host, as in `https:/path`.
    match url.has_host() {
        true => Err("empty host".to_owned()),
        false => Ok(url),
    }
}

fn part(parts: &Dict, key: &str) -> Option<Text> {
    match parts.get(key) {
        None | Some(Value::Nil) => None,
        Some(value) => Some(value.to_text()),
    }
}

fn port(parts: &Dict) -> Result<Option<u16>, String> {
    match parts.get("port") {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Int(port)) => match u16::try_from(*port) {
            Ok(port) => Ok(Some(port)),
            Err(_) => Err("'port' must be between 0 and 65535".to_owned()),
        },
        Some(other) => Err(format!("'port' must be an int, got {}", other.type_name())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fields: &[(&str, Value)], expected: &str) {
        let parts = Value::dict(fields.iter().map(|(key, value)| (*key, value.clone())));
        let Value::Dict(parts) = parts else {
            unreachable!("it was made as a dict");
        };
        let shown = match built(&parts) {
            Ok(url) => url.to_string(),
            Err(reason) => reason,
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn parts_make_a_url() {
        let https = ("scheme", Value::text("https"));
        let host = ("host", Value::text("Example.com"));
        check(&[https.clone(), host.clone()], "https://example.com/");
        check(
            &[https.clone(), host.clone(), ("port", Value::Int(443))],
            "https://example.com/",
        );
        check(
            &[
                https.clone(),
                host.clone(),
                ("path", "/a b?c".into()),
                ("query", "?q=x y".into()),
                ("fragment", "top".into()),
                ("username", "a@b".into()),
                ("password", "p:w".into()),
                ("port", Value::Int(8443)),
            ],
            "https://a%40b:p%3Aw@example.com:8443/a%20b%3Fc?q=x%20y#top",
        );
        check(
            &[("scheme", "mailto".into()), ("path", "a@b.c".into())],
            "mailto:a@b.c",
        );
        check(
            &[("scheme", "file".into()), ("path", "/etc/x".into())],
            "file:///etc/x",
        );
    }

    #[test]
    fn what_is_no_url_says_why() {
        let https = ("scheme", Value::text("https"));
        check(&[], "'scheme' is required");
        check(
            &[https.clone(), ("host", "a/b".into())],
            "invalid host 'a/b'",
        );
        check(&[https.clone(), ("host", "".into())], "empty host");
        check(
            &[
                https.clone(),
                ("host", "a".into()),
                ("port", Value::Int(70_000)),
            ],
            "'port' must be between 0 and 65535",
        );
        check(std::slice::from_ref(&https), "empty host");
        check(&[https, ("path", "/a".into())], "empty host");
        check(
            &[("scheme", "http://b".into()), ("host", "a".into())],
            "invalid scheme 'http://b'",
        );
    }
}
