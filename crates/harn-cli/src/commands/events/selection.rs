//! Which topics are meant.

use harn_events::{AGENT_EVENTS_TOPIC_PREFIX, agent_events_topic};
use harn_log::{LogError, Topic};

use super::failure::Failure;
use super::log::OpenLog;
use crate::suggestion::closest;

/// The topics of these names, or all if there are none. Each must be there.
pub(super) fn topics(log: &OpenLog, names: &[String]) -> Result<Vec<Topic>, Failure> {
    let known = log.topics()?;
    if names.is_empty() {
        return Ok(known);
    }
    let mut chosen: Vec<Topic> = Vec::new();
    for name in names {
        let topic = Topic::new(name)?;
        if !known.contains(&topic) {
            return Err(Failure::Told(unknown_topic(name, &known)));
        }
        if !chosen.contains(&topic) {
            chosen.push(topic);
        }
    }
    Ok(chosen)
}

/// The topic that was named, else that of the session, else all of them.
pub(super) fn topics_of(
    log: &OpenLog,
    topic: Option<&str>,
    session: Option<&str>,
) -> Result<Vec<Topic>, Failure> {
    match (topic, session) {
        (Some(name), _) => topics(log, &[name.to_owned()]),
        (None, None) => topics(log, &[]),
        (None, Some(session)) => {
            let topic = session_topic(session)?;
            let known = log.topics()?;
            match known.contains(&topic) {
                true => Ok(vec![topic]),
                false => Err(Failure::Told(unknown_session(session, &known))),
            }
        }
    }
}

/// The topic that holds a session's events.
pub(super) fn session_topic(session: &str) -> Result<Topic, LogError> {
    Topic::new(agent_events_topic(session))
}

/// What to say about a topic that is not there.
pub(super) fn unknown_topic(name: &str, known: &[Topic]) -> String {
    match closest(name, known.iter().map(Topic::as_str)) {
        Some(meant) => format!("no topic '{name}'; did you mean '{meant}'?"),
        None if known.is_empty() => format!("no topic '{name}'; the log is empty"),
        None => format!("no topic '{name}'; `harn events topics` lists all"),
    }
}

/// What to say about a session that is not there.
pub(super) fn unknown_session(session: &str, known: &[Topic]) -> String {
    let sessions = known
        .iter()
        .filter_map(|topic| topic.as_str().strip_prefix(AGENT_EVENTS_TOPIC_PREFIX));
    match closest(session, sessions) {
        Some(meant) => format!("no session '{session}'; did you mean '{meant}'?"),
        None => format!("no session '{session}' in the log; `harn events topics` lists all topics"),
    }
}
