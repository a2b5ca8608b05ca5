//! How a NATS log is configured: by a table of `harn.toml` and by the environment.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::config::{Environment, unreadable};
use crate::error::LogError;
use crate::log::Result;

use super::config::{AcknowledgementPolicy, NatsConfig, NatsCredentials};

/// The server that is asked where neither the manifest nor the environment names one.
pub(crate) const URL_DEFAULT: &str = "nats://localhost:4222";

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
    /// What the environment says comes before the manifest. A token of the environment goes to
    /// the servers that the environment names, or to that of this machine: a manifest that came
    /// with a folder cannot send it elsewhere.
    pub(crate) fn read_environment(&mut self, environment: &Environment<'_>) -> Result<()> {
        let value = |name| environment(name).filter(|value| !value.trim().is_empty());
        let mut is_said_by_manifest = self.urls != [URL_DEFAULT];
        if let Some(urls) = value("HARN_EVENT_LOG_NATS_URL") {
            self.urls = urls.split(',').map(|url| url.trim().to_owned()).collect();
            is_said_by_manifest = false;
        }
        if let Some(prefix) = value("HARN_EVENT_LOG_NATS_PREFIX") {
            self.prefix = prefix;
        }
        if let Some(token) = value("HARN_EVENT_LOG_NATS_TOKEN") {
            if is_said_by_manifest {
                return Err(LogError::Config(format!(
                    "the key HARN_EVENT_LOG_NATS_TOKEN is not for {}, which only harn.toml names; \
                     say so in HARN_EVENT_LOG_NATS_URL",
                    self.urls.join(", ")
                )));
            }
            self.credentials = NatsCredentials::Token(token);
        }
        Ok(())
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

    #[test]
    fn a_manifest_cannot_say_where_a_token_of_the_environment_goes() {
        let folder = tempfile::tempdir().unwrap();
        let token = ("HARN_EVENT_LOG_NATS_TOKEN", "t");
        let config = config_in(folder.path(), &[token]).unwrap();
        assert!(matches!(config.nats.credentials, NatsCredentials::Token(_)));
        let manifest = "[event_log.nats]\nurl = \"nats://evil.example:1\"\n";
        std::fs::write(folder.path().join("harn.toml"), manifest).unwrap();
        let error = config_in(folder.path(), &[token]).unwrap_err().to_string();
        let expected = "the key HARN_EVENT_LOG_NATS_TOKEN is not for nats://evil.example:1, which \
                        only harn.toml names; say so in HARN_EVENT_LOG_NATS_URL";
        assert!(error.ends_with(expected), "{error}");
    }
}
