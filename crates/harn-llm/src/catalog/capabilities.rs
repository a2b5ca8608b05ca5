//! What models can do: rules as data, and who is asked first.
//!
//! ```text
//! provider's user rules ─► provider's own rules ─► the same for its family ─► nothing
//! ```
//!
//! Provider `mock` has the rules of Anthropic, then those of OpenAI, so that a program can be
//! tried out under the name of either's models.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::config::{OneOrMany, Source, explain};
use super::{Invalid, version};
use crate::glob;
use crate::wire::ModelTraits;

/// The rules that come with the program.
const BUILT_IN: &str = include_str!("../../catalog/capabilities.toml");

/// The version of Claude from which the beginning of an answer can no longer be given.
const CLAUDE_WITHOUT_PREFILL: (u32, u32) = (4, 6);

/// The version of Claude from which it thinks adaptively and takes no sampling parameters.
const CLAUDE_ADAPTIVE: (u32, u32) = (4, 7);

/// All rules, with those of the user before ours.
#[derive(Clone, Debug)]
pub struct Capabilities {
    built_in: Rules,
    /// What the manifest of the project says; stays when the program clears its own.
    manifest: Rules,
    /// What the program installed last.
    user: Rules,
}

/// The tables of one source.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Rules {
    provider: BTreeMap<String, Vec<Rule>>,
    provider_family: BTreeMap<String, String>,
}

/// For which models something holds.
#[derive(Clone, Debug, Deserialize)]
struct Rule {
    model_match: OneOrMany,
    version_min: Option<(u32, u32)>,
    #[serde(flatten)]
    capability: Capability,
}

/// What a model can do. Without a rule: nothing.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Capability {
    /// Tools in the request rather than in the prompt.
    pub native_tools: bool,
    /// Tools whose schemas it sees only when it asks.
    pub defer_loading: bool,
    /// The searches its provider runs.
    pub tool_search: Vec<String>,
    /// How many tools a request may have.
    pub max_tools: Option<u64>,
    /// Prompt caching on request.
    pub prompt_caching: bool,
    /// How it can be made to think: `enabled`, `adaptive`, `effort`.
    pub thinking_modes: Vec<String>,
    /// Thinking between calls.
    pub interleaved_thinking_supported: bool,
    /// Names for Anthropic's beta header that every request needs.
    pub anthropic_beta_features: Vec<String>,
    /// Pictures.
    #[serde(alias = "vision")]
    pub vision_supported: bool,
    /// Sound.
    pub audio: bool,
    /// Documents.
    pub pdf: bool,
    /// Whether it wants its earlier thoughts back.
    pub preserve_thinking: bool,
    /// Whether the output cap is called `max_completion_tokens`.
    pub requires_completion_tokens: bool,
    /// Whether it takes a level of effort.
    pub reasoning_effort_supported: bool,
    /// How structured output is asked for.
    pub structured_output: StructuredOutput,
    /// The tool format it does best with, where we know.
    pub preferred_tool_format: Option<String>,
    /// Which tool formats it can do at all.
    pub tool_mode_parity: Parity,
}

/// How structured output is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StructuredOutput {
    /// Not at all.
    #[default]
    None,
    /// By a field of the request.
    Native,
    /// By a tool it has to call.
    ToolUse,
    /// By Ollama's `format`.
    FormatKw,
}

/// Which tool formats a model can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parity {
    /// Nobody knows.
    #[default]
    Unknown,
    /// Only native calls.
    NativeOnly,
    /// Only calls in its text.
    TextOnly,
    /// Native calls, but one cannot rely on them.
    NativeUnreliable,
    /// Calls in its text, but one cannot rely on them.
    TextUnreliable,
}

impl Parity {
    /// The word events show.
    pub fn word(self) -> &'static str {
        match self {
            Parity::Unknown => "unknown",
            Parity::NativeOnly => "native_only",
            Parity::TextOnly => "text_only",
            Parity::NativeUnreliable => "native_unreliable",
            Parity::TextUnreliable => "text_unreliable",
        }
    }
}

impl Default for Capabilities {
    fn default() -> Self {
        let built_in = toml::from_str(BUILT_IN).expect("a test reads the built-in rules");
        Self {
            built_in,
            manifest: Rules::default(),
            user: Rules::default(),
        }
    }
}

impl Capabilities {
    /// Our rules with those of a project's manifest (`[[capabilities.provider.<name>]]`)
    /// before them.
    ///
    /// # Errors
    /// The rules are not written as rules are; says where.
    pub fn load(manifest: Option<Source<'_>>) -> Result<Self, Invalid> {
        #[derive(Deserialize)]
        struct Manifest {
            #[serde(default)]
            capabilities: Rules,
        }
        let mut capabilities = Self::default();
        if let Some(source) = manifest {
            let manifest: Manifest =
                toml::from_str(source.text).map_err(|error| explain(source, &error))?;
            capabilities.manifest = manifest.capabilities;
        }
        Ok(capabilities)
    }

    /// `provider_capabilities_install`: these are the user's rules now.
    ///
    /// # Errors
    /// The text is not TOML, or its tables are no rules.
    pub fn install(&mut self, text: &str) -> Result<(), Invalid> {
        let rules = toml::from_str(text).map_err(|error| {
            let line = super::config::line_of(text, &error);
            let reason = error.message();
            Invalid::new(format!(
                "provider_capabilities_install: parse error: {reason} at line {line}"
            ))
        })?;
        self.user = rules;
        Ok(())
    }

    /// `provider_capabilities_clear`: the user has no rules any more.
    pub fn clear(&mut self) {
        self.user = Rules::default();
    }

    /// What a model can do.
    pub fn of(&self, provider: &str, model: &str) -> Capability {
        let model = model.to_lowercase();
        self.chain(provider)
            .iter()
            .find_map(|name| self.rule(name, &model))
            .map(|rule| rule.capability.clone())
            .unwrap_or_default()
    }

    /// What an encoder has to know about a model.
    pub fn traits(&self, provider: &str, model: &str) -> ModelTraits {
        let capability = self.of(provider, model);
        let claude = version::claude_version(model);
        ModelTraits {
            requires_completion_tokens: capability.requires_completion_tokens,
            adaptive_only: claude.is_some_and(|version| version >= CLAUDE_ADAPTIVE),
            accepts_prefill: claude.is_none_or(|version| version < CLAUDE_WITHOUT_PREFILL),
            interleaved_thinking: capability.interleaved_thinking_supported,
            preserve_thinking: capability.preserve_thinking,
        }
    }

    /// The dict of `provider_capabilities`.
    pub fn describe(&self, provider: &str, model: &str) -> Value {
        let capability = self.of(provider, model);
        json!({
            "provider": provider,
            "model": model,
            "native_tools": capability.native_tools,
            "defer_loading": capability.defer_loading,
            "tool_search": capability.tool_search,
            "max_tools": capability.max_tools,
            "prompt_caching": capability.prompt_caching,
            "thinking": !capability.thinking_modes.is_empty(),
            "thinking_modes": capability.thinking_modes,
            "interleaved_thinking_supported": capability.interleaved_thinking_supported,
            "anthropic_beta_features": capability.anthropic_beta_features,
            "vision_supported": capability.vision_supported,
            "audio": capability.audio,
            "pdf": capability.pdf,
            "preserve_thinking": capability.preserve_thinking,
            "requires_completion_tokens": capability.requires_completion_tokens,
            "reasoning_effort_supported": capability.reasoning_effort_supported,
        })
    }

    /// Whose rules are asked, in order.
    fn chain<'a>(&'a self, provider: &'a str) -> Vec<&'a str> {
        let mut chain = vec![provider];
        if provider == "mock" {
            chain.extend(["anthropic", "openai"]);
            return chain;
        }
        while let Some(family) = self.family(chain[chain.len() - 1]) {
            // A user may write a circle.
            if chain.contains(&family) {
                break;
            }
            chain.push(family);
        }
        chain
    }

    fn family(&self, provider: &str) -> Option<&str> {
        self.sources()
            .find_map(|rules| rules.provider_family.get(provider))
            .map(String::as_str)
    }

    fn rule(&self, provider: &str, model: &str) -> Option<&Rule> {
        self.sources()
            .filter_map(|rules| rules.provider.get(provider))
            .flatten()
            .find(|rule| rule.fits(model))
    }

    fn sources(&self) -> impl Iterator<Item = &Rules> {
        [&self.user, &self.manifest, &self.built_in].into_iter()
    }
}

/// Where a rule is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The program installed it.
    Program,
    /// The manifest of the project.
    Manifest,
    /// It came with Harn.
    BuiltIn,
}

/// A rule, for people.
#[derive(Clone, Copy, Debug)]
pub struct RuleView<'a> {
    /// Where it is from.
    pub origin: Origin,
    /// Whose models.
    pub provider: &'a str,
    /// Which of them: globs over the lower-cased id.
    pub models: &'a [String],
    /// From which version.
    pub version_min: Option<(u32, u32)>,
    /// What they can do.
    pub capability: &'a Capability,
}

impl Capabilities {
    /// All rules: by source, then by provider, then in the order in which they are tried.
    pub fn rules(&self) -> impl Iterator<Item = RuleView<'_>> {
        let sources = [
            (Origin::Program, &self.user),
            (Origin::Manifest, &self.manifest),
            (Origin::BuiltIn, &self.built_in),
        ];
        let lists = sources.into_iter().flat_map(|(origin, rules)| {
            let lists = rules.provider.iter();
            lists.map(move |(provider, rules)| (origin, provider, rules))
        });
        lists.flat_map(|(origin, provider, rules)| {
            rules.iter().map(move |rule| RuleView {
                origin,
                provider,
                models: rule.model_match.items(),
                version_min: rule.version_min,
                capability: &rule.capability,
            })
        })
    }

    /// Whose rules a provider has when it has none of its own.
    pub fn families(&self) -> BTreeMap<&str, &str> {
        let sources = [&self.built_in, &self.manifest, &self.user].into_iter();
        let families = sources.flat_map(|rules| &rules.provider_family);
        families
            .map(|(provider, family)| (provider.as_str(), family.as_str()))
            .collect()
    }
}

impl Capability {
    /// Whether it can be made to think that way.
    pub fn thinks(&self, mode: &str) -> bool {
        self.thinking_modes.iter().any(|known| known == mode)
    }
}

impl Rule {
    fn fits(&self, model: &str) -> bool {
        let named = self
            .model_match
            .items()
            .iter()
            .any(|pattern| glob::matches(&pattern.to_lowercase(), model));
        named
            && self
                .version_min
                .is_none_or(|min| version::version(model).is_some_and(|version| version >= min))
    }
}

#[cfg(test)]
mod tests;
