//! How the port tells a builtin what came of it.

use harn_agent::llm::Category;
use harn_agent::llm::desk::Thrown;
use harn_machine::{Failure, Fault, Value};
use serde_json::json;

use crate::json::from_json;

/// What the port says, as text for an effect's answer.
pub(crate) fn encode(outcome: Result<serde_json::Value, Thrown>) -> String {
    let reply = match outcome {
        Ok(value) => json!({"value": value}),
        Err(Thrown::Plain(text)) => json!({"plain": text}),
        Err(Thrown::Runtime(text)) => json!({"runtime": text}),
        Err(Thrown::Categorised(category, text)) => {
            json!({"category": category.word(), "message": text})
        }
        Err(Thrown::Dict(dict)) => json!({"dict": dict}),
    };
    reply.to_string()
}

/// What a program gets of it.
pub(crate) fn decode(text: &str) -> Result<Value, Failure> {
    let reply: serde_json::Value = serde_json::from_str(text)
        .map_err(|error| Fault::runtime(format!("a model's answer is damaged: {error}")))?;
    let words = |key: &str| reply[key].as_str().map(str::to_owned);
    if let Some(value) = reply.get("value") {
        return Ok(from_json(value));
    }
    if let Some(dict) = reply.get("dict") {
        return Err(Fault::thrown(from_json(dict)));
    }
    let generic = Category::Generic.word().to_owned();
    Err(match (words("plain"), words("runtime")) {
        (Some(text), _) => Fault::thrown(text),
        (None, Some(text)) => Fault::runtime(text),
        (None, None) => Fault::categorised(
            words("category").unwrap_or(generic),
            words("message").unwrap_or_default(),
        ),
    })
}
