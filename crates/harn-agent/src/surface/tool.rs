//! A tool of a surface, and what was said about it.

use harn_events::SideEffectLevel;
use harn_llm::options::value::{Options, display};
use serde_json::Value;

use super::Dict;
use crate::policy::glob_matches;

/// A tool and what was said about it.
pub(super) struct Tool<'a> {
    pub(super) name: String,
    /// What the tool takes, by name.
    pub(super) parameters: Option<&'a Dict>,
    pub(super) annotations: Option<&'a Dict>,
    /// Whether it is described as a provider wants it.
    pub(super) is_native: bool,
    pub(super) is_active: bool,
    entry: &'a Dict,
}

impl<'a> Tool<'a> {
    /// A tool of a registry.
    pub(super) fn own(entry: &'a Dict, policy: Option<&'a Dict>) -> Self {
        let name = text_of(entry, "name");
        Self {
            parameters: dict_of(entry, "parameters").map(by_name),
            annotations: annotations(entry, &name, policy),
            is_native: false,
            is_active: is_allowed(&name, policy),
            name,
            entry,
        }
    }

    /// A tool as a provider wants it: `{function: {name, parameters}}` or
    /// `{name, input_schema}`.
    pub(super) fn native(entry: &'a Dict, policy: Option<&'a Dict>) -> Self {
        let function = dict_of(entry, "function").unwrap_or(entry);
        let mut schemas = ["parameters", "input_schema"].into_iter();
        let schema = schemas.find_map(|key| dict_of(function, key));
        let properties = schema.and_then(|schema| dict_of(schema, "properties"));
        let name = text_of(function, "name");
        Self {
            parameters: properties.or(schema),
            annotations: annotations(entry, &name, policy),
            is_native: true,
            is_active: is_allowed(&name, policy),
            name,
            entry,
        }
    }

    /// What its annotations say under a key.
    pub(super) fn says(&self, key: &str) -> Option<&'a Value> {
        Options(self.annotations?).given(key)
    }

    pub(super) fn is_kind(&self, kind: &str) -> bool {
        self.says("kind").and_then(Value::as_str) == Some(kind)
    }

    /// Whether the model has to search for it.
    pub(super) fn is_deferred(&self) -> bool {
        Options(self.entry).flag("defer_loading")
    }

    pub(super) fn has_executor(&self) -> bool {
        Options(self.entry).given("executor").is_some()
    }

    /// How far what it does can reach.
    pub(super) fn level(&self) -> SideEffectLevel {
        self.says("side_effect_level")
            .map(level)
            .unwrap_or_default()
    }

    /// The names that its arguments had before, with the ones they have now.
    pub(super) fn aliases(&self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        let schema = self.says("arg_schema").and_then(Value::as_object);
        let aliases = schema.and_then(|schema| dict_of(schema, "arg_aliases"));
        aliases.into_iter().flatten()
    }
}

/// A level by its name; what is no level reaches nothing.
pub(super) fn level(value: &Value) -> SideEffectLevel {
    SideEffectLevel::from_wire(&display(value)).unwrap_or_default()
}

/// What a dict says under a key, as text; `""` if it says nothing.
pub(super) fn text_of(dict: &Dict, key: &str) -> String {
    Options(dict).given_text(key).unwrap_or_default()
}

/// The items under a key; none if there is no list.
pub(super) fn items<'a>(dict: &'a Dict, key: &str) -> &'a [Value] {
    match dict.get(key) {
        Some(Value::Array(items)) => items,
        _ => &[],
    }
}

fn dict_of<'a>(dict: &'a Dict, key: &str) -> Option<&'a Dict> {
    dict.get(key).and_then(Value::as_object)
}

/// What a tool takes, by name. It may be written down as one schema for all of it.
fn by_name(parameters: &Dict) -> &Dict {
    let is_schema = parameters.get("type").and_then(Value::as_str) == Some("object");
    let properties = dict_of(parameters, "properties").filter(|_| is_schema);
    properties.unwrap_or(parameters)
}

/// What a tool says about itself, else what the policy says about it.
fn annotations<'a>(entry: &'a Dict, name: &str, policy: Option<&'a Dict>) -> Option<&'a Dict> {
    let own = dict_of(entry, "annotations");
    own.or_else(|| dict_of(dict_of(policy?, "tool_annotations")?, name))
}

fn is_allowed(name: &str, policy: Option<&Dict>) -> bool {
    let patterns = policy.map_or(&[][..], |policy| items(policy, "tools"));
    let mut shown = patterns.iter().map(display);
    patterns.is_empty() || shown.any(|pattern| glob_matches(&pattern, name))
}
