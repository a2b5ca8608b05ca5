//! What permissions leave behind: grants that last, and records for the transcript.

use std::collections::BTreeSet;

use harn_llm::sorted_json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::digest::digest;

/// A call that was granted for the rest of a session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionGrant {
    /// Which level of permissions granted it; the outermost one is 0.
    pub level: usize,
    /// The session whose loop has that level.
    #[serde(default)]
    pub owner: String,
    /// The tool.
    pub tool: String,
    /// The digest of the arguments.
    pub arguments: String,
}

/// All grants of a session. Part of the session's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionGrants(BTreeSet<SessionGrant>);

/// Something a transcript tells about permissions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PermissionRecord {
    /// What happened.
    pub kind: RecordKind,
    /// The tool.
    pub tool_name: String,
    /// The arguments of the call.
    pub arguments: Value,
    /// Why; also the text of the event.
    pub reason: String,
    /// Whether a function of the program was asked.
    pub escalated: bool,
}

/// What a record tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordKind {
    /// A call was granted.
    PermissionGrant,
    /// A call was denied.
    PermissionDeny,
    /// A function of the program was asked.
    PermissionEscalation,
}

impl SessionGrant {
    /// A grant of a level for a call.
    pub fn of(level: (usize, &str), tool: &str, arguments: &Value) -> Self {
        let (level, owner) = level;
        Self {
            level,
            owner: owner.to_owned(),
            tool: tool.to_owned(),
            arguments: digest(&sorted_json(arguments)),
        }
    }
}

impl SessionGrants {
    /// Keeps a grant.
    pub fn insert(&mut self, grant: SessionGrant) {
        self.0.insert(grant);
    }

    /// Whether there is this grant.
    pub fn contains(&self, grant: &SessionGrant) -> bool {
        self.0.contains(grant)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PermissionRecord {
    /// The record of a denial without permissions: by the capability policy or by approval. The
    /// reason is the bare message.
    pub fn denial(tool: &str, arguments: &Value, reason: &str) -> Self {
        Self {
            kind: RecordKind::PermissionDeny,
            tool_name: tool.to_owned(),
            arguments: arguments.clone(),
            reason: reason.to_owned(),
            escalated: false,
        }
    }

    /// The metadata of its event, whose role is `tool` and whose visibility is `internal`.
    pub fn metadata(&self) -> Value {
        json!({
            "tool_name": self.tool_name,
            "arguments": self.arguments,
            "reason": self.reason,
            "escalated": self.escalated,
        })
    }
}

impl RecordKind {
    /// The kind of the event.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PermissionGrant => "PermissionGrant",
            Self::PermissionDeny => "PermissionDeny",
            Self::PermissionEscalation => "PermissionEscalation",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_is_for_one_tool_its_arguments_and_its_level() {
        let mut grants = SessionGrants::default();
        assert!(grants.is_empty());
        grants.insert(SessionGrant::of((0, "s"), "run", &json!({"a": 1, "b": 2})));
        assert!(grants.contains(&SessionGrant::of((0, "s"), "run", &json!({"b": 2, "a": 1}))));
        assert!(!grants.contains(&SessionGrant::of((1, "s"), "run", &json!({"a": 1, "b": 2}))));
        assert!(!grants.contains(&SessionGrant::of((0, "s"), "ran", &json!({"a": 1, "b": 2}))));
        assert!(!grants.contains(&SessionGrant::of((0, "s"), "run", &json!({"a": 1}))));
        let of_parent = SessionGrant::of((0, "parent"), "run", &json!({"a": 1, "b": 2}));
        assert!(!grants.contains(&of_parent));
        let written = serde_json::to_value(&grants).expect("it is data");
        assert_eq!(serde_json::from_value(written).ok(), Some(grants));
    }

    #[test]
    fn a_record_has_the_metadata_of_its_event() {
        let record = PermissionRecord::denial("run", &json!({"a": 1}), "no");
        assert_eq!(record.kind.as_str(), "PermissionDeny");
        let expected = json!({
            "tool_name": "run", "arguments": {"a": 1}, "reason": "no", "escalated": false,
        });
        assert_eq!(record.metadata(), expected);
        assert_eq!(
            json!(RecordKind::PermissionEscalation),
            "PermissionEscalation"
        );
        assert_eq!(RecordKind::PermissionGrant.as_str(), "PermissionGrant");
    }
}
