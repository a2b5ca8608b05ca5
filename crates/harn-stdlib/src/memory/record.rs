//! Something that was stored.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use harn_machine::Value;
use harn_machine::value::{Dict, Text};

use super::ranking::Document;
use crate::json;

/// Something that was stored.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) id: Text,
    pub(super) key: Text,
    /// What is looked at: the value itself if it is text, else its JSON.
    pub(super) text: Text,
    pub(super) tags: Vec<Text>,
    /// All of it, as programs see it.
    fields: Dict,
    /// Its words, once somebody has looked for some.
    pub(super) words: OnceCell<Rc<Document>>,
}

impl Record {
    pub(super) fn new(
        id: Text,
        namespace: Text,
        key: Text,
        value: &Value,
        tags: BTreeSet<Text>,
        stored_at: Value,
        provenance: Value,
    ) -> Self {
        let text = text_of(value);
        let tags: Vec<Text> = tags.into_iter().collect();
        let shown_tags = tags.iter().map(|tag| Value::Text(tag.clone())).collect();
        let fields = [
            ("_type", "memory_record".into()),
            ("id", id.clone().into()),
            ("key", key.clone().into()),
            ("namespace", namespace.into()),
            ("provenance", as_json(&provenance)),
            ("stored_at", stored_at),
            ("tags", shown_tags),
            ("text", text.clone().into()),
            ("value", as_json(value)),
        ];
        let fields = fields.into_iter();
        let fields = fields
            .map(|(name, value)| (Text::new(name), value))
            .collect();
        Self {
            id,
            key,
            text,
            tags,
            fields,
            words: OnceCell::new(),
        }
    }

    /// A record that was written; `None` if it is something else.
    pub(super) fn read(fields: Dict) -> Option<Self> {
        let text = |name: &str| match fields.get(name) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        if text("_type")?.as_str() != "memory_record" {
            return None;
        }
        let tags = match fields.get("tags") {
            Some(Value::List(tags)) => tags.iter().map(Value::to_text).collect(),
            _ => Vec::new(),
        };
        Some(Self {
            id: text("id")?,
            key: text("key")?,
            text: text("text").unwrap_or_default(),
            tags,
            fields,
            words: OnceCell::new(),
        })
    }

    pub(super) fn fields(&self) -> &Dict {
        &self.fields
    }

    pub(super) fn to_value(&self) -> Value {
        self.fields.clone().into()
    }

    /// The same with how well it fits.
    pub(super) fn with_score(&self, score: f64) -> Value {
        let mut fields = self.fields.clone();
        fields.insert(Text::new("score"), Value::Float(score));
        fields.into()
    }

    /// The value as text.
    pub(super) fn value_text(&self) -> Text {
        self.fields.get("value").map(text_of).unwrap_or_default()
    }
}

/// A value that is text, or its JSON.
fn text_of(value: &Value) -> Text {
    match value {
        Value::Text(text) => text.clone(),
        value => {
            let mut json = String::new();
            json::write(value, &mut json);
            json.into()
        }
    }
}

/// A value as it is found when it is read again.
fn as_json(value: &Value) -> Value {
    let mut text = String::new();
    json::write(value, &mut text);
    json::parse(&text).unwrap_or_default()
}
