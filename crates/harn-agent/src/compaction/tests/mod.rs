//! What the tests of this module share.

mod builtins;
mod engine;
mod properties;

use std::sync::Mutex;

use harn_llm::desk::Thrown;
use harn_log::block_on;
use serde_json::{Value, json};

use super::*;
use crate::callback::BoxFuture;

/// A model that answers the same to everything and remembers what it was asked.
struct Model {
    answer: &'static str,
    asked: Mutex<Vec<String>>,
}

impl Model {
    fn saying(answer: &'static str) -> Self {
        Self {
            answer,
            asked: Mutex::default(),
        }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("nobody panics").clone()
    }
}

impl Summarizer for Model {
    fn summarize(&self, prompt: String) -> BoxFuture<'_, Result<String, Thrown>> {
        self.asked.lock().expect("nobody panics").push(prompt);
        Box::pin(std::future::ready(Ok(self.answer.to_owned())))
    }

    fn template(&self, path: &str) -> Result<Template, Thrown> {
        Ok(Template {
            path: path.into(),
            text: "{{archived_count}}:\n{{ formatted_messages }}".to_owned(),
        })
    }
}

fn message(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

/// Messages `m0`, `m1`, … by turns of a user and an assistant.
fn turns(count: usize) -> Vec<Value> {
    let role = |index: usize| ["user", "assistant"][index % 2];
    (0..count)
        .map(|index| message(role(index), &format!("m{index}")))
        .collect()
}

fn with(strategy: Strategy, keep_last: usize) -> Policy {
    let mut policy = Policy::usual();
    policy.use_strategy(strategy);
    policy.keep_last = keep_last;
    policy
}

fn compacted(policy: &Policy, messages: &[Value], model: &dyn Summarizer) -> Compacted {
    let result = block_on(compact(policy, messages, model)).expect("it succeeds");
    result.expect("there is something to do")
}

fn summary_of(policy: &Policy, messages: &[Value], model: &dyn Summarizer) -> String {
    compacted(policy, messages, model).summary
}
