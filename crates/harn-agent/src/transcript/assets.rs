//! Large things that messages refer to instead of holding them.

use harn_llm::desk::Thrown;
use harn_llm::options::value::display;
use harn_llm::transcript::NewId;
use serde_json::{Map, Value, json};

use super::Call;
use super::shape::{list, push};

/// `transcript_add_asset(t, asset)`.
pub(super) fn add(call: Call<'_>, new_id: &mut NewId<'_>) -> Result<Value, Thrown> {
    let mut transcript = call.transcript()?.clone();
    let given = call.argument(1);
    if given.is_null() {
        return Err(call.thrown("missing asset"));
    }
    add_asset(&mut transcript, asset(given, new_id));
    Ok(transcript)
}

/// A value as an asset. What is not a dict is the path to one.
pub fn asset(value: &Value, new_id: &mut NewId<'_>) -> Value {
    let mut fields = match value {
        Value::Object(fields) => fields.clone(),
        other => Map::from_iter([("storage".to_owned(), json!({"path": display(other)}))]),
    };
    fields.insert("_type".to_owned(), json!("transcript_asset"));
    let mut usual = |key: &str, value: &mut dyn FnMut() -> Value| {
        let field = fields.entry(key).or_insert(Value::Null);
        if field.is_null() {
            *field = value();
        }
    };
    usual("id", &mut || json!(new_id()));
    usual("kind", &mut || json!("blob"));
    usual("visibility", &mut || json!("internal"));
    Value::Object(fields)
}

/// Adds an asset in place of one with the same id.
pub fn add_asset(transcript: &mut Value, asset: Value) {
    let others = list(transcript, "assets")
        .iter()
        .filter(|other| other["id"] != asset["id"]);
    let others: Vec<Value> = others.cloned().collect();
    transcript["assets"] = Value::Array(others);
    push(transcript, "assets", asset);
}
