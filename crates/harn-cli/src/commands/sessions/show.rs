//! `harn sessions show`: what was said and done in a session.

use std::io::Write;

use clap::Args;
use harn_log::OnDamage;
use harn_vm::agent::session::SessionState;
use serde::Serialize;
use serde_json::Value;

use super::super::events::Ctx;
use super::super::events::failure::Failure;
use super::super::events::line::TimeArguments;
use super::super::events::log::{LogArguments, OpenLog};
use super::super::{Form, Outcome, journal_key};
use super::facts::Facts;
use super::page::Results;
use super::stored::{Stored, StoredUpTo};
use super::timeline::Pieces;
use super::{conversation, page, stored, timeline};
use crate::arguments::after_help;
use crate::output::Untrusted;

const EXAMPLES: &str = "  \
  harn sessions show s1                What was said and done
  harn sessions show s1 --full         With all that tools have answered
  harn sessions show s1 --events       What happened when
  harn sessions show s1 --at 40        As it was after record 40 of its journal
  harn sessions show s1 --json | jq .transcript.messages";

/// Show a session
///
/// Everything that was ever said, with tool calls and what came of them; of long results the
/// first lines, and of failures the last one too. Where the model sees a summary instead of
/// messages, it follows them.
///
/// With --json the answer has the fields of `harn sessions list --json`, transcript, which is
/// what programs see, and state, which is all that follows from the journal. With --events it
/// is {"id", "events": [{"id", "kind", "at_ms", "after_ms", "event"}, …]}, where after_ms
/// counts from the first event, and every piece of a streamed answer is an event.
///
/// For people, --events joins the pieces that came one after the other, with their number and
/// how long they took to arrive; --raw does not.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// The session; the start of its id is enough if no other one starts like that
    #[arg(value_name = "ID")]
    id: String,

    /// Show its events instead, with the time since the first one
    #[arg(long)]
    events: bool,

    /// With --events, show every piece of a streamed answer on a line of its own
    #[arg(long, requires = "events")]
    raw: bool,

    /// Show it as it was after this record of its journal
    #[arg(long, value_name = "INDEX", conflicts_with = "events")]
    at: Option<u64>,

    /// Show results of tools whole
    #[arg(long, conflicts_with = "events")]
    full: bool,

    #[command(flatten)]
    log: LogArguments,

    #[command(flatten)]
    time: TimeArguments,
}

/// The answer. The names are a promise.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    facts: &'a Facts,
    transcript: Value,
    state: &'a SessionState,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<Outcome, Failure> {
    let log = arguments.log.open_to_read(match arguments.events {
        true => OnDamage::Skip,
        // What is damaged is read around, and told.
        false => OnDamage::Refuse,
    })?;
    if arguments.events {
        let id = stored::find(&log, &arguments.id)?;
        let pieces = match arguments.raw {
            true => Pieces::Each,
            false => Pieces::Joined,
        };
        timeline::write(&log, &id, pieces, ctx)?;
        return Ok(Outcome::Done);
    }
    let up_to = arguments.at.map_or(StoredUpTo::End, StoredUpTo::Record);
    let session = stored::one(&log, &arguments.id, up_to)?;
    let (facts, state) = (Facts::of(&session), &session.state);
    tell_if_changed(&log, &session.id, ctx);
    match ctx.form {
        Form::Json => ctx.output.json(&Answer {
            transcript: transcript(&session.id, state),
            facts: &facts,
            state,
        })?,
        Form::Text => write(&facts, &session, arguments, ctx)?,
    }
    Ok(Outcome::Done)
}

/// Tells that a journal is not what was written. What it says is shown all the same.
pub(super) fn tell_if_changed(log: &OpenLog, id: &str, ctx: &mut Ctx<'_>) {
    if let Some(record) = journal_key::changed_at(&log.log, id) {
        let (id, before) = (Untrusted(id), record.saturating_sub(1));
        ctx.output.note(format_args!(
            "warning: session '{id}' was changed by somebody else at record {record}; \
             'harn sessions show {id} --at {before}' shows what came before"
        ));
    }
}

/// The transcript of a session, as programs see it. The ids of its parts are made up, and the
/// same every time.
pub(super) fn transcript(id: &str, state: &SessionState) -> Value {
    let mut made = 0_u64;
    state.transcript(id, &mut || {
        made += 1;
        format!("{id}-{made}")
    })
}

fn write(
    facts: &Facts,
    session: &Stored,
    arguments: &Arguments,
    ctx: &mut Ctx<'_>,
) -> Result<(), Failure> {
    let palette = ctx.output.palette();
    let id = palette.name(Untrusted(&facts.id)).to_string();
    let active = arguments.time.show(facts.active_at_ms, ctx.clock);
    let status = Untrusted(&facts.status).to_string();
    let status = match &*status {
        "done" | "idle" => palette.fine(status).to_string(),
        "failed" | "error" | "stuck" | "damaged" => palette.problem(status).to_string(),
        _ => status,
    };
    writeln!(ctx.output, "{id}  {status}  {active}")?;
    writeln!(ctx.output, "{}", palette.faint(facts.in_words()))?;
    let results = match arguments.full {
        true => Results::Whole,
        false => Results::Folded,
    };
    let parts = conversation::of(&session.state);
    page::write(&parts, &session.failures, results, ctx.output)?;
    if facts.status == "damaged" {
        ctx.output.note(format_args!(
            "some of its records cannot be read; `harn events verify` says where"
        ));
    }
    if facts.last_record.is_none() {
        ctx.output.note(format_args!(
            "it has events and no journal; --events shows them"
        ));
    }
    Ok(())
}
