//! Readers of a session, and what is told to its model.

use std::borrow::Cow;
use std::sync::Arc;

use harn_events::{
    AgentEventSubscriber, HostEmitError, InboxSource, SubscriberCall, SubscriberError,
    SubscriberFuture, SubscriberOutcome,
};
use harn_llm::desk::Thrown;
use serde_json::Value;

use super::{Asked, plain};
use crate::callback::Callback;
use crate::registry::told;
use crate::runtime::Runtime;

/// Answers; `None` if it is no question about feedback.
pub(super) async fn answer(runtime: &Arc<Runtime>, asked: &Asked) -> Option<Result<Value, Thrown>> {
    Some(match &*asked.builtin {
        "agent_subscribe" => subscribe(runtime, asked).await,
        "agent_inject_feedback" => inject(runtime, asked),
        "agent_emit_event" | "__host_agent_emit_event" => emit(runtime, asked).await,
        _ => return None,
    })
}

async fn subscribe(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let say = |what: &str| plain(format!("agent_subscribe(session_id, callback): {what}"));
    let Some(session_id) = asked.text(0) else {
        return say("session_id must be a string");
    };
    let Some(callback) = asked.functions.at("/1") else {
        return match asked.arguments.len() {
            0 | 1 => say("callback closure required"),
            _ => say("callback must be a closure"),
        };
    };
    let opened = runtime.open_session(session_id).await;
    opened.map_err(|error| error.told_by("agent_subscribe"))?;
    let subscriber = Arc::new(Subscriber(Arc::clone(callback)));
    runtime.bus.subscribe(session_id, subscriber);
    Ok(Value::Null)
}

fn inject(runtime: &Runtime, asked: &Asked) -> Result<Value, Thrown> {
    let names = ["session_id", "kind", "content"];
    let mut texts = [""; 3];
    for (at, name) in names.into_iter().enumerate() {
        let Some(text) = asked.text(at) else {
            return plain(format!(
                "agent_inject_feedback(session_id, kind, content): {name} must be a string"
            ));
        };
        texts[at] = text;
    }
    let [session_id, kind, content] = texts;
    runtime
        .bus
        .push_feedback(session_id, kind, content, InboxSource::Loop);
    Ok(Value::Null)
}

async fn emit(runtime: &Runtime, asked: &Asked) -> Result<Value, Thrown> {
    let (session_id, kind) = (
        asked.text(0).unwrap_or_default(),
        asked.text(1).unwrap_or_default(),
    );
    let payload = asked.argument(2);
    let emitted = runtime.bus.emit_host_event(session_id, kind, payload).await;
    emitted.map_err(|error| refused(&error))?;
    Ok(Value::Null)
}

fn refused(error: &HostEmitError) -> Thrown {
    Thrown::Runtime(error.to_string())
}

/// A function of a program that sees every event of a session.
struct Subscriber(Arc<dyn Callback>);

impl AgentEventSubscriber for Subscriber {
    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed("closure")
    }

    fn on_event<'a>(&'a self, call: SubscriberCall<'a>) -> SubscriberFuture<'a> {
        let event = serde_json::to_value(call.event).unwrap_or_default();
        Box::pin(async move {
            match self.0.call_as_subscriber(vec![event], call.depth).await {
                Ok(_) => Ok(SubscriberOutcome::Ran),
                Err(thrown) => Err(SubscriberError(told(&thrown))),
            }
        })
    }
}
