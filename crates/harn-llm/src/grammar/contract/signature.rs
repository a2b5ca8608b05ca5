//! JSON Schema as TypeScript.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::shown;
use crate::ToolSpec;

/// Deeper schemas are shown as `object`: the model would not use the rest.
const DEPTH_MAX: usize = 8;

/// `declare function NAME(args: { … }): string;` with a comment above it.
pub(super) fn declaration(tool: &ToolSpec) -> String {
    let mut lines = Vec::new();
    lines.extend(tool.description.trim().lines().map(str::to_owned));
    let parameters = parameters(&tool.parameters);
    for parameter in &parameters {
        let notes = notes(parameter.schema);
        if !notes.is_empty() {
            lines.push(format!("@param {} {notes}", parameter.name));
        }
    }
    let mut out = String::new();
    if !lines.is_empty() {
        out.push_str("/**\n");
        for line in lines {
            // The text must not end the comment it stands in.
            out.push_str(format!(" * {}", line.replace("*/", "* /")).trim_end());
            out.push('\n');
        }
        out.push_str(" */\n");
    }
    let fields = fields(&parameters, 0);
    out + &format!("declare function {}(args: {fields}): string;", tool.name)
}

/// The definitions that schemas refer to, each once.
pub(super) fn shared_types<'a>(schemas: impl Iterator<Item = &'a Value>) -> Vec<String> {
    let mut types = BTreeMap::new();
    for schema in schemas {
        for key in ["$defs", "definitions"] {
            for (name, definition) in schema
                .get(key)
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                types
                    .entry(name.clone())
                    .or_insert_with(|| format!("type {name} = {};", type_of(definition, 0)));
            }
        }
    }
    types.into_values().collect()
}

struct Parameter<'a> {
    name: &'a str,
    schema: &'a Value,
    is_required: bool,
}

/// What an object schema has, required ones first.
fn parameters(schema: &Value) -> Vec<Parameter<'_>> {
    let required = schema.get("required").and_then(Value::as_array);
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut parameters: Vec<Parameter<'_>> = properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| Parameter {
            name,
            schema,
            is_required: schema.get("required") != Some(&Value::Bool(false))
                && required.is_none_or(|names| names.iter().any(|known| known == name.as_str())),
        })
        .collect();
    parameters.sort_by_key(|parameter| !parameter.is_required);
    parameters
}

fn fields(parameters: &[Parameter<'_>], depth: usize) -> String {
    if parameters.is_empty() {
        return "{}".to_owned();
    }
    let fields: Vec<String> = parameters
        .iter()
        .map(|parameter| {
            let mark = if parameter.is_required { "" } else { "?" };
            let name = key(parameter.name);
            format!("{name}{mark}: {}", type_of(parameter.schema, depth))
        })
        .collect();
    format!("{{ {} }}", fields.join(", "))
}

fn key(name: &str) -> String {
    let is_plain = name
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
        && !name.starts_with(|c: char| c.is_numeric());
    if is_plain && !name.is_empty() {
        name.to_owned()
    } else {
        Value::from(name).to_string()
    }
}

fn type_of(schema: &Value, depth: usize) -> String {
    if depth > DEPTH_MAX {
        return "object".to_owned();
    }
    let Some(map) = schema.as_object() else {
        return "any".to_owned();
    };
    if let Some(values) = map.get("enum").and_then(Value::as_array) {
        return union(values.iter().map(shown));
    }
    if let Some(value) = map.get("const") {
        return shown(value);
    }
    if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
        return reference.rsplit('/').next().unwrap_or("any").to_owned();
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(options) = map.get(key).and_then(Value::as_array) {
            return union(options.iter().map(|option| type_of(option, depth + 1)));
        }
    }
    match map.get("type") {
        Some(Value::Array(names)) => union(
            names
                .iter()
                .map(|name| named(name.as_str().unwrap_or(""), map, schema, depth)),
        ),
        Some(Value::String(name)) => named(name, map, schema, depth),
        _ if map.contains_key("properties") => named("object", map, schema, depth),
        _ => "any".to_owned(),
    }
}

fn named(name: &str, map: &Map<String, Value>, schema: &Value, depth: usize) -> String {
    match name {
        "integer" | "number" | "int" | "float" => "number".to_owned(),
        "boolean" | "bool" => "boolean".to_owned(),
        "null" => "null".to_owned(),
        "array" | "list" => match map.get("items") {
            Some(items) => {
                let item = type_of(items, depth + 1);
                if item.contains(" | ") {
                    format!("({item})[]")
                } else {
                    format!("{item}[]")
                }
            }
            None => "any[]".to_owned(),
        },
        "object" | "dict" if map.contains_key("properties") => {
            fields(&parameters(schema), depth + 1)
        }
        "object" | "dict" => "object".to_owned(),
        _ => "string".to_owned(),
    }
}

fn union(types: impl Iterator<Item = String>) -> String {
    let types: Vec<String> = types.collect();
    if types.is_empty() {
        "any".to_owned()
    } else {
        types.join(" | ")
    }
}

/// The description, the default and the examples of a parameter on one line.
fn notes(schema: &Value) -> String {
    let mut notes = Vec::new();
    if let Some(description) = schema.get("description").and_then(Value::as_str) {
        let words: Vec<&str> = description.split_whitespace().collect();
        notes.push(words.join(" "));
    }
    if let Some(default) = schema.get("default") {
        notes.push(format!("(default: {})", shown(default)));
    }
    if let Some(examples) = schema.get("examples").and_then(Value::as_array) {
        let examples: Vec<String> = examples.iter().map(shown).collect();
        if !examples.is_empty() {
            notes.push(format!("(examples: {})", examples.join(", ")));
        }
    }
    notes.retain(|note| !note.is_empty());
    notes.join(" ")
}
