//! Sample values made from nothing but the catalogue.
//!
//! A sample has every key its type has, each with a value that differs from the
//! default, so that a key that is lost, renamed or mixed up is noticed.

use harn_events::catalogue::{Catalogue, Choice, Event, Field};
use serde_json::{Value, json};

/// An object whose keys are in the order of the catalogue.
pub(crate) type Entries = Vec<(String, Value)>;

/// The catalogue as a source of values.
pub(crate) struct Samples {
    /// What the samples are made from.
    pub(crate) catalogue: Catalogue,
}

/// The text of an object, keys in order.
pub(crate) fn text(entries: &Entries) -> String {
    let fields: Vec<String> = entries
        .iter()
        .map(|(key, value)| format!("{}:{value}", json!(key)))
        .collect();
    format!("{{{}}}", fields.join(","))
}

/// The same object as a value.
pub(crate) fn value(entries: &Entries) -> Value {
    Value::Object(entries.iter().cloned().collect())
}

/// The object without one key.
pub(crate) fn without(entries: &Entries, name: &str) -> Entries {
    let kept = entries.iter().filter(|(key, _)| key != name);
    kept.cloned().collect()
}

/// The object with another value at one key.
pub(crate) fn with(entries: &Entries, name: &str, value: Value) -> Entries {
    let mut changed = entries.clone();
    match changed.iter_mut().find(|(key, _)| key == name) {
        Some((_, slot)) => *slot = value,
        None => changed.push((name.to_owned(), value)),
    }
    changed
}

impl Samples {
    /// Samples of the catalogue in the crate.
    pub(crate) fn new() -> Self {
        Self {
            catalogue: Catalogue::builtin(),
        }
    }

    /// A full event: `type`, then every field.
    pub(crate) fn event(&self, event: &Event) -> Entries {
        let tag = ("type".to_owned(), json!(event.tag));
        std::iter::once(tag)
            .chain(self.fields(&event.fields))
            .collect()
    }

    /// A full object with these fields.
    pub(crate) fn fields(&self, fields: &[Field]) -> Entries {
        fields
            .iter()
            .map(|field| (field.name.clone(), self.of(&field.type_name, &field.name)))
            .collect()
    }

    /// A value of a type; `name` is the key it is for.
    pub(crate) fn of(&self, type_name: &str, name: &str) -> Value {
        if let Some(inner) = type_name.strip_suffix('?') {
            return self.of(inner, name);
        }
        if let Some(inner) = type_name.strip_suffix("[]") {
            return json!([self.of(inner, name)]);
        }
        match type_name {
            "string" => json!(format!("{name} \"ü\"\n")),
            "bool" => json!(true),
            "u64" => json!(1_u64 << 40),
            "u32" => json!(77),
            "i64" => json!(-5),
            "f64" => json!(0.625),
            "json" => json!({"inner": [1, "two", null, {"deep": 2.5}]}),
            "object" => object_for(name),
            _ => self.of_named(type_name),
        }
    }

    /// One value of a choice, with the fields it brings.
    pub(crate) fn choice(&self, choice: &Choice, encoding: Option<&str>) -> Value {
        if encoding == Some("plain string") {
            return json!(choice.value);
        }
        assert_eq!(encoding, Some("internally tagged, key kind"));
        let mut object = value(&self.fields(&choice.fields));
        object["kind"] = json!(choice.value);
        object
    }

    fn of_named(&self, type_name: &str) -> Value {
        let named = self.catalogue.types.get(type_name);
        let named = named.unwrap_or_else(|| panic!("the catalogue has no type `{type_name}`"));
        match named.values.get(2) {
            // No default of the catalogue is the third value of its type.
            Some(choice) => self.choice(choice, named.encoding.as_deref()),
            None => value(&self.fields(&named.fields)),
        }
    }
}

/// Objects differ in what they hold; the catalogue says so in words only.
fn object_for(name: &str) -> Value {
    match name {
        "arg_aliases" | "headers" => json!({"file": "path", "Zed": "ü"}),
        "capabilities" => json!({"fs": ["read", "list"]}),
        _ => json!({"any": [1, null], "other": {"thing": true}}),
    }
}
