//! Sessions as the log has them: those that can be gone on with, and what was said in them.
//!
//! A session is kept in two topics, its journal and its events. What a list shows of it stands
//! at the beginning of its journal, and when it was active last at the end, so a list does not
//! read what is in between.

use std::path::Path;

use harn_vm::agent::events::{SESSION_HEADER, agent_events_topic};
use harn_vm::agent::log::{AnyEventLog, CompactForce, EventLog, LogError, LogEvent, Topic};
use harn_vm::agent::session::{
    Change, JOURNAL_TOPIC_PREFIX, JournalRecord, SessionState, journal_topic, load_session,
};
use serde_json::Value;

use super::settings::Settings;

/// How much of a journal is read for a list.
const BEGINNING_RECORDS: usize = 64;

/// How much of what was said first is a title.
const TITLE_CHARACTERS_MAX: usize = 120;

/// A session that can be gone on with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Past {
    pub(crate) id: String,
    pub(crate) settings: Settings,
    /// What was said first.
    pub(crate) title: Option<String>,
    /// When it was active last.
    pub(crate) active_at_ms: i64,
}

/// The state of a session; nothing if there is none, or no client has ever talked to it.
///
/// # Errors
/// The log cannot be read.
pub(crate) async fn find(
    log: &AnyEventLog,
    id: &str,
) -> Result<Option<(SessionState, Settings)>, LogError> {
    let Ok(state) = load_session(log, id, None).await else {
        return Ok(None); // No topic has such a name.
    };
    Ok(Settings::of(&state).map(|settings| (state, settings)))
}

/// All sessions that a client has talked to, the latest first; only those of a folder, if one
/// is given.
///
/// # Errors
/// The log cannot be read.
pub(crate) async fn list(log: &AnyEventLog, cwd: Option<&Path>) -> Result<Vec<Past>, LogError> {
    let mut sessions = Vec::new();
    for topic in log.topics().await? {
        if topic.as_str().starts_with(JOURNAL_TOPIC_PREFIX) {
            sessions.extend(look(log, &topic).await?);
        }
    }
    sessions.retain(|past| cwd.is_none_or(|cwd| past.settings.cwd == cwd));
    sessions.sort_by(|a, b| {
        let latest_first = b.active_at_ms.cmp(&a.active_at_ms);
        latest_first.then_with(|| b.id.cmp(&a.id))
    });
    Ok(sessions)
}

/// The session whose journal a topic is.
async fn look(log: &AnyEventLog, topic: &Topic) -> Result<Option<Past>, LogError> {
    let beginning = log.read_range(topic, None, BEGINNING_RECORDS).await?;
    let Some((_, first)) = beginning.first() else {
        return Ok(None);
    };
    let Some(id) = first.headers.get(SESSION_HEADER).cloned() else {
        return Ok(None);
    };
    let newest = match log.latest(topic).await? {
        Some(newest) => log.read_range(topic, newest.checked_sub(1), 1).await?,
        None => Vec::new(),
    };
    let active_at_ms = newest
        .last()
        .map_or(first.occurred_at_ms, |(_, one)| one.occurred_at_ms);
    let changes = beginning.iter().filter_map(|(_, event)| change(event));
    let mut settings = None;
    let mut title = None;
    for change in changes {
        match change {
            Change::Kept { name, value } if name == harn_vm::agent::session::kept::SETTINGS => {
                settings = Settings::read(&value).or(settings);
            }
            Change::MessageAdded { message } => title = title.or_else(|| said(&message)),
            Change::Forked { content } => {
                title = title.or_else(|| content.messages.iter().find_map(said));
            }
            _ => {}
        }
    }
    Ok(settings.map(|settings| Past {
        id,
        settings,
        title,
        active_at_ms,
    }))
}

fn change(event: &LogEvent) -> Option<Change> {
    let record: JournalRecord = serde_json::from_value(event.payload.clone()).ok()?;
    Some(record.change)
}

/// What the person said first is the title of a session.
pub(crate) fn title(state: &SessionState) -> Option<String> {
    state.recorded.iter().find_map(said)
}

/// What a message of the person says, in a line.
fn said(message: &Value) -> Option<String> {
    if message["role"] != "user" {
        return None;
    }
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let mut texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.next()?.to_owned()
        }
        _ => return None,
    };
    first_line(&text)
}

/// The first line of a text, cut short.
pub(super) fn first_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let letters = line.chars().filter(|char| !char.is_control());
    Some(letters.take(TITLE_CHARACTERS_MAX).collect())
}

/// Removes a session for good. The names of its topics stay, empty: ids of records are never
/// given twice.
///
/// # Errors
/// The log cannot be changed.
pub(crate) async fn remove(log: &AnyEventLog, id: &str) -> Result<(), LogError> {
    let Ok(journal) = Topic::new(journal_topic(id)) else {
        return Ok(());
    };
    for topic in [journal, Topic::new(agent_events_topic(id))?] {
        if let Some(newest) = log.latest(&topic).await? {
            log.compact(&topic, newest, CompactForce::Override).await?;
        }
    }
    log.flush().await
}
