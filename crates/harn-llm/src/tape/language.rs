//! Which wire a request is in. A transport carries requests without knowing.

use crate::wire::{HttpRequest, Wire};

/// The wire of a request, by what only one of them has.
pub fn wire_of(request: &HttpRequest) -> Wire {
    let path = request.url.split(['?', '#']).next().unwrap_or_default();
    let has_header = |wanted: &str| {
        let mut names = request.headers.iter();
        names.any(|(name, _)| name.eq_ignore_ascii_case(wanted))
    };
    let has_key = |key: &str| request.body.get(key).is_some();
    if has_key("contents") {
        Wire::Gemini
    } else if has_key("input") {
        Wire::Responses
    } else if has_header("anthropic-version") || path.ends_with("/messages") {
        Wire::Anthropic
    } else if path.ends_with("/api/chat") || path.ends_with("/api/generate") {
        Wire::Ollama
    } else {
        Wire::Chat
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Secret;

    #[test]
    fn every_wire_is_told_by_what_only_it_has() {
        let messages = json!({"messages": []});
        let rows = [
            (
                "https://a/v1/messages",
                "x",
                messages.clone(),
                Wire::Anthropic,
            ),
            (
                "https://gateway/v1",
                "Anthropic-Version",
                messages.clone(),
                Wire::Anthropic,
            ),
            (
                "https://a/v1/chat/completions",
                "x",
                messages.clone(),
                Wire::Chat,
            ),
            (
                "https://a/v1/responses",
                "x",
                json!({"input": []}),
                Wire::Responses,
            ),
            (
                "https://a/m:generateContent",
                "x",
                json!({"contents": []}),
                Wire::Gemini,
            ),
            ("http://a:11434/api/chat", "x", messages, Wire::Ollama),
        ];
        for (url, header, body, expected) in rows {
            let request = HttpRequest {
                url: url.to_owned(),
                headers: vec![(header.to_owned(), Secret::new("v"))],
                body,
            };
            assert_eq!(wire_of(&request), expected, "{url}");
        }
    }
}
