//! `harn events stats`: how much there is of what.

mod text;

use std::collections::BTreeMap;

use clap::Args;
use harn_log::{EventId, EventLog, EventLogDescription, OnDamage, Topic};
use serde::Serialize;

use super::line::TimeArguments;
use super::log::LogArguments;
use super::records::{self, Record, Records};
use super::{Ctx, Failure, Form, Outcome, selection};
use crate::arguments::after_help;
use crate::progress::Progress;

const EXAMPLES: &str = "  \
  harn events stats                    The whole log
  harn events stats orders             One topic
  harn events stats --json | jq '.topics[] | {topic, payload_bytes}'";

/// Count records, types and bytes of the event log
///
/// With --json the answer is {"backend", "location", "size_bytes", "records",
/// "payload_bytes", "topics": [TOPIC, …]}. TOPIC has topic, records, newest_id,
/// payload_bytes, first_at_ms, last_at_ms and kinds, which is an object from type to
/// number of records.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// The topic; all if none is named
    #[arg(value_name = "TOPIC")]
    topic: Option<String>,

    #[command(flatten)]
    log: LogArguments,

    #[command(flatten)]
    time: TimeArguments,
}

/// The answer. The names are a promise.
#[derive(Serialize)]
struct Stats {
    backend: &'static str,
    location: Option<String>,
    size_bytes: Option<u64>,
    records: u64,
    payload_bytes: u64,
    topics: Vec<TopicStats>,
}

#[derive(Serialize)]
struct TopicStats {
    topic: String,
    records: u64,
    newest_id: EventId,
    payload_bytes: u64,
    /// The earliest time and the latest, which need not be of the first record and
    /// the last.
    first_at_ms: Option<i64>,
    last_at_ms: Option<i64>,
    kinds: BTreeMap<String, u64>,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<Outcome, Failure> {
    let log = arguments.log.open_to_read(OnDamage::Refuse)?;
    let topics = selection::topics_of(&log, arguments.topic.as_deref(), None)?;
    let total = records::total(&log.log, &topics);
    let is_watched = ctx.output.is_watched() && ctx.form == Form::Text;
    let mut progress = Progress::new("counting", total, is_watched);
    let mut counted = Vec::new();
    for topic in &topics {
        let records = Records::after(&log.log, std::slice::from_ref(topic), 0)?;
        counted.push(TopicStats::of(topic, records, &mut progress)?);
    }
    drop(progress);
    let stats = Stats::of(log.log.describe(), counted);
    match ctx.form {
        Form::Json => ctx.output.json(&stats)?,
        Form::Text => text::write(&stats, arguments.time, ctx)?,
    }
    Ok(Outcome::Done)
}

impl Stats {
    fn of(log: EventLogDescription, topics: Vec<TopicStats>) -> Self {
        Self {
            backend: log.backend,
            location: log.location,
            size_bytes: log.size_bytes,
            records: topics.iter().map(|topic| topic.records).sum(),
            payload_bytes: topics.iter().map(|topic| topic.payload_bytes).sum(),
            topics,
        }
    }
}

impl TopicStats {
    fn of(
        topic: &Topic,
        mut records: Records<'_>,
        progress: &mut Progress,
    ) -> Result<Self, Failure> {
        let mut stats = Self {
            topic: topic.to_string(),
            records: 0,
            newest_id: records.ends().map(|(_, end)| end).max().unwrap_or(0),
            payload_bytes: 0,
            first_at_ms: None,
            last_at_ms: None,
            kinds: BTreeMap::new(),
        };
        while let Some(record) = records.next()? {
            stats.add(&record);
            progress.advance(1);
        }
        Ok(stats)
    }

    fn add(&mut self, record: &Record) {
        let (event, time) = (&record.event, record.event.occurred_at_ms);
        self.records += 1;
        self.payload_bytes += event.payload.len() as u64;
        self.first_at_ms = Some(self.first_at_ms.map_or(time, |first| first.min(time)));
        self.last_at_ms = Some(self.last_at_ms.map_or(time, |last| last.max(time)));
        match self.kinds.get_mut(&event.kind) {
            Some(count) => *count += 1,
            None => drop(self.kinds.insert(event.kind.clone(), 1)),
        }
    }
}
