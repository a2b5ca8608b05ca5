//! `harn events topics`: what is in the event log.

use std::io::Write;

use clap::Args;
use harn_log::{AnyEventLog, EventId, EventLog, LogError, OnDamage, Topic, block_on};
use serde::Serialize;

use super::line::TimeArguments;
use super::log::LogArguments;
use super::{Ctx, Failure, Form, Outcome, records};
use crate::arguments::after_help;
use crate::clock::Clock;
use crate::output::{Output, Untrusted};

const EXAMPLES: &str = "  \
  harn events topics                   Of the log of this folder
  harn events topics --log events/     Of a log somewhere else
  harn events topics --json | jq -r '.topics[].topic'";

/// List the topics of the event log
///
/// For each: how many records it has, the newest id, and when that happened.
///
/// With --json the answer is {"topics": [TOPIC, …]}. TOPIC has topic, records,
/// newest_id, newest_at_ms (null if the record is gone), and error for a topic that
/// cannot be read.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogArguments,

    #[command(flatten)]
    time: TimeArguments,
}

/// The answer. The names are a promise.
#[derive(Serialize)]
struct Listing {
    topics: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    topic: String,
    records: u64,
    newest_id: Option<EventId>,
    newest_at_ms: Option<i64>,
    error: Option<String>,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<Outcome, Failure> {
    let log = arguments.log.open_to_read(OnDamage::Refuse)?;
    let rows = log.topics()?.into_iter();
    let rows: Vec<Row> = rows.map(|topic| Row::of(&log.log, &topic)).collect();
    let listing = Listing { topics: rows };
    match ctx.form {
        Form::Json => ctx.output.json(&listing)?,
        Form::Text => write(&listing.topics, arguments.time, ctx.clock, ctx.output)?,
    }
    let errors = listing.topics.iter().filter_map(|row| row.error.as_ref());
    let mut outcome = Outcome::Done;
    for error in errors {
        ctx.output.error(format_args!("{}", Untrusted(error)));
        outcome = Outcome::Problems;
    }
    Ok(outcome)
}

impl Row {
    fn of(log: &AnyEventLog, topic: &Topic) -> Self {
        let found = Self::read(log, topic);
        found.unwrap_or_else(|error| Self {
            topic: topic.to_string(),
            records: 0,
            newest_id: None,
            newest_at_ms: None,
            error: Some(error.to_string()),
        })
    }

    fn read(log: &AnyEventLog, topic: &Topic) -> Result<Self, LogError> {
        let (records, newest_id) = records::extent(log, topic)?;
        let before = newest_id.unwrap_or(0).saturating_sub(1);
        let newest = block_on(log.read_range_bytes(topic, Some(before), 1))?;
        Ok(Self {
            topic: topic.to_string(),
            records,
            newest_id,
            newest_at_ms: newest.first().map(|(_, event)| event.occurred_at_ms),
            error: None,
        })
    }
}

fn write(
    rows: &[Row],
    time: TimeArguments,
    clock: Clock,
    output: &mut Output,
) -> Result<(), Failure> {
    if rows.is_empty() {
        output.note(format_args!("no topics: nothing has been appended yet"));
        return Ok(());
    }
    let columns = rows.iter().map(|row| row.topic.len()).max();
    let columns = columns.unwrap_or(0).max("TOPIC".len());
    let palette = output.palette();
    let heading = format!(
        "{:columns$}  {:>8}  {:>8}  NEWEST",
        "TOPIC", "RECORDS", "ID"
    );
    writeln!(output, "{}", palette.heading(heading))?;
    for row in rows {
        let topic = format!("{:columns$}", row.topic);
        let records = match row.error {
            None => row.records.to_string(),
            Some(_) => "?".to_owned(),
        };
        let id = row.newest_id.map_or("?".to_owned(), |id| id.to_string());
        let newest = row.newest_at_ms.map(|ms| time.show(ms, clock));
        let newest = newest.unwrap_or_else(|| "gone".to_owned());
        let newest = match row.error {
            None => newest,
            Some(_) => "cannot be read".to_owned(),
        };
        writeln!(
            output,
            "{}  {records:>8}  {id:>8}  {newest}",
            palette.name(topic)
        )?;
    }
    Ok(())
}
