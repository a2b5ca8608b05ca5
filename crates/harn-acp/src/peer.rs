//! The client at the other end of a connection, as the rest of the crate sees it.
//!
//! Whoever asks the client something or tells it something holds a [`Peer`] and knows nothing of
//! transports, request ids or the SDK. What the client can do is in [`ClientFacts`], read once
//! from `initialize`: what a client leaves out it cannot do.

use std::sync::Arc;

use harn_vm::agent::BoxFuture;
use serde_json::Value;

/// The client at the other end of a connection.
pub(crate) trait Peer: Send + Sync {
    /// Asks the client; dropping the future withdraws the question with `$/cancel_request`.
    fn request<'a>(
        &'a self,
        method: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, PeerError>>;

    /// Tells the client something; never waits. Order is kept.
    fn notify(&self, method: &str, parameters: Value);

    /// Waits until an update of the session can be sent without piling up behind a client that
    /// reads slowly. Each update that is read from a journal asks before it is told; answers
    /// and questions need not. Says whether the client is still there.
    fn has_room<'a>(&'a self, session_id: &'a str) -> BoxFuture<'a, bool> {
        let _ = session_id;
        Box::pin(async { true })
    }

    /// What the client said in `initialize`.
    fn client(&self) -> Arc<ClientFacts>;

    /// Whether nobody is there any more.
    fn is_gone(&self) -> bool;
}

/// What the client answered instead of a result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message} ({code})")]
pub(crate) struct PeerError {
    /// The code of JSON-RPC.
    pub(crate) code: i64,
    /// What a person reads.
    pub(crate) message: String,
    /// What a program reads.
    pub(crate) data: Option<Value>,
    /// Whether there is no client any more that could answer.
    pub(crate) is_gone: bool,
}

impl PeerError {
    /// Nobody is there who could answer.
    pub(crate) fn gone() -> Self {
        Self {
            code: -32000,
            message: "the client has closed the connection".to_owned(),
            data: None,
            is_gone: true,
        }
    }
}

/// Which kinds of something a client wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kinds {
    /// None of them.
    None,
    /// Those.
    Only(Vec<String>),
    /// All of them.
    All,
}

impl Kinds {
    /// Reads `true`, `false` or a list of names; anything else is as if it was not there.
    fn read(value: &Value, default: Self) -> Self {
        match value {
            Value::Bool(true) => Self::All,
            Value::Bool(false) => Self::None,
            Value::Array(names) => {
                let names = names.iter().filter_map(Value::as_str);
                Self::Only(names.map(str::to_owned).collect())
            }
            _ => default,
        }
    }

    /// Whether one of that name is wanted.
    pub(crate) fn contains(&self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Only(names) => names.iter().any(|one| one == name),
        }
    }
}

/// The host bridge that a client offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BridgeFacts {
    /// Its version.
    pub(crate) version: u64,
    /// Whether the client knows the methods by their older names.
    pub(crate) has_legacy_names: bool,
}

/// What a client said about itself in `initialize`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientFacts {
    /// What it is called.
    pub(crate) name: Option<String>,
    /// Whether files can be read through it.
    pub(crate) reads_files: bool,
    /// Whether files can be written through it.
    pub(crate) writes_files: bool,
    /// Whether it runs commands in terminals.
    pub(crate) has_terminals: bool,
    /// Whether it shows forms.
    pub(crate) shows_forms: bool,
    /// Whether it opens pages for what a form must not ask.
    pub(crate) opens_urls: bool,
    /// Whether people can sign in on a terminal of it.
    pub(crate) signs_in_on_terminal: bool,
    /// Whether it shows notices.
    pub(crate) shows_notices: bool,
    /// Whether it shows that a conversation is shortened.
    pub(crate) shows_compaction: bool,
    /// Whether it knows options that are on or off.
    pub(crate) has_boolean_options: bool,
    /// Which kinds of updates beyond the protocol it wants as `session/update`.
    pub(crate) session_update_kinds: Kinds,
    /// Which kinds of events it wants as `_harn/agentEvent`.
    pub(crate) agent_events: Kinds,
    /// The host bridge, if it offers one.
    pub(crate) bridge: Option<BridgeFacts>,
    /// Everything it said about itself under `_meta.harn`.
    pub(crate) harn: Value,
}

impl Default for ClientFacts {
    fn default() -> Self {
        Self::read(&Value::Null)
    }
}

impl ClientFacts {
    /// Reads the parameters of `initialize`. What is not there or not understood the client
    /// cannot do.
    pub(crate) fn read(parameters: &Value) -> Self {
        let can = &parameters["clientCapabilities"];
        let harn = &can["_meta"]["harn"];
        let is_on = |value: &Value| value == &Value::Bool(true);
        let is_there = |value: &Value| value.is_object();
        let bridge = &harn["bridge"];
        Self {
            name: parameters["clientInfo"]["name"].as_str().map(str::to_owned),
            reads_files: is_on(&can["fs"]["readTextFile"]),
            writes_files: is_on(&can["fs"]["writeTextFile"]),
            has_terminals: is_on(&can["terminal"]),
            shows_forms: is_there(&can["elicitation"]["form"]),
            opens_urls: is_there(&can["elicitation"]["url"]),
            signs_in_on_terminal: is_on(&can["auth"]["terminal"]),
            shows_notices: is_there(&can["session"]["notices"]),
            shows_compaction: is_there(&can["session"]["compaction"]),
            has_boolean_options: is_there(&can["session"]["configOptions"]["boolean"]),
            session_update_kinds: Kinds::read(&harn["sessionUpdateKinds"], Kinds::None),
            agent_events: Kinds::read(&harn["agentEvents"], Kinds::All),
            bridge: is_there(bridge).then(|| BridgeFacts {
                version: bridge["version"].as_u64().unwrap_or(1),
                has_legacy_names: is_on(&bridge["legacyNames"]),
            }),
            harn: harn.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_client_leaves_out_it_cannot_do() {
        let facts = ClientFacts::read(&json!({"protocolVersion": 1}));
        assert!(!facts.reads_files && !facts.writes_files && !facts.has_terminals);
        assert!(!facts.shows_forms && !facts.opens_urls && !facts.shows_notices);
        assert!(!facts.shows_compaction && !facts.has_boolean_options);
        assert_eq!(facts.session_update_kinds, Kinds::None);
        assert_eq!(facts.agent_events, Kinds::All);
        assert_eq!(facts.bridge, None);
    }

    #[test]
    fn what_a_client_can_do_is_read_from_its_capabilities() {
        let facts = ClientFacts::read(&json!({
            "clientInfo": {"name": "ed", "version": "1"},
            "clientCapabilities": {
                "fs": {"readTextFile": true, "writeTextFile": "yes"},
                "terminal": true,
                "elicitation": {"form": {}},
                "session": {"notices": {}, "compaction": null},
                "_meta": {"harn": {
                    "sessionUpdateKinds": ["handoff"],
                    "agentEvents": false,
                    "bridge": {"version": 1, "legacyNames": true},
                }},
            },
        }));
        assert_eq!(facts.name.as_deref(), Some("ed"));
        assert!(facts.reads_files && !facts.writes_files && facts.has_terminals);
        assert!(facts.shows_forms && !facts.opens_urls);
        assert!(facts.shows_notices && !facts.shows_compaction);
        assert!(facts.session_update_kinds.contains("handoff"));
        assert!(!facts.session_update_kinds.contains("plan"));
        assert!(!facts.agent_events.contains("handoff"));
        let bridge = facts.bridge.expect("it offers one");
        assert!(bridge.version == 1 && bridge.has_legacy_names);
    }
}
