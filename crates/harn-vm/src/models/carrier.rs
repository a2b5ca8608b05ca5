//! What carries requests: the network, somebody who writes it down, or a tape instead of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use harn_agent::llm::catalog::{Config, Environment, resolve, route};
use harn_agent::llm::tape::{
    Matching, Playing, Recording, Redaction, Tape, TapePlayer, TapeRecorder,
};
use harn_agent::llm::transport::{Http, HttpOptions, Transport};

use super::options::TapeUse;
use crate::policy::{Policy, guarded};

/// What stands for a key that a tape does not need.
const NO_KEY: &str = "taped";

/// What carries requests.
pub(super) enum Carrier<'a> {
    Network,
    Recorded(&'a Path),
    Tape(Tape, Matching),
}

impl<'a> Carrier<'a> {
    /// What the options want.
    ///
    /// # Errors
    /// The tape is none; says which line.
    pub(super) fn of(tape: Option<&'a TapeUse>) -> Result<Self, String> {
        Ok(match tape {
            None => Self::Network,
            Some(TapeUse::Record(path)) => Self::Recorded(path),
            Some(TapeUse::Replay { tape, matching }) => {
                let tape = Tape::read(&tape.name, tape.text.as_bytes());
                Self::Tape(tape.map_err(|error| error.to_string())?, *matching)
            }
        })
    }

    /// The environment as it must be for what carries. A tape plays also where there is no key
    /// and where real calls are forbidden: it makes none, and nobody looks at its keys.
    pub(super) fn environment(
        &self,
        config: &Config,
        environment: &BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        let mut all = environment.clone();
        let Self::Tape(tape, _) = self else {
            return all;
        };
        all.remove(resolve::CALLS_DISABLED);
        for entry in config.providers.values() {
            let base = route::base_url(entry, environment);
            let mut urls = tape.exchanges.iter().map(|exchange| &exchange.request.url);
            let is_taped = !base.is_empty() && urls.any(|url| url.starts_with(&base));
            let names = entry.auth_env.items();
            let has_key = names.iter().any(|name| environment.filled(name).is_some());
            if let (true, false, Some(name)) = (is_taped, has_key, names.first()) {
                all.insert(name.clone(), NO_KEY.to_owned());
            }
        }
        all
    }

    /// As a transport.
    ///
    /// # Errors
    /// The tape cannot be written.
    pub(super) fn transport(
        self,
        environment: &BTreeMap<String, String>,
        redaction: &Redaction,
        policy: &Policy,
    ) -> Result<Arc<dyn Transport>, String> {
        let network = || {
            let network = Arc::new(Http::new(HttpOptions::of(environment)));
            guarded(network, policy)
        };
        Ok(match self {
            Self::Network => network(),
            Self::Recorded(path) => {
                let opened = TapeRecorder::open(path, redaction.clone());
                let (recorder, torn) = opened.map_err(|error| error.to_string())?;
                if let Some(torn) = torn {
                    let (path, line) = (path.display(), torn.line);
                    tracing::warn!("{path} line {line} was never finished and is cut off");
                }
                Arc::new(Recording::new(network(), recorder))
            }
            Self::Tape(tape, matching) => {
                let player = TapePlayer::new(tape, matching, redaction.clone());
                Arc::new(Playing::new(player))
            }
        })
    }
}
