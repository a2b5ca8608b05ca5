//! The calls of a turn that have no results yet.

use serde_json::{Value, json};

/// What the model reads of a call that never had one.
const INTERRUPTED: &str = "Error: the call was interrupted before it had a result. It may or \
                           may not have taken effect; check before you repeat it.";

/// The results that the last turn with calls lacks.
pub(crate) fn missing_results(messages: &[Value]) -> Vec<Value> {
    let is_result = |message: &Value| {
        matches!(message["role"].as_str(), Some("tool" | "tool_result"))
            || message["content"][0]["type"] == "tool_result"
    };
    let Some(last) = messages.iter().rposition(|message| !is_result(message)) else {
        return Vec::new();
    };
    // Models give two calls one id now and then, so each result stands for one of them.
    let mut answered: Vec<&str> = Vec::new();
    let mut answered_names: Vec<&str> = Vec::new();
    for message in &messages[last + 1..] {
        let ids = [
            &message["tool_call_id"],
            &message["tool_use_id"],
            &message["content"][0]["tool_use_id"],
        ];
        answered.extend(ids.into_iter().filter_map(Value::as_str));
        answered_names.extend(message["tool_name"].as_str());
    }
    let turn = &messages[last];
    let calls = turn["tool_calls"].as_array().into_iter().flatten();
    let mut missing: Vec<Value> = Vec::new();
    for call in calls {
        let id = call["id"].as_str().unwrap_or_default();
        let function = &call["function"];
        let name = function["name"].as_str().unwrap_or_default();
        // Some servers know results by the name of their tool and by nothing else.
        if !take(&mut answered_names, name) && !take(&mut answered, id) {
            missing.push(match function["arguments"].is_string() {
                true => json!({"role": "tool", "tool_call_id": id, "content": INTERRUPTED}),
                false => json!({"role": "tool", "tool_name": name, "content": INTERRUPTED}),
            });
        }
    }
    let blocks = turn["content"].as_array().into_iter().flatten();
    for block in blocks.filter(|block| block["type"] == "tool_use") {
        let id = block["id"].as_str().unwrap_or_default();
        if turn["role"] == "assistant" && !take(&mut answered, id) {
            let result = json!({"type": "tool_result", "tool_use_id": id, "content": INTERRUPTED});
            missing.push(json!({"role": "user", "content": [result]}));
        }
    }
    missing
}

/// Takes one entry out; says whether there was one.
fn take(entries: &mut Vec<&str>, entry: &str) -> bool {
    let at = entries.iter().position(|known| *known == entry);
    at.map(|at| entries.remove(at)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, arguments: Value) -> Value {
        json!({"id": id, "type": "function", "function": {"name": "look", "arguments": arguments}})
    }

    #[test]
    fn every_call_gets_a_result() {
        let turn = json!({
            "role": "assistant",
            "content": "",
            "tool_calls": [call("a", json!("{}")), call("b", json!("{}"))],
        });
        let user = json!({"role": "user", "content": "go"});
        let result = json!({"role": "tool", "tool_call_id": "a", "content": "x"});
        let missing = missing_results(&[user.clone(), turn.clone(), result.clone()]);
        assert_eq!(
            missing,
            [json!({"role": "tool", "tool_call_id": "b", "content": INTERRUPTED})]
        );
        let all = [turn, result, missing[0].clone()];
        assert_eq!(missing_results(&all), Vec::<Value>::new());
        assert_eq!(missing_results(&[user]), Vec::<Value>::new());
        assert_eq!(missing_results(&[]), Vec::<Value>::new());
        let twice = json!({
            "role": "assistant",
            "tool_calls": [call("a", json!("{}")), call("a", json!("{}"))],
        });
        let result = json!({"role": "tool", "tool_call_id": "a", "content": "x"});
        assert_eq!(missing_results(&[twice, result]).len(), 1);
    }

    #[test]
    fn providers_have_shapes_of_their_own() {
        let anthropic = json!({
            "role": "assistant",
            "content": [
                {"type": "text", "text": "so"},
                {"type": "tool_use", "id": "t", "name": "look", "input": {}},
            ],
        });
        let missing = missing_results(&[anthropic]);
        assert_eq!(missing[0]["content"][0]["tool_use_id"], "t");
        let ollama = json!({
            "role": "assistant",
            "content": "",
            "tool_calls": [call("", json!({})), call("", json!({}))],
        });
        let result = json!({"role": "tool", "tool_name": "look", "content": "x"});
        let missing = missing_results(&[ollama, result]);
        assert_eq!(
            missing,
            [json!({"role": "tool", "tool_name": "look", "content": INTERRUPTED})]
        );
    }
}
