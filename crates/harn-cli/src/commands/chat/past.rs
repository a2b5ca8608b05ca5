//! Sessions of the log: those one can go on with, and what was said in them.

use std::sync::Arc;

use harn_log::AnyEventLog;
use harn_vm::agent::describe_owner;
use harn_vm::agent::session::{Change, SessionState};

use super::clean::clean_line;
use super::view::{Meter, View};
use crate::commands::events::failure::Failure;
use crate::commands::events::log::OpenLog;
use crate::commands::sessions::conversation::{self, Part};
use crate::commands::sessions::facts::Facts;
use crate::commands::sessions::markdown;
use crate::commands::sessions::stored::{self, Stored};

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
    let sessions = stored::all(&log).map_err(in_words)?;
    let sessions = sessions.into_iter().filter_map(|session| {
        let state = session.state();
        let title = title(&state)?;
        let facts = Facts::of(&session, &state);
        Some(Past {
            title,
            active_at_ms: facts.active_at_ms,
            turns: facts.turns,
            cost_usd: facts.cost_usd,
            id: facts.id,
        })
    });
    let mut sessions: Vec<Past> = sessions.collect();
    sessions.sort_by_key(|past| std::cmp::Reverse(past.active_at_ms));
    sessions.truncate(SESSIONS_MAX);
    Ok(sessions)
}

/// What the person said first; nothing if a program runs that nobody talks to.
fn title(state: &SessionState) -> Option<String> {
    let parts = conversation::of(state);
    let said = parts.into_iter().find_map(|part| match part {
        Part::Said { role, text, .. } if role == "user" => Some(text),
        _ => None,
    })?;
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
    let session = stored::one(&log, id).map_err(in_words)?;
    Ok(Opened { session })
}

/// The session of exactly this id, if something is kept of it.
pub(super) fn exactly(log: &Arc<AnyEventLog>, id: &str) -> Option<Opened> {
    let log = OpenLog {
        log: Arc::clone(log),
    };
    let session = stored::named(&log, id).ok()??;
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
        let state = self.session.state();
        let facts = Facts::of(&self.session, &state);
        let mut view = View::default();
        view.past(conversation::of(&state));
        let answers = self.session.changes().filter_map(|change| match change {
            Change::Answered {
                input_tokens,
                output_tokens,
                ..
            } => Some(input_tokens + output_tokens),
            _ => None,
        });
        view.meter = Meter {
            input_tokens: facts.input_tokens,
            output_tokens: facts.output_tokens,
            cost_usd: facts.cost_usd,
            context_tokens: answers.last().unwrap_or(0),
            ..Meter::default()
        };
        view
    }

    /// The conversation in Markdown.
    pub(super) fn markdown(&self) -> String {
        let state = self.session.state();
        let facts = Facts::of(&self.session, &state);
        markdown::of(&facts, &conversation::of(&state))
    }
}

fn in_words(failure: Failure) -> String {
    match failure {
        Failure::Told(text) => text,
        Failure::Log(error) => error.to_string(),
        Failure::Answer(error) => error.to_string(),
    }
}
