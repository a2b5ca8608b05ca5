//! Marks how far the provider should remember a conversation.
//!
//! Four marks are allowed: the end of the tool list, the end of the system prompt, and the
//! last two turns of the user. The turn before the last was the last one of the request
//! before, so its mark finds what that request stored.

use serde_json::{Map, Value, json};

const USER_TURNS_MARKED: usize = 2;

/// Marks `body`, which is complete otherwise.
pub(super) fn mark(body: &mut Map<String, Value>) {
    let tools = body.get_mut("tools").and_then(Value::as_array_mut);
    // The provider refuses marks on tools it has not loaded.
    let loaded = |tool: &&mut Value| tool["defer_loading"] != true;
    let last = tools.and_then(|tools| tools.iter_mut().rev().find(loaded));
    last.into_iter().for_each(mark_block);

    if let Some(Value::String(text)) = body.get_mut("system") {
        let text = std::mem::take(text);
        let mut block = json!({"type": "text", "text": text});
        mark_block(&mut block);
        body.insert("system".to_owned(), json!([block]));
    }

    let messages = body.get_mut("messages").and_then(Value::as_array_mut);
    let messages = messages.into_iter().flatten().rev();
    let of_user = messages.filter(|message| message["role"] == "user");
    for message in of_user.take(USER_TURNS_MARKED) {
        let blocks = message["content"].as_array_mut();
        let last = blocks.and_then(|blocks| blocks.last_mut());
        last.into_iter().for_each(mark_block);
    }
}

fn mark_block(block: &mut Value) {
    if let Value::Object(fields) = block {
        fields.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}
