//! `harn events verify`: whether anybody has tampered with the event log, and whether what is
//! in it makes sense.

use std::io::{self, Write};

use clap::Args;
use harn_log::{AnyEventLog, EventLog, LogError, OnDamage, Topic, block_on};
use harn_vm::agent::verify::{SessionFindings, check_topic};
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

/// Check the hash chain of the event log, and the order of what agents did
///
/// Every record carries the hash of the one before. Whoever changes, removes or
/// inserts a record breaks the chain, and then the exit code is 1.
///
/// What sessions have left is checked as well: indexes have no gaps, whatever begins
/// also ends, a loop passes its seams in order, and nothing follows the end of a
/// session. A run that was interrupted is mentioned and is no problem.
///
/// With --json the answer is {"ok", "topics": [TOPIC, …]}. TOPIC has topic, verified,
/// records, last_hash, errors and, where there are any, sessions. Each of these has
/// session_id, records, violations (index, what, why) and interruptions (index, what).
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sessions: Vec<SessionFindings>,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<Outcome, Failure> {
    let log = arguments.log.open_to_read(OnDamage::Refuse)?;
    let topics = selection::topics(&log, &arguments.topics)?;
    let topics = verify(&log.log, &topics, ctx);
    let verdict = Verdict {
        ok: topics.iter().all(TopicVerdict::is_fine),
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
                sessions: Vec::new(),
            },
            Err(error) => Self {
                topic: topic.to_string(),
                verified: false,
                records: 0,
                last_hash: None,
                errors: vec![error.to_string()],
                sessions: Vec::new(),
            },
        };
        match verdict.verified {
            true => verdict.check_sessions(log, topic),
            false => verdict.find_damage(log, topic),
        }
        verdict
    }

    fn is_fine(&self) -> bool {
        self.verified && self.sessions.iter().all(|one| one.findings.is_sound())
    }

    /// What was written by nobody but us must also make sense.
    fn check_sessions(&mut self, log: &AnyEventLog, topic: &Topic) {
        match block_on(check_topic(log, topic)) {
            Ok(sessions) => self.sessions = sessions,
            Err(error) => {
                self.verified = false;
                self.errors.push(error.to_string());
            }
        }
    }

    /// Everything that is wrong, in words.
    fn problems(&self) -> Vec<String> {
        let broken = self.sessions.iter().flat_map(|session| {
            let violations = session.findings.violations.iter();
            violations.map(|violation| format!("session {}, {violation}", session.session_id))
        });
        self.errors.iter().cloned().chain(broken).collect()
    }

    /// Runs that never came to their end, in words.
    fn interruptions(&self) -> Vec<String> {
        let interrupted = self.sessions.iter().flat_map(|session| {
            let interruptions = session.findings.interruptions.iter();
            interruptions.map(|one| format!("session {}, {one}", session.session_id))
        });
        interrupted.collect()
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
        let problems = one.problems();
        match one.is_fine() {
            true => writeln!(output, "{} {topic}  {records}", palette.fine("✓"))?,
            false => writeln!(output, "{} {topic}  {records}", palette.problem("✗"))?,
        }
        for problem in problems.iter().take(ERRORS_SHOWN_MAX) {
            writeln!(output, "    {}", palette.problem(Untrusted(problem)))?;
        }
        if let Some(more) = problems.len().checked_sub(ERRORS_SHOWN_MAX + 1) {
            writeln!(output, "    and {} more", more + 1)?;
        }
        for interruption in one.interruptions().iter().take(ERRORS_SHOWN_MAX) {
            writeln!(output, "    {}", Untrusted(interruption))?;
        }
    }
    let records = count(topics.iter().map(|one| one.records).sum(), "record");
    let problems = topics.iter().map(|one| one.problems().len() as u64).sum();
    let problems = match problems {
        0 => "no problems".to_owned(),
        _ => count(problems, "problem"),
    };
    let topics = count(topics.len() as u64, "topic");
    output.note(format_args!("{topics}, {records}: {problems}"));
    Ok(())
}
