//! What agents remember between runs: what `std/memory` is made of.
//!
//! ```text
//! <root>/<namespace>/events.jsonl     a line for everything that was stored or forgotten
//!        │
//!        ├─► log       reads the lines and adds to them; known is what was read already
//!        ├─► record    what was stored
//!        ├─► ranking   what fits a question best
//!        └─► matching  what is to be forgotten
//! ```
//!
//! Nothing is ever changed in the file: what is forgotten gets a line that says so.

mod arguments;
mod known;
mod log;
mod matching;
mod ranking;
mod record;
mod summary;

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Registry, Value, argument};

use arguments::{int_between, moment, namespace, new_id, option, required, tags};
use log::Log;
use matching::Predicate;
use record::Record;

/// How many records are given at most.
const RECALLED_MAX: i64 = 100;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("__memory_forget", forget),
        ("__memory_recall", recall),
        ("__memory_store", store),
        ("__memory_summarize", summary::summarize),
    ]);
}

/// `__memory_store(namespace, key, value, tags, options)`
fn store(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    const FUNCTION: &str = "__memory_store";
    let namespace = namespace(FUNCTION, arguments)?;
    let key = required(FUNCTION, "key", argument(arguments, 1))?;
    let tags = tags(FUNCTION, argument(arguments, 3))?;
    let options = argument(arguments, 4);
    let record = Record::new(
        match option(options, "id") {
            Value::Nil => new_id(context),
            id => id.to_text(),
        },
        namespace.clone(),
        key,
        argument(arguments, 2),
        tags,
        moment(context, options),
        option(options, "provenance"),
    );
    let log = Log::open(context, &namespace, options)?;
    log.add(context, record.fields().clone())?;
    Ok(record.to_value())
}

/// `__memory_recall(namespace, query, k, options)`
fn recall(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    const FUNCTION: &str = "__memory_recall";
    let namespace = namespace(FUNCTION, arguments)?;
    let query = required(FUNCTION, "query", argument(arguments, 1))?;
    let count = int_between(argument(arguments, 2), 5, RECALLED_MAX);
    let log = Log::open(context, &namespace, argument(arguments, 3))?;
    let records = log.records(context)?;
    let best = ranking::best(&records, &query, count);
    Ok(best.into_iter().map(|ranked| ranked.to_value()).collect())
}

/// `__memory_forget(namespace, predicate, options)`
fn forget(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let namespace = namespace("__memory_forget", arguments)?;
    let predicate = Predicate::read(argument(arguments, 1))?;
    let options = argument(arguments, 2);
    let log = Log::open(context, &namespace, options)?;
    let records = log.records(context)?;
    let matching = records.iter().filter(|record| predicate.matches(record));
    let ids: Vec<Text> = matching.map(|record| record.id.clone()).collect();
    let forgotten = ids.len();
    let event = [
        ("_type", "memory_forget".into()),
        ("forgotten", forgotten.into()),
        ("forgotten_at", moment(context, options)),
        ("forgotten_ids", ids.into_iter().map(Value::Text).collect()),
        ("id", new_id(context).into()),
        ("namespace", namespace.into()),
    ];
    let event = event.into_iter();
    let event: Dict = event
        .map(|(name, value)| (Text::new(name), value))
        .collect();
    if forgotten > 0 {
        log.add(context, event.clone())?;
    }
    Ok(event.into())
}
