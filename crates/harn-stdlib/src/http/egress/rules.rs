//! One rule about places, and whether it names one.

use std::net::IpAddr;

use url::{Host, Url};

/// Where a URL leads.
#[derive(Debug, PartialEq)]
pub(super) struct Place {
    /// The host in lower case, without the brackets of an address.
    pub(super) host: String,
    /// The port, which may follow from the scheme.
    pub(super) port: u16,
    address: Option<IpAddr>,
}

impl Place {
    /// Where a URL leads; `None` if it has no host or no port.
    pub(super) fn of(url: &Url) -> Option<Self> {
        // Other spellings of an address are undone when a URL is read.
        let (host, address) = match url.host()? {
            Host::Domain(name) => (name.trim_end_matches('.').to_ascii_lowercase(), None),
            Host::Ipv4(address) => (address.to_string(), Some(IpAddr::V4(address))),
            Host::Ipv6(address) => {
                let address = IpAddr::V6(address).to_canonical();
                (address.to_string(), Some(address))
            }
        };
        Some(Self {
            host,
            port: url.port_or_known_default()?,
            address,
        })
    }
}

/// A rule as it was written and what it names.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) text: String,
    hosts: Hosts,
    port: Option<u16>,
}

#[derive(Debug)]
enum Hosts {
    Any,
    Name(String),
    /// The part after `*`, with its dot.
    Below(String),
    Network(IpAddr, u8),
}

impl Rule {
    /// Reads a rule, or says why it is none.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let (hosts, port) = split_port(text)?;
        let hosts = hosts.trim_end_matches('.').to_ascii_lowercase();
        Ok(Self {
            text: text.to_owned(),
            hosts: Hosts::parse(&hosts)?,
            port,
        })
    }

    /// Whether it names a place.
    pub(super) fn matches(&self, place: &Place) -> bool {
        self.port.is_none_or(|port| port == place.port) && self.hosts.contain(place)
    }
}

/// What stands before the port, and the port. An address of many colons has one only after
/// brackets.
fn split_port(text: &str) -> Result<(&str, Option<u16>), &'static str> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or("a bracket is not closed")?;
            match after.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if after.is_empty() => (host, None),
                None => return Err("only a port can follow a bracket"),
            }
        }
        None => match text.split_once(':') {
            Some((host, port)) if !port.contains(':') => (host, Some(port)),
            _ => (text, None),
        },
    };
    let port = port.map(|port| {
        port.parse()
            .map_err(|_| "the port is not a number up to 65535")
    });
    Ok((host, port.transpose()?))
}

impl Hosts {
    fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("it names no host");
        }
        if text == "*" {
            return Ok(Self::Any);
        }
        if let Some(suffix) = text.strip_prefix('*') {
            return match suffix.starts_with('.') && suffix.len() > 1 {
                true => Ok(Self::Below(suffix.to_owned())),
                false => Err("a star stands before a dot and a name"),
            };
        }
        if let Some((address, length)) = text.split_once('/') {
            let address: IpAddr = address.parse().map_err(|_| "the network has no address")?;
            let length = length
                .parse()
                .ok()
                .filter(|length| *length <= bits(address));
            let length = length.ok_or("the length of the network is not one")?;
            return Ok(Self::Network(address, length));
        }
        match text.parse::<IpAddr>() {
            Ok(address) => {
                let address = address.to_canonical();
                Ok(Self::Network(address, bits(address)))
            }
            Err(_) => Ok(Self::Name(text.to_owned())),
        }
    }

    fn contain(&self, place: &Place) -> bool {
        match self {
            Self::Any => true,
            Self::Name(name) => place.address.is_none() && *name == place.host,
            Self::Below(suffix) => place.address.is_none() && place.host.ends_with(suffix.as_str()),
            Self::Network(network, length) => place
                .address
                .is_some_and(|address| is_within(address, *network, *length)),
        }
    }
}

fn bits(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// Whether an address begins as a network does.
fn is_within(address: IpAddr, network: IpAddr, length: u8) -> bool {
    let number = |address: IpAddr| match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
        IpAddr::V6(address) => address.to_bits(),
    };
    let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
    bits(address) == bits(network) && number(address) & mask == number(network) & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: &str, url: &str, expected: bool) {
        let place = Place::of(&Url::parse(url).unwrap()).unwrap();
        let found = Rule::parse(rule).unwrap().matches(&place);
        assert_eq!(found, expected, "{rule} {url}");
    }

    #[test]
    fn hosts_match_whole_and_in_any_case() {
        check("api.example.com", "https://API.example.com/x", true);
        check("api.example.com", "https://api.example.com./x", true);
        check("example.com", "https://api.example.com/x", false);
        check("*.example.com", "https://api.example.com/x", true);
        check("*.example.com", "https://example.com/x", false);
        check("*.example.com", "https://badexample.com/x", false);
        check("*", "https://example.com/x", true);
    }

    #[test]
    fn ports_come_from_the_scheme() {
        check("a.b:443", "https://a.b/", true);
        check("a.b:443", "http://a.b/", false);
        check("a.b:443", "wss://a.b/", true);
        check("a.b:8080", "http://a.b:8080/", true);
    }

    #[test]
    fn addresses_match_however_they_are_written() {
        check("127.0.0.1", "http://127.0.0.1/", true);
        check("127.0.0.1", "http://0x7f.1/", true);
        check("127.0.0.1", "http://2130706433/", true);
        check("127.0.0.1", "http://[::ffff:127.0.0.1]/", true);
        check("10.0.0.0/8", "http://10.200.3.4/", true);
        check("10.0.0.0/8", "http://11.0.0.1/", false);
        check("10.0.0.0/8:80", "http://10.0.0.1/", true);
        check("0.0.0.0/0", "http://8.8.8.8/", true);
        check("::/0", "http://8.8.8.8/", false);
        check("::1", "http://[::1]:99/", true);
        check("[::1]:99", "http://[::1]:99/", true);
        check("[fd00::/8]:99", "http://[fd12::1]:99/", true);
    }

    #[test]
    fn what_is_no_rule_says_why() {
        for (text, reason) in [
            ("", "it names no host"),
            (":80", "it names no host"),
            ("a.b:web", "the port is not a number up to 65535"),
            ("10.0.0.0/33", "the length of the network is not one"),
            ("host/8", "the network has no address"),
            ("*host", "a star stands before a dot and a name"),
            ("[::1", "a bracket is not closed"),
        ] {
            assert_eq!(Rule::parse(text).unwrap_err(), reason, "{text}");
        }
    }
}
