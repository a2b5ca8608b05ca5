//! What tokens cost.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use harn_vm::KnownModels;
use harn_vm::llm::catalog::{ProjectTrust, price};

/// What tokens cost, as it is configured. Nothing is read before the first model has answered.
pub(in crate::commands) struct Prices {
    manifest: Option<PathBuf>,
    environment: BTreeMap<String, String>,
    known: OnceLock<Option<KnownModels>>,
}

impl Prices {
    pub(in crate::commands) fn new(
        manifest: Option<PathBuf>,
        environment: BTreeMap<String, String>,
    ) -> Self {
        Self {
            manifest,
            environment,
            known: OnceLock::new(),
        }
    }

    /// Everything is free.
    #[cfg(test)]
    pub(in crate::commands) fn none() -> Self {
        let prices = Self::new(None, BTreeMap::new());
        prices.known.get_or_init(|| None);
        prices
    }

    /// How many tokens a model can see; `None` if nobody knows.
    pub(in crate::commands) fn context_window(&self, model: &str) -> Option<u64> {
        let known = self.known()?;
        Some(known.config.models.get(model)?.context_window)
    }

    /// What an answer cost; 0 if nobody knows.
    pub(in crate::commands) fn cost(
        &self,
        provider: &str,
        model: &str,
        input: u64,
        output: u64,
    ) -> f64 {
        let whole = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        self.known().map_or(0.0, |known| {
            let provider = Some(provider).filter(|provider| !provider.is_empty());
            price::cost(&known.config, provider, model, whole(input), whole(output))
        })
    }

    /// A configuration that cannot be read was told about when the program asked for models.
    fn known(&self) -> Option<&KnownModels> {
        let read = || {
            KnownModels::read(
                self.manifest.as_deref(),
                ProjectTrust::Trusted,
                &self.environment,
            )
            .ok()
        };
        self.known.get_or_init(read).as_ref()
    }
}
