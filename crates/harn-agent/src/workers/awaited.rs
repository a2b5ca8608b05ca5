//! What a worker that pauses waits for besides a word of its caller: an event, a trigger.

use std::sync::{Arc, Mutex, PoisonError};

use harn_events::{AgentEvent, AgentEventSink, ObserverGuard};
use harn_llm::options::value::display;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::runtime::Runtime;

/// How much of an event the model is shown.
const SHOWN_CHARS_MAX: usize = 2_000;

/// The events that a condition `on_event` is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AwaitedEvent {
    types: Vec<String>,
    /// The session in which it must happen; `None`: that of the worker or of its caller.
    session_id: Option<String>,
}

impl AwaitedEvent {
    /// Reads the name of an event, a list of them, or `{type, session_id?}`.
    /// `None` if it is none of these.
    pub(crate) fn read(condition: &Value) -> Option<Self> {
        let (types, session_id) = match condition {
            Value::Object(fields) => (fields.get("type"), fields.get("session_id")),
            types => (Some(types), None),
        };
        let types: Vec<String> = match types {
            Some(Value::String(name)) => vec![name.clone()],
            Some(Value::Array(names)) => {
                let texts = names.iter().map(|name| name.as_str().map(str::to_owned));
                texts.collect::<Option<_>>()?
            }
            _ => return None,
        };
        match types.is_empty() || types.iter().any(String::is_empty) {
            true => None,
            false => Some(Self {
                types,
                session_id: session_id.filter(|id| !id.is_null()).map(display),
            }),
        }
    }

    /// Listens for it from now on. `sessions` are those of the worker and of its caller.
    pub(crate) fn listen(self, runtime: &Runtime, sessions: Vec<String>) -> Listening {
        let (sender, heard) = oneshot::channel();
        let ear = Ear {
            types: self.types,
            sessions: match self.session_id {
                Some(id) => vec![id],
                None => sessions,
            },
            sender: Mutex::new(Some(sender)),
        };
        Listening {
            heard,
            _observer: runtime.bus.observe(Arc::new(ear)),
        }
    }
}

/// An event that has not happened yet.
pub(crate) struct Listening {
    heard: oneshot::Receiver<String>,
    _observer: ObserverGuard,
}

impl Listening {
    /// What happened, as the model is told; waits until it does.
    pub(crate) async fn heard(&mut self) -> String {
        match (&mut self.heard).await {
            Ok(told) => told,
            // The bus is gone, and nothing will happen any more.
            Err(_) => std::future::pending().await,
        }
    }
}

/// The observer that hears it.
struct Ear {
    types: Vec<String>,
    sessions: Vec<String>,
    /// Taken by the first event that counts.
    sender: Mutex<Option<oneshot::Sender<String>>>,
}

impl AgentEventSink for Ear {
    fn handle_event(&self, event: &AgentEvent) {
        let is_type = self.types.iter().any(|name| name == event.tag());
        let is_here = self.sessions.iter().any(|id| id == event.session_id());
        if !(is_type && is_here) {
            return;
        }
        let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = sender.take() {
            let shown: String = json!(event)
                .to_string()
                .chars()
                .take(SHOWN_CHARS_MAX)
                .collect();
            let (tag, id) = (event.tag(), event.session_id());
            let text = format!("You are resumed: `{tag}` happened in session {id}.\n{shown}");
            // A worker that was resumed by then does not listen any more.
            let _nobody_listens = sender.send(text);
        }
    }
}

/// Whether a payload of `worker_trigger` is what a condition `trigger` waits for. The condition
/// names a trigger or is `{name}`; a payload that names none is meant for every worker that waits.
pub(crate) fn is_trigger(condition: &Value, payload: &Value) -> bool {
    let name = |value: &Value| match value {
        Value::String(name) => Some(name.clone()),
        Value::Object(fields) => {
            let mut keys = ["trigger", "name", "id"].into_iter();
            keys.find_map(|key| fields.get(key).filter(|name| name.is_string()))
                .map(display)
        }
        _ => None,
    };
    let named = match payload {
        Value::Object(fields) => fields.get("trigger").and_then(name),
        _ => None,
    };
    match (name(condition), named) {
        (Some(wanted), Some(named)) => wanted == named,
        (None, _) | (_, None) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_about_events_are_read() {
        let read = |condition: Value| AwaitedEvent::read(&condition);
        let awaited = |types: &[&str], session_id: Option<&str>| {
            Some(AwaitedEvent {
                types: types.iter().map(|name| (*name).to_owned()).collect(),
                session_id: session_id.map(str::to_owned),
            })
        };
        assert_eq!(read(json!("artifact")), awaited(&["artifact"], None));
        assert_eq!(read(json!(["a", "b"])), awaited(&["a", "b"], None));
        let elsewhere = json!({"type": "plan", "session_id": "s"});
        assert_eq!(read(elsewhere), awaited(&["plan"], Some("s")));
        for wrong in [
            json!(7),
            json!([]),
            json!([7]),
            json!(""),
            json!({}),
            json!({"type": 1}),
        ] {
            assert_eq!(read(wrong.clone()), None, "{wrong}");
        }
    }

    #[test]
    fn a_trigger_is_told_by_its_name() {
        for (condition, payload, expected) in [
            (json!("review"), json!("go on"), true),
            (json!("review"), json!({"verdict": "fine"}), true),
            (json!("review"), json!({"trigger": "review"}), true),
            (json!("review"), json!({"trigger": "deploy"}), false),
            (
                json!({"name": "review"}),
                json!({"trigger": "deploy"}),
                false,
            ),
            (json!({"kind": "any"}), json!({"trigger": "deploy"}), true),
        ] {
            assert_eq!(is_trigger(&condition, &payload), expected, "{payload}");
        }
    }
}
