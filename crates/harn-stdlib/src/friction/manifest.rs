//! The manifest of a context pack: what should be at hand, and where it comes from.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Fault, Registry, Value, argument};

use super::{redact, text_of, words};
use crate::expect::text;
use crate::json;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("context_pack_manifest", context_pack_manifest),
        ("context_pack_manifest_parse", context_pack_manifest_parse),
    ]);
}

/// How many words of a name make an id.
const ID_WORDS: usize = 8;

const TEXTS: [&str; 3] = ["description", "fallback_instructions", "review"];

const LISTS: [&str; 8] = [
    "triggers",
    "inputs",
    "included_queries",
    "included_docs",
    "included_tools",
    "secrets",
    "capabilities",
    "output_slots",
];

/// `context_pack_manifest(payload)`
fn context_pack_manifest(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    match argument(arguments, 0) {
        Value::Dict(payload) => manifest(payload).map(Value::Dict),
        other => failed(&format!(
            "payload must be a dict, got {}",
            other.type_name()
        )),
    }
}

/// `context_pack_manifest_parse(text)`
fn context_pack_manifest_parse(
    _: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let text = text(arguments, 0);
    let payload = match text.trim_start().starts_with('{') {
        true => json::parse(&text),
        false => match text.parse::<toml::Table>() {
            Ok(table) => Ok(from_toml(&toml::Value::Table(table))),
            Err(error) => Err(error.to_string()),
        },
    };
    match payload {
        Ok(Value::Dict(payload)) => manifest(&payload).map(Value::Dict),
        Ok(_) => failed("a manifest is a table"),
        Err(reason) => failed(&format!("cannot be read: {reason}")),
    }
}

fn failed<T>(problem: &str) -> Result<T, Failure> {
    let problem = format!("context_pack_manifest: {problem}");
    Err(Fault::runtime(problem))
}

/// A manifest with all its fields.
pub(super) fn manifest(payload: &Dict) -> Result<Dict, Failure> {
    let Some(name) = text_of(payload, "name") else {
        return failed("missing name");
    };
    let Some(owner) = text_of(payload, "owner") else {
        return failed("missing owner");
    };
    let id = match text_of(payload, "id") {
        Some(id) => id.to_owned(),
        None => id_of(name),
    };
    let mut manifest = Dict::default();
    let mut set = |key: &str, value: Value| drop(manifest.insert(Text::new(key), value));
    set("version", Value::Int(1));
    set("id", id.into());
    set("name", name.into());
    set("owner", owner.into());
    for key in TEXTS {
        set(key, payload.get(key).cloned().unwrap_or_default());
    }
    for key in LISTS {
        set(key, list(payload, key)?);
    }
    set(
        "refresh_policy",
        refresh_policy(payload.get("refresh_policy")),
    );
    let metadata = match payload.get("metadata") {
        Some(Value::Dict(metadata)) => metadata.clone(),
        _ => Dict::default(),
    };
    set("metadata", metadata.into());
    check_queries(&manifest)?;
    check_secrets(&manifest)?;
    Ok(manifest)
}

/// The id of a name.
pub(super) fn id_of(name: &str) -> String {
    let words = words(name);
    words[..words.len().min(ID_WORDS)].join("_")
}

fn list(payload: &Dict, key: &str) -> Result<Value, Failure> {
    match payload.get(key) {
        None | Some(Value::Nil) => Ok(Value::list(Vec::new())),
        Some(Value::List(items)) => Ok(items.clone().into()),
        Some(other) => failed(&format!("{key} must be a list, got {}", other.type_name())),
    }
}

fn refresh_policy(given: Option<&Value>) -> Value {
    let given = match given {
        Some(Value::Dict(given)) => given.clone(),
        _ => Dict::default(),
    };
    let field = |key: &str| given.get(key).cloned().unwrap_or_default();
    Value::dict([
        (
            "mode",
            text_of(&given, "mode").unwrap_or("on_demand").into(),
        ),
        ("interval", field("interval")),
        ("stale_after", field("stale_after")),
    ])
}

fn items<'a>(manifest: &'a Dict, key: &str) -> &'a [Value] {
    match manifest.get(key) {
        Some(Value::List(items)) => items,
        _ => &[],
    }
}

fn check_queries(manifest: &Dict) -> Result<(), Failure> {
    let is_whole = |query: &Value| match query {
        Value::Dict(query) => text_of(query, "id").is_some() && text_of(query, "query").is_some(),
        _ => false,
    };
    match items(manifest, "included_queries").iter().all(is_whole) {
        true => Ok(()),
        false => failed("included queries require id and query"),
    }
}

/// A manifest says which secret is wanted and never what it is.
fn check_secrets(manifest: &Dict) -> Result<(), Failure> {
    let is_reference = |secret: &Value| match secret {
        Value::Text(name) => !name.trim().is_empty() && !is_raw(name),
        Value::Dict(secret) => {
            let has_value = ["value", "raw", "raw_value", "secret"]
                .iter()
                .any(|key| secret.get(key).is_some_and(|value| !value.is_nil()));
            let texts = secret.values().filter_map(|field| match field {
                Value::Text(text) => Some(text.as_str()),
                _ => None,
            });
            !has_value && !secret.is_empty() && !texts.into_iter().any(is_raw)
        }
        _ => false,
    };
    match items(manifest, "secrets").iter().all(is_reference) {
        true => Ok(()),
        false => failed("secrets must be capability references, not raw secret values"),
    }
}

fn is_raw(text: &str) -> bool {
    text.split_whitespace().any(redact::is_secret)
}

/// What a TOML value is in a program.
fn from_toml(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.as_str().into(),
        toml::Value::Integer(number) => Value::Int(*number),
        toml::Value::Float(number) => Value::Float(*number),
        toml::Value::Boolean(value) => Value::Bool(*value),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(items) => items.iter().map(from_toml).collect(),
        toml::Value::Table(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(key, value)| (Text::new(key), from_toml(value)));
            Value::Dict(fields.collect())
        }
    }
}
