//! Which provider and which model are asked.
//!
//! The rules stand in one order, and the first that applies decides; nothing is looked up
//! anywhere but in what is passed in.

use super::config::{AuthStyle, Config};
use super::{Environment, Invalid};

/// The model of a provider that has none of its own.
const MODEL_DEFAULT: &str = "claude-sonnet-4-20250514";

/// Providers with a model of their own.
const MODEL_DEFAULTS: [(&str, &str); 3] = [
    ("openai", "gpt-4o"),
    ("ollama", "llama3.2"),
    ("openrouter", "anthropic/claude-sonnet-4.6"),
];

/// The model of a local server that nobody named.
const LOCAL_MODEL_DEFAULT: &str = "gpt-4o";

/// What a model id may begin with to name its provider.
const PREFIXES: [(&str, &str); 4] = [
    ("local:", "local"),
    ("ollama:", "ollama"),
    ("huggingface:", "huggingface"),
    ("hf:", "huggingface"),
];

/// The tier of a model that nothing is said about.
const TIER_DEFAULT: &str = "mid";

/// The variable that forbids real requests.
pub const CALLS_DISABLED: &str = "HARN_LLM_CALLS_DISABLED";

/// What a caller says about whom to ask.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// The option `provider`.
    pub provider: Option<&'a str>,
    /// The option `model`.
    pub model: Option<&'a str>,
    /// The option `model_tier`.
    pub tier: Option<&'a str>,
}

/// Who is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The provider.
    pub provider: String,
    /// The id it knows the model by.
    pub model: String,
    /// The alias that was used.
    pub alias: Option<String>,
    /// What the operator should know.
    pub warning: Option<String>,
    /// The variable of the key that is missing, where nothing says whom to ask and a server on
    /// this machine is tried for want of anything better.
    pub missing_key: Option<String>,
}

/// A model with its provider, found by a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The id the provider knows.
    pub id: String,
    /// The provider.
    pub provider: String,
    /// The alias it was found by.
    pub alias: Option<String>,
    /// What the operator should know.
    pub warning: Option<String>,
}

/// Who is asked, from what the caller wants, the environment and the configuration.
pub fn select(config: &Config, environment: &dyn Environment, wanted: Wanted<'_>) -> Selection {
    let wanted = Wanted {
        provider: wanted.provider.filter(|text| !text.is_empty()),
        model: wanted.model.filter(|text| !text.is_empty()),
        tier: wanted.tier.filter(|text| !text.is_empty()),
    };
    let model = named_model(config, environment, wanted);
    let Provider {
        name: provider,
        warning,
        missing_key,
    } = provider(config, environment, wanted, model.as_ref());
    match model {
        Some(found) => Selection {
            provider,
            model: found.id,
            alias: found.alias,
            warning,
            missing_key,
        },
        None => Selection {
            model: default_model(environment, &provider),
            provider,
            alias: None,
            warning,
            missing_key,
        },
    }
}

/// The model that somebody named: the caller, by name or tier, or the environment.
fn named_model(
    config: &Config,
    environment: &dyn Environment,
    wanted: Wanted<'_>,
) -> Option<Found> {
    if let Some(model) = wanted.model {
        return Some(find(config, environment, model));
    }
    let tier = wanted.tier.and_then(|tier| tier_alias(config, tier));
    tier.or_else(|| {
        let model = environment.filled("HARN_LLM_MODEL")?;
        Some(find(config, environment, model))
    })
}

/// A provider, and what is to be known about the choice.
#[derive(Default)]
struct Provider {
    name: String,
    warning: Option<String>,
    missing_key: Option<String>,
}

impl Provider {
    fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// The provider, by the first rule that applies.
fn provider(
    config: &Config,
    environment: &dyn Environment,
    wanted: Wanted<'_>,
    model: Option<&Found>,
) -> Provider {
    let auto = wanted
        .provider
        .is_some_and(|name| name.eq_ignore_ascii_case("auto"));
    let inferred = |found: &Found| Provider {
        warning: found.warning.clone(),
        ..Provider::named(&found.provider)
    };
    if let Some(name) = wanted.provider.filter(|_| !auto) {
        return Provider::named(name);
    }
    if let Some(found) = model.filter(|_| auto && wanted.model.is_some()) {
        return inferred(found);
    }
    if let Some(name) = provider_of_environment(environment) {
        return Provider::named(name);
    }
    let local_model = ["HARN_LLM_MODEL", "LOCAL_LLM_MODEL"]
        .into_iter()
        .any(|name| environment.filled(name).is_some());
    if environment.filled("LOCAL_LLM_BASE_URL").is_some() && (wanted.model.is_some() || local_model)
    {
        return Provider::named("local");
    }
    match model {
        Some(found) => inferred(found),
        None => fallback_provider(config, environment),
    }
}

/// The provider that the environment names.
pub fn provider_of_environment(environment: &dyn Environment) -> Option<&str> {
    environment
        .filled("HARN_LLM_PROVIDER")
        .or_else(|| environment.filled("LLM_PROVIDER"))
}

/// The provider when nothing says which.
fn fallback_provider(config: &Config, environment: &dyn Environment) -> Provider {
    let default = config.default_provider(environment);
    if auth_available(config, environment, default) {
        return Provider::named(default);
    }
    if let Some(ollama) = config.providers.get("ollama") {
        // Whoever says where theirs is means it.
        let place = ollama.base_url_env.as_deref();
        let has_place = place.is_some_and(|name| environment.filled(name).is_some());
        let entry = config.providers.get(default).filter(|_| !has_place);
        let missing_key = entry.and_then(|entry| entry.auth_env.items().first().cloned());
        return Provider {
            missing_key,
            ..Provider::named("ollama")
        };
    }
    match environment.filled("LOCAL_LLM_BASE_URL") {
        Some(_) => Provider::named("local"),
        None => Provider::named(default),
    }
}

/// The model of a provider when nobody names one.
pub fn default_model(environment: &dyn Environment, provider: &str) -> String {
    if provider == "local" {
        let model = environment.filled("LOCAL_LLM_MODEL");
        return model.unwrap_or(LOCAL_MODEL_DEFAULT).to_owned();
    }
    let row = MODEL_DEFAULTS.iter().find(|(name, _)| *name == provider);
    row.map_or(MODEL_DEFAULT, |(_, model)| model).to_owned()
}

/// The model of a name: an alias, or an id with the provider it seems to belong to.
pub fn find(config: &Config, environment: &dyn Environment, name: &str) -> Found {
    if let Some(alias) = config.aliases.get(name) {
        return Found {
            id: alias.id.clone(),
            provider: alias.provider.clone(),
            alias: Some(name.to_owned()),
            warning: None,
        };
    }
    let found = |id: &str, provider: &str| Found {
        id: id.to_owned(),
        provider: provider.to_owned(),
        alias: None,
        warning: None,
    };
    let mut rules = config.inference_rules.iter();
    if let Some(rule) = rules.find(|rule| rule.matcher.fits(name)) {
        return found(name, &rule.provider);
    }
    for (prefix, provider) in PREFIXES {
        if let Some(id) = name.strip_prefix(prefix) {
            return found(id, provider);
        }
    }
    if name.matches('/').count() == 1 {
        return found(name, "openrouter");
    }
    if name.contains(':') {
        return found(name, "ollama");
    }
    let default = config.default_provider(environment);
    Found {
        warning: Some(format!(
            "no rule says which provider serves model \"{name}\"; using default provider \"{default}\""
        )),
        ..found(name, default)
    }
}

/// The model a tier stands for.
fn tier_alias(config: &Config, tier: &str) -> Option<Found> {
    let names = [format!("tier/{tier}"), tier.to_owned()];
    names.into_iter().find_map(|name| {
        let alias = config.aliases.get(&name)?;
        Some(Found {
            id: alias.id.clone(),
            provider: alias.provider.clone(),
            alias: Some(name),
            warning: None,
        })
    })
}

/// `llm_model_tier`: how strong a model is.
pub fn tier(config: &Config, name: &str) -> String {
    let id = config.aliases.get(name).map_or(name, |alias| &alias.id);
    let mut rules = config.tier_rules.iter();
    let rule = rules.find(|rule| rule.matcher.fits(id));
    rule.map(|rule| rule.tier.as_str())
        .or(config.tier_defaults.default.as_deref())
        .unwrap_or(TIER_DEFAULT)
        .to_owned()
}

/// The tool format of a model that nobody asked another one for.
pub fn tool_format(config: &Config, provider: &str, alias: Option<&str>) -> String {
    let of_alias = alias
        .and_then(|name| config.aliases.get(name))
        .and_then(|alias| alias.tool_format.clone());
    of_alias.unwrap_or_else(|| {
        let entry = config.providers.get(provider);
        let native = entry.is_some_and(|entry| {
            entry
                .features
                .iter()
                .any(|feature| feature == "native_tools")
        });
        if native { "native" } else { "text" }.to_owned()
    })
}

/// Whether a provider can be asked: its key is there, or it needs none.
pub fn auth_available(config: &Config, environment: &dyn Environment, provider: &str) -> bool {
    let Some(entry) = config.providers.get(provider) else {
        return config.registered.contains(provider);
    };
    let names = entry.auth_env.items();
    entry.auth_style == AuthStyle::None
        || names.is_empty()
        || names.iter().any(|name| environment.filled(name).is_some())
}

/// Checks that the key of a provider is there, before anything is sent.
///
/// # Errors
/// It is not; says which variable to set.
pub fn check_key(
    config: &Config,
    environment: &dyn Environment,
    provider: &str,
) -> Result<(), Invalid> {
    if !config.knows(provider) {
        let known: Vec<&str> = config.providers.keys().map(String::as_str).collect();
        return Err(Invalid::new(format!(
            "Unknown provider \"{provider}\"; configured providers: {}",
            known.join(", ")
        )));
    }
    if auth_available(config, environment, provider) {
        return Ok(());
    }
    let names = match config.providers.get(provider) {
        Some(entry) => entry.auth_env.items().join(" or "),
        None => String::new(),
    };
    let path = config.origin.as_deref().unwrap_or("built-in defaults");
    Err(Invalid::new(format!(
        "Missing API key: set {names} environment variable (provider '{provider}' selected via \
         LLM_PROVIDER / llm.toml @ {path}; set HARN_LLM_PROVIDER=mock or LLM_PROVIDER=mock for \
         offline use)"
    )))
}

/// Checks that real requests are not forbidden.
///
/// # Errors
/// `HARN_LLM_CALLS_DISABLED` is set.
pub fn check_enabled(environment: &dyn Environment, provider: &str) -> Result<(), Invalid> {
    let value = environment.get(CALLS_DISABLED).unwrap_or("");
    let value = value.trim().to_ascii_lowercase();
    match value.as_str() {
        "1" | "true" | "yes" | "on" => Err(Invalid::new(format!(
            "LLM calls are disabled by HARN_LLM_CALLS_DISABLED; provider `{provider}` would make \
             a real LLM request"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
