//! What a program sees of a skill: its front matter, put in order.

use harn_llm::options::value::{display, truthy};
use serde_json::{Map, Value, json};

use crate::skills::provenance::Provenance;

/// Fields that are texts.
const TEXTS: [&str; 7] = [
    "short",
    "description",
    "when_to_use",
    "agent",
    "model",
    "effort",
    "argument_hint",
];

/// Fields that are lists of texts.
const LISTS: [&str; 3] = ["allowed_tools", "paths", "trusted_signers"];

/// Fields that are shown only when they are true.
const FLAGS: [&str; 2] = ["disable_model_invocation", "user_invocable"];

/// Fields that are shown as they are.
const OTHERS: [&str; 4] = ["context", "hooks", "require_signature", "shell"];

/// A card that is not finished: where it comes from is missing.
#[derive(Debug)]
pub(super) struct Card {
    name: String,
    fields: Map<String, Value>,
    /// Fields that mean nothing.
    pub(super) unknown: Vec<String>,
}

impl Card {
    /// Reads front matter. The folder gives the name if nothing else does.
    pub(super) fn read(front: &Value, folder: &str) -> Result<Self, String> {
        if !matches!(front, Value::Object(_) | Value::Null) {
            return Err("its front matter is no mapping".to_owned());
        }
        let card = Self::read_lenient(front, folder);
        match card.fields.get("short") {
            Some(_) => Ok(card),
            None => Err("`short` is required".to_owned()),
        }
    }

    /// The same, whatever is missing.
    pub(super) fn read_lenient(front: &Value, folder: &str) -> Self {
        let mut card = Self {
            name: folder.to_owned(),
            fields: Map::new(),
            unknown: Vec::new(),
        };
        for (key, value) in front.as_object().into_iter().flatten() {
            card.take(key, value);
        }
        card
    }

    fn take(&mut self, key: &str, value: &Value) {
        let plain = key.replace('-', "_");
        let key = plain.as_str();
        if value.is_null() {
            return;
        }
        let kept = match key {
            "name" => {
                if let Some(name) = text(value).filter(|name| !name.trim().is_empty()) {
                    self.name = name;
                }
                return;
            }
            key if TEXTS.contains(&key) => text(value)
                .filter(|text| key != "short" || !text.trim().is_empty())
                .map(Value::from),
            key if LISTS.contains(&key) => Some(json!(list(key, value))),
            key if FLAGS.contains(&key) => truthy(value).then_some(json!(true)),
            key if OTHERS.contains(&key) => Some(value.clone()),
            // They say where a skill comes from, which is not for the skill to say.
            "namespace" | "source" | "provenance" | "body" => None,
            key => {
                self.unknown.push(key.to_owned());
                None
            }
        };
        if let Some(kept) = kept {
            self.fields.insert(plain, kept);
        }
    }

    /// Who may sign it.
    pub(super) fn trusted_signers(&self) -> Vec<String> {
        let signers = self.fields.get("trusted_signers").and_then(Value::as_array);
        signers.into_iter().flatten().map(display).collect()
    }

    /// Its id and the card, with where it comes from.
    pub(super) fn finish(
        self,
        source: &str,
        namespace: Option<&str>,
        provenance: &Provenance,
    ) -> (String, Value) {
        let Self {
            name, mut fields, ..
        } = self;
        if !fields.contains_key("description") {
            let short = fields.get("short").cloned();
            fields.insert("description".to_owned(), short.unwrap_or_else(|| json!("")));
        }
        let id = match namespace {
            Some(namespace) => format!("{namespace}/{name}"),
            None => name.clone(),
        };
        if let Some(namespace) = namespace {
            fields.insert("namespace".to_owned(), json!(namespace));
        }
        fields.insert("name".to_owned(), json!(name));
        fields.insert("source".to_owned(), json!(source));
        fields.insert("provenance".to_owned(), provenance.to_value());
        (id, Value::Object(fields))
    }
}

/// A text; numbers and truths are written as they are, lists and mappings are none.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Array(_) | Value::Object(_) | Value::Null => None,
        value => Some(display(value)),
    }
}

/// A list of texts. Many files write one text with commas or spaces instead of a list of tools.
fn list(key: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().filter_map(text).collect(),
        Value::String(text) if key == "paths" => vec![text.clone()],
        Value::String(text) => {
            let parts = text.split(|letter: char| letter == ',' || letter.is_whitespace());
            parts
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect()
        }
        _ => Vec::new(),
    }
}
