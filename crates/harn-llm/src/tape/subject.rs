//! What a request is about, so that one can be told from another without being equal.

use serde_json::Value;

use super::exchange::RecordedRequest;

/// The wire, the model, and what the user said last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) wire: String,
    pub(super) model: String,
    pub(super) said: String,
}

impl Subject {
    pub(super) fn of(wire: &str, request: &RecordedRequest) -> Self {
        Self {
            wire: wire.to_owned(),
            model: model(request),
            said: said(&request.body),
        }
    }
}

/// The model in the body, or in the URL, where Gemini has it.
fn model(request: &RecordedRequest) -> String {
    if let Some(model) = request.body["model"].as_str() {
        return model.to_owned();
    }
    let after = request.url.split_once("/models/").map(|(_, after)| after);
    let after = after.unwrap_or_default();
    let end = after.find([':', '?', '/']).unwrap_or(after.len());
    after[..end].to_owned()
}

/// What the user said last, words only. Results of tools are not said by the user: they tell
/// times and paths, which change from run to run.
fn said(body: &Value) -> String {
    let messages = ["messages", "input", "contents"];
    let Some(messages) = messages.iter().find_map(|key| body.get(key)) else {
        return String::new();
    };
    match messages {
        Value::String(text) => words(text),
        Value::Array(messages) => {
            let of_user = messages.iter().rev();
            let of_user = of_user.filter(|message| message["role"] == "user");
            let mut texts = of_user.map(|message| {
                let mut text = String::new();
                collect(message, &mut text);
                words(&text)
            });
            texts.find(|text| !text.is_empty()).unwrap_or_default()
        }
        _ => String::new(),
    }
}

fn collect(value: &Value, text: &mut String) {
    match value {
        Value::String(piece) => {
            text.push_str(piece);
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, text)),
        Value::Object(fields) if value["type"] != "tool_result" => {
            let known = ["text", "content", "parts"].iter();
            let known = known.filter_map(|key| fields.get(*key));
            known.for_each(|field| collect(field, text));
        }
        _ => {}
    }
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(body: Value, url: &str, model: &str, said: &str) {
        let request = RecordedRequest {
            url: url.to_owned(),
            headers: Vec::new(),
            body,
        };
        let subject = Subject::of("w", &request);
        assert_eq!(
            (subject.model.as_str(), subject.said.as_str()),
            (model, said)
        );
    }

    #[test]
    fn the_subject_is_found_on_every_wire() {
        let anthropic = json!({"model": "c", "messages": [
            {"role": "user", "content": [{"type": "text", "text": "look\n here"}]},
            {"role": "assistant", "content": "ok"},
            {"role": "user", "content": [{"type": "tool_result", "content": "12:00"}]},
        ]});
        check(anthropic, "https://x/v1/messages", "c", "look here");
        let chat = json!({"model": "g", "messages": [
            {"role": "user", "content": "a"}, {"role": "user", "content": " b "},
            {"role": "tool", "content": "r"},
        ]});
        check(chat, "", "g", "b");
        let responses = json!({"model": "g", "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "q"}]},
            {"type": "function_call_output", "output": "r"},
        ]});
        check(responses, "", "g", "q");
        check(json!({"model": "g", "input": "q"}), "", "g", "q");
        let gemini = json!({"contents": [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "t"}}]},
        ]});
        let url = "https://x/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";
        check(gemini, url, "gemini-2.5-pro", "q");
        check(json!({}), "", "", "");
    }
}
