//! `harn events tail`: the end of the event log, and what comes after it.

mod follow;

use std::io::Write;
use std::sync::Arc;

use clap::Args;
use harn_log::{EventId, EventLog, OnDamage, Topic, block_on};
use harn_vm::agent::WholeLists;

use super::filter::FilterArguments;
use super::line::{Lines, TimeArguments};
use super::log::{LogArguments, OpenLog};
use super::records::Records;
use super::{Ctx, Failure, Form, Outcome, selection};
use crate::arguments::after_help;
use crate::output::Untrusted;
use follow::Followed;

const EXAMPLES: &str = "  \
  harn events tail                     The last ten records
  harn events tail -f --session s1     Watch a session
  harn events tail -f -n 0 --json | jq -c .payload";

/// Show the last records of the event log, and follow it
///
/// With -f it waits for new records and shows them as they come, also those that
/// other processes append. Ctrl-C ends it, and so does the reader of its output.
///
/// With --json, each line is an object as in `harn events show`.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// The topic; all of them if there is neither a topic nor a session
    #[arg(value_name = "TOPIC")]
    topic: Option<String>,

    #[command(flatten)]
    log: LogArguments,

    /// How many records to begin with
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    lines: usize,

    /// Wait for new records; a topic that is not there yet is waited for
    #[arg(short, long)]
    follow: bool,

    #[command(flatten)]
    time: TimeArguments,

    #[command(flatten)]
    filters: FilterArguments,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<Outcome, Failure> {
    let log = arguments.log.open_to_read(OnDamage::Refuse)?;
    let topics = topics(arguments, &log, ctx)?;
    let ends = write_last(arguments, &log, &topics, ctx)?;
    if arguments.follow {
        follow(arguments, &log, ends, ctx)?;
    }
    Ok(Outcome::Done)
}

/// The topics that are meant. One that is followed need not be there yet.
fn topics(arguments: &Arguments, log: &OpenLog, ctx: &mut Ctx<'_>) -> Result<Vec<Topic>, Failure> {
    let session = arguments.filters.session.as_deref();
    let awaited = match (&arguments.topic, session) {
        _ if !arguments.follow => None,
        (Some(name), _) => Some(Topic::new(name)?),
        (None, Some(session)) => Some(selection::session_topic(session)?),
        (None, None) => None,
    };
    let Some(awaited) = awaited else {
        return selection::topics_of(log, arguments.topic.as_deref(), session);
    };
    let known = log.topics()?;
    if !known.contains(&awaited) {
        let missing = match (&arguments.topic, session) {
            (None, Some(session)) => selection::unknown_session(session, &known),
            _ => selection::unknown_topic(awaited.as_str(), &known),
        };
        ctx.output
            .note(format_args!("waiting: {}", Untrusted(missing)));
    }
    Ok(vec![awaited])
}

/// Writes the last records, and returns where each topic ended.
fn write_last(
    arguments: &Arguments,
    log: &OpenLog,
    topics: &[Topic],
    ctx: &mut Ctx<'_>,
) -> Result<Vec<(Topic, EventId)>, Failure> {
    let filter = arguments.filters.filter(ctx.clock.now_ms());
    let after = arguments.filters.after();
    let mut records = Records::last(&log.log, topics, after, &filter, arguments.lines)?;
    if ctx.form == Form::Json {
        records = records.whole();
    }
    let ends = records.ends().map(|(topic, end)| (topic.clone(), end));
    let ends: Vec<(Topic, EventId)> = ends.collect();
    let lines = Lines::new(ctx, arguments.time, records.ends());
    let mut is_empty = true;
    while let Some(record) = records.next()? {
        lines.write(&record, ctx.output)?;
        is_empty = false;
    }
    if is_empty && !arguments.follow && ctx.form == Form::Text {
        ctx.output.note(format_args!("no records"));
    }
    ctx.output.flush()?;
    Ok(ends)
}

/// Writes what comes, until somebody ends it.
fn follow(
    arguments: &Arguments,
    log: &OpenLog,
    ends: Vec<(Topic, EventId)>,
    ctx: &mut Ctx<'_>,
) -> Result<(), Failure> {
    // Times of a filter are meant from when the command was given.
    let filter = arguments.filters.filter(ctx.clock.now_ms());
    let ends_known = ends.iter().map(|(topic, end)| (topic, *end));
    let lines = Lines::new(ctx, arguments.time, ends_known);
    let mut followed = Followed::new();
    for (topic, end) in ends {
        let after = end.max(arguments.filters.after());
        let stream = block_on(Arc::clone(&log.log).subscribe(&topic, Some(after)))?;
        followed.add(topic, stream);
    }
    let mut whole = WholeLists::default();
    while let Some(mut record) = block_on(followed.next())? {
        if filter.takes(&record.event) {
            if ctx.form == Form::Json {
                let (topic, of_record) = (&record.topic, (record.id, &mut record.event));
                block_on(whole.complete_bytes(&*log.log, topic, of_record))?;
            }
            lines.write(&record, ctx.output)?;
            ctx.output.flush()?;
        }
    }
    Ok(())
}
