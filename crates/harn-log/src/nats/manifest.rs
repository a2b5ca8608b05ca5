//! How a NATS log is configured: by a table of `harn.toml` and by the environment.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::config::{Environment, unreadable};
use crate::log::Result;

use super::config::{AcknowledgementPolicy, NatsConfig, NatsCredentials};

/// The table of the NATS backend. Secrets have no place in it: a file or the
/// environment holds them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NatsTable {
    url: Option<OneOrMore>,
    prefix: Option<String>,
    replicas: Option<usize>,
    monitor_url: Option<String>,
    accept_unsynced: Option<bool>,
    credentials_file: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl NatsTable {
    pub(crate) fn apply(self, config: &mut NatsConfig, base_dir: &Path) -> Result<()> {
        match self.url {
            Some(OneOrMore::One(url)) => config.urls = vec![url],
            Some(OneOrMore::More(urls)) => config.urls = urls,
            None => {}
        }
        if let Some(prefix) = self.prefix {
            config.prefix = prefix;
        }
        if let Some(replicas) = self.replicas {
            config.replicas = replicas;
        }
        if self.accept_unsynced == Some(true) {
            config.acknowledgements = AcknowledgementPolicy::AcceptUnsynced;
        }
        config.monitor_url = self.monitor_url;
        if let Some(file) = self.credentials_file {
            let path = base_dir.join(file);
            let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
            config.credentials = NatsCredentials::Credentials(text);
        }
        Ok(())
    }
}

impl NatsConfig {
    pub(crate) fn read_environment(&mut self, environment: &Environment<'_>) {
        let value = |name| environment(name).filter(|value| !value.trim().is_empty());
        if let Some(urls) = value("HARN_EVENT_LOG_NATS_URL") {
            self.urls = urls.split(',').map(|url| url.trim().to_owned()).collect();
        }
        if let Some(prefix) = value("HARN_EVENT_LOG_NATS_PREFIX") {
            self.prefix = prefix;
        }
        if let Some(token) = value("HARN_EVENT_LOG_NATS_TOKEN") {
            self.credentials = NatsCredentials::Token(token);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::EventLogConfig;

    fn config_in(base_dir: &Path, variables: &[(&str, &str)]) -> Result<EventLogConfig> {
        EventLogConfig::for_base_dir_in(base_dir, &|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn nats_is_configured_by_both() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = r#"
            [event_log]
            backend = "nats"

            [event_log.nats]
            url = ["nats://a:1", "nats://b:2"]
            prefix = "shop"
            replicas = 3
            accept_unsynced = true
            credentials_file = "nats.creds"
        "#;
        std::fs::write(folder.path().join("harn.toml"), manifest).unwrap();
        let error = config_in(folder.path(), &[]).unwrap_err().to_string();
        assert!(error.contains("nats.creds"), "{error}");
        std::fs::write(folder.path().join("nats.creds"), "secret").unwrap();
        let config = config_in(folder.path(), &[]).unwrap();
        assert_eq!(config.nats.urls, ["nats://a:1", "nats://b:2"]);
        assert_eq!(
            (config.nats.prefix.as_str(), config.nats.replicas),
            ("shop", 3)
        );
        assert!(matches!(
            config.nats.credentials,
            NatsCredentials::Credentials(_)
        ));
        assert!(!format!("{config:?}").contains("secret"));

        let variables = [
            ("HARN_EVENT_LOG_NATS_URL", "nats://c:3, nats://d:4"),
            ("HARN_EVENT_LOG_NATS_PREFIX", "other"),
            ("HARN_EVENT_LOG_NATS_TOKEN", "t"),
        ];
        let config = config_in(folder.path(), &variables).unwrap();
        assert_eq!(config.nats.urls, ["nats://c:3", "nats://d:4"]);
        assert!(matches!(config.nats.credentials, NatsCredentials::Token(_)));
        let location = config.describe().location;
        assert_eq!(location.as_deref(), Some("nats://c:3,nats://d:4 other"));
    }
}
