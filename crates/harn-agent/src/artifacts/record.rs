//! One artifact.

use harn_llm::options::value::display;
use serde::Serialize;
use serde_json::{Map, Number, Value};

use super::{Making, kind};

/// One artifact. Every field is always written, also those that say nothing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Artifact {
    /// Always `artifact`.
    #[serde(rename = "_type")]
    type_name: &'static str,
    /// Nobody else has it.
    pub id: String,
    /// What it is, in one word.
    pub kind: String,
    /// What people call it.
    pub title: Option<String>,
    /// What a model reads.
    pub text: Option<String>,
    /// What programs read.
    pub data: Value,
    /// Where it comes from.
    pub source: Option<String>,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// How new it is: `fresh`, `live`, `recent`, `stale` or another word.
    pub freshness: Option<String>,
    /// How much it matters; more is more. Kept as it was given.
    pub priority: Number,
    /// The artifacts it was made from, the oldest first.
    pub lineage: Vec<String>,
    /// How well it fits what is asked. Kept as it was given.
    pub relevance: Option<Number>,
    /// How much room it takes in a prompt; `None` without a text.
    pub estimated_tokens: Option<u64>,
    /// The part of a workflow it belongs to.
    pub stage: Option<String>,
    /// Whatever else is known.
    pub metadata: Map<String, Value>,
}

/// How many bytes count as one token.
const TOKEN_BYTES: usize = 4;

/// The tokens that a text takes, begun ones counted.
fn estimated_tokens(text: &str) -> u64 {
    text.len().div_ceil(TOKEN_BYTES) as u64
}

impl Artifact {
    /// The artifact that a dict describes; `None` if it is no dict. What the dict does not say
    /// is filled in.
    pub fn read(payload: &Value, making: &Making<'_>) -> Option<Self> {
        let given = payload.as_object()?;
        let text = |key: &str| given.get(key).and_then(shown);
        let named = |key: &str| text(key).filter(|text| !text.trim().is_empty());
        let kind = text("kind").unwrap_or_default();
        let kind = kind::normalised(&kind);
        let body = text("text");
        let tokens = given.get("estimated_tokens").and_then(Value::as_u64);
        Some(Self {
            type_name: "artifact",
            id: named("id").unwrap_or_else(|| format!("artifact_{}", (making.new_id)())),
            kind: kind.to_owned(),
            title: text("title"),
            data: given.get("data").cloned().unwrap_or_default(),
            source: text("source"),
            created_at: named("created_at").unwrap_or_else(|| making.now.to_owned()),
            freshness: text("freshness"),
            priority: number(given.get("priority")).unwrap_or_else(|| kind::priority(kind).into()),
            lineage: texts(given.get("lineage")),
            relevance: number(given.get("relevance")),
            estimated_tokens: tokens.or_else(|| body.as_deref().map(estimated_tokens)),
            text: body,
            stage: text("stage"),
            metadata: match given.get("metadata") {
                Some(Value::Object(metadata)) => metadata.clone(),
                _ => Map::new(),
            },
        })
    }

    /// An artifact made of this one: of another kind, and with another text if one is given.
    /// Everything else is that of its parent.
    pub fn derived(&self, kind: &str, text: Option<String>, making: &Making<'_>) -> Self {
        let mut derived = self.clone();
        derived.lineage.push(self.id.clone());
        derived.id = format!("{}_derived", self.id);
        derived.kind = kind::normalised(kind).to_owned();
        derived.text = text.or(derived.text);
        making.now.clone_into(&mut derived.created_at);
        derived
    }

    /// The artifact as programs hold it.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("texts, numbers and JSON can be written")
    }

    /// Gives it a text, and the estimate that goes with it.
    pub(crate) fn set_text(&mut self, text: String) {
        self.estimated_tokens = Some(estimated_tokens(&text));
        self.text = Some(text);
    }

    /// What it is called: its title, or else its id.
    pub(super) fn name(&self) -> &str {
        match self.title.as_deref() {
            Some(title) if !title.is_empty() => title,
            _ => &self.id,
        }
    }

    /// The tokens it takes; without a text none.
    pub(super) fn tokens(&self) -> u64 {
        self.estimated_tokens.unwrap_or(0)
    }
}

/// A value as a text; nothing is none.
pub(super) fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(display(other)),
    }
}

fn number(value: Option<&Value>) -> Option<Number> {
    match value {
        Some(Value::Number(number)) => Some(number.clone()),
        _ => None,
    }
}

/// The texts of a list; whatever else is in it is left out.
pub(super) fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    let texts = items.filter_map(Value::as_str).map(str::to_owned);
    texts.collect()
}
