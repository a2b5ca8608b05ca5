//! Messages that providers have signed.

use serde_json::Value;

/// Whether a message holds thoughts that its provider wants back to the letter. They stand in
/// its content, or in `kept` where the wire of the provider has put them.
pub(super) fn is_signed(message: &Value) -> bool {
    let places = [
        &message["content"],
        &message["reasoning_details"],
        &message["kept"]["blocks"],
    ];
    let mut blocks = places
        .into_iter()
        .flat_map(|place| place.as_array().into_iter().flatten());
    blocks.any(has_signature)
}

fn has_signature(block: &Value) -> bool {
    const KEYS: [&str; 4] = [
        "signature",
        "thoughtSignature",
        "thought_signature",
        "encrypted_content",
    ];
    let is_given = |key: &str| block[key].as_str().is_some_and(|text| !text.is_empty());
    let is_inside = |key: &str| {
        block[key]
            .as_array()
            .is_some_and(|inner| inner.iter().any(has_signature))
    };
    block["type"] == "redacted_thinking"
        || KEYS.iter().any(|key| is_given(key))
        || is_inside("reasoning_details")
}
