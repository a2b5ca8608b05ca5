//! What is put in the place of archived messages.

use harn_llm::desk::Thrown;
use harn_llm::options::value::display;
use harn_llm::sorted_json_pretty;
use serde_json::{Value, json};

use super::engine::Summarizer;
use super::policy::{Policy, Strategy};
use super::prompt;
use crate::callback::Callback;

/// How many messages a truncated summary shows.
const SHOWN_MESSAGES: usize = 15;
/// From how many bytes on a message is cut or masked.
const LONG_BYTES: usize = 500;
/// How much of its first line a masked message shows.
const MASKED_BYTES: usize = 120;
/// Up to how many lines a message is shown in full.
const SHORT_LINES: usize = 3;

/// The summary of `archived`. The `count` it speaks of differs where `archived` is a summary
/// already.
pub(super) async fn summary(
    strategy: Strategy,
    policy: &Policy,
    archived: &[Value],
    count: usize,
    summarizer: &dyn Summarizer,
) -> Result<String, Thrown> {
    match strategy {
        Strategy::Truncate => Ok(truncated(archived, count)),
        Strategy::Llm => asked(policy, archived, count, summarizer).await,
        Strategy::Custom => {
            let function = policy.custom.function()?;
            custom(&**function, archived, count).await
        }
        Strategy::ObservationMask => {
            let masks = masks(policy.mask.as_deref(), archived).await?;
            Ok(masked(archived, count, &masks))
        }
    }
}

fn truncated(archived: &[Value], count: usize) -> String {
    let header = format!("[auto-compacted {count} older messages via truncate strategy]");
    abbreviated(&header, archived, count)
}

/// The first messages, each cut, below a header.
fn abbreviated(header: &str, archived: &[Value], count: usize) -> String {
    let shown = archived.iter().filter_map(|message| {
        let content = text(message)?;
        Some(format!("[{}] {}", role(message), cut(content)))
    });
    let shown: Vec<String> = shown.take(SHOWN_MESSAGES).collect();
    let mut summary = format!("{header}\n{}", shown.join("\n"));
    if count > SHOWN_MESSAGES {
        let more = count - SHOWN_MESSAGES;
        summary.push_str(&format!("\n... and {more} more"));
    }
    summary
}

fn cut(content: &str) -> String {
    if content.len() <= LONG_BYTES {
        return content.to_owned();
    }
    let start = &content[..content.floor_char_boundary(LONG_BYTES)];
    format!("{start}... [truncated from {} chars]", content.len())
}

async fn asked(
    policy: &Policy,
    archived: &[Value],
    count: usize,
    summarizer: &dyn Summarizer,
) -> Result<String, Thrown> {
    let question = prompt::of_archived(archived, count, policy, summarizer).await?;
    let answer = summarizer.summarize(question).await?;
    let answer = answer.trim();
    if answer.is_empty() {
        let header = format!(
            "[auto-compact fallback: LLM summarizer returned empty; {count} older messages abbreviated to ~{LONG_BYTES} chars each]"
        );
        return Ok(abbreviated(&header, archived, count));
    }
    Ok(headed(answer, count))
}

async fn custom(
    function: &dyn Callback,
    archived: &[Value],
    count: usize,
) -> Result<String, Thrown> {
    let answer = function.call(vec![json!(archived)]).await?;
    let answer = custom_text(&answer);
    match answer.trim().is_empty() {
        true => Ok(truncated(archived, count)),
        false => Ok(headed(&answer, count)),
    }
}

fn custom_text(answer: &Value) -> String {
    match answer {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => match other.get("summary").or_else(|| other.get("text")) {
            Some(Value::Null) => String::new(),
            Some(text) => display(text),
            None => sorted_json_pretty(other),
        },
    }
}

fn headed(answer: &str, count: usize) -> String {
    format!("[auto-compacted {count} older messages]\n{answer}")
}

/// What the program wants to stand for each message.
async fn masks(mask: Option<&dyn Callback>, archived: &[Value]) -> Result<Vec<Value>, Thrown> {
    let Some(mask) = mask else {
        return Ok(Vec::new());
    };
    match mask.call(vec![json!(archived)]).await? {
        Value::Array(masks) => Ok(masks),
        _ => Ok(Vec::new()),
    }
}

/// What the assistant said in full, and what it saw in short.
fn masked(archived: &[Value], count: usize, masks: &[Value]) -> String {
    let mut lines = vec![format!(
        "[auto-compacted {count} older messages via observation masking]"
    )];
    for (index, message) in archived.iter().enumerate() {
        let (role, Some(content)) = (role(message), text(message)) else {
            continue;
        };
        let own = masks.get(index).and_then(Value::as_str);
        let is_long = role != "assistant" && content.len() >= LONG_BYTES;
        lines.push(match own.filter(|_| is_long) {
            Some(own) => own.to_owned(),
            None if is_long => default_mask(role, content),
            None => format!("[{role}] {content}"),
        });
    }
    lines.join("\n")
}

fn default_mask(role: &str, content: &str) -> String {
    let lines = content.lines().count();
    if lines <= SHORT_LINES {
        return format!("[{role}] {content}");
    }
    let first = content.lines().next().unwrap_or_default();
    let first = &first[..first.floor_char_boundary(MASKED_BYTES)];
    let bytes = content.len();
    format!("[{role}] {first}... [{lines} lines, {bytes} chars masked]")
}

fn role(message: &Value) -> &str {
    message["role"].as_str().unwrap_or("user")
}

/// The text of a message, if it has one.
fn text(message: &Value) -> Option<&str> {
    message["content"].as_str().filter(|text| !text.is_empty())
}
