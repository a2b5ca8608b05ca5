//! Turns of a conversation as Gemini wants them.
//!
//! Turns of the same side that follow each other become one, and results stand first in
//! theirs. Calls and results belong together by order, so ids are sent only where the
//! provider itself gave them.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::wire::Wire;
use crate::wire::conversation::{Kept, Part, Role, Source, Turn};

/// What stands for the proof of a call that another model made. Without any, models that
/// demand proofs refuse the conversation.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

/// How the turns are written.
pub(super) struct Writer {
    /// Ids that the provider gave.
    ids: HashSet<String>,
    demands_signatures: bool,
}

impl Writer {
    /// One for a conversation with a model that demands proofs or not.
    pub(super) fn new(turns: &[Turn], demands_signatures: bool) -> Self {
        let blocks = turns.iter().filter_map(kept).flat_map(|kept| &kept.blocks);
        let ids = blocks.filter_map(|block| block["functionCall"]["id"].as_str());
        Self {
            ids: ids.map(str::to_owned).collect(),
            demands_signatures,
        }
    }

    /// The instructions before the first turn of anybody else, and all other turns.
    pub(super) fn write(&self, turns: &[Turn]) -> (Vec<String>, Vec<Value>) {
        let is_system = |turn: &&Turn| turn.role == Role::System;
        let leading = turns.iter().take_while(is_system).count();
        let (instructions, turns) = turns.split_at(leading);
        let instructions = instructions.iter().flat_map(|turn| &turn.parts);
        let instructions = instructions.filter_map(|part| match part {
            Part::Text(text) => Some(text.clone()),
            _ => None,
        });
        let mut contents = Vec::new();
        for turn in turns {
            let (role, parts) = match turn.role {
                // There is no place for instructions in the middle; the user says them.
                Role::User | Role::System => ("user", self.user_parts(&turn.parts)),
                Role::Assistant => ("model", self.model_parts(turn)),
            };
            append(&mut contents, role, parts);
        }
        (instructions.collect(), contents)
    }

    fn user_parts(&self, parts: &[Part]) -> Vec<Value> {
        parts.iter().flat_map(|part| self.parts(part)).collect()
    }

    fn model_parts(&self, turn: &Turn) -> Vec<Value> {
        if let Some(kept) = kept(turn) {
            return kept.blocks.clone();
        }
        let mut parts = self.user_parts(&turn.parts);
        let is_call = |part: &&mut Value| part["functionCall"].is_object();
        let call = parts.iter_mut().find(is_call);
        if let Some(call) = call.filter(|_| self.demands_signatures) {
            call["thoughtSignature"] = json!(FOREIGN_SIGNATURE);
        }
        parts
    }

    fn parts(&self, part: &Part) -> Vec<Value> {
        match part {
            Part::Text(text) if text.is_empty() => Vec::new(),
            Part::Text(text) => vec![json!({"text": text})],
            Part::Image { source, .. } => vec![image(source)],
            Part::Call {
                id,
                name,
                arguments,
            } => vec![self.call(id, name, arguments)],
            Part::Result {
                id,
                name,
                content,
                is_error,
            } => self.result(id, name.as_deref(), content, *is_error),
            // Thoughts without their proof are of no use to the provider.
            Part::Thought { .. } => Vec::new(),
            // A part of its own has no `type`; a block of another provider would be refused.
            Part::Other(block) if block.get("type").is_none() => vec![block.clone()],
            Part::Other(block) => vec![json!({"text": block.to_string()})],
        }
    }

    fn call(&self, id: &str, name: &str, arguments: &Value) -> Value {
        let mut call = json!({"name": name});
        call["args"] = match arguments {
            Value::Object(_) => arguments.clone(),
            Value::Null => json!({}),
            other => json!({"value": other}),
        };
        self.write_id(&mut call, id);
        json!({"functionCall": call})
    }

    /// A result, followed by the pictures in it.
    fn result(&self, id: &str, name: Option<&str>, content: &[Part], is_error: bool) -> Vec<Value> {
        let mut texts = Vec::new();
        let mut parts = Vec::new();
        for part in content {
            match part {
                Part::Text(text) => texts.push(text.clone()),
                Part::Image { source, .. } => parts.push(image(source)),
                Part::Other(block) => texts.push(block.to_string()),
                Part::Call { .. } | Part::Result { .. } | Part::Thought { .. } => {}
            }
        }
        let key = if is_error { "error" } else { "output" };
        let mut response = json!({
            "name": name.unwrap_or(id),
            "response": {key: texts.join("\n")},
        });
        self.write_id(&mut response, id);
        parts.insert(0, json!({"functionResponse": response}));
        parts
    }

    fn write_id(&self, place: &mut Value, id: &str) {
        if self.ids.contains(id) {
            place["id"] = json!(id);
        }
    }
}

fn kept(turn: &Turn) -> Option<&Kept> {
    let kept = turn.kept.as_ref();
    kept.filter(|kept| kept.wire == Wire::Gemini.name())
}

fn append(contents: &mut Vec<Value>, role: &str, mut parts: Vec<Value>) {
    let last = contents.last_mut().filter(|last| last["role"] == role);
    if let Some(Value::Array(known)) = last.map(|last| &mut last["parts"]) {
        known.append(&mut parts);
        results_first(known);
    } else if !parts.is_empty() {
        results_first(&mut parts);
        contents.push(json!({"role": role, "parts": parts}));
    }
}

fn results_first(parts: &mut [Value]) {
    parts.sort_by_key(|part| !part["functionResponse"].is_object());
}

fn image(source: &Source) -> Value {
    match source {
        Source::Base64 { data, media_type } => {
            json!({"inlineData": {"mimeType": media_type, "data": data}})
        }
        Source::Url(url) => {
            let mut file = json!({"fileUri": url});
            if let Some(media_type) = media_type_of(url) {
                file["mimeType"] = json!(media_type);
            }
            json!({"fileData": file})
        }
    }
}

/// What the ending of a URL says about a picture.
fn media_type_of(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let (_, ending) = path.rsplit_once('.')?;
    match ending.to_ascii_lowercase().as_str() {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "webp" => Some("image/webp"),
        "gif" => Some("image/gif"),
        "heic" => Some("image/heic"),
        "heif" => Some("image/heif"),
        _ => None,
    }
}
