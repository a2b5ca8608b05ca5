//! Origins that somebody has named, and may therefore be at home.

use std::net::IpAddr;

use url::{Host, Origin, Url};

use super::address::Place;

/// Origins that a person has named: by configuring a server there, or in the list of
/// exceptions for development. What is named may be on this machine or on a private network,
/// and may do without TLS.
#[derive(Clone, Debug, Default)]
pub struct NamedOrigins {
    patterns: Vec<Pattern>,
}

/// An origin, perhaps with every port of its host.
#[derive(Clone, Debug)]
struct Pattern {
    scheme: String,
    host: Host,
    /// None is every port.
    port: Option<u16>,
}

/// An entry of the list that is no origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an origin such as https://auth.example.com or http://localhost:*")]
pub struct NotAnOrigin(String);

impl NamedOrigins {
    /// Reads a list such as `https://auth.corp, http://localhost:*`; a `*` stands for every
    /// port.
    ///
    /// # Errors
    /// The first entry that is not an origin.
    pub fn parse(list: &str) -> Result<Self, NotAnOrigin> {
        let entries = list.split([',', ' ']).map(str::trim);
        let patterns = entries
            .filter(|entry| !entry.is_empty())
            .map(Pattern::parse);
        Ok(Self {
            patterns: patterns.collect::<Result<_, _>>()?,
        })
    }

    /// Adds the origin of `url`, which a person has configured.
    #[must_use]
    pub fn with(mut self, url: &Url) -> Self {
        if let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) {
            self.patterns.push(Pattern {
                scheme: url.scheme().to_owned(),
                host: host.to_owned(),
                port: Some(port),
            });
        }
        self
    }

    /// Whether somebody has named the origin of `url`.
    pub fn contains(&self, url: &Url) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(url))
    }

    /// Whether a request to `url` may go to `address`.
    ///
    /// What is closed stays closed for names, because whoever answers for a name could send
    /// us to the credentials of the machine; only an address that was itself named is used.
    pub(super) fn may_reach(&self, url: &Url, address: IpAddr) -> bool {
        match Place::of(address) {
            Place::Public => true,
            Place::Loopback | Place::Private => self.contains(url),
            Place::Closed => self.contains(url) && literal(url) == Some(address),
        }
    }
}

impl Pattern {
    fn parse(entry: &str) -> Result<Self, NotAnOrigin> {
        let wrong = || NotAnOrigin(entry.to_owned());
        let (text, any_port) = match entry.strip_suffix(":*") {
            Some(text) => (text, true),
            None => (entry, false),
        };
        let url = Url::parse(text).map_err(|_| wrong())?;
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let is_tuple = matches!(url.origin(), Origin::Tuple(..));
        if !is_bare || !is_tuple || !url.username().is_empty() {
            return Err(wrong());
        }
        let host = url.host().ok_or_else(wrong)?.to_owned();
        let port = url.port_or_known_default().filter(|_| !any_port);
        Ok(Self {
            scheme: url.scheme().to_owned(),
            host,
            port,
        })
    }

    fn matches(&self, url: &Url) -> bool {
        url.scheme() == self.scheme
            && url.host().is_some_and(|host| host.to_owned() == self.host)
            && (self.port.is_none() || url.port_or_known_default() == self.port)
    }
}

/// The address that a URL spells out.
pub(super) fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
        Host::Domain(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let named = NamedOrigins::parse("https://auth.corp, http://localhost:8080").unwrap();
        assert!(named.contains(&url("https://AUTH.corp:443/token?x=1")));
        assert!(named.contains(&url("http://localhost:8080/")));
        for other in [
            "http://auth.corp/",
            "https://auth.corp:8443/",
            "https://auth.corp.evil.example/",
            "http://localhost:8081/",
            "http://127.0.0.1:8080/",
        ] {
            assert!(!named.contains(&url(other)), "{other}");
        }
    }

    #[test]
    fn a_star_stands_for_every_port() {
        let named = NamedOrigins::parse("http://localhost:*").unwrap();
        assert!(named.contains(&url("http://localhost:1/")));
        assert!(named.contains(&url("http://localhost/")));
        assert!(!named.contains(&url("https://localhost/")));
    }

    #[test]
    fn what_is_no_origin_is_refused() {
        for entry in [
            "localhost",
            "https://a/path",
            "https://u@a",
            "file:///etc",
            "*",
            "https://a?b",
        ] {
            let error = NamedOrigins::parse(entry).unwrap_err();
            assert!(error.to_string().starts_with(&format!("`{entry}`")));
        }
    }

    #[test]
    fn a_named_host_cannot_lead_to_the_metadata_of_the_machine() {
        let metadata: IpAddr = "169.254.169.254".parse().unwrap();
        let by_name = NamedOrigins::default().with(&url("http://mcp.corp/mcp"));
        assert!(by_name.may_reach(&url("http://mcp.corp/"), "10.0.0.1".parse().unwrap()));
        assert!(!by_name.may_reach(&url("http://mcp.corp/"), metadata));
        let by_address = NamedOrigins::default().with(&url("http://169.254.169.254/"));
        assert!(by_address.may_reach(&url("http://169.254.169.254/"), metadata));
    }
}
