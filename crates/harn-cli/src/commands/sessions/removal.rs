//! `harn sessions rm`: sessions, removed.
//!
//! A log never forgets that a topic was there, because ids must not be given twice. So the
//! records go, and the names of the two topics stay.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, IsTerminal, Write};

use clap::Args;
use harn_log::{Claim, ClaimError, CompactForce, EventLog, LogError, Owner, Topic, block_on};
use harn_vm::agent::describe_owner;
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
/// twice. Nothing is removed unless all of the sessions are there and none of them is in use.
/// Sessions that share a topic, as a/1 and a_1 do, can only be removed together.
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
        if !ids.contains(&&**id) {
            ids.push(id);
        }
    }
    let sessions = ids.iter().map(|id| ToRemove::find(&log, id));
    let sessions = sessions.collect::<Result<Vec<_>, _>>()?;
    refuse_shared(&sessions)?;
    // Nobody may begin to write to them while a person is asked or records are removed.
    let _claims = claim(&log, &ids)?;
    if !arguments.yes && !is_confirmed(&ids, ctx)? {
        ctx.output.note(format_args!("nothing was removed"));
        return Ok(Outcome::Problems);
    }
    remove(&log, &sessions)?;
    let removed = sessions.into_iter().map(ToRemove::removed).collect();
    tell(removed, ctx)?;
    Ok(Outcome::Done)
}

/// Says what was removed.
fn tell(removed: Vec<Removed>, ctx: &mut Ctx<'_>) -> io::Result<()> {
    match ctx.form {
        Form::Json => ctx.output.json(&Answer { removed }),
        Form::Text => {
            for one in &removed {
                let (id, records) = (Untrusted(&one.id), count(one.records, "record"));
                ctx.output
                    .note(format_args!("session {id} removed: {records}"));
            }
            Ok(())
        }
    }
}

/// A session that is to be removed.
struct ToRemove {
    id: String,
    topics: Vec<Topic>,
    /// How many of its records can be read.
    records: u64,
    /// Another session that has records in its topics, with the topic.
    sharing: BTreeMap<String, Topic>,
}

impl ToRemove {
    fn find(log: &OpenLog, id: &str) -> Result<Self, Failure> {
        let mut found = Self {
            id: id.to_owned(),
            topics: stored::known_topics_of(log, id)?,
            records: 0,
            sharing: BTreeMap::new(),
        };
        let mut is_there = false;
        for topic in &found.topics {
            let (records, sharing) = (&mut found.records, &mut found.sharing);
            let is_damaged = stored::look_through(log, topic, |_, event| {
                match stored::session_of(&event) {
                    Some(session) if session == id => *records += 1,
                    Some(other) => {
                        let sharing = sharing.entry(other.to_owned());
                        sharing.or_insert_with(|| topic.clone());
                    }
                    None => {}
                }
                Ok(())
            })?;
            is_there |= is_damaged && found.sharing.is_empty();
        }
        match is_there || found.records > 0 {
            true => Ok(found),
            false => Err(stored::unknown(id, &stored::ids(log)?)),
        }
    }

    fn removed(self) -> Removed {
        Removed {
            id: self.id,
            records: self.records,
        }
    }
}

/// A topic can only be emptied as a whole, so all that share one have to go together.
fn refuse_shared(sessions: &[ToRemove]) -> Result<(), Failure> {
    for session in sessions {
        let is_to_stay = |other: &&String| sessions.iter().all(|one| one.id != **other);
        if let Some(other) = session.sharing.keys().find(is_to_stay) {
            let (id, topic) = (&session.id, &session.sharing[other]);
            return Err(Failure::Told(format!(
                "session '{id}' shares the topic {topic} with session '{other}', and a topic \
                 can only be emptied as a whole; `harn sessions rm` with both ids removes both"
            )));
        }
    }
    Ok(())
}

/// Takes the right to write to these sessions.
fn claim(log: &OpenLog, ids: &[&str]) -> Result<Vec<Claim>, Failure> {
    let owners = log.log.owners();
    let scope = owners.scope();
    let claim = |id: &&str| {
        owners.claim(scope, id).map_err(|error| match error {
            ClaimError::InUse(owner) => Failure::Told(in_use(id, &owner)),
            ClaimError::Io(error) => Failure::Log(LogError::Io(error)),
        })
    };
    ids.iter().map(claim).collect()
}

/// Who has a session.
fn in_use(id: &str, owner: &Owner) -> String {
    format!("session '{id}' is in use by {}", describe_owner(owner))
}

fn remove(log: &OpenLog, sessions: &[ToRemove]) -> Result<(), Failure> {
    let topics: BTreeSet<&Topic> = sessions.iter().flat_map(|one| &one.topics).collect();
    for topic in topics {
        if let Some(newest) = block_on(log.log.latest(topic))? {
            block_on(log.log.compact(topic, newest, CompactForce::Override))?;
        }
    }
    block_on(log.log.flush())?;
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_a_session_is_told_with_the_time_since_when() {
        let owner = Owner {
            id: "o".to_owned(),
            epoch: 1,
            process: 4711,
            host: "build-3".to_owned(),
            since_ms: 1_795_003_391_250,
            names: vec!["talk".to_owned()],
        };
        assert_eq!(
            in_use("talk", &owner),
            "session 'talk' is in use by process 4711 on build-3, since 2026-11-18T12:03:11Z"
        );
    }
}
