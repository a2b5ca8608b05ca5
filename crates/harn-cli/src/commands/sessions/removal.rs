//! `harn sessions rm`: sessions, removed.
//!
//! A log never forgets that a topic was there, because ids must not be given twice. So the
//! records go, and the names of the two topics stay.

use std::io::{self, BufRead, IsTerminal, Write};

use clap::Args;
use harn_events::SESSION_HEADER;
use harn_log::{CompactForce, EventLog, block_on};
use serde::Serialize;

use super::super::events::Ctx;
use super::super::events::failure::Failure;
use super::super::events::log::{LogArguments, OpenLog};
use super::super::{Form, Outcome};
use super::stored;
use crate::arguments::after_help;
use crate::counting::count;
use crate::output::Untrusted;

const EXAMPLES: &str = "  \
  harn sessions rm s1                  One session
  harn sessions rm s1 s2 --yes         Two, without being asked
  harn sessions list --json --status done | jq -r '.sessions[].id' | xargs harn sessions rm";

/// Remove sessions from the event log
///
/// Removes the journals and the events of these sessions, for good. On a terminal it asks
/// first. The names of their topics stay in the log, empty: ids of records are never given
/// twice. Nothing is removed unless all of the sessions are there.
///
/// With --json the answer is {"removed": [{"id", "records"}, …]}.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// The sessions, by their whole ids
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,

    /// Do not ask
    #[arg(short, long)]
    yes: bool,

    #[command(flatten)]
    log: LogArguments,
}

/// The answer. The names are a promise.
#[derive(Serialize)]
struct Answer {
    removed: Vec<Removed>,
}

#[derive(Serialize)]
struct Removed {
    id: String,
    records: u64,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<Outcome, Failure> {
    let log = arguments.log.open_to_repair()?;
    let mut ids: Vec<&str> = Vec::new();
    for id in &arguments.ids {
        if stored::named(&log, id)?.is_none() {
            return Err(stored::unknown(id, &stored::ids(&log)?));
        }
        refuse_shared(&log, id)?;
        if !ids.contains(&&**id) {
            ids.push(id);
        }
    }
    if !arguments.yes && !is_confirmed(&ids, ctx)? {
        ctx.output.note(format_args!("nothing was removed"));
        return Ok(Outcome::Problems);
    }
    let removed = ids.into_iter().map(|id| remove(&log, id));
    let removed = removed.collect::<Result<Vec<_>, _>>()?;
    match ctx.form {
        Form::Json => ctx.output.json(&Answer { removed })?,
        Form::Text => {
            for one in &removed {
                let (id, records) = (Untrusted(&one.id), count(one.records, "record"));
                ctx.output
                    .note(format_args!("session {id} removed: {records}"));
            }
        }
    }
    Ok(Outcome::Done)
}

/// A topic can only be emptied as a whole.
fn refuse_shared(log: &OpenLog, id: &str) -> Result<(), Failure> {
    let known = log.topics()?;
    for topic in stored::topics_of(id)? {
        if !known.contains(&topic) {
            continue;
        }
        let records = stored::read(log, &topic)?;
        let others = records.iter();
        let mut others = others.filter_map(|record| record.event.headers.get(SESSION_HEADER));
        if let Some(other) = others.find(|one| *one != id) {
            return Err(Failure::Told(format!(
                "session '{id}' shares the topic {topic} with session '{other}', and a topic \
                 can only be emptied as a whole"
            )));
        }
    }
    Ok(())
}

fn remove(log: &OpenLog, id: &str) -> Result<Removed, Failure> {
    let known = log.topics()?;
    let mut records = 0;
    for topic in stored::topics_of(id)? {
        let newest = match known.contains(&topic) {
            true => block_on(log.log.latest(&topic))?,
            false => None,
        };
        if let Some(newest) = newest {
            let report = block_on(log.log.compact(&topic, newest, CompactForce::Override))?;
            records += report.removed;
        }
    }
    block_on(log.log.flush())?;
    Ok(Removed {
        id: id.to_owned(),
        records,
    })
}

/// Asks the person at the terminal. Whoever calls us from a script knows what they do.
fn is_confirmed(ids: &[&str], ctx: &mut Ctx<'_>) -> io::Result<bool> {
    if !io::stdin().is_terminal() || !ctx.output.is_watched() {
        return Ok(true);
    }
    let what = match ids {
        [id] => format!("session {}", Untrusted(id)),
        ids => count(ids.len() as u64, "session"),
    };
    ctx.output.flush()?;
    write!(io::stderr(), "Remove {what} for good? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
