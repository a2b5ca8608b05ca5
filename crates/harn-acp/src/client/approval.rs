//! `session/request_permission`: may this call be made?
//!
//! The runtime asks in its own words, with a record of what is to be approved. The client gets
//! a question in the words of the protocol, and the record beside it. Its answer counts only if
//! it chooses one of the options that were offered.

use harn_vm::agent::{HostError, rfc3339};
use serde_json::{Value, json};

use super::announced::KnownCall;
use super::{EditorHost, lock};

const ALLOW_ONCE: &str = "allow_once";
const REJECT_ONCE: &str = "reject_once";
const ALLOW_ALWAYS: &str = "allow_always";
const REJECT_ALWAYS: &str = "reject_always";

/// What the kinds of tools are called on the wire.
const KINDS: [&str; 10] = [
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
];

impl EditorHost {
    /// Asks whether a call may be made. Too many questions at once are too many for a person.
    pub(super) async fn ask_permission(&self, asked: Value) -> Result<Value, HostError> {
        let Some(_place) = Place::take(self) else {
            self.facts.refused.permission();
            return Ok(denied("too many questions wait for an answer"));
        };
        let call_id = asked["toolCall"]["toolCallId"].as_str().unwrap_or_default();
        // The calls of subagents are not announced on their own.
        let is_announced = !self.facts.is_bare && asked["sessionId"] == *self.facts.id;
        let known = match is_announced {
            true => self.announced.call(call_id).await,
            false => KnownCall {
                id: call_id.to_owned(),
                ..KnownCall::default()
            },
        };
        let session_id = match self.facts.is_bare {
            true => asked["sessionId"].clone(),
            false => json!(self.facts.id),
        };
        let options = options(&asked);
        let question = json!({
            "sessionId": session_id,
            "toolCall": told_call(&asked, known),
            "options": options,
            "_meta": {"harn": {"approval": self.record(&asked)}},
        });
        let answering = self
            .peers
            .ask("session/request_permission", question, |_| true);
        let answer = match self.facts.answer_within {
            None => answering.await,
            Some(within) => match tokio::time::timeout(within, answering).await {
                Ok(answer) => answer,
                Err(_) => return Ok(denied("nobody has answered in time")),
            },
        };
        match answer {
            Ok(answer) => Ok(read(&answer, &options)),
            Err(error) if error.is_gone => Ok(denied("nobody is there to be asked")),
            Err(error) => Err(HostError::Failed {
                code: Some(error.code),
                message: error.message,
            }),
        }
    }

    /// The record of the approval, with the time until which there has to be an answer.
    fn record(&self, asked: &Value) -> Value {
        let mut record = asked["approvalRequest"].clone();
        if let (Some(within), Some(fields)) = (self.facts.answer_within, record.as_object_mut()) {
            let within_ms = i64::try_from(within.as_millis()).unwrap_or(i64::MAX);
            let deadline = (self.facts.now)().saturating_add(within_ms);
            fields.insert("deadline".to_owned(), json!(rfc3339(deadline)));
        }
        record
    }
}

/// The place of one question among those that may wait for an answer.
struct Place<'a>(&'a EditorHost);

impl<'a> Place<'a> {
    fn take(host: &'a EditorHost) -> Option<Self> {
        let mut asking = lock(&host.permissions);
        let has_room = *asking < host.facts.permissions_max;
        *asking += usize::from(has_room);
        has_room.then(|| Self(host))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *lock(&self.0.permissions) -= 1;
    }
}

/// The call as the client knows it. Arguments are those without secrets.
fn told_call(asked: &Value, known: KnownCall) -> Value {
    let call = &asked["toolCall"];
    let kind = call["kind"].as_str().filter(|kind| KINDS.contains(kind));
    let mut told = json!({
        "toolCallId": known.id,
        "status": "pending",
        "title": call["toolName"],
        "kind": kind.unwrap_or("other"),
        "rawInput": asked["approvalRequest"]["args"],
        "locations": locations(asked),
    });
    for (key, value) in known.told {
        told[key] = value;
    }
    told
}

/// Where the call works, as far as it can be told without resolving anything.
fn locations(asked: &Value) -> Vec<Value> {
    let paths = asked["declaredPaths"].as_array().into_iter().flatten();
    let paths = paths.filter_map(Value::as_str);
    let absolute = paths.filter(|path| path.starts_with('/'));
    absolute.map(|path| json!({"path": path})).collect()
}

/// What a person can choose. What is remembered is said in the name.
fn options(asked: &Value) -> Vec<Value> {
    let tool = asked["toolCall"]["toolName"].as_str().unwrap_or_default();
    let option = |id: &str, name: String| json!({"optionId": id, "name": name, "kind": id});
    let mut options = vec![option(ALLOW_ONCE, "Allow this call".to_owned())];
    let scope = match asked["remembers"].as_str() {
        Some("tool") => Some(format!("every call of `{tool}` in this session")),
        Some("call") => Some(format!(
            "`{tool}` with exactly these arguments in this session"
        )),
        _ => None,
    };
    if let Some(scope) = &scope {
        options.push(option(ALLOW_ALWAYS, format!("Allow {scope}")));
    }
    options.push(option(REJECT_ONCE, "Reject this call".to_owned()));
    if let Some(scope) = &scope {
        options.push(option(REJECT_ALWAYS, format!("Reject {scope}")));
    }
    options
}

/// What the runtime reads of an answer. An option that was not offered is no answer.
fn read(answer: &Value, options: &[Value]) -> Value {
    let outcome = &answer["outcome"];
    if outcome["outcome"] != "selected" {
        return denied("the request was dismissed");
    }
    let chosen = &outcome["optionId"];
    if !options.iter().any(|option| option["optionId"] == *chosen) {
        return denied("the client chose something that was not offered");
    }
    let mut said = json!({"outcome": {"outcome": "selected", "optionId": chosen}});
    let harn = &answer["_meta"]["harn"];
    match harn.get("args") {
        None => {}
        Some(arguments) if arguments.is_object() => said["args"] = arguments.clone(),
        Some(_) => return denied("the arguments of the client are no object"),
    }
    if let Some(reason) = harn["reason"].as_str() {
        said["reason"] = json!(reason);
    }
    said
}

fn denied(reason: &str) -> Value {
    json!({"granted": false, "reason": reason})
}
