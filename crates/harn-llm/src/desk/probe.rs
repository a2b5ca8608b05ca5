//! Really asks a model one small question and watches the answer come.

use serde_json::{Value, json};

use super::variants::Question;
use super::{Desk, Thrown};
use crate::{Stop, StreamEvent, Usage};

/// What is asked.
const PROMPT: &str = "Reply with the single word: ready";

/// How much may be answered. Models that think need some room before their first word.
const TOKENS_MAX: u64 = 256;

/// What was seen of an answer.
#[derive(Clone, Debug, Default)]
pub struct Probed {
    /// The model, as it calls itself.
    pub model: String,
    /// What it said.
    pub text: String,
    /// Until the first piece came.
    pub first_piece_ms: Option<i64>,
    /// Until the end.
    pub took_ms: i64,
    /// In how many pieces the text came.
    pub pieces: u64,
    /// In how many pieces thoughts came.
    pub thoughts: u64,
    /// What was counted.
    pub usage: Usage,
    /// Why it ended.
    pub stop: Option<Stop>,
}

impl Desk {
    /// Really asks a model one small question and watches the answer come.
    ///
    /// # Errors
    /// What a program would catch.
    pub async fn probe(&self, provider: &str, model: &str) -> Result<Probed, Thrown> {
        let options = json!({
            "provider": provider,
            "model": model,
            "max_tokens": TOKENS_MAX,
            "llm_retries": 0,
        });
        let question = Question {
            prompt: PROMPT.to_owned(),
            system: None,
            replies: None,
            options: match options {
                Value::Object(options) => options,
                _ => serde_json::Map::new(),
            },
        };
        let mut call = self.read(&question)?;
        call.request.stream = true;
        call.retries = 0;
        let started = self.now();
        let mut probed = Probed::default();
        let mut listener = |event: &StreamEvent| {
            match event {
                StreamEvent::TextDelta { .. } => probed.pieces += 1,
                StreamEvent::ThoughtDelta { .. } => probed.thoughts += 1,
                _ => return,
            }
            let now = (self.ports.now)();
            probed.first_piece_ms.get_or_insert(now - started);
        };
        let answered = self.ask_only(&call, &mut listener).await?;
        probed.took_ms = self.now() - started;
        probed.model = answered.model;
        probed.text = answered.reply.text;
        probed.usage = answered.reply.usage;
        probed.stop = answered.reply.stop;
        Ok(probed)
    }
}
