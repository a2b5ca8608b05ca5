//! Hosts, as rules name them.

use std::fmt;
use std::str::FromStr;

/// A host that may be spoken with: `example.com`, `*.example.com` for those below it,
/// `127.0.0.1`, `[::1]`, each with `:port` if only that port is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// In lower case, without brackets.
    name: String,
    port: Option<u16>,
    /// Whether those below the name are meant instead of itself.
    is_below: bool,
}

impl Host {
    /// Whether this is the host.
    pub fn admits(&self, host: &str, port: Option<u16>) -> bool {
        let host = plain(host);
        let is_named = match self.is_below {
            false => host == self.name,
            true => host
                .strip_suffix(&self.name)
                .is_some_and(|below| below.len() > 1 && below.ends_with('.')),
        };
        is_named && (self.port.is_none() || self.port == port)
    }
}

impl FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not a host such as example.com or localhost:8080");
        let (name, port) = name_and_port(text).ok_or_else(wrong)?;
        let (name, is_below) = match name.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let is_odd = |char: char| char.is_whitespace() || "/@?#*\\".contains(char);
        match name.is_empty() || name.contains(is_odd) {
            true => Err(wrong()),
            false => Ok(Self {
                name: plain(name),
                port,
                is_below,
            }),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let below = if self.is_below { "*." } else { "" };
        match (self.name.contains(':'), self.port) {
            (true, Some(port)) => write!(formatter, "[{}]:{port}", self.name),
            (false, Some(port)) => write!(formatter, "{below}{}:{port}", self.name),
            (_, None) => write!(formatter, "{below}{}", self.name),
        }
    }
}

/// The host and the port of a URL; the port that its scheme stands for if it names none. What
/// is no URL is taken for a host of that name, which no rule allows by accident.
pub(super) fn of_url(url: &str) -> (String, Option<u16>) {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    // A backslash is a slash to those who read URLs, and what precedes an `@` is no host.
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let authority = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let (host, port) = name_and_port(authority).unwrap_or((authority, None));
    let usual = match scheme.to_ascii_lowercase().as_str() {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        _ => None,
    };
    (plain(host), port.or(usual))
}

/// Takes `host:port` apart. Only brackets let a host contain colons next to a port.
fn name_and_port(text: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (name, rest) = rest.split_once(']')?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((name, Some(port.parse().ok()?))),
            None => rest.is_empty().then_some((name, None)),
        };
    }
    match text.split_once(':') {
        Some((name, port)) if !port.contains(':') => Some((name, Some(port.parse().ok()?))),
        _ => Some((text, None)),
    }
}

/// In lower case, without brackets and without the dot that ends an absolute name.
fn plain(host: &str) -> String {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: &str, url: &str, expected: bool) {
        let rule: Host = rule.parse().unwrap();
        let (host, port) = of_url(url);
        assert_eq!(rule.admits(&host, port), expected, "{rule} {url}");
    }

    #[test]
    fn hosts_are_told_apart() {
        check("example.com", "https://example.com/a?b#c", true);
        check("Example.COM", "https://EXAMPLE.com.", true);
        check("example.com", "https://api.example.com", false);
        check("example.com", "https://example.com.evil.org", false);
        check("example.com", "https://evil.org/example.com", false);
        check("example.com", "https://example.com@evil.org/", false);
        check("example.com", "https://evil.org\\@example.com/", false);
        check("example.com", "https://evil.org?@example.com", false);
        check("*.example.com", "https://api.example.com", true);
        check("*.example.com", "https://a.b.example.com", true);
        check("*.example.com", "https://example.com", false);
        check("*.example.com", "https://badexample.com", false);
        check("localhost:8080", "http://localhost:8080/", true);
        check("localhost:8080", "http://localhost/", false);
        check("localhost:80", "http://localhost/", true);
        check("localhost", "http://user:word@localhost:9/", true);
        check("[::1]:80", "http://[::1]/", true);
        check("::1", "http://[::1]:9/", true);
        check("127.0.0.1", "ws://127.0.0.1:1", true);
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for text in [
            "", "*.", "http://x", "a b", "a:b", "[::1", "x:99999", "*", "a*",
        ] {
            assert!(text.parse::<Host>().is_err(), "{text}");
        }
        for text in ["a", "*.a.b:1", "[::1]:80", "::1"] {
            assert_eq!(text.parse::<Host>().unwrap().to_string(), text);
        }
    }
}
