//! The conversation of a call.

use serde_json::{Map, Value, json};

use super::value::{Options, display};
use crate::catalog::Invalid;

/// The conversation: the option `messages`, or the prompt alone. Says whether it has pictures.
///
/// # Errors
/// A picture is not given as pictures are.
pub(super) fn parse(
    prompt: &str,
    options: Options<'_>,
    provider: &str,
) -> Result<(Vec<Value>, bool), Invalid> {
    let messages = match options.find("messages") {
        Some(Value::Array(messages)) => messages.iter().map(message).collect(),
        _ => vec![json!({"role": "user", "content": prompt})],
    };
    let images: Vec<&Map<String, Value>> = messages.iter().flat_map(images).collect();
    for image in &images {
        check_image(Options(image), provider)?;
    }
    let pictured = !images.is_empty();
    Ok((messages, pictured))
}

/// A message as it is sent; a result of a tool becomes the block Anthropic knows.
fn message(message: &Value) -> Value {
    let Value::Object(fields) = message else {
        return json!({"role": "user", "content": display(message)});
    };
    if fields.get("role").and_then(Value::as_str) != Some("tool_result") {
        return message.clone();
    }
    let mut block = json!({
        "type": "tool_result",
        "tool_use_id": fields.get("tool_use_id"),
        "content": fields.get("content"),
    });
    if let Some(failed) = fields.get("is_error") {
        block["is_error"] = failed.clone();
    }
    json!({"role": "user", "content": [block]})
}

/// The pictures of a message.
fn images(message: &Value) -> impl Iterator<Item = &Map<String, Value>> {
    let blocks = message.get("content").and_then(Value::as_array);
    blocks
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .filter(|block| block.get("type").and_then(Value::as_str) == Some("image"))
}

fn check_image(image: Options<'_>, provider: &str) -> Result<(), Invalid> {
    // Anthropic's own shape goes through unchanged.
    if image.given("source").is_some() {
        return Ok(());
    }
    let either = |one: &str, other: &str| {
        let present = |key: &str| image.given_text(key).is_some_and(|text| !text.is_empty());
        present(one) || present(other)
    };
    let url = either("url", "file_uri");
    let base64 = either("base64", "data");
    if url == base64 {
        return Err(Invalid::new(
            "llm_call image content requires exactly one of url or base64",
        ));
    }
    if base64 && !either("media_type", "mime_type") {
        return Err(Invalid::new(
            "llm_call image content with base64 requires media_type",
        ));
    }
    let detail = image.given_text("detail");
    if let Some(detail) = detail.filter(|word| !["low", "high", "auto"].contains(&word.as_str())) {
        return Err(Invalid::new(format!(
            "llm_call image content detail: expected \"low\", \"high\", or \"auto\", got \
             \"{detail}\""
        )));
    }
    if url && provider == "ollama" {
        return Err(Invalid::new(
            "llm_call: provider \"ollama\" requires image base64; url image content is not \
             supported",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: Value, provider: &str) -> Result<(Vec<Value>, bool), String> {
        Ok(parse(
            "hi",
            Options(options.as_object().unwrap()),
            provider,
        )?)
    }

    #[test]
    fn messages_replace_the_prompt() {
        let prompt = json!([{"role": "user", "content": "hi"}]);
        let own = json!([{"role": "system", "content": "s", "x": 1}]);
        let result = json!([{"role": "tool_result", "tool_use_id": "1", "content": "r"}]);
        let block = json!([{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "1", "content": "r"},
        ]}]);
        let rows = [
            (json!({}), prompt.clone()),
            (json!({"messages": "x"}), prompt.clone()),
            (json!({"messages": null}), prompt),
            (json!({"messages": []}), json!([])),
            (json!({"messages": own}), own),
            (json!({"messages": result}), block),
        ];
        for (options, expected) in rows {
            let (messages, pictured) = read(options, "mock").unwrap();
            assert_eq!(Value::from(messages), expected);
            assert!(!pictured);
        }
    }

    #[test]
    fn pictures_are_checked() {
        let one = "llm_call image content requires exactly one of url or base64";
        let rows = [
            (json!({"url": "u"}), "mock", None),
            (json!({"file_uri": "u", "detail": "low"}), "mock", None),
            (
                json!({"base64": "b", "media_type": "image/png"}),
                "ollama",
                None,
            ),
            (json!({"data": "b", "mime_type": "image/png"}), "mock", None),
            (json!({"source": {"type": "url"}}), "mock", None),
            (json!({}), "mock", Some(one)),
            (
                json!({"url": "u", "base64": "b", "media_type": "m"}),
                "mock",
                Some(one),
            ),
            (
                json!({"base64": "b"}),
                "mock",
                Some("llm_call image content with base64 requires media_type"),
            ),
            (
                json!({"url": "u", "detail": "max"}),
                "mock",
                Some(
                    "llm_call image content detail: expected \"low\", \"high\", or \"auto\", got \"max\"",
                ),
            ),
            (
                json!({"url": "u"}),
                "ollama",
                Some(
                    "llm_call: provider \"ollama\" requires image base64; url image content is not supported",
                ),
            ),
        ];
        for (mut block, provider, expected) in rows {
            block["type"] = "image".into();
            let options = json!({"messages": [{"role": "user", "content": [block]}]});
            match (read(options, provider), expected) {
                (Ok((_, pictured)), None) => assert!(pictured),
                (result, expected) => assert_eq!(result.unwrap_err(), expected.unwrap()),
            }
        }
    }
}
