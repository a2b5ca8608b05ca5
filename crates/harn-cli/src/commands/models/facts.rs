//! What several commands tell about providers and models.

use std::collections::BTreeMap;

use harn_vm::KnownModels;
use harn_vm::llm::catalog::config::AuthStyle;
use harn_vm::llm::catalog::{Capability, Environment, StructuredOutput};
use serde::Serialize;

/// How a provider is shown a key, and whether it is there. Never the key.
#[derive(Clone, Debug, Serialize)]
pub(in super::super) struct Key {
    /// The variables that may hold it; none if no key is needed.
    pub(in super::super) variables: Vec<String>,
    /// The one that does.
    pub(in super::super) found_in: Option<String>,
    /// Whether the provider can be asked.
    pub(in super::super) available: bool,
}

impl Key {
    /// In a few words, with the first variable standing for all.
    pub(super) fn tell_briefly(&self) -> String {
        match (&self.found_in, self.variables.as_slice()) {
            (None, [first, _, ..]) => format!("{first}, … missing"),
            (None, [only]) => format!("{only} missing"),
            _ => self.tell(),
        }
    }

    /// In words.
    pub(in super::super) fn tell(&self) -> String {
        match &self.found_in {
            Some(name) => format!("{name} is set"),
            None if self.available => "needs none".to_owned(),
            None => format!("{} is missing", self.variables.join(" or ")),
        }
    }
}

/// The key of a provider.
pub(in super::super) fn key_of(
    known: &KnownModels,
    environment: &BTreeMap<String, String>,
    provider: &str,
) -> Key {
    let entry = known.config.providers.get(provider);
    let names = entry.filter(|entry| entry.auth_style != AuthStyle::None);
    let names = names.map_or(&[][..], |entry| entry.auth_env.items());
    let found_in = names
        .iter()
        .find(|name| environment.filled(name).is_some())
        .cloned();
    Key {
        available: names.is_empty() || found_in.is_some(),
        variables: names.to_vec(),
        found_in,
    }
}

/// What a model can do, in words.
pub(in super::super) fn abilities(capability: &Capability) -> Vec<&'static str> {
    let structured = capability.structured_output != StructuredOutput::None;
    let all = [
        ("tools", capability.native_tools),
        ("search", !capability.tool_search.is_empty()),
        ("json", structured),
        ("thinking", !capability.thinking_modes.is_empty()),
        ("cache", capability.prompt_caching),
        ("vision", capability.vision_supported),
        ("audio", capability.audio),
        ("pdf", capability.pdf),
    ];
    let can = all.into_iter().filter(|(_, can)| *can);
    can.map(|(word, _)| word).collect()
}

/// What to do about a failure of that category.
pub(in super::super) fn next_step(category: &str, provider: &str, key: &Key) -> String {
    let variables = key.variables.join(" or ");
    match category {
        "missing_key" => format!("set {variables}"),
        "auth" => match &key.found_in {
            Some(name) => format!("look whether the key in {name} is still valid"),
            None => format!("set {variables}"),
        },
        "unknown_provider" => "`harn models list` shows the providers".to_owned(),
        "not_found" => format!("`harn models list --provider {provider}` shows models it may know"),
        "rate_limit" | "overloaded" => "wait a moment and try again".to_owned(),
        "timeout" | "transient_network" => {
            "look whether the address is right and can be reached from here; a proxy is named \
             in HTTPS_PROXY"
                .to_owned()
        }
        "invalid_request" => "correct the configuration as the message says".to_owned(),
        "server_error" => "the provider's status page may tell more".to_owned(),
        _ => "the message tells what is wrong; `harn doctor` may tell more".to_owned(),
    }
}
