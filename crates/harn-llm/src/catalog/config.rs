//! The file layout of providers, aliases and models, and how its sources come together.
//!
//! A provider file replaces what comes with the program; the `[llm]` section of a project's
//! manifest is merged on top: maps by key, lists of rules in front of what is there.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Environment, Invalid};
use crate::audience::Audiences;
use crate::glob;

/// What is known without any configuration.
const BUILT_IN: &str = include_str!("../../catalog/providers.toml");

/// The provider when nobody names one.
const DEFAULT_PROVIDER: &str = "anthropic";

/// Where the provider file is, when no variable says so; below the home directory.
const PROVIDER_FILE: &str = ".config/harn/providers.toml";

/// What the administrator of the machine says about safety.
const MACHINE_SAFETY_FILE: &str = "/etc/harn/safety.toml";

/// Whether the operator trusts what came with a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProjectTrust {
    /// What its files say counts.
    #[default]
    Trusted,
    /// Its files may not start, send, or tell a model anything.
    Untrusted,
}

/// A file that somebody has read.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Where it is, for messages.
    pub path: &'a str,
    /// What it says.
    pub text: &'a str,
}

/// All that is configured.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Config {
    /// The provider when nobody names one.
    pub default_provider: Option<String>,
    /// Providers by name.
    pub providers: BTreeMap<String, Provider>,
    /// Short names of models.
    pub aliases: BTreeMap<String, Alias>,
    /// Which provider a model belongs to; the first that fits.
    pub inference_rules: Vec<InferenceRule>,
    /// How strong a model is; the first that fits.
    pub tier_rules: Vec<TierRule>,
    /// How strong a model is that no rule knows.
    pub tier_defaults: TierDefaults,
    /// Sampling of models by glob.
    pub model_defaults: BTreeMap<String, Map<String, Value>>,
    /// Models by id.
    pub models: BTreeMap<String, Model>,
    /// The cheap model of each provider.
    pub qc_defaults: BTreeMap<String, String>,
    /// The provider file this was read from.
    #[serde(skip)]
    pub origin: Option<String>,
    /// Names a program registered for servers that speak OpenAI's wire.
    #[serde(skip)]
    pub registered: BTreeSet<String>,
    /// Where keys may be sent. No manifest has a say in it.
    #[serde(skip)]
    pub audiences: Audiences,
}

/// Who serves models.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Provider {
    /// What people call it.
    pub display_name: Option<String>,
    /// A picture of it.
    pub icon: Option<String>,
    /// Where it is.
    pub base_url: String,
    /// The variable that says where else.
    pub base_url_env: Option<String>,
    /// How it is shown the key.
    pub auth_style: AuthStyle,
    /// The header for the key, if the style is `header`.
    pub auth_header: Option<String>,
    /// The variables that may hold the key.
    pub auth_env: OneOrMany,
    /// Headers of every request.
    pub extra_headers: BTreeMap<String, String>,
    /// Where conversations go.
    pub chat_endpoint: String,
    /// Where texts go that are to be continued.
    pub completion_endpoint: Option<String>,
    /// How one asks whether it is there.
    pub healthcheck: Option<Healthcheck>,
    /// What all its models can do.
    pub features: Vec<String>,
    /// Who is asked when it fails.
    pub fallback: Option<String>,
    /// Requests a minute.
    pub rpm: Option<i64>,
    /// How often a failed request is repeated.
    pub retry_count: Option<u64>,
    /// How long to wait before that.
    pub retry_delay_ms: Option<u64>,
    /// Dollars for a thousand tokens it reads.
    pub cost_per_1k_in: Option<f64>,
    /// Dollars for a thousand tokens it writes.
    pub cost_per_1k_out: Option<f64>,
    /// How long half of its answers take at most.
    pub latency_p50_ms: Option<i64>,
    /// The wire it speaks, if the endpoint does not tell.
    pub wire: Option<WireName>,
}

/// The name of a wire in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireName {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Google's Gemini.
    Gemini,
    /// Ollama's own.
    Ollama,
}

/// How a provider is shown the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthStyle {
    /// In a header of its own.
    Header,
    /// As `Authorization: Bearer …`.
    #[default]
    Bearer,
    /// Not at all.
    None,
    /// By a signature of the whole request.
    AwsSigv4,
    /// As `api-key`, or as a bearer token of the directory.
    AzureOpenai,
}

impl AuthStyle {
    /// The word in files.
    pub fn word(self) -> &'static str {
        match self {
            AuthStyle::Header => "header",
            AuthStyle::Bearer => "bearer",
            AuthStyle::None => "none",
            AuthStyle::AwsSigv4 => "aws_sigv4",
            AuthStyle::AzureOpenai => "azure_openai",
        }
    }
}

/// One text, or several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a string or a list of strings")]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl OneOrMany {
    /// All of them.
    pub fn items(&self) -> &[String] {
        match self {
            OneOrMany::One(item) => std::slice::from_ref(item),
            OneOrMany::Many(items) => items,
        }
    }
}

impl Default for OneOrMany {
    fn default() -> Self {
        OneOrMany::Many(Vec::new())
    }
}

/// How one asks whether a provider is there.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Healthcheck {
    /// The method of HTTP.
    pub method: Option<String>,
    /// Below the base URL.
    pub path: Option<String>,
    /// Or anywhere.
    pub url: Option<String>,
    /// What is sent.
    pub body: Option<String>,
}

/// A short name of a model.
#[derive(Clone, Debug, Deserialize)]
pub struct Alias {
    /// The id the provider knows.
    pub id: String,
    /// Whose it is.
    pub provider: String,
    /// The tool format it does best with.
    pub tool_format: Option<String>,
}

/// Which ids are meant.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Matcher {
    /// A glob.
    pub pattern: Option<String>,
    /// A part of the id.
    pub contains: Option<String>,
    /// The whole id.
    pub exact: Option<String>,
    /// Whether capitals make no difference.
    pub ignore_case: bool,
}

impl Matcher {
    /// Whether an id is meant. Whatever is given has to fit; a matcher that gives nothing
    /// fits nothing.
    pub fn fits(&self, id: &str) -> bool {
        let fold = |text: &str| match self.ignore_case {
            true => text.to_lowercase(),
            false => text.to_owned(),
        };
        let id = fold(id);
        let checks = [
            (&self.pattern, glob::matches as fn(&str, &str) -> bool),
            (&self.contains, |part, id| id.contains(part)),
            (&self.exact, |exact, id| id == exact),
        ];
        let mut given = checks
            .iter()
            .filter_map(|(wanted, check)| Some((wanted.as_deref()?, check)))
            .peekable();
        given.peek().is_some() && given.all(|(wanted, check)| check(&fold(wanted), &id))
    }
}

/// Which provider a model belongs to.
#[derive(Clone, Debug, Deserialize)]
pub struct InferenceRule {
    /// For which models.
    #[serde(flatten)]
    pub matcher: Matcher,
    /// Whose they are.
    pub provider: String,
}

/// How strong a model is.
#[derive(Clone, Debug, Deserialize)]
pub struct TierRule {
    /// For which models.
    #[serde(flatten)]
    pub matcher: Matcher,
    /// `small`, `mid` or `frontier`.
    pub tier: String,
}

/// How strong a model is that no rule knows.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct TierDefaults {
    /// The tier.
    pub default: Option<String>,
}

/// A model of the catalog.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Model {
    /// What people call it.
    pub name: String,
    /// Whose it is.
    pub provider: String,
    /// How many tokens it can read.
    pub context_window: u64,
    /// How many seconds its stream may be silent.
    pub stream_timeout: Option<u64>,
    /// What it can do, in words for people.
    pub capabilities: Vec<String>,
    /// What it costs.
    pub pricing: Option<Pricing>,
}

/// Dollars for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub struct Pricing {
    /// That it reads.
    pub input_per_mtok: f64,
    /// That it writes.
    pub output_per_mtok: f64,
    /// That it remembered.
    pub cache_read_per_mtok: Option<f64>,
    /// That it is to remember.
    pub cache_write_per_mtok: Option<f64>,
}

impl Config {
    /// Where the provider file is, if there is one. Who calls reads it.
    pub fn provider_file(environment: &dyn Environment) -> Option<String> {
        match environment.filled("HARN_PROVIDERS_CONFIG") {
            Some(path) => Some(path.to_owned()),
            None => {
                let home = environment.filled("HOME")?;
                Some(format!("{}/{PROVIDER_FILE}", home.trim_end_matches('/')))
            }
        }
    }

    /// Where the safety files are: that of the machine, and the operator's own. Each may be
    /// missing.
    pub fn safety_files(environment: &dyn Environment) -> Vec<String> {
        let folder = environment.filled("XDG_CONFIG_HOME");
        let folder = folder.filter(|folder| folder.starts_with('/'));
        let home = || Some(format!("{}/.config", environment.filled("HOME")?));
        let folder = folder.map(str::to_owned).or_else(home);
        let own = folder.map(|folder| format!("{folder}/harn/safety.toml"));
        [MACHINE_SAFETY_FILE.to_owned()]
            .into_iter()
            .chain(own)
            .collect()
    }

    /// All that is configured: the provider file, or else what comes with the program, and on
    /// top of it the `[llm]` section of a manifest.
    ///
    /// # Errors
    /// A file is not TOML, or a key has a value of the wrong kind; says which and where.
    pub fn load(
        provider_file: Option<Source<'_>>,
        manifest: Option<Source<'_>>,
    ) -> Result<Self, Invalid> {
        #[derive(Deserialize)]
        struct Manifest {
            #[serde(default)]
            llm: Config,
        }
        let built_in = Self::built_in();
        let mut config = match provider_file {
            Some(source) => {
                let mut own: Self = read(source)?;
                own.audiences = built_in.audiences;
                own.audiences.add_providers(&own.providers);
                own
            }
            None => built_in,
        };
        config.origin = provider_file.map(|source| source.path.to_owned());
        if let Some(source) = manifest {
            let manifest: Manifest = read(source)?;
            config.merge(manifest.llm);
        }
        Ok(config)
    }

    /// Whether a manifest says where models are asked, or how.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn names_providers(manifest: Source<'_>) -> Result<bool, Invalid> {
        let manifest: toml::Table = read(manifest)?;
        let providers = manifest.get("llm").and_then(|llm| llm.get("providers"));
        Ok(providers.is_some())
    }

    /// What is known without any configuration.
    pub fn built_in() -> Self {
        let mut config: Self =
            toml::from_str(BUILT_IN).expect("a test reads the built-in providers");
        config.audiences.add_providers(&config.providers);
        config
    }

    /// `provider_register`: a name for a server that speaks OpenAI's wire.
    pub fn register(&mut self, name: &str) {
        self.registered.insert(name.to_owned());
    }

    /// Whether a name is that of a provider.
    pub fn knows(&self, provider: &str) -> bool {
        self.providers.contains_key(provider) || self.registered.contains(provider)
    }

    /// The provider when nobody names one.
    pub fn default_provider<'a>(&'a self, environment: &'a dyn Environment) -> &'a str {
        environment
            .filled("HARN_DEFAULT_PROVIDER")
            .or(self.default_provider.as_deref())
            .unwrap_or(DEFAULT_PROVIDER)
    }

    /// The sampling that a model wants, from all globs that fit. Where two disagree, the one
    /// that says more decides.
    pub fn defaults_of(&self, model: &str) -> Map<String, Value> {
        let mut fitting: Vec<_> = self
            .model_defaults
            .iter()
            .filter(|(pattern, _)| glob::matches(pattern, model))
            .collect();
        fitting.sort_by_key(|(pattern, _)| glob::weight(pattern));
        let values = fitting.into_iter().flat_map(|(_, values)| values.clone());
        values.collect()
    }

    /// How many requests a minute a provider takes: what the environment says, or its entry.
    pub fn rpm(&self, environment: &dyn Environment, provider: &str) -> Option<u64> {
        let name = provider.to_uppercase().replace(['-', '.'], "_");
        let from_environment = environment
            .filled(&format!("HARN_RATE_LIMIT_{name}"))
            .and_then(|text| text.trim().parse::<i64>().ok());
        let rpm = from_environment.or_else(|| self.providers.get(provider)?.rpm)?;
        u64::try_from(rpm).ok().filter(|rpm| *rpm > 0)
    }

    fn merge(&mut self, over: Config) {
        if over.default_provider.is_some() {
            self.default_provider = over.default_provider;
        }
        if over.tier_defaults.default.is_some() {
            self.tier_defaults = over.tier_defaults;
        }
        self.providers.extend(over.providers);
        self.aliases.extend(over.aliases);
        self.model_defaults.extend(over.model_defaults);
        self.models.extend(over.models);
        self.qc_defaults.extend(over.qc_defaults);
        self.inference_rules.splice(0..0, over.inference_rules);
        self.tier_rules.splice(0..0, over.tier_rules);
    }
}

fn read<T: serde::de::DeserializeOwned>(source: Source<'_>) -> Result<T, Invalid> {
    toml::from_str(source.text).map_err(|error| explain(source, &error))
}

/// What is wrong with a file: where, which key, why.
pub(crate) fn explain(source: Source<'_>, error: &toml::de::Error) -> Invalid {
    let line = line_of(source.text, error);
    let key = key_at(source.text, line).map_or(String::new(), |key| format!(" `{key}`:"));
    let reason = error.message().trim();
    Invalid::new(format!("{} line {line}:{key} {reason}", source.path))
}

/// The line of a mistake, from 1.
pub(super) fn line_of(text: &str, error: &toml::de::Error) -> usize {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    1 + text.as_bytes()[..at]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
}

/// The key that is written in a line, with the table it stands in.
fn key_at(text: &str, line: usize) -> Option<String> {
    let lines: Vec<&str> = text.lines().take(line).collect();
    let table = lines.iter().rev().find_map(|line| {
        let line = line.trim();
        let inner = line.strip_prefix('[')?.trim_start_matches('[');
        Some(inner.split(']').next().unwrap_or_default().trim())
    });
    let here = lines.last()?.trim();
    let key = here.split_once('=').map(|(key, _)| key.trim());
    match (table, key) {
        (Some(table), Some(key)) => Some(format!("{table}.{key}")),
        (Some(name), None) | (None, Some(name)) => Some(name.to_owned()),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests;
