//! Where the server is, and what we expect of it.

use std::time::Duration;

use async_nats::ServerAddr;

use crate::error::LogError;
use crate::log::Result;

/// How to open a log on NATS.
///
/// ```
/// # use harn_log::{AcknowledgementPolicy, NatsConfig};
/// let mut config = NatsConfig::new("nats://localhost:4222");
/// config.prefix = "shop.log".to_owned();
/// config.acknowledgements = AcknowledgementPolicy::AcceptUnsynced;
/// ```
#[derive(Clone)]
pub struct NatsConfig {
    /// Servers of one cluster, as `nats://host:port` or `tls://host:port`. One that
    /// can be reached is enough.
    pub urls: Vec<String>,
    /// What the subjects of all topics begin with: words of ASCII letters, digits
    /// and `-`, with dots between them. Logs with different prefixes are different
    /// logs, as long as none is the beginning of another.
    pub prefix: String,
    /// Who we are.
    pub credentials: NatsCredentials,
    /// On how many servers of a cluster each record is kept.
    pub replicas: usize,
    /// How many records a reader takes at once.
    pub queue_depth: usize,
    /// What an acknowledgement must mean.
    pub acknowledgements: AcknowledgementPolicy,
    /// The server's monitoring endpoint as `http://host:port`. It is the only place
    /// where a server says whether it syncs.
    pub monitor_url: Option<String>,
    /// How long opening may take.
    pub connect_timeout: Duration,
    /// How long anything else may take, also when the server is away meanwhile.
    pub request_timeout: Duration,
    /// How long a lease lasts unless it is renewed. All logs of one prefix must agree.
    pub lease_ttl: Duration,
}

impl NatsConfig {
    /// A log at this address, with everything else as most will want it.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            urls: vec![url.into()],
            prefix: "harn.log".to_owned(),
            credentials: NatsCredentials::None,
            replicas: 1,
            queue_depth: 128,
            acknowledgements: AcknowledgementPolicy::RequireSynced,
            monitor_url: None,
            connect_timeout: Duration::from_secs(5),
            request_timeout: Duration::from_secs(10),
            lease_ttl: Duration::from_secs(30),
        }
    }

    /// The servers, parsed.
    pub(super) fn addresses(&self) -> Result<Vec<ServerAddr>> {
        if self.urls.is_empty() || self.urls.iter().any(|url| url.trim().is_empty()) {
            return Err(LogError::Config("a NATS log needs a URL".to_owned()));
        }
        let parse = |url: &String| {
            url.parse::<ServerAddr>()
                .map_err(|why| LogError::Config(format!("'{}': {why}", without_secret(url))))
        };
        self.urls.iter().map(parse).collect()
    }

    /// Where the log is, for people.
    pub(crate) fn location(&self) -> String {
        let urls: Vec<_> = self.urls.iter().map(|url| without_secret(url)).collect();
        format!("{} {}", urls.join(","), self.prefix)
    }
}

/// Secrets stay out of it.
impl std::fmt::Debug for NatsConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NatsConfig")
            .field("location", &self.location())
            .field("acknowledgements", &self.acknowledgements)
            .finish_non_exhaustive()
    }
}

/// Who we are to the server.
#[derive(Clone, Default)]
pub enum NatsCredentials {
    /// Nobody, or whoever the URL says.
    #[default]
    None,
    /// Whoever has this token.
    Token(String),
    /// A user.
    User {
        /// Their name.
        name: String,
        /// Their password.
        password: String,
    },
    /// The seed of an NKey.
    NKey(String),
    /// The contents of a credentials file.
    Credentials(String),
}

/// What an acknowledgement must mean.
///
/// A server acknowledges a record when it has handed it to the operating system, and
/// syncs every two minutes. From version 2.10 on it can be told to sync first:
///
/// ```text
/// jetstream { sync_interval: always }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AcknowledgementPolicy {
    /// That the record survives a power cut. Opening fails where that is not so, or
    /// not known.
    #[default]
    RequireSynced,
    /// That the record survives our crash and the server's. A power cut may take
    /// what was not synced, also after a flush.
    AcceptUnsynced,
}

/// What the server's acknowledgements mean, as far as it lets us know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NatsDurability {
    /// It syncs before it acknowledges.
    Always,
    /// It acknowledges before it syncs.
    Unsynced,
    /// It could do either.
    Unknown,
}

/// An address without user and password.
fn without_secret(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        (None, Some((_, host))) => host.to_owned(),
        (_, None) => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_has_no_secrets() {
        let mut config = NatsConfig::new("nats://me:secret@host:1");
        config.urls.push("other".to_owned());
        config.urls.push("token@third:2".to_owned());
        assert_eq!(config.location(), "nats://host:1,other,third:2 harn.log");
        assert!(!format!("{config:?}").contains("secret"));
    }
}
