//! Which hosts a key may be sent to.
//!
//! ```text
//! catalogue that comes with Harn ┐
//! provider file of the operator  ├─► Audiences ─► KeyAudience ─► in the Secret ─► the transport
//! [secrets.audience]             ┘                                                 checks the URL
//! ```
//!
//! A key belongs to somebody, and a file that came with a folder cannot say to whom. So the
//! `[llm]` table of a project has no part in this: it may name any host and any variable, and
//! the transport refuses to bring the two together. It is checked where a request leaves, on
//! the URL that is really asked; redirects are not followed at all.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use reqwest::Url;
use serde::Deserialize;

use crate::catalog::config::{OneOrMany, Provider};
use crate::catalog::{Environment, Invalid, Source, config, route};
use crate::{Category, Error, Secret};

/// A host, or all hosts below one, and perhaps a port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HostPattern {
    /// As URLs have it: in small letters, and an address of IPv6 in brackets.
    host: String,
    /// Whether hosts below it are meant, and not the host itself.
    is_for_those_below: bool,
    /// Without one, the usual port is meant.
    port: Option<u16>,
}

impl HostPattern {
    /// Reads `api.example.com`, `*.example.com` or `127.0.0.1:8080`.
    fn read(text: &str) -> Option<Self> {
        let below = text.strip_prefix("*.");
        let rest = below.unwrap_or(text);
        let is_host = !rest.is_empty() && !rest.contains(['/', '@', '?', '#', '*', '\\']);
        let url = is_host.then(|| Url::parse(&format!("https://{rest}/")).ok())??;
        // A URL does not tell the usual port from none.
        let port = match rest.strip_suffix(":443") {
            Some(_) => Some(443),
            None => url.port(),
        };
        Some(Self {
            host: url.host_str()?.to_owned(),
            is_for_those_below: below.is_some(),
            port,
        })
    }

    /// The host of a URL, with its port.
    fn of(url: &Url) -> Option<Self> {
        Some(Self {
            host: url.host_str()?.to_owned(),
            is_for_those_below: false,
            port: url.port(),
        })
    }

    fn fits(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let is_host = match self.is_for_those_below {
            false => host == self.host,
            true => host
                .strip_suffix(&*self.host)
                .is_some_and(|below| below.len() > 1 && below.ends_with('.')),
        };
        let is_port = match self.port {
            None => url.port().is_none(),
            port => url.port_or_known_default() == port,
        };
        is_host && is_port
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = if self.is_for_those_below { "*." } else { "" };
        write!(formatter, "{star}{}", self.host)?;
        self.port
            .map_or(Ok(()), |port| write!(formatter, ":{port}"))
    }
}

/// Which hosts keys may be sent to, by the names of their variables.
#[derive(Clone, Debug, Default)]
pub struct Audiences {
    /// The entries of the catalogue that comes with Harn and those of the operator's provider
    /// file. Where they are can depend on the environment.
    providers: Arc<Vec<(String, Provider)>>,
    /// `[secrets.audience]` of the operator.
    named: BTreeMap<String, Vec<HostPattern>>,
}

impl Audiences {
    /// Keys may go to the providers they belong to.
    pub(crate) fn add_providers(&mut self, providers: &BTreeMap<String, Provider>) {
        let providers = providers.iter();
        let providers = providers.map(|(name, entry)| (name.clone(), entry.clone()));
        Arc::make_mut(&mut self.providers).extend(providers);
    }

    /// Keys may go where the operator's `safety.toml` sends them.
    ///
    /// # Errors
    /// The file is not TOML, or names something that is no host; says which and where.
    pub fn read(&mut self, file: Source<'_>) -> Result<(), Invalid> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct SafetyFile {
            secrets: Secrets,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Secrets {
            audience: BTreeMap<String, OneOrMany>,
        }
        let parsed: Result<SafetyFile, _> = toml::from_str(file.text);
        let parsed = parsed.map_err(|error| config::explain(file, &error))?;
        for (key, hosts) in parsed.secrets.audience {
            for text in hosts.items() {
                let host = HostPattern::read(text).ok_or_else(|| {
                    Invalid::new(format!(
                        "{}: `secrets.audience.{key}`: '{text}' is no host such as \
                         api.example.com, *.example.com or 127.0.0.1:8080",
                        file.path
                    ))
                })?;
                self.named.entry(key.clone()).or_default().push(host);
            }
        }
        Ok(())
    }

    /// Where the key in a variable may go.
    pub fn of(&self, key: &str, environment: &dyn Environment) -> KeyAudience {
        let providers = self.providers.iter();
        let owners =
            providers.filter(|(_, entry)| entry.auth_env.items().iter().any(|it| it == key));
        let urls = owners.flat_map(|(name, entry)| {
            let own = entry
                .healthcheck
                .as_ref()
                .and_then(|check| check.url.clone());
            [Some(route::place(name, entry, environment)), own]
        });
        let urls = urls.flatten().filter_map(|url| Url::parse(&url).ok());
        let mut hosts: Vec<HostPattern> = Vec::new();
        let named = self.named.get(key).into_iter().flatten().cloned();
        for host in urls.filter_map(|url| HostPattern::of(&url)).chain(named) {
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        KeyAudience {
            key: key.to_owned(),
            hosts,
        }
    }
}

/// Where one key may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyAudience {
    /// The variable that holds the key.
    key: String,
    hosts: Vec<HostPattern>,
}

impl KeyAudience {
    /// Checks that the key may be sent there.
    ///
    /// # Errors
    /// It may not; says whom the key is for.
    fn check(&self, url: &Url) -> Result<(), Error> {
        let refused = |message: String| Err(Error::new(Category::EgressBlocked, message));
        let (key, there) = (&self.key, Shown(url));
        if !self.hosts.iter().any(|host| host.fits(url)) {
            let hosts: Vec<String> = self.hosts.iter().map(ToString::to_string).collect();
            let hosts = match hosts.as_slice() {
                [] => "no model provider".to_owned(),
                hosts => hosts.join(", "),
            };
            return refused(format!(
                "the key {key} is for {hosts} and not for {there}; the operator can say so in \
                 ~/.config/harn/safety.toml"
            ));
        }
        match url.scheme() == "https" || is_loopback(url.host_str().unwrap_or_default()) {
            true => Ok(()),
            false => refused(format!(
                "the key {key} is not sent to {there} over plain HTTP, where others could read it"
            )),
        }
    }
}

/// The host of a URL, as people name it.
struct Shown<'a>(&'a Url);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = HostPattern::of(self.0);
        host.map_or(Ok(()), |host| host.fmt(formatter))
    }
}

/// Checks that each key among the headers may be sent to a URL, and that no header leads the
/// request on to another host.
///
/// # Errors
/// A key may not; says whom it is for.
pub(crate) fn check(headers: &[(String, Secret)], url: &Url) -> Result<(), Error> {
    let mut keys = headers.iter().filter_map(|(_, value)| value.audience());
    let is_host = |name: &str| name.eq_ignore_ascii_case("host");
    let hosts = headers.iter().filter(|(name, _)| is_host(name));
    let hosts: Vec<&str> = hosts.map(|(_, value)| value.expose().trim()).collect();
    keys.try_for_each(|key| {
        key.check(url)?;
        hosts.iter().try_for_each(|host| {
            let led = Url::parse(&format!("{}://{host}/", url.scheme()));
            let odd = |_| Error::new(Category::EgressBlocked, "a `host` header names no host");
            key.check(&led.map_err(odd)?)
        })
    })
}

/// Whether a host is this machine.
fn is_loopback(host: &str) -> bool {
    let inner = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let six = |text: &str| text.parse::<Ipv6Addr>().is_ok_and(|ip| ip.is_loopback());
    let four = |text: &str| text.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback());
    host == "localhost" || inner.map_or_else(|| four(host), six)
}

#[cfg(test)]
mod tests;
