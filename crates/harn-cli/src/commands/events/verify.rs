//! `harn events verify`: whether anybody has tampered with the event log.

use std::io::{self, Write};

use clap::Args;
use harn_log::{AnyEventLog, EventLog, LogError, OnDamage, Topic, block_on};
use serde::Serialize;

use super::log::LogArguments;
use super::records::{self, Records};
use super::{Ctx, Failure, Form, Outcome, selection};
use crate::arguments::after_help;
use crate::counting::count;
use crate::output::{Output, Untrusted};
use crate::progress::Progress;

const EXAMPLES: &str = "  \
  harn events verify                   All topics
  harn events verify orders            One of them
  harn events verify --json | jq '.topics[] | select(.verified | not)'";

/// Of each topic, no more problems than these are shown to people.
const ERRORS_SHOWN_MAX: usize = 5;

/// Check the hash chain of the event log
///
/// Every record carries the hash of the one before. Whoever changes, removes or
/// inserts a record breaks the chain, and then the exit code is 1.
///
/// With --json the answer is {"ok", "topics": [TOPIC, …]}. TOPIC has topic, verified,
/// records, last_hash and errors.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// The topics; all if none are named
    #[arg(value_name = "TOPIC")]
    topics: Vec<String>,

    #[command(flatten)]
    log: LogArguments,
}

/// The answer. The names are a promise.
#[derive(Serialize)]
struct Verdict {
    ok: bool,
    topics: Vec<TopicVerdict>,
}

#[derive(Serialize)]
struct TopicVerdict {
    topic: String,
    verified: bool,
    records: u64,
    last_hash: Option<String>,
    errors: Vec<String>,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<Outcome, Failure> {
    let log = arguments.log.open_to_read(OnDamage::Refuse)?;
    let topics = selection::topics(&log, &arguments.topics)?;
    let topics = verify(&log.log, &topics, ctx);
    let verdict = Verdict {
        ok: topics.iter().all(|topic| topic.verified),
        topics,
    };
    match ctx.form {
        Form::Json => ctx.output.json(&verdict)?,
        Form::Text => write(&verdict, ctx.output)?,
    }
    Ok(match verdict.ok {
        true => Outcome::Done,
        false => Outcome::Problems,
    })
}

fn verify(log: &AnyEventLog, topics: &[Topic], ctx: &Ctx<'_>) -> Vec<TopicVerdict> {
    let is_watched = ctx.output.is_watched() && ctx.form == Form::Text;
    let mut progress = Progress::new("verifying", records::total(log, topics), is_watched);
    progress.advance(0);
    let mut verdicts = Vec::new();
    for topic in topics {
        let verdict = TopicVerdict::of(log, topic);
        progress.advance(verdict.records);
        verdicts.push(verdict);
    }
    verdicts
}

impl TopicVerdict {
    fn of(log: &AnyEventLog, topic: &Topic) -> Self {
        let mut verdict = match block_on(log.verify_topic(topic)) {
            Ok(report) => Self {
                topic: topic.to_string(),
                verified: report.verified,
                records: report.event_count as u64,
                last_hash: report.last_hash,
                errors: report.errors,
            },
            Err(error) => Self {
                topic: topic.to_string(),
                verified: false,
                records: 0,
                last_hash: None,
                errors: vec![error.to_string()],
            },
        };
        if !verdict.verified {
            verdict.find_damage(log, topic);
        }
        verdict
    }

    /// A chain that cannot be followed may have met damage, which has a place.
    fn find_damage(&mut self, log: &AnyEventLog, topic: &Topic) {
        let mut readable = 0;
        if let Err(error) = read_all(log, topic, &mut readable) {
            let text = error.to_string();
            if !self.errors.contains(&text) {
                self.errors.insert(0, text);
            }
            self.records = readable;
        }
    }
}

/// Reads a topic to its end, or as far as it can be read.
fn read_all(log: &AnyEventLog, topic: &Topic, readable: &mut u64) -> Result<(), LogError> {
    let mut records = Records::after(log, std::slice::from_ref(topic), 0)?;
    while records.next()?.is_some() {
        *readable += 1;
    }
    Ok(())
}

fn write(verdict: &Verdict, output: &mut Output) -> io::Result<()> {
    let palette = output.palette();
    let topics = &verdict.topics;
    let columns = topics.iter().map(|one| one.topic.len()).max().unwrap_or(0);
    for one in topics {
        let topic = format!("{:columns$}", one.topic);
        let (topic, records) = (palette.name(topic), count(one.records, "record"));
        match one.verified {
            true => writeln!(output, "{} {topic}  {records}", palette.fine("✓"))?,
            false => writeln!(output, "{} {topic}  {records}", palette.problem("✗"))?,
        }
        for error in one.errors.iter().take(ERRORS_SHOWN_MAX) {
            writeln!(output, "    {}", palette.problem(Untrusted(error)))?;
        }
        if let Some(more) = one.errors.len().checked_sub(ERRORS_SHOWN_MAX + 1) {
            writeln!(output, "    and {} more", more + 1)?;
        }
    }
    let records = count(topics.iter().map(|one| one.records).sum(), "record");
    let problems = topics.iter().map(|one| one.errors.len() as u64).sum();
    let problems = match problems {
        0 => "no problems".to_owned(),
        _ => count(problems, "problem"),
    };
    let topics = count(topics.len() as u64, "topic");
    output.note(format_args!("{topics}, {records}: {problems}"));
    Ok(())
}
