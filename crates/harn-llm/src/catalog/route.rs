//! The way to a provider: its wire, its URL, its headers with the key in them.

use super::config::{AuthStyle, Config, Provider, WireName};
use super::{Capabilities, Environment, Invalid, resolve};
use crate::Secret;
use crate::wire::{Target, Wire};

/// How a request reaches a model.
#[derive(Clone, Debug)]
pub struct Route {
    /// The provider.
    pub provider: String,
    /// The id it knows the model by.
    pub model: String,
    /// The language it speaks.
    pub wire: Wire,
    /// Where to, with the key.
    pub target: Target,
}

/// In which shape a provider takes tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Anthropic's.
    Anthropic,
    /// OpenAI's, which everybody else takes.
    OpenAi,
}

/// Variables that stand in URLs: their name there, who may set them, and what they are
/// without that.
const PLACES: [(&str, &[&str], Option<&str>); 5] = [
    ("{resource}", &["AZURE_OPENAI_RESOURCE"], None),
    ("{deployment}", &["AZURE_OPENAI_DEPLOYMENT"], None),
    (
        "{api_version}",
        &["AZURE_OPENAI_API_VERSION"],
        Some("2024-10-21"),
    ),
    (
        "{project}",
        &["VERTEX_AI_PROJECT", "GOOGLE_CLOUD_PROJECT"],
        None,
    ),
    (
        "{location}",
        &["VERTEX_AI_LOCATION", "GOOGLE_CLOUD_LOCATION"],
        Some("global"),
    ),
];

/// Whose variable holds the name of a file and not a token.
const CREDENTIAL_FILE: &str = "GOOGLE_APPLICATION_CREDENTIALS";

/// The way to a model.
///
/// # Errors
/// The provider is unknown, its key is missing, a part of its URL is, or it wants requests
/// signed in a way that is not built in.
pub fn build(
    config: &Config,
    capabilities: &Capabilities,
    environment: &dyn Environment,
    provider: &str,
    model: &str,
) -> Result<Route, Invalid> {
    resolve::check_key(config, environment, provider)?;
    let registered = registered();
    let entry = config.providers.get(provider).unwrap_or(&registered);
    let wire = wire(provider, entry);
    let mut headers = extra_headers(entry);
    headers.extend(auth_header(config, provider, entry, environment)?);
    Ok(Route {
        provider: provider.to_owned(),
        model: model.to_owned(),
        wire,
        target: Target {
            provider: provider.to_owned(),
            url: url(provider, entry, wire, environment, model)?,
            headers,
            traits: capabilities.traits(provider, model),
        },
    })
}

/// In which shape a provider takes tools.
pub fn style(config: &Config, provider: &str) -> Style {
    let entry = config.providers.get(provider);
    match entry.is_some_and(|entry| entry.chat_endpoint.contains("/messages")) {
        true => Style::Anthropic,
        false => Style::OpenAi,
    }
}

/// Where a provider is: what its variable says, or its entry.
pub fn base_url(entry: &Provider, environment: &dyn Environment) -> String {
    let name = entry.base_url_env.as_deref();
    let url = name
        .and_then(|name| environment.filled(name))
        .unwrap_or(&entry.base_url)
        .trim()
        .trim_end_matches('/');
    // Ollama's variable is often just a host and a port.
    match url.is_empty() || url.contains("://") {
        true => url.to_owned(),
        false => format!("http://{url}"),
    }
}

/// The language a provider speaks.
pub fn wire(provider: &str, entry: &Provider) -> Wire {
    let path = entry.chat_endpoint.split('?').next().unwrap_or_default();
    match entry.wire {
        Some(WireName::Anthropic) => Wire::Anthropic,
        Some(WireName::Chat) => Wire::Chat,
        Some(WireName::Responses) => Wire::Responses,
        Some(WireName::Gemini) => Wire::Gemini,
        Some(WireName::Ollama) => Wire::Ollama,
        None if path.contains("/messages") => Wire::Anthropic,
        None if path.ends_with("/responses") => Wire::Responses,
        None if path.ends_with("/api/chat") => Wire::Ollama,
        None if provider == "gemini" || provider == "vertex" => Wire::Gemini,
        None => Wire::Chat,
    }
}

/// The entry of a provider that a program registered by name: it says where it is by its own
/// variable.
fn registered() -> Provider {
    Provider {
        auth_style: AuthStyle::None,
        chat_endpoint: "/chat/completions".to_owned(),
        ..Provider::default()
    }
}

/// Where a provider is, for those who want to know its host: what the environment says of its
/// address is put in, and what only a request knows is left out.
pub(crate) fn place(provider: &str, entry: &Provider, environment: &dyn Environment) -> String {
    let mut url = base_url_of(provider, entry, environment);
    for (place, names, default) in PLACES {
        let set = names.iter().find_map(|name| environment.filled(name));
        if let Some(value) = set.or(default) {
            url = url.replace(place, value);
        }
    }
    url
}

/// The base URL of an entry, or that of the variable which is named after the provider.
fn base_url_of(provider: &str, entry: &Provider, environment: &dyn Environment) -> String {
    let base = base_url(entry, environment);
    if !base.is_empty() {
        return base;
    }
    let name = provider.to_uppercase().replace(['-', '.'], "_");
    let own = environment.filled(&format!("{name}_BASE_URL"));
    own.unwrap_or_default().trim_end_matches('/').to_owned()
}

fn url(
    provider: &str,
    entry: &Provider,
    wire: Wire,
    environment: &dyn Environment,
    model: &str,
) -> Result<String, Invalid> {
    let base = base_url_of(provider, entry, environment);
    if base.is_empty() {
        return Err(Invalid::new(format!(
            "provider `{provider}` has no base URL; set `base_url` in its configuration"
        )));
    }
    let mut url = base + &entry.chat_endpoint;
    // Google's path names the model and what is wanted of it; the encoder says both.
    if let (Wire::Gemini, Some(at)) = (wire, url.find("/{model}")) {
        url.truncate(at);
    }
    for (place, names, default) in PLACES {
        if !url.contains(place) {
            continue;
        }
        let set = names.iter().find_map(|name| environment.filled(name));
        // What Azure calls a deployment is usually named like the model it runs.
        let own = (place == "{deployment}").then_some(model);
        let Some(value) = set.or(own).or(default) else {
            return Err(Invalid::new(format!(
                "provider `{provider}` needs {} to be set",
                names.join(" or ")
            )));
        };
        url = url.replace(place, value);
    }
    Ok(url)
}

fn extra_headers(entry: &Provider) -> Vec<(String, Secret)> {
    let headers = entry.extra_headers.iter();
    headers
        .map(|(name, value)| (name.clone(), Secret::new(value)))
        .collect()
}

/// The header that shows the key. The transport sends it to the hosts of that key only.
fn auth_header(
    config: &Config,
    provider: &str,
    entry: &Provider,
    environment: &dyn Environment,
) -> Result<Option<(String, Secret)>, Invalid> {
    let mut names = entry.auth_env.items().iter();
    let key = names.find_map(|name| Some((name.as_str(), environment.filled(name)?.trim())));
    if entry.auth_style == AuthStyle::AwsSigv4 {
        return Err(unavailable(provider, "AWS request signing"));
    }
    let Some((name, key)) = key else {
        return Ok(None);
    };
    if name == CREDENTIAL_FILE {
        return Err(unavailable(provider, "signing in with a credentials file"));
    }
    let header = match entry.auth_style {
        AuthStyle::Header => Some(entry.auth_header.as_deref().unwrap_or("x-api-key")),
        AuthStyle::AzureOpenai if name.ends_with("_API_KEY") => Some("api-key"),
        AuthStyle::AzureOpenai | AuthStyle::Bearer => None,
        AuthStyle::None | AuthStyle::AwsSigv4 => return Ok(None),
    };
    let (header, secret) = match header {
        Some(header) => (header, Secret::new(key)),
        None => ("authorization", Secret::new(format!("Bearer {key}"))),
    };
    let audience = config.audiences.of(name, environment);
    Ok(Some((header.to_owned(), secret.only_for(audience))))
}

fn unavailable(provider: &str, what: &str) -> Invalid {
    Invalid::new(format!(
        "provider `{provider}` needs {what}, which is not available in this build"
    ))
}

#[cfg(test)]
mod tests;
