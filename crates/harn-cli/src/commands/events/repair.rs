//! `harn events repair`: cuts off what a crash has left at the end of a topic.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use harn_log::{AnyEventLog, ConsumerId, EventId, EventLog, LogError, Repair, Topic, block_on};
use serde::Serialize;

use super::failure::damage_in;
use super::log::LogArguments;
use super::records::{self, Records};
use super::{Ctx, Failure, Form, Outcome};
use crate::arguments::after_help;
use crate::output::{Output, Untrusted};
use crate::progress::Progress;

const EXAMPLES: &str = "  \
  harn events repair                   The log of this folder
  harn events repair --log events/     A log somewhere else
  harn events repair --json | jq '.cut, .damage'";

/// Cut off torn ends, and find damage
///
/// A crash in the middle of a write leaves a torn end, which the next append would
/// cut off as well. Nobody was ever told that what is cut was safe.
///
/// Damage anywhere else is reported with its place and left as it is, because it is
/// not from a crash; then the exit code is 1.
///
/// With --json the answer is {"ok", "cut": [CUT, …], "damage": [DAMAGE, …]}. CUT has
/// topic, path, offset, bytes_cut and records_cut; DAMAGE has topic, problem, and path,
/// offset and length where they are known.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogArguments,
}

/// The answer. The names are a promise.
#[derive(Serialize)]
struct Findings {
    /// Whether no damage is left.
    ok: bool,
    cut: Vec<Repair>,
    damage: Vec<Left>,
}

/// Damage that is left as it is.
#[derive(Serialize)]
struct Left {
    topic: String,
    problem: String,
    path: Option<PathBuf>,
    offset: Option<u64>,
    length: Option<u64>,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<Outcome, Failure> {
    let log = arguments.log.open_to_repair()?;
    let topics = log.topics()?;
    let damage = recover(&log.log, &topics, ctx);
    let findings = Findings {
        ok: damage.is_empty(),
        cut: log.log.health().repairs,
        damage,
    };
    match ctx.form {
        Form::Json => ctx.output.json(&findings)?,
        Form::Text => write(&findings, topics.len(), ctx.output)?,
    }
    Ok(match findings.ok {
        true => Outcome::Done,
        false => Outcome::Problems,
    })
}

/// Lets the log recover every topic, and reads all that is there.
fn recover(log: &AnyEventLog, topics: &[Topic], ctx: &Ctx<'_>) -> Vec<Left> {
    let is_watched = ctx.output.is_watched() && ctx.form == Form::Text;
    let mut progress = Progress::new("reading", records::total(log, topics), is_watched);
    let mut left = Vec::new();
    for topic in topics {
        let read = touch(log, topic).and_then(|()| read_all(log, topic, &mut progress));
        if let Err(error) = read {
            left.push(Left::of(topic, &error));
        }
    }
    left
}

/// Makes the writer look at a topic as it does before an append, and append nothing:
/// no consumer can have read so far.
fn touch(log: &AnyEventLog, topic: &Topic) -> Result<(), LogError> {
    let nobody = ConsumerId::new("harn events repair")?;
    match block_on(log.ack(topic, &nobody, EventId::MAX)) {
        Err(LogError::CursorBeyondHead { .. }) | Ok(()) => Ok(()),
        Err(error) => Err(error),
    }
}

fn read_all(log: &AnyEventLog, topic: &Topic, progress: &mut Progress) -> Result<(), LogError> {
    let mut records = Records::after(log, std::slice::from_ref(topic), 0)?;
    while let Some(record) = records.next()? {
        record.payload()?;
        progress.advance(1);
    }
    Ok(())
}

impl Left {
    fn of(topic: &Topic, error: &LogError) -> Self {
        let damage = damage_in(error);
        Self {
            topic: topic.to_string(),
            problem: damage.map_or_else(|| error.to_string(), |damage| damage.problem.clone()),
            path: damage.map(|damage| damage.path.clone()),
            offset: damage.map(|damage| damage.offset),
            length: damage.map(|damage| damage.length),
        }
    }
}

fn write(findings: &Findings, topics: usize, output: &mut Output) -> io::Result<()> {
    let palette = output.palette();
    for cut in &findings.cut {
        let (topic, path) = (palette.name(&cut.topic), cut.path.display().to_string());
        let (bytes, path, offset) = (cut.bytes_cut, Untrusted(path), cut.offset);
        write!(
            output,
            "{topic}: cut {bytes} bytes at byte {offset} of {path}"
        )?;
        match cut.records_cut {
            0 => writeln!(output)?,
            1 => writeln!(output, ", 1 record among them")?,
            records => writeln!(output, ", {records} records among them")?,
        }
    }
    for left in &findings.damage {
        let topic = palette.name(&left.topic);
        let place = match (&left.path, left.offset) {
            (Some(path), Some(offset)) => format!("{} at byte {offset}: ", path.display()),
            _ => String::new(),
        };
        let problem = format!("{}{}", Untrusted(place), Untrusted(&left.problem));
        writeln!(
            output,
            "{topic}: damaged, left as it is: {}",
            palette.problem(problem)
        )?;
    }
    let (cut, damaged) = (findings.cut.len(), findings.damage.len());
    output.note(format_args!(
        "topics: {topics}, torn ends cut: {cut}, damaged: {damaged}"
    ));
    Ok(())
}
