//! What programs are told about providers and models. Keys are never among it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::config::{Config, Model, Provider};
use super::resolve::{self, Wanted};
use super::{Capabilities, Environment, route};

/// What stands for the value of a header that may hold a key.
const REDACTED: &str = "[redacted]";

/// What the name of a header that may hold a key contains.
const SENSITIVE: [&str; 6] = ["auth", "key", "token", "secret", "cookie", "password"];

/// All there is to tell from.
#[derive(Clone, Copy)]
pub struct Catalog<'a> {
    /// Providers and models.
    pub config: &'a Config,
    /// What models can do.
    pub capabilities: &'a Capabilities,
    /// Where keys are looked for.
    pub environment: &'a dyn Environment,
}

impl Catalog<'_> {
    /// `llm_providers()`
    pub fn providers(self) -> Value {
        let configured = self.config.providers.keys();
        let names: BTreeSet<&String> = configured.chain(&self.config.registered).collect();
        json!(names)
    }

    /// `llm_config(name)`
    pub fn provider(self, name: &str) -> Value {
        match self.config.providers.get(name) {
            Some(entry) => self.describe(name, entry),
            None => Value::Null,
        }
    }

    /// `llm_config()`
    pub fn all_providers(self) -> Value {
        let entries = self.config.providers.iter();
        entries
            .map(|(name, entry)| (name.clone(), self.describe(name, entry)))
            .collect::<Map<String, Value>>()
            .into()
    }

    fn describe(self, name: &str, entry: &Provider) -> Value {
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| {
            if !value.is_null() {
                fields.insert(key.to_owned(), value);
            }
        };
        let features = (!entry.features.is_empty()).then_some(&entry.features);
        let headers = (!entry.extra_headers.is_empty()).then(|| headers(entry));
        put("base_url", route::base_url(entry, self.environment).into());
        put("base_url_env", json!(entry.base_url_env));
        put("auth_style", entry.auth_style.word().into());
        put("auth_envs", json!(entry.auth_env.items()));
        put("auth_available", self.auth_available(name).into());
        put("chat_endpoint", json!(entry.chat_endpoint));
        put("completion_endpoint", json!(entry.completion_endpoint));
        put("auth_header", json!(entry.auth_header));
        put("extra_headers", json!(headers));
        put("features", json!(features));
        put("rpm", json!(entry.rpm));
        put("cost_per_1k_in", json!(entry.cost_per_1k_in));
        put("cost_per_1k_out", json!(entry.cost_per_1k_out));
        put("latency_p50_ms", json!(entry.latency_p50_ms));
        put("display_name", json!(entry.display_name));
        put("icon", json!(entry.icon));
        fields.into()
    }

    fn auth_available(self, provider: &str) -> bool {
        resolve::auth_available(self.config, self.environment, provider)
    }

    /// `llm_infer_provider(model)`
    pub fn infer_provider(self, model: &str) -> Value {
        let found = resolve::find(self.config, self.environment, model);
        found.provider.into()
    }

    /// `llm_model_tier(model)`
    pub fn model_tier(self, model: &str) -> Value {
        resolve::tier(self.config, model).into()
    }

    /// `llm_resolve_model(selector)`
    pub fn resolve_model(self, selector: &str) -> Value {
        let found = resolve::find(self.config, self.environment, selector);
        let alias = found.alias.as_deref();
        json!({
            "id": found.id,
            "provider": found.provider,
            "alias": alias,
            "tool_format": resolve::tool_format(self.config, &found.provider, alias),
            "tier": resolve::tier(self.config, &found.id),
        })
    }

    /// `llm_model_info(selector)`
    pub fn model_info(self, selector: &str) -> Value {
        let found = resolve::find(self.config, self.environment, selector);
        let mut info = self.resolve_model(selector);
        let listed = self.config.models.get(&found.id);
        let catalog = listed.map(|model| describe_model(&found.id, model));
        info["capabilities"] = self.capabilities.describe(&found.provider, &found.id);
        info["catalog"] = catalog.unwrap_or_default();
        info["qc_default_model"] = self.qc_default_model(&found.provider);
        info["auth_available"] = self.auth_available(&found.provider).into();
        info
    }

    /// `llm_known_models()`
    pub fn known_models(self) -> Value {
        let aliases = self.config.aliases.keys();
        let names: BTreeSet<&String> = aliases.chain(self.config.models.keys()).collect();
        json!(names)
    }

    /// `llm_available_providers()`
    pub fn available_providers(self) -> Value {
        let configured = self.config.providers.keys();
        let names: BTreeSet<&String> = configured
            .chain(&self.config.registered)
            .filter(|name| self.auth_available(name))
            .collect();
        json!(names)
    }

    /// `llm_qc_default_model(provider)`
    pub fn qc_default_model(self, provider: &str) -> Value {
        json!(self.config.qc_defaults.get(provider))
    }

    /// `llm_provider_catalog()`
    pub fn provider_catalog(self) -> Value {
        let named = |(name, entry): (&String, &Provider)| {
            let mut fields = self.describe(name, entry);
            fields["name"] = name.as_str().into();
            fields
        };
        let providers: Vec<Value> = self.config.providers.iter().map(named).collect();
        let aliases: Vec<Value> = self
            .config
            .aliases
            .iter()
            .map(|(name, alias)| {
                json!({
                    "name": name,
                    "id": alias.id,
                    "provider": alias.provider,
                    "tool_format": alias.tool_format,
                })
            })
            .collect();
        let models = self.config.models.iter();
        let models: Vec<Value> = models
            .map(|(id, model)| describe_model(id, model))
            .collect();
        json!({
            "providers": providers,
            "known_model_names": self.known_models(),
            "available_providers": self.available_providers(),
            "aliases": aliases,
            "models": models,
            "qc_defaults": self.config.qc_defaults,
        })
    }

    /// `llm_pick_model(target, {provider?})`
    pub fn pick_model(self, target: &str, provider: Option<&str>) -> Value {
        let tier = format!("tier/{target}");
        let name = match self.config.aliases.contains_key(target) {
            false if self.config.aliases.contains_key(&tier) => &tier,
            _ => target,
        };
        let found = resolve::find(self.config, self.environment, name);
        json!({
            "id": found.id,
            "provider": provider.unwrap_or(&found.provider),
            "tier": resolve::tier(self.config, &found.id),
        })
    }

    /// `llm_info()`
    pub fn info(self) -> Value {
        let selection = resolve::select(self.config, self.environment, Wanted::default());
        json!({
            "provider": selection.provider,
            "model": selection.model,
            "api_key_set": self.api_key_set(&selection.provider),
        })
    }

    /// Whether the key of a provider is there; one that needs none has none.
    fn api_key_set(self, provider: &str) -> bool {
        let entry = self.config.providers.get(provider);
        let names = entry.map_or(&[][..], |entry| entry.auth_env.items());
        names
            .iter()
            .any(|name| self.environment.filled(name).is_some())
    }
}

/// Headers as one may show them: whoever puts a key into one would not want to read it in a
/// log.
fn headers(entry: &Provider) -> Map<String, Value> {
    let shown = entry.extra_headers.iter().map(|(name, value)| {
        let value = if is_sensitive(name) { REDACTED } else { value };
        (name.clone(), value.into())
    });
    shown.collect()
}

/// Whether a header of that name may hold a key.
pub fn is_sensitive(header: &str) -> bool {
    let header = header.to_lowercase();
    SENSITIVE.iter().any(|part| header.contains(part))
}

fn describe_model(id: &str, model: &Model) -> Value {
    let pricing = model.pricing.map(|pricing| {
        json!({
            "input_per_mtok": pricing.input_per_mtok,
            "output_per_mtok": pricing.output_per_mtok,
            "cache_read_per_mtok": pricing.cache_read_per_mtok,
            "cache_write_per_mtok": pricing.cache_write_per_mtok,
        })
    });
    json!({
        "id": id,
        "name": model.name,
        "provider": model.provider,
        "context_window": model.context_window,
        "stream_timeout": model.stream_timeout,
        "capabilities": model.capabilities,
        "pricing": pricing,
    })
}

#[cfg(test)]
mod tests;
