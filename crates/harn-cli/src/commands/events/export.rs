//! `harn events export`: records as lines of JSON, with all it takes to read them back.

pub(in crate::commands) mod destination;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use harn_log::{AnyEventLog, EventId, OnDamage, Topic};
use serde::Serialize;
use serde_json::value::RawValue;

use super::filter::{Filter, FilterArguments};
use super::log::LogArguments;
use super::records::{self, Record, Records};
use super::{Ctx, Failure, Form, Outcome, selection};
use crate::arguments::after_help;
use crate::counting::count;
use crate::output::Untrusted;
use crate::progress::Progress;
use destination::FileInMaking;

const EXAMPLES: &str = "  \
  harn events export --all -o log.jsonl              Everything
  harn events export orders payments | gzip > log.gz Two topics
  harn events export --all --since 1d --type plan    What filters take";

/// Write records as lines of JSON
///
/// Each line is {"topic", "id", "event"}, and event has kind, payload, headers and
/// occurred_at_ms as they are in the log, hashes included: of the lists of an iteration_end that
/// is what the one before had not. Topics come one after the other.
///
/// With -o the file is there when it is complete, or not at all; an earlier one is
/// replaced. With -o and --json the answer is {"file", "topics", "records"}.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// The topics
    #[arg(value_name = "TOPIC", required_unless_present_any = ["all", "session"])]
    topics: Vec<String>,

    /// All topics
    #[arg(long, conflicts_with = "topics")]
    all: bool,

    #[command(flatten)]
    log: LogArguments,

    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Go on after records that are damaged
    #[arg(long)]
    skip_damage: bool,

    #[command(flatten)]
    filters: FilterArguments,
}

/// A record with its place. The names are a promise.
#[derive(Serialize)]
struct Line<'a> {
    topic: &'a str,
    id: EventId,
    event: Event<'a>,
}

#[derive(Serialize)]
struct Event<'a> {
    kind: &'a str,
    payload: Box<RawValue>,
    headers: &'a BTreeMap<String, String>,
    occurred_at_ms: i64,
}

/// What became of an export to a file.
#[derive(Serialize)]
struct Exported {
    file: String,
    topics: u64,
    records: u64,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<Outcome, Failure> {
    let on_damage = match arguments.skip_damage {
        true => OnDamage::Skip,
        false => OnDamage::Refuse,
    };
    let log = arguments.log.open_to_read(on_damage)?;
    let topics = match (&arguments.filters.session, &arguments.topics[..]) {
        (session, []) if !arguments.all => selection::topics_of(&log, None, session.as_deref())?,
        (_, names) => selection::topics(&log, names)?,
    };
    let copying = Copying {
        log: &log.log,
        topics: &topics,
        after: arguments.filters.after(),
        filter: arguments.filters.filter(ctx.clock.now_ms()),
    };
    match &arguments.output {
        Some(path) => copy_to_file(&copying, path, ctx),
        None => {
            let nobody_waits = Progress::new("exporting", 0, false);
            copying.run(nobody_waits, |line| Ok(ctx.output.json(line)?))?;
            Ok(Outcome::Done)
        }
    }
}

fn copy_to_file(copying: &Copying<'_>, path: &Path, ctx: &mut Ctx<'_>) -> Result<Outcome, Failure> {
    let total = records::total(copying.log, copying.topics);
    let is_watched = ctx.output.is_watched() && ctx.form == Form::Text;
    let progress = Progress::new("exporting", total, is_watched);
    let mut file = FileInMaking::new(path)?;
    let records = copying.run(progress, |line| file.write(line))?;
    file.finish()?;
    let exported = Exported {
        file: path.display().to_string(),
        topics: copying.topics.len() as u64,
        records,
    };
    match ctx.form {
        Form::Json => ctx.output.json(&exported)?,
        Form::Text => {
            let (records, topics) = (count(records, "record"), count(exported.topics, "topic"));
            let file = Untrusted(&exported.file);
            ctx.output
                .note(format_args!("{records} of {topics} written to {file}"));
        }
    }
    Ok(Outcome::Done)
}

/// What is copied.
struct Copying<'a> {
    log: &'a AnyEventLog,
    topics: &'a [Topic],
    after: EventId,
    filter: Filter,
}

impl Copying<'_> {
    /// Copies records topic by topic, and counts them.
    fn run(
        &self,
        mut progress: Progress,
        mut write: impl FnMut(&Line<'_>) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        let mut copied = 0;
        for topic in self.topics {
            let mut records = Records::after(self.log, std::slice::from_ref(topic), self.after)?;
            while let Some(record) = records.next()? {
                if self.filter.takes(&record.event) {
                    write(&line_of(&record)?)?;
                    copied += 1;
                }
                progress.advance(1);
            }
        }
        Ok(copied)
    }
}

fn line_of(record: &Record) -> Result<Line<'_>, Failure> {
    Ok(Line {
        topic: record.topic.as_str(),
        id: record.id,
        event: Event {
            kind: &record.event.kind,
            payload: record.payload()?,
            headers: &record.event.headers,
            occurred_at_ms: record.event.occurred_at_ms,
        },
    })
}
