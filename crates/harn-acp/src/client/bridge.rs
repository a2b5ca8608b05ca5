//! The host bridge: what a client lends besides the protocol.
//!
//! The runtime knows the older names, and clients that want them get them. All others get the
//! names that the protocol demands of extensions. A client that has not announced the bridge is
//! never sent any of it.

use std::time::Duration;

use harn_vm::agent::HostError;
use serde_json::{Value, json};

use super::EditorHost;
use crate::peer::{ClientFacts, PeerError};

/// How long a host has to answer, unless it wants more or less for a method.
const ANSWER_WITHIN: Duration = Duration::from_secs(300);

/// The host knows the method and does not want to.
const REFUSED: i64 = -32001;
/// The host does not know the method.
const UNKNOWN: i64 = -32601;

/// What the runtime asks and tells, by its older name, and what it is called on the wire.
const NAMES: [(&str, &str); 10] = [
    ("host/capabilities", "_harn/host/capabilities"),
    ("host/call", "_harn/host/call"),
    ("builtin_call", "_harn/host/builtin"),
    ("host/tools/list", "_harn/host/tools/list"),
    ("tool_search/query", "_harn/tool_search"),
    ("skills/list", "_harn/skills/list"),
    ("skills/fetch", "_harn/skills/fetch"),
    ("skill/match", "_harn/skills/match"),
    ("agent/idle", "_harn/agent/idle"),
    ("harn.hitl.requested", "_harn/hitl/requested"),
];

/// What a method is called on the wire; `None`: it is none of the bridge.
fn wire_name(method: &str, client: &ClientFacts) -> Option<&'static str> {
    let (older, canonical) = NAMES.iter().find(|(older, _)| *older == method)?;
    let bridge = client.bridge?;
    Some(match bridge.has_legacy_names {
        true => older,
        false => canonical,
    })
}

fn lends(client: &ClientFacts) -> bool {
    client.bridge.is_some()
}

/// How long the client wants to have for a method.
fn answer_within(client: &ClientFacts, method: &str) -> Duration {
    let wanted = client.harn["bridge"]["timeoutsMs"][method].as_u64();
    wanted.map_or(ANSWER_WITHIN, Duration::from_millis)
}

impl EditorHost {
    /// Asks the client that lends the bridge.
    pub(super) async fn ask_bridge(
        &self,
        method: &str,
        mut parameters: Value,
    ) -> Result<Value, HostError> {
        let lacking = || HostError::Lacking(format!("no host lends `{method}`"));
        let peer = self.peers.find(lends).ok_or_else(lacking)?;
        let client = peer.client();
        let name = wire_name(method, &client).ok_or_else(lacking)?;
        if parameters.is_object() && parameters.get("sessionId").is_none() {
            parameters["sessionId"] = json!(self.facts.id);
        }
        let within = answer_within(&client, name);
        match tokio::time::timeout(within, peer.request(name, parameters)).await {
            Ok(Ok(answer)) => Ok(unwrapped(answer)),
            Ok(Err(error)) => Err(host_error(method, error)),
            Err(_) => Err(HostError::TimedOut(format!(
                "the host has not answered `{method}` within {} seconds",
                within.as_secs_f64()
            ))),
        }
    }

    /// Tells every client that lends the bridge.
    pub(super) fn tell_bridge(&self, method: &str, parameters: Value) {
        for peer in self.peers.all(lends) {
            if let Some(name) = wire_name(method, &peer.client()) {
                peer.notify(name, parameters.clone());
            }
        }
    }

    /// The skills that the host lends.
    pub(super) async fn list_skills(&self) -> Vec<Value> {
        match self.ask_bridge("skills/list", json!({})).await {
            Ok(Value::Array(skills)) => skills,
            Ok(mut answer) => match answer["skills"].take() {
                Value::Array(skills) => skills,
                _ => Vec::new(),
            },
            Err(HostError::Lacking(_)) => Vec::new(),
            Err(error) => {
                tracing::warn!("the host does not tell its skills: {error}");
                Vec::new()
            }
        }
    }
}

/// Hosts may wrap a result once more.
fn unwrapped(answer: Value) -> Value {
    match answer {
        Value::Object(mut fields) if fields.keys().all(|key| key == "result" || key == "_meta") => {
            match fields.remove("result") {
                Some(result) => result,
                None => Value::Object(fields),
            }
        }
        answer => answer,
    }
}

/// What an error of the host comes to.
fn host_error(method: &str, error: PeerError) -> HostError {
    let PeerError { code, message, .. } = error;
    match code {
        REFUSED => HostError::Refused(message),
        UNKNOWN if message.is_empty() => {
            HostError::Lacking(format!("the host does not know `{method}`"))
        }
        UNKNOWN => HostError::Lacking(message),
        code => HostError::Failed {
            code: Some(code),
            message,
        },
    }
}
