//! Keeps what a model thought, in the keys the server used, for models that want it back.

use serde_json::{Map, Value};

/// The keys under which servers send thoughts as text. Some send the same text under both.
pub(super) const TEXT_KEYS: [&str; 2] = ["reasoning_content", "reasoning"];

/// The key under which OpenRouter sends thoughts with signatures, and encrypted ones.
pub(super) const DETAILS_KEY: &str = "reasoning_details";

/// What an assistant message gets besides text and calls.
#[derive(Debug, Default)]
pub(super) struct Reasoning {
    /// A text for each of [`TEXT_KEYS`].
    texts: [String; 2],
    details: Vec<Value>,
}

impl Reasoning {
    /// Takes the thoughts in `delta` and returns their text.
    pub(super) fn take<'a>(&mut self, delta: &'a Map<String, Value>) -> Option<&'a str> {
        let mut shown = None;
        for (key, text) in TEXT_KEYS.into_iter().zip(&mut self.texts) {
            let piece = delta.get(key).and_then(Value::as_str);
            if let Some(piece) = piece.filter(|piece| !piece.is_empty()) {
                text.push_str(piece);
                shown = shown.or(Some(piece));
            }
        }
        if let Some(Value::Array(details)) = delta.get(DETAILS_KEY) {
            details.iter().for_each(|detail| self.add_detail(detail));
        }
        shown
    }

    /// The block to keep, if there is anything to keep.
    pub(super) fn finish(&mut self) -> Option<Value> {
        let mut block = Map::new();
        for (key, text) in TEXT_KEYS.into_iter().zip(&mut self.texts) {
            if !text.is_empty() {
                block.insert(key.to_owned(), Value::String(std::mem::take(text)));
            }
        }
        if !self.details.is_empty() {
            let details = std::mem::take(&mut self.details);
            block.insert(DETAILS_KEY.to_owned(), Value::Array(details));
        }
        (!block.is_empty()).then_some(Value::Object(block))
    }

    /// Pieces of one detail have its type and number; texts grow, the rest is replaced.
    fn add_detail(&mut self, detail: &Value) {
        let last = self.details.last_mut().and_then(Value::as_object_mut);
        let (Some(last), Some(piece)) = (last, detail.as_object()) else {
            self.details.push(detail.clone());
            return;
        };
        let is_same = ["type", "index"]
            .into_iter()
            .all(|key| last.get(key).is_some() && last.get(key) == piece.get(key));
        if !is_same {
            self.details.push(detail.clone());
            return;
        }
        for (key, value) in piece.iter().filter(|(_, value)| !value.is_null()) {
            match (key.as_str(), last.get_mut(key), value) {
                ("text" | "summary" | "data", Some(Value::String(text)), Value::String(more)) => {
                    text.push_str(more);
                }
                _ => {
                    last.insert(key.clone(), value.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(deltas: &[Value], shown: &str, kept: Option<Value>) {
        let mut reasoning = Reasoning::default();
        let deltas = deltas.iter().filter_map(Value::as_object);
        let texts: String = deltas.filter_map(|delta| reasoning.take(delta)).collect();
        assert_eq!(texts, shown);
        assert_eq!(reasoning.finish(), kept);
    }

    #[test]
    fn a_thought_keeps_the_key_it_came_under() {
        check(
            &[
                json!({"reasoning_content": "a"}),
                json!({"reasoning_content": "b"}),
            ],
            "ab",
            Some(json!({"reasoning_content": "ab"})),
        );
        check(&[json!({"content": "x", "reasoning": ""})], "", None);
    }

    #[test]
    fn the_same_text_under_two_keys_is_shown_once() {
        check(
            &[json!({"reasoning_content": "a", "reasoning": "a"})],
            "a",
            Some(json!({"reasoning_content": "a", "reasoning": "a"})),
        );
    }

    #[test]
    fn pieces_of_one_detail_grow_together() {
        check(
            &[
                json!({"reasoning": "a", "reasoning_details": [
                    {"type": "reasoning.text", "text": "a", "index": 0}]}),
                json!({"reasoning": "b", "reasoning_details": [
                    {"type": "reasoning.text", "text": "b", "signature": "s", "index": 0}, 7]}),
                json!({"reasoning_details": [
                    {"type": "reasoning.encrypted", "data": "e", "index": 1}]}),
            ],
            "ab",
            Some(json!({"reasoning": "ab", "reasoning_details": [
                {"type": "reasoning.text", "text": "ab", "signature": "s", "index": 0},
                7,
                {"type": "reasoning.encrypted", "data": "e", "index": 1},
            ]})),
        );
    }
}
