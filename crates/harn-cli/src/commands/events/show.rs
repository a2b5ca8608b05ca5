//! `harn events show`: the records of the event log.

use clap::Args;
use harn_log::OnDamage;

use super::filter::{Filter, FilterArguments};
use super::line::{Lines, TimeArguments};
use super::log::LogArguments;
use super::records::Records;
use super::{Ctx, Failure, Form, Outcome, selection};
use crate::arguments::after_help;

const EXAMPLES: &str = "  \
  harn events show --session s1                      All that happened in a session
  harn events show --session s1 --type tool_call     Its tool calls
  harn events show --since 10m --text 'no such file' Of all topics, by time
  harn events show orders --last 5 --json | jq .payload";

/// Show the records of the event log
///
/// One line each: id, time, type, and what the payload says in short. Records of
/// several topics are sorted by time.
///
/// With --json, each line is an object: id, topic, kind, payload, headers and
/// occurred_at_ms, in milliseconds since 1970.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// The topic; all of them if there is neither a topic nor a session
    #[arg(value_name = "TOPIC")]
    topic: Option<String>,

    #[command(flatten)]
    log: LogArguments,

    /// Not more than the first N records
    #[arg(long, value_name = "N", conflicts_with = "last")]
    limit: Option<usize>,

    /// Only the last N records
    #[arg(long, value_name = "N")]
    last: Option<usize>,

    #[command(flatten)]
    time: TimeArguments,

    /// Go on after records that are damaged
    #[arg(long)]
    skip_damage: bool,

    #[command(flatten)]
    filters: FilterArguments,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<Outcome, Failure> {
    let on_damage = match arguments.skip_damage {
        true => OnDamage::Skip,
        false => OnDamage::Refuse,
    };
    let log = arguments.log.open_to_read(on_damage)?;
    let filters = &arguments.filters;
    let session = filters.session.as_deref();
    let topics = selection::topics_of(&log, arguments.topic.as_deref(), session)?;
    let filter = filters.filter(ctx.clock.now_ms());
    let records = match arguments.last {
        Some(count) => Records::last(&log.log, &topics, filters.after(), &filter, count),
        None => Records::after(&log.log, &topics, filters.after()),
    };
    let lines_max = arguments.limit.unwrap_or(usize::MAX);
    let records = match ctx.form {
        Form::Json => records?.whole(),
        Form::Text => records?,
    };
    let lines = write(records, &filter, lines_max, arguments.time, ctx)?;
    if lines == 0 && ctx.form == Form::Text {
        ctx.output.note(format_args!("no records"));
    }
    Ok(Outcome::Done)
}

fn write(
    mut records: Records<'_>,
    filter: &Filter,
    lines_max: usize,
    time: TimeArguments,
    ctx: &mut Ctx<'_>,
) -> Result<usize, Failure> {
    let lines = Lines::new(ctx, time, records.ends());
    let mut written = 0;
    while written < lines_max {
        let Some(record) = records.next()? else {
            break;
        };
        if filter.takes(&record.event) {
            lines.write(&record, ctx.output)?;
            written += 1;
        }
    }
    Ok(written)
}
