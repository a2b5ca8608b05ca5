//! Tools whose schemas a model sees only after it has searched for them.
//!
//! ```text
//! option + tools ─► plan ─┬─► the provider searches: all tools go out, with their flags
//!                         └─► we search: a synthetic tool goes first, deferred tools stay here
//!                                 └─► Corpus::search ─► Promoted ─► the next turn's tools
//! ```

mod corpus;
mod promoted;

use serde_json::{Map, Value, json};

use crate::catalog::route::Style;
use crate::catalog::{Capability, Invalid};
use crate::options::tools::Declared;
use crate::options::value::{Options, display};
use crate::{SearchVariant, ToolSpec};

pub use corpus::{Corpus, Found};
pub use promoted::Promoted;

/// What the tool is called with which a model searches among ours.
pub const NAME: &str = "__harn_tool_search";

/// The option `tool_search`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// How it searches.
    pub variant: SearchVariant,
    /// Who searches.
    pub mode: Mode,
    /// How we search, if not by the variant.
    pub strategy: Option<Strategy>,
    /// Tools that are never held back.
    pub always_loaded: Vec<String>,
    /// How many tokens the schemas of found tools may have together.
    pub budget_tokens: Option<u64>,
    /// What our search tool is called.
    pub name: String,
    /// Whether the search tool lists what can be found.
    pub include_stub_listing: bool,
}

/// Who searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The provider if it can, else we.
    #[default]
    Auto,
    /// The provider.
    Native,
    /// We.
    Client,
}

/// How we search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// By words, ranked.
    Bm25,
    /// By a pattern.
    Regex,
    /// The host, by meaning.
    Semantic,
    /// The host, in its own way.
    Host,
}

impl Strategy {
    /// The word events show.
    pub fn word(self) -> &'static str {
        match self {
            Strategy::Bm25 => "bm25",
            Strategy::Regex => "regex",
            Strategy::Semantic => "semantic",
            Strategy::Host => "host",
        }
    }
}

/// What a search means for one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What was asked for.
    pub search: Search,
    /// Whether the provider searches.
    pub native: bool,
    /// What goes out with the first request.
    pub tools: Vec<ToolSpec>,
    /// What can be found; empty if the provider searches.
    pub deferred: Vec<Declared>,
}

/// Whom a plan is for.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The provider.
    pub provider: &'a str,
    /// The model.
    pub model: &'a str,
    /// What it can do.
    pub capability: &'a Capability,
    /// Whether the caller says that it can search, whatever the catalog says.
    pub forced: bool,
}

impl Search {
    /// Reads the option; `None` if it is off.
    ///
    /// # Errors
    /// It is not understood.
    pub fn parse(value: &Value) -> Result<Option<Self>, Invalid> {
        match value {
            Value::Null | Value::Bool(false) => Ok(None),
            Value::Bool(true) => Self::of(&Map::new()).map(Some),
            Value::String(_) => {
                let fields = Map::from_iter([("variant".to_owned(), value.clone())]);
                Self::of(&fields).map(Some)
            }
            Value::Object(fields) => Self::of(fields).map(Some),
            _ => Err(Invalid::new("tool_search: expected bool, string, or dict")),
        }
    }

    fn of(fields: &Map<String, Value>) -> Result<Self, Invalid> {
        let fields = Options(fields);
        let variant = word(
            fields,
            "variant",
            "\"bm25\" or \"regex\"",
            |word| match word {
                "bm25" => Some(SearchVariant::Bm25),
                "regex" => Some(SearchVariant::Regex),
                _ => None,
            },
        )?;
        let expected = "\"auto\" | \"native\" | \"client\"";
        let mode = word(fields, "mode", expected, |word| match word {
            "auto" => Some(Mode::Auto),
            "native" => Some(Mode::Native),
            "client" => Some(Mode::Client),
            _ => None,
        })?;
        let expected = "\"bm25\" | \"regex\" | \"semantic\" | \"host\"";
        let strategies = [
            Strategy::Bm25,
            Strategy::Regex,
            Strategy::Semantic,
            Strategy::Host,
        ];
        let strategy = word(fields, "strategy", expected, |word| {
            strategies.into_iter().find(|known| known.word() == word)
        })?;
        Ok(Self {
            variant: variant.unwrap_or_default(),
            mode: mode.unwrap_or_default(),
            strategy,
            always_loaded: always_loaded(fields)?,
            budget_tokens: fields.count("budget_tokens"),
            name: text(fields, "name")?
                .filter(|name| !name.is_empty())
                .map_or_else(|| NAME.to_owned(), str::to_owned),
            include_stub_listing: fields.flag("include_stub_listing"),
        })
    }

    /// How we search: what was asked for, else the variant.
    pub fn strategy(&self) -> Strategy {
        self.strategy.unwrap_or(match self.variant {
            SearchVariant::Bm25 => Strategy::Bm25,
            SearchVariant::Regex => Strategy::Regex,
        })
    }

    /// The name of the search in events, whoever runs it.
    pub fn event_name(&self) -> &'static str {
        match self.variant {
            SearchVariant::Bm25 => "tool_search_tool_bm25",
            SearchVariant::Regex => "tool_search_tool_regex",
        }
    }

    /// What this means for these tools at that place.
    ///
    /// # Errors
    /// The provider shall search and cannot, or no tool is left to begin with.
    pub fn plan(self, tools: Vec<Declared>, place: Place<'_>) -> Result<Plan, Invalid> {
        let native = self.native(place)?;
        let held = |tool: &Declared| {
            tool.spec.defer_loading && (native || !self.always_loaded.contains(&tool.spec.name))
        };
        if !tools.is_empty() && tools.iter().all(held) {
            return Err(Invalid::new(
                "tool_search: all tools have defer_loading set. At least one tool must be \
                 non-deferred so the model has somewhere to start. (Matches Anthropic's 400 on \
                 the same condition.)",
            ));
        }
        if native {
            return Ok(Plan {
                tools: tools.into_iter().map(|tool| tool.spec).collect(),
                deferred: Vec::new(),
                native,
                search: self,
            });
        }
        let (mut deferred, loaded): (Vec<Declared>, Vec<Declared>) =
            tools.into_iter().partition(held);
        for tool in &mut deferred {
            tool.spec.defer_loading = false;
        }
        let loaded = loaded.into_iter().map(|tool| ToolSpec {
            defer_loading: false,
            ..tool.spec
        });
        let tools = std::iter::once(self.synthetic(&deferred)).chain(loaded);
        Ok(Plan {
            tools: tools.collect(),
            deferred,
            native,
            search: self,
        })
    }

    /// Whether the provider searches.
    fn native(&self, place: Place<'_>) -> Result<bool, Invalid> {
        let able = place.forced || !place.capability.tool_search.is_empty();
        match self.mode {
            Mode::Client => Ok(false),
            Mode::Auto => Ok(able),
            Mode::Native if able => Ok(true),
            Mode::Native => Err(Invalid::new(format!(
                "tool_search: provider \"{}\" does not expose native tool-search for model \
                 \"{}\". Set `tool_search: {{ mode: \"client\" }}` to use the client-executed \
                 fallback, or omit tool_search to ship tools eagerly.",
                place.provider, place.model
            ))),
        }
    }

    /// The tool with which a model searches among ours.
    fn synthetic(&self, deferred: &[Declared]) -> ToolSpec {
        let query = match self.strategy() {
            Strategy::Regex => "A regular expression that the tools you need would match.",
            Strategy::Bm25 | Strategy::Semantic | Strategy::Host => {
                "Words that describe the tools you need."
            }
        };
        let mut description = "Search the tools that are not loaded yet. The tools that are \
                               found can be called from the next turn on."
            .to_owned();
        if self.include_stub_listing && !deferred.is_empty() {
            let names: Vec<&str> = deferred.iter().map(|tool| &*tool.spec.name).collect();
            description.push_str(" Tools that can be found: ");
            description.push_str(&names.join(", "));
            description.push('.');
        }
        ToolSpec {
            name: self.name.clone(),
            description,
            parameters: json!({
                "type": "object",
                "properties": {"query": {"type": "string", "description": query}},
                "required": ["query"],
                "additionalProperties": false,
            }),
            ..ToolSpec::default()
        }
    }
}

/// What stands first in a list of native tools when the provider searches, as programs see it.
pub fn native_head(variant: SearchVariant, style: Style, tools: &[ToolSpec]) -> Value {
    match style {
        Style::Anthropic => {
            let word = match variant {
                SearchVariant::Bm25 => "bm25",
                SearchVariant::Regex => "regex",
            };
            json!({
                "type": format!("tool_search_tool_{word}_20251119"),
                "name": format!("tool_search_tool_{word}"),
            })
        }
        Style::OpenAi => {
            let named = tools.iter().filter_map(|tool| tool.namespace.as_deref());
            let namespaces: std::collections::BTreeSet<&str> = named.collect();
            json!({"type": "tool_search", "mode": "hosted", "namespaces": namespaces})
        }
    }
}

/// In which shape a search is shown: the mock follows the model's name.
pub fn head_style(style: Style, provider: &str, model: &str) -> Style {
    let model = model.to_lowercase();
    let claude = model.strip_prefix("anthropic/").unwrap_or(&model);
    match provider == "mock" && claude.starts_with("claude-") {
        true => Style::Anthropic,
        false => style,
    }
}

/// What a model searches for, out of the arguments of its call.
pub fn query(arguments: &Value) -> String {
    let query = arguments.get("query").filter(|query| !query.is_null());
    query.map(display).unwrap_or_default()
}

fn text<'a>(fields: Options<'a>, key: &str) -> Result<Option<&'a str>, Invalid> {
    match fields.given(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Invalid::new(format!(
            "tool_search.{key}: expected a string"
        ))),
    }
}

fn word<T>(
    fields: Options<'_>,
    key: &str,
    expected: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Invalid> {
    let Some(word) = text(fields, key)? else {
        return Ok(None);
    };
    match read(word) {
        Some(value) => Ok(Some(value)),
        None => Err(Invalid::new(format!(
            "tool_search.{key}: expected {expected}, got \"{word}\""
        ))),
    }
}

fn always_loaded(fields: Options<'_>) -> Result<Vec<String>, Invalid> {
    let wrong = || Invalid::new("tool_search.always_loaded: expected a list of tool names");
    let items = match fields.given("always_loaded") {
        None => return Ok(Vec::new()),
        Some(value) => value.as_array().ok_or_else(wrong)?,
    };
    let names = items.iter().map(|item| item.as_str().map(str::to_owned));
    names.collect::<Option<Vec<_>>>().ok_or_else(wrong)
}

#[cfg(test)]
mod tests;
