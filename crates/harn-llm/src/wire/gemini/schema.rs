//! Takes out of a JSON Schema what Gemini refuses.
//!
//! It knows a part of the language only and answers with an error to anything else. What can
//! be said in its words is said so; the rest is left out, which allows the model more than the
//! schema does, and answers are checked against the real one afterwards.

use serde_json::{Map, Value, json};

/// The keys that are understood and mean the same. `format` and those that hold schemas are
/// looked at one by one.
const PLAIN_KEYS: [&str; 16] = [
    "default",
    "description",
    "enum",
    "example",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "propertyOrdering",
    "title",
];

/// The formats it knows.
const FORMATS: [&str; 6] = ["date-time", "double", "enum", "float", "int32", "int64"];

/// Deeper than that, anything is allowed. Only a program that builds schemas in a loop gets
/// there.
const DEPTH_MAX: usize = 32;

/// Whether a schema refers to others, which only the newer fields for schemas understand.
pub(super) fn has_references(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields.contains_key("$ref") || fields.values().any(has_references),
        Value::Array(items) => items.iter().any(has_references),
        _ => false,
    }
}

/// The schema in the words that are understood.
pub(super) fn plain(schema: &Value) -> Value {
    clean(schema, DEPTH_MAX)
}

fn clean(schema: &Value, depth_left: usize) -> Value {
    let (Some(fields), Some(depth_left)) = (schema.as_object(), depth_left.checked_sub(1)) else {
        return json!({"type": "object"});
    };
    let mut cleaned = Map::new();
    for (name, value) in fields {
        match name.as_str() {
            "type" => write_type(value, &mut cleaned),
            "format" if FORMATS.iter().any(|format| value == format) => {
                cleaned.insert(name.clone(), value.clone());
            }
            "const" => {
                cleaned.insert("enum".to_owned(), json!([value]));
            }
            "items" => {
                cleaned.insert(name.clone(), clean(value, depth_left));
            }
            "anyOf" | "oneOf" => write_choices(value, depth_left, &mut cleaned),
            "properties" => write_properties(value, depth_left, &mut cleaned),
            known if PLAIN_KEYS.contains(&known) => {
                cleaned.insert(name.clone(), value.clone());
            }
            _ => {}
        }
    }
    keep_known_names(fields, &mut cleaned);
    drop_foreign_enum(&mut cleaned);
    cleaned.into()
}

/// `["string", "null"]` is a type that may be missing here.
fn write_type(value: &Value, cleaned: &mut Map<String, Value>) {
    let words: Vec<&str> = match value {
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().into_iter().collect(),
    };
    let real: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| *word != "null")
        .collect();
    if real.len() < words.len() && !real.is_empty() {
        cleaned.insert("nullable".to_owned(), json!(true));
    }
    match (real.as_slice(), words.as_slice()) {
        ([word], _) | ([], [word]) => {
            cleaned.insert("type".to_owned(), json!(word));
        }
        (several, _) if !several.is_empty() => {
            let choices: Vec<Value> = several.iter().map(|word| json!({"type": word})).collect();
            cleaned.insert("anyOf".to_owned(), json!(choices));
        }
        _ => {}
    }
}

fn write_choices(value: &Value, depth_left: usize, cleaned: &mut Map<String, Value>) {
    let choices = value.as_array().into_iter().flatten();
    let is_null = |choice: &&Value| choice["type"] == "null";
    let (nulls, real): (Vec<&Value>, Vec<&Value>) = choices.partition(is_null);
    if !nulls.is_empty() {
        cleaned.insert("nullable".to_owned(), json!(true));
    }
    let real: Vec<Value> = real
        .iter()
        .map(|choice| clean(choice, depth_left))
        .collect();
    if !real.is_empty() {
        cleaned.insert("anyOf".to_owned(), Value::Array(real));
    }
}

fn write_properties(value: &Value, depth_left: usize, cleaned: &mut Map<String, Value>) {
    let properties = value.as_object().into_iter().flatten();
    let properties: Map<String, Value> = properties
        .map(|(name, schema)| (name.clone(), clean(schema, depth_left)))
        .collect();
    // An object without fields is not understood; one that says nothing of them is.
    if !properties.is_empty() {
        cleaned.insert("properties".to_owned(), Value::Object(properties));
    }
}

/// Only properties that are described may be required.
fn keep_known_names(fields: &Map<String, Value>, cleaned: &mut Map<String, Value>) {
    let names = fields.get("required").and_then(Value::as_array);
    let properties = cleaned.get("properties").and_then(Value::as_object);
    let (Some(names), Some(properties)) = (names, properties) else {
        return;
    };
    let names = names.iter().filter(|name| {
        let name = name.as_str();
        name.is_some_and(|name| properties.contains_key(name))
    });
    let names: Vec<Value> = names.cloned().collect();
    if !names.is_empty() {
        cleaned.insert("required".to_owned(), Value::Array(names));
    }
}

/// Only texts can be enumerated.
fn drop_foreign_enum(cleaned: &mut Map<String, Value>) {
    let values = cleaned.get("enum").and_then(Value::as_array);
    if values.is_some_and(|values| values.iter().all(Value::is_string)) {
        cleaned.entry("type").or_insert(json!("string"));
    } else {
        cleaned.remove("enum");
    }
}
