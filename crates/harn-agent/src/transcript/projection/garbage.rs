//! Results that nobody needs any more.

use harn_llm::options::value::Options;
use serde_json::Value;

use super::pairs::{Pair, pairs, without};
use super::view::View;

/// How many messages count as recent, if nobody says.
const KEEP_LAST: u64 = 4;
/// From how many bytes on a result is large, if nobody says.
const LARGE_BYTES: u64 = 2000;
/// Shorter arguments occur by chance and refer to nothing.
const NAME_BYTES_LEAST: usize = 4;

/// Without old large results that no later message refers to, and without their calls.
///
/// A message refers to a result if it has the call's id in it, or a text that was an argument of
/// the call, such as the path of the file that was read. Results of other tools refer to
/// nothing: what they happen to contain is not what the conversation is about.
pub(super) fn collect(messages: &[Value], options: Options<'_>) -> View {
    let size = |key, usual| usize::try_from(options.count(key).unwrap_or(usual));
    let keep_last = size("keep_last", KEEP_LAST).unwrap_or(usize::MAX);
    let large = size("large_bytes", LARGE_BYTES).unwrap_or(usize::MAX);
    let old = messages.len().saturating_sub(keep_last);
    let pairs = pairs(messages);
    let is_garbage = |pair: &&Pair| {
        let later = &messages[pair.result.message + 1..];
        pair.result.message < old
            && pair.text.len() >= large
            && !later.iter().any(|message| refers(message, pair))
    };
    let garbage: Vec<&Pair> = pairs.iter().filter(is_garbage).collect();
    without(messages, &garbage, |_| None)
}

fn refers(message: &Value, pair: &Pair) -> bool {
    if ["tool", "tool_result"]
        .map(Value::from)
        .contains(&message["role"])
    {
        return false;
    }
    let mut names = Vec::new();
    collect_texts(&pair.arguments, &mut names);
    // Ids that count calls from one on say nothing about this call.
    if pair.id.len() >= 2 * NAME_BYTES_LEAST {
        names.push(&pair.id);
    }
    let mut texts = Vec::new();
    collect_texts(&message["tool_calls"], &mut texts);
    match &message["content"] {
        Value::Array(blocks) => {
            let said = blocks.iter().filter(|block| block["type"] != "tool_result");
            said.for_each(|block| collect_texts(block, &mut texts));
        }
        content => collect_texts(content, &mut texts),
    }
    let mut names = names.into_iter();
    names.any(|name| name.len() >= NAME_BYTES_LEAST && texts.iter().any(|text| text.contains(name)))
}

/// All texts in a value.
fn collect_texts<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => texts.push(text),
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.values()),
            _ => {}
        }
    }
}
