//! A JSON object kept as text, key by key.
//!
//! What we do not understand we must hand back unchanged. Parsing into values
//! would lose key order, the spelling of numbers and integers beyond 64 bits,
//! so each value stays the text it arrived as.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::redact::{Completeness, REDACTED, RedactionPolicy};

/// An object whose keys are in order of arrival and whose values are raw JSON text.
#[derive(Clone, Debug, Default)]
pub struct RawObject(Vec<(String, Box<RawValue>)>);

impl RawObject {
    /// The raw text at `key`, the last one if the key is repeated.
    pub fn get(&self, key: &str) -> Option<&RawValue> {
        self.0
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .map(|(_, value)| &**value)
    }

    /// The string at `key`, if there is one.
    pub fn string(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// Keys and raw texts in order of arrival.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(key, value)| (key.as_str(), &**value))
    }

    /// Parses all values.
    ///
    /// # Errors
    /// A value may be valid JSON and still not fit a parsed value: numbers out of
    /// range, or nesting deeper than a parser may follow.
    pub fn to_object(&self) -> Result<Map<String, Value>, serde_json::Error> {
        self.0
            .iter()
            .map(|(key, value)| Ok((key.clone(), serde_json::from_str(value.get())?)))
            .collect()
    }

    /// Takes out the keys that belong to the envelope and keeps the rest.
    pub(crate) fn without(mut self, keys: &[&str]) -> Self {
        self.0.retain(|(key, _)| !keys.contains(&key.as_str()));
        self
    }

    /// The object without its secrets; `None` when it holds none. Values without a
    /// secret stay the text they are.
    pub(crate) fn redacted(&self, policy: &RedactionPolicy) -> Option<Self> {
        let redact = |key: &str, value: &RawValue| -> Option<Box<RawValue>> {
            let is_secret = policy.is_sensitive_name(key) && value.get() != "null";
            if !is_secret && !policy.might_match(value.get()) {
                return None;
            }
            let redacted = match serde_json::from_str::<Value>(value.get()) {
                _ if is_secret => Value::from(REDACTED),
                Ok(mut parsed) => policy
                    .redact_value(&mut parsed, Completeness::Whole)
                    .then_some(parsed)?,
                // Suspicious, and not to be looked into: numbers out of range, or
                // nesting deeper than a parser may follow.
                Err(_) => Value::from(REDACTED),
            };
            serde_json::value::to_raw_value(&redacted).ok()
        };
        let mut object = self.clone();
        let mut is_changed = false;
        for (key, value) in &mut object.0 {
            if let Some(redacted) = redact(key, value) {
                *value = redacted;
                is_changed = true;
            }
        }
        is_changed.then_some(object)
    }

    pub(crate) fn write_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.0
            .iter()
            .try_for_each(|(key, value)| map.serialize_entry(key, value))
    }
}

impl PartialEq for RawObject {
    fn eq(&self, other: &Self) -> bool {
        let texts = |object: &Self| -> Vec<(String, String)> {
            object
                .iter()
                .map(|(key, value)| (key.to_owned(), value.get().to_owned()))
                .collect()
        };
        texts(self) == texts(other)
    }
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.write_fields(&mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = RawObject;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawObject, A::Error> {
                let mut fields = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    fields.push(entry);
                }
                Ok(RawObject(fields))
            }
        }
        deserializer.deserialize_map(ObjectVisitor)
    }
}
