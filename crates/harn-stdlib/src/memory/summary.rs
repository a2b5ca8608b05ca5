//! What is remembered, in a few lines.

use std::rc::Rc;

use harn_machine::{Context, Failure, Fault, Value, argument};

use super::arguments::{int_between, namespace, option, tags};
use super::log::Log;
use super::ranking;
use super::record::Record;

/// How many records are summed up unless somebody says otherwise.
const USUAL: i64 = 20;
/// How many records are summed up at most.
const RECORDS_MAX: i64 = 200;
/// How many characters a summary has at most.
const CHARACTERS_MAX: usize = 4000;

/// `__memory_summarize(namespace, window, options)`
pub(super) fn summarize(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    const FUNCTION: &str = "__memory_summarize";
    let namespace = namespace(FUNCTION, arguments)?;
    let window = argument(arguments, 1);
    let limit = match window {
        Value::Nil | Value::Int(_) => window.clone(),
        Value::Dict(_) => option(window, "limit"),
        other => {
            let name = other.type_name();
            let message = format!("{FUNCTION}: `window` must be nil, int, or dict, got {name}");
            return Err(Fault::runtime(message));
        }
    };
    let limit = int_between(&limit, USUAL, RECORDS_MAX);
    let wanted = tags(FUNCTION, &option(window, "tags"))?;
    let log = Log::open(context, &namespace, argument(arguments, 2))?;
    let mut records = log.records(context)?;
    if !wanted.is_empty() {
        let tagged = records.iter().filter(|record| {
            let mut tags = record.tags.iter();
            tags.any(|tag| wanted.contains(tag))
        });
        records = Rc::new(tagged.cloned().collect());
    }
    let chosen = chosen(&records, &option(window, "query"), limit);
    let lines = chosen.iter().map(|(record, _)| line(record));
    let text = lines.collect::<Vec<_>>().join("\n");
    Ok(Value::dict([
        ("_type", "memory_summary".into()),
        ("count", chosen.len().into()),
        ("namespace", namespace.into()),
        (
            "records",
            chosen.into_iter().map(|(_, value)| value).collect(),
        ),
        ("text", shortened(text).into()),
    ]))
}

/// The newest records, or those that fit a question best, the oldest first.
fn chosen<'a>(records: &'a [Record], query: &Value, limit: usize) -> Vec<(&'a Record, Value)> {
    match query {
        Value::Text(query) if !query.trim().is_empty() => {
            let mut best = ranking::best(records, query, limit);
            best.sort_by_key(|ranked| ranked.at);
            let best = best.iter();
            best.map(|ranked| (ranked.record, ranked.to_value()))
                .collect()
        }
        _ => {
            let newest = &records[records.len().saturating_sub(limit)..];
            newest
                .iter()
                .map(|record| (record, record.to_value()))
                .collect()
        }
    }
}

fn line(record: &Record) -> String {
    let tags: Vec<&str> = record.tags.iter().map(|tag| tag.as_str()).collect();
    let tags = match tags.as_slice() {
        [] => String::new(),
        tags => format!("[{}] ", tags.join(",")),
    };
    let first = record.text.lines().next().unwrap_or_default();
    format!("- {tags}{}: {first}", record.key)
}

fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(CHARACTERS_MAX) {
        text.truncate(end);
    }
    text
}
