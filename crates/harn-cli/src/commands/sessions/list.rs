//! `harn sessions list`: what agents have done.

use clap::Args;
use harn_log::OnDamage;
use harn_vm::agent::session::SessionState;
use serde::Serialize;

use super::super::events::Ctx;
use super::super::events::failure::Failure;
use super::super::events::line::TimeArguments;
use super::super::events::log::{LogArguments, OpenLog};
use super::super::{Form, Outcome};
use super::facts::Facts;
use super::stored::{self, Overview, StoredUpTo};
use crate::amounts::{dollars, tokens};
use crate::arguments::after_help;
use crate::table::Table;
use crate::timestamp::When;

const EXAMPLES: &str = "  \
  harn sessions list                   All of them, the latest first
  harn sessions list --since 1d        What was done since yesterday
  harn sessions list --status stuck    What needs somebody to look at it
  harn sessions list 'login page'      Those in which that was said
  harn sessions list --json | jq -r '.sessions[].id'";

/// List the sessions of the event log
///
/// The latest comes first. The status is how the last loop of a session has ended: done,
/// stuck, failed, budget_exhausted, error, …; unfinished if it has not, open if there was no
/// loop, and unknown where the log has events and no journal. A session is damaged if records of
/// its journal or the ends of its events cannot be read, and the rest of its row says what is
/// left of it; `harn events verify` looks at every record.
///
/// With --json the answer is {"sessions": [SESSION, …]}. SESSION has id, status, turns,
/// messages, tool_calls, input_tokens, output_tokens, cost_usd, compactions, started_at_ms,
/// active_at_ms and last_record, the index of the last record of its journal.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// Only sessions that have this text in their id or in a message, in upper or lower case
    #[arg(value_name = "TEXT")]
    text: Option<String>,

    /// Only sessions that were active since: 2026-01-31T12:00:00Z, 2026-01-31, or 10m, 2h, 3d ago
    #[arg(long, value_name = "TIME")]
    since: Option<When>,

    /// Only sessions of this status; give it several times for several ones
    #[arg(long, value_name = "STATUS")]
    status: Vec<String>,

    /// Not more than the latest N
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    #[command(flatten)]
    log: LogArguments,

    #[command(flatten)]
    time: TimeArguments,
}

/// The answer. The names are a promise.
#[derive(Serialize)]
struct Listing {
    sessions: Vec<Facts>,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<Outcome, Failure> {
    let log = arguments.log.open_to_read(OnDamage::Refuse)?;
    let since_ms = arguments.since.map(|since| since.ms(ctx.clock.now_ms()));
    let mut sessions = Vec::new();
    for session in stored::overviews(&log)? {
        if since_ms.is_some_and(|since| session.last_ms < since) {
            continue;
        }
        sessions.extend(arguments.facts(&log, &session)?);
    }
    sessions.sort_by_key(|facts| std::cmp::Reverse(facts.active_at_ms));
    sessions.truncate(arguments.limit.unwrap_or(usize::MAX));
    let listing = Listing { sessions };
    match ctx.form {
        Form::Json => ctx.output.json(&listing)?,
        Form::Text => write(&listing.sessions, arguments.time, ctx)?,
    }
    Ok(Outcome::Done)
}

impl Arguments {
    /// The facts about a session, if it is one of those that were asked for. It is read whole
    /// where its numbers are not enough.
    fn facts(&self, log: &OpenLog, session: &Overview) -> Result<Option<Facts>, Failure> {
        let facts = match (session.messages, &self.text) {
            (Some(messages), None) => Facts::of_overview(session, messages),
            (_, text) => {
                let whole = stored::named(log, &session.id, StoredUpTo::EndOfJournal)?;
                let state = whole.unwrap_or_default().state;
                if text
                    .as_ref()
                    .is_some_and(|text| !has_text(text, &session.id, &state))
                {
                    return Ok(None);
                }
                Facts::of_overview(session, state.recorded.len() as u64)
            }
        };
        let has_status = self.status.is_empty() || self.status.contains(&facts.status);
        Ok(has_status.then_some(facts))
    }
}

fn has_text(text: &str, id: &str, state: &SessionState) -> bool {
    let text = text.to_lowercase();
    let quoted = serde_json::Value::from(&*text).to_string();
    let quoted = &quoted[1..quoted.len() - 1];
    let mut messages = state.recorded.iter();
    id.to_lowercase().contains(&text)
        || messages.any(|message| message.to_string().to_lowercase().contains(quoted))
}

fn write(sessions: &[Facts], time: TimeArguments, ctx: &mut Ctx<'_>) -> Result<(), Failure> {
    if sessions.is_empty() {
        ctx.output.note(format_args!("no sessions"));
        return Ok(());
    }
    let mut table = Table::new([
        "SESSION", "ACTIVE", "STATUS", "TURNS", "MESSAGES", "IN", "OUT", "COST",
    ]);
    for facts in sessions {
        table.add([
            facts.id.clone(),
            match facts.active_at_ms {
                // Nothing of it can be read.
                0 => "?".to_owned(),
                at_ms => time.show(at_ms, ctx.clock),
            },
            facts.status.clone(),
            facts.turns.to_string(),
            facts.messages.to_string(),
            tokens(facts.input_tokens),
            tokens(facts.output_tokens),
            dollars(facts.cost_usd),
        ]);
    }
    Ok(table.write(ctx.output)?)
}
