//! Sessions of the log: those one can go on with, and what was said in them.

use std::cmp::Reverse;
use std::sync::Arc;

use harn_log::AnyEventLog;
use harn_vm::agent::describe_owner;

use super::clean::clean_line;
use super::view::{Meter, View};
use crate::commands::events::failure::Failure;
use crate::commands::events::log::OpenLog;
use crate::commands::sessions::conversation;
use crate::commands::sessions::facts::Facts;
use crate::commands::sessions::markdown;
use crate::commands::sessions::stored::{self, Overview, Stored, StoredUpTo};

/// So many of the latest sessions can be chosen from.
const SESSIONS_MAX: usize = 200;

/// How much of what was said first is kept as a title.
const TITLE_CHARACTERS_MAX: usize = 120;

/// A session one can go on with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Past {
    pub(super) id: String,
    /// What was said first.
    pub(super) title: String,
    pub(super) active_at_ms: i64,
    pub(super) turns: u64,
    pub(super) cost_usd: f64,
}

/// The latest sessions in which something was said, the latest first.
///
/// # Errors
/// The log cannot be read; says why.
pub(super) fn list(log: &Arc<AnyEventLog>) -> Result<Vec<Past>, String> {
    let log = OpenLog {
        log: Arc::clone(log),
    };
    let mut overviews = stored::overviews(&log).map_err(in_words)?;
    overviews.sort_by_key(|session| Reverse(session.last_ms));
    let mut sessions = Vec::new();
    for session in overviews {
        if sessions.len() == SESSIONS_MAX {
            break;
        }
        sessions.extend(past(&log, session)?);
    }
    Ok(sessions)
}

/// A session with its title; nothing if a program runs that nobody talks to.
fn past(log: &OpenLog, session: Overview) -> Result<Option<Past>, String> {
    let said = match session.messages {
        Some(_) => session.first_words,
        // Something else than a new message has changed them.
        None => {
            let whole = stored::named(log, &session.id, StoredUpTo::EndOfJournal);
            let whole = whole.map_err(in_words)?.unwrap_or_default();
            stored::first_words(&whole.state)
        }
    };
    Ok(said.and_then(|said| title(&said)).map(|title| Past {
        title,
        active_at_ms: session.last_ms,
        turns: session.tally.turns,
        cost_usd: session.tally.cost_usd,
        id: session.id,
    }))
}

/// The first line of what the person said first.
fn title(said: &str) -> Option<String> {
    let line = said.lines().find(|line| !line.trim().is_empty())?;
    let short: String = line.trim().chars().take(TITLE_CHARACTERS_MAX).collect();
    Some(clean_line(&short))
}

/// A session, by its id or the start of it.
///
/// # Errors
/// There is none, or the log cannot be read; says which.
pub(super) fn find(log: &Arc<AnyEventLog>, id: &str) -> Result<Opened, String> {
    let log = OpenLog {
        log: Arc::clone(log),
    };
    let session = stored::one(&log, id, StoredUpTo::EndOfJournal).map_err(in_words)?;
    Ok(Opened { session })
}

/// The session of exactly this id, if something is kept of it.
pub(super) fn exactly(log: &Arc<AnyEventLog>, id: &str) -> Option<Opened> {
    let log = OpenLog {
        log: Arc::clone(log),
    };
    let session = stored::named(&log, id, StoredUpTo::EndOfJournal).ok()??;
    Some(Opened { session })
}

/// Whether another process writes a session.
///
/// # Errors
/// One does, or that cannot be found out; says which.
pub(super) fn check_free(log: &AnyEventLog, id: &str) -> Result<(), String> {
    let owner = log.owners().owner_of(id);
    let owner =
        owner.map_err(|error| format!("nobody knows who writes session '{id}': {error}"))?;
    match owner.filter(|owner| owner.process != std::process::id()) {
        None => Ok(()),
        Some(owner) => Err(format!(
            "session '{id}' is in use by {}",
            describe_owner(&owner)
        )),
    }
}

/// A session that was read.
pub(super) struct Opened {
    session: Stored,
}

impl Opened {
    pub(super) fn id(&self) -> &str {
        &self.session.id
    }

    /// What there is to see of it.
    pub(super) fn view(&self) -> View {
        let Stored { state, tally, .. } = &self.session;
        let facts = Facts::of(&self.session);
        let mut view = View::default();
        view.past(conversation::of(state));
        view.meter = Meter {
            input_tokens: facts.input_tokens,
            output_tokens: facts.output_tokens,
            cost_usd: facts.cost_usd,
            context_tokens: tally.context_tokens,
            ..Meter::default()
        };
        view
    }

    /// The conversation in Markdown.
    pub(super) fn markdown(&self) -> String {
        let facts = Facts::of(&self.session);
        markdown::of(&facts, &conversation::of(&self.session.state))
    }
}

fn in_words(failure: Failure) -> String {
    match failure {
        Failure::Told(text) => text,
        Failure::Log(error) => error.to_string(),
        Failure::Answer(error) => error.to_string(),
    }
}
