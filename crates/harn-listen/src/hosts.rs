//! Which names a listener answers to.
//!
//! A page that a browser has open can point a name of its own at this machine. The browser
//! then talks to us as if we were that page's server, and only the `Host` of its requests gives
//! it away.

use std::net::IpAddr;

use axum::http::header::HOST;
use axum::http::{HeaderMap, Uri};

use crate::Error;

/// The hosts that requests may be for, whatever the port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts(Vec<String>);

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl Default for Hosts {
    /// The names of this machine for itself.
    fn default() -> Self {
        Self(LOOPBACK.map(str::to_owned).to_vec())
    }
}

impl Hosts {
    /// Allows one more.
    ///
    /// # Errors
    /// It is no host, or comes with a port or a scheme.
    pub fn allow(&mut self, host: &str) -> Result<(), Error> {
        let host = match host.parse() {
            Ok(IpAddr::V6(address)) => format!("[{address}]"),
            _ => host.to_ascii_lowercase(),
        };
        let name = split(&host).filter(|name| *name == host);
        let name = name.ok_or_else(|| Error::BadHost(host.clone()))?;
        if !self.0.iter().any(|known| known == name) {
            self.0.push(host);
        }
        Ok(())
    }

    /// The names, as a certificate has them.
    pub(crate) fn names(&self) -> Vec<String> {
        let bare = |name: &String| name.trim_matches(['[', ']']).to_owned();
        self.0.iter().map(bare).collect()
    }

    /// Whether a request is for one of them. One that does not say for whom it is, or says it
    /// twice, is for none.
    pub(crate) fn allow_request(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let mut said = headers.get_all(HOST).iter();
        let (Some(host), None) = (said.next(), said.next()) else {
            return false;
        };
        let host = host.to_str().ok();
        let is_allowed = |host: &str| {
            split(host).is_some_and(|name| {
                let name = name.strip_suffix('.').unwrap_or(name);
                self.0.iter().any(|known| known.eq_ignore_ascii_case(name))
            })
        };
        host.is_some_and(is_allowed)
            && uri
                .authority()
                .is_none_or(|whole| is_allowed(whole.as_str()))
    }
}

/// The host without its port; `None` if it is not written like one.
fn split(host: &str) -> Option<&str> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let end = rest.find(']')? + 2;
            host.split_at(end)
        }
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let digits = match port.strip_prefix(':') {
        Some(digits) => digits,
        None if port.is_empty() => "0",
        None => return None,
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
    let is_good = !name.is_empty() && name.bytes().all(is_name) && digits.parse::<u16>().is_ok();
    is_good.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(hosts: &Hosts, host: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        hosts.allow_request(&Uri::from_static("/acp"), &headers)
    }

    #[test]
    fn only_the_names_of_this_machine_are_allowed_by_default() {
        let hosts = Hosts::default();
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1:8080",
            "[::1]",
            "[::1]:9",
            "localhost.:1",
        ] {
            assert!(allows(&hosts, host), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "evil.example:80",
            "127.0.0.1.evil.example",
            "127.0.0.2",
            "0.0.0.0",
            "::1",
            "[::1",
            "localhost:x",
            "localhost:99999",
            "user@localhost",
            "localhost/",
            "",
        ] {
            assert!(!allows(&hosts, host), "{host}");
        }
    }

    #[test]
    fn a_request_for_nobody_or_for_two_is_refused() {
        let hosts = Hosts::default();
        let mut headers = HeaderMap::new();
        assert!(!hosts.allow_request(&Uri::from_static("/"), &headers));
        headers.append(HOST, "localhost".parse().unwrap());
        assert!(hosts.allow_request(&Uri::from_static("/"), &headers));
        let absolute = Uri::from_static("http://evil.example/");
        assert!(!hosts.allow_request(&absolute, &headers));
        headers.append(HOST, "localhost".parse().unwrap());
        assert!(!hosts.allow_request(&Uri::from_static("/"), &headers));
    }

    #[test]
    fn hosts_are_allowed_by_name_alone() {
        let mut hosts = Hosts::default();
        hosts.allow("Agents.Example").unwrap();
        hosts.allow("fe80::1").unwrap();
        assert!(allows(&hosts, "agents.example:443"));
        assert!(allows(&hosts, "[fe80::1]:443"));
        for bad in ["https://a.example", "a.example:80", "a/b", "", "*"] {
            assert!(hosts.allow(bad).is_err(), "{bad}");
        }
    }
}
