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
    let mut headers: Vec<(String, Secret)> = entry
        .extra_headers
        .iter()
        .map(|(name, value)| (name.clone(), Secret::new(value)))
        .collect();
    headers.extend(auth_header(provider, entry, environment)?);
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

fn url(
    provider: &str,
    entry: &Provider,
    wire: Wire,
    environment: &dyn Environment,
    model: &str,
) -> Result<String, Invalid> {
    let mut base = base_url(entry, environment);
    if base.is_empty() {
        let name = provider.to_uppercase().replace(['-', '.'], "_");
        let own = environment.filled(&format!("{name}_BASE_URL"));
        base = own.unwrap_or_default().trim_end_matches('/').to_owned();
    }
    if base.is_empty() {
        return Err(Invalid::new(format!(
            "provider `{provider}` has no base URL; set `base_url` in its configuration"
        )));
    }
    let mut url = base + &entry.chat_endpoint;
    // Google's path names the model and what is wanted of it; the encoder says the latter.
    if wire == Wire::Gemini && !url.contains("{model}") {
        url += "/{model}:generateContent";
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

fn auth_header(
    provider: &str,
    entry: &Provider,
    environment: &dyn Environment,
) -> Result<Option<(String, Secret)>, Invalid> {
    let mut names = entry.auth_env.items().iter();
    let key = names
        .find_map(|name| Some((name.as_str(), environment.filled(name)?.trim())))
        .filter(|_| entry.auth_style != AuthStyle::None);
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
    Ok(Some(match header {
        Some(header) => (header.to_owned(), Secret::new(key)),
        None => (
            "authorization".to_owned(),
            Secret::new(format!("Bearer {key}")),
        ),
    }))
}

fn unavailable(provider: &str, what: &str) -> Invalid {
    Invalid::new(format!(
        "provider `{provider}` needs {what}, which is not available in this build"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(environment: &[(&str, &str)], provider: &str, model: &str) -> Result<Route, Invalid> {
        let rows: std::collections::BTreeMap<String, String> = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let config = Config::built_in();
        build(&config, &Capabilities::default(), &rows, provider, model)
    }

    #[test]
    fn each_provider_is_reached_its_own_way() {
        let rows: [(&[(&str, &str)], &str, &str, Wire, &str, &str); 9] = [
            (
                &[("ANTHROPIC_API_KEY", "k")],
                "anthropic",
                "claude-opus-4-6",
                Wire::Anthropic,
                "https://api.anthropic.com/v1/messages",
                "anthropic-version: 2023-06-01, x-api-key: k",
            ),
            (
                &[("OPENAI_API_KEY", "k")],
                "openai",
                "gpt-4o",
                Wire::Chat,
                "https://api.openai.com/v1/chat/completions",
                "authorization: Bearer k",
            ),
            (
                &[("OLLAMA_HOST", "127.0.0.1:9/")],
                "ollama",
                "llama3.2",
                Wire::Ollama,
                "http://127.0.0.1:9/api/chat",
                "",
            ),
            (
                &[("GOOGLE_API_KEY", "k")],
                "gemini",
                "gemini-2.5-pro",
                Wire::Gemini,
                "https://generativelanguage.googleapis.com/v1beta/models/{model}:generateContent",
                "x-goog-api-key: k",
            ),
            (
                &[("HUGGINGFACE_API_KEY", "k")],
                "huggingface",
                "m",
                Wire::Chat,
                "https://router.huggingface.co/v1/chat/completions",
                "authorization: Bearer k",
            ),
            (
                &[
                    ("AZURE_OPENAI_API_KEY", "k"),
                    ("AZURE_OPENAI_RESOURCE", "us"),
                ],
                "azure_openai",
                "gpt-4o",
                Wire::Chat,
                "https://us.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21",
                "api-key: k",
            ),
            (
                &[
                    ("AZURE_OPENAI_AD_TOKEN", "t"),
                    ("AZURE_OPENAI_ENDPOINT", "https://x.example/"),
                    ("AZURE_OPENAI_DEPLOYMENT", "d"),
                    ("AZURE_OPENAI_API_VERSION", "v"),
                ],
                "azure_openai",
                "gpt-4o",
                Wire::Chat,
                "https://x.example/openai/deployments/d/chat/completions?api-version=v",
                "authorization: Bearer t",
            ),
            (
                &[
                    ("VERTEX_AI_ACCESS_TOKEN", "t"),
                    ("GOOGLE_CLOUD_PROJECT", "p"),
                ],
                "vertex",
                "gemini-2.5-pro",
                Wire::Gemini,
                "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/{model}:generateContent",
                "authorization: Bearer t",
            ),
            (
                &[("LOCAL_LLM_BASE_URL", "http://h:1")],
                "local",
                "m",
                Wire::Chat,
                "http://h:1/v1/chat/completions",
                "",
            ),
        ];
        for (environment, provider, model, wire, url, headers) in rows {
            let route = route(environment, provider, model).unwrap();
            assert_eq!(route.wire, wire, "{provider}");
            assert_eq!(route.target.url, url, "{provider}");
            let shown: Vec<String> = route
                .target
                .headers
                .iter()
                .map(|(name, value)| format!("{name}: {}", value.expose()))
                .collect();
            assert_eq!(shown.join(", "), headers, "{provider}");
            assert!(!format!("{route:?}").contains("Bearer"), "{provider}");
        }
    }

    #[test]
    fn what_cannot_be_reached_says_why() {
        let rows: [(&[(&str, &str)], &str, &str); 5] = [
            (
                &[("AWS_ACCESS_KEY_ID", "k")],
                "bedrock",
                "provider `bedrock` needs AWS request signing, which is not available in this build",
            ),
            (
                &[("GOOGLE_APPLICATION_CREDENTIALS", "/f.json")],
                "vertex",
                "provider `vertex` needs signing in with a credentials file, which is not available in this build",
            ),
            (
                &[("VERTEX_AI_ACCESS_TOKEN", "t")],
                "vertex",
                "provider `vertex` needs VERTEX_AI_PROJECT or GOOGLE_CLOUD_PROJECT to be set",
            ),
            (
                &[],
                "mock",
                "provider `mock` has no base URL; set `base_url` in its configuration",
            ),
            (
                &[],
                "groq",
                "Missing API key: set GROQ_API_KEY environment variable (provider 'groq' selected via LLM_PROVIDER / llm.toml @ built-in defaults; set HARN_LLM_PROVIDER=mock or LLM_PROVIDER=mock for offline use)",
            ),
        ];
        for (environment, provider, expected) in rows {
            let error = route(environment, provider, "m").unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn a_registered_name_is_reached_through_its_variable() {
        let mut config = Config::built_in();
        config.register("my-box");
        let environment = [("MY_BOX_BASE_URL", "http://h:1/v1")];
        let capabilities = Capabilities::default();
        let route = build(&config, &capabilities, &environment, "my-box", "m").unwrap();
        assert_eq!(route.target.url, "http://h:1/v1/chat/completions");
        assert_eq!(route.wire, Wire::Chat);
    }

    #[test]
    fn the_wire_follows_the_endpoint_unless_the_entry_says_otherwise() {
        let rows = [
            ("p", "/messages", None, Wire::Anthropic),
            ("p", "/responses", None, Wire::Responses),
            ("p", "/api/chat", None, Wire::Ollama),
            ("gemini", "/v1beta/models", None, Wire::Gemini),
            ("vertex", "/x", None, Wire::Gemini),
            ("p", "/chat/completions", None, Wire::Chat),
            ("p", "/messages", Some(WireName::Chat), Wire::Chat),
            ("p", "/x", Some(WireName::Anthropic), Wire::Anthropic),
            ("p", "/x", Some(WireName::Responses), Wire::Responses),
            ("p", "/x", Some(WireName::Gemini), Wire::Gemini),
            ("p", "/x", Some(WireName::Ollama), Wire::Ollama),
        ];
        for (provider, endpoint, name, expected) in rows {
            let entry = Provider {
                chat_endpoint: endpoint.to_owned(),
                wire: name,
                ..Provider::default()
            };
            assert_eq!(wire(provider, &entry), expected, "{endpoint}");
        }
    }
}
