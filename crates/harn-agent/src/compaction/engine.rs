//! Compacts a list of messages.

use std::path::PathBuf;

use harn_llm::desk::Thrown;
use serde_json::{Value, json};

use super::policy::Policy;
use super::split::archived_range;
use super::summary::summary;
use crate::callback::BoxFuture;
use crate::transcript::messages_tokens;

/// Whoever can sum up a conversation, usually a model.
pub trait Summarizer: Send + Sync {
    /// Asks with one message of a user, without a system prompt and without tools.
    fn summarize(&self, prompt: String) -> BoxFuture<'_, Result<String, Thrown>>;

    /// The template file at `path`.
    fn template(&self, path: &str) -> Result<Template, Thrown>;
}

/// A template file.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// Where it is, from the root of the file system on.
    pub path: PathBuf,
    /// What is in it.
    pub text: String,
}

/// Nobody who could sum up: there are no options that say which model.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoModel;

impl Summarizer for NoModel {
    fn summarize(&self, _prompt: String) -> BoxFuture<'_, Result<String, Thrown>> {
        Box::pin(std::future::ready(Err(no_model())))
    }

    fn template(&self, _path: &str) -> Result<Template, Thrown> {
        Err(no_model())
    }
}

fn no_model() -> Thrown {
    Thrown::Runtime("LLM transcript compaction requires active LLM call options".to_owned())
}

/// What a compaction has done: the messages `keep_first..split` of before are now one message at
/// `keep_first`.
#[derive(Clone, Debug, PartialEq)]
pub struct Compacted {
    /// The messages as they are now.
    pub messages: Vec<Value>,
    /// The text of the message that was put in.
    pub summary: String,
    /// Position of the first message that was removed, and now of the summary.
    pub keep_first: usize,
    /// Position before of the first message that follows the summary.
    pub split: usize,
    /// How many messages were to be kept at the end.
    pub keep_last: usize,
    /// How many messages were removed.
    pub archived: usize,
    /// How many messages reports speak of: the old count less the new one, and one for the
    /// summary.
    pub reported_archived: usize,
    /// What the policy is called.
    pub strategy: String,
    /// What made the summary in the first place.
    pub engine_strategy: &'static str,
    /// Estimate before.
    pub tokens_before: u64,
    /// Estimate now.
    pub tokens_after: u64,
}

/// Compacts messages; `None` if there is nothing to do. The policy's threshold is not asked:
/// whoever calls has decided already.
///
/// # Errors
/// What the model or the program's own function fails with. The messages are as they were.
pub async fn compact(
    policy: &Policy,
    messages: &[Value],
    summarizer: &dyn Summarizer,
) -> Result<Option<Compacted>, Thrown> {
    let Some(range) = archived_range(messages, policy.keep_first, policy.keep_last) else {
        return Ok(None);
    };
    let archived = &messages[range.clone()];
    let count = archived.len();
    let text = summary(policy.strategy, policy, archived, count, summarizer).await?;
    let mut compacted = put_in(policy, messages, range.clone(), text);
    let limit = policy.hard_limit_tokens.unwrap_or(u64::MAX);
    if compacted.tokens_after > limit {
        let long = [as_message(&compacted.summary)];
        let strategy = policy.hard_limit_strategy;
        let text = summary(strategy, policy, &long, count, summarizer).await?;
        compacted = put_in(policy, messages, range, text);
    }
    Ok(Some(compacted))
}

fn put_in(
    policy: &Policy,
    before: &[Value],
    range: std::ops::Range<usize>,
    summary: String,
) -> Compacted {
    let mut messages = before[..range.start].to_vec();
    messages.push(as_message(&summary));
    messages.extend_from_slice(&before[range.end..]);
    Compacted {
        tokens_before: messages_tokens(before),
        tokens_after: messages_tokens(&messages),
        reported_archived: before.len() + 1 - messages.len(),
        archived: range.len(),
        keep_first: range.start,
        split: range.end,
        keep_last: policy.keep_last,
        strategy: policy.name.clone(),
        engine_strategy: policy.strategy.name(),
        summary,
        messages,
    }
}

fn as_message(summary: &str) -> Value {
    json!({"role": "user", "content": summary})
}
