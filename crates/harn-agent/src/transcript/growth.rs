//! Messages that programs add, to a list or to a transcript.

use harn_llm::desk::Thrown;
use harn_llm::options::value::display;
use harn_llm::transcript::NewId;
use serde_json::{Value, json};

use super::Call;
use super::shape::{is_transcript, messages, rebuild};

/// `add_message`, `add_user`, `add_assistant`, `add_system` and `add_tool_result`.
pub(super) fn add(call: Call<'_>, new_id: &mut NewId<'_>) -> Result<Value, Thrown> {
    let grown = |earlier: &[Value]| {
        let mut messages = earlier.to_vec();
        messages.push(message(call));
        messages
    };
    match call.argument(0) {
        Value::Array(list) => Ok(Value::Array(grown(list))),
        transcript if is_transcript(transcript) => {
            Ok(rebuild(transcript, grown(messages(transcript)), new_id))
        }
        _ => Err(call.thrown("first argument must be a message list or transcript")),
    }
}

fn message(call: Call<'_>) -> Value {
    let (second, third) = (call.argument(1), call.argument(2));
    match call.builtin {
        "add_user" => json!({"role": "user", "content": second}),
        "add_assistant" => json!({"role": "assistant", "content": second}),
        "add_system" => json!({"role": "system", "content": second}),
        "add_tool_result" => {
            json!({"role": "tool_result", "tool_use_id": display(second), "content": third})
        }
        _ => json!({"role": display(second), "content": third}),
    }
}
