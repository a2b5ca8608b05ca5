//! The document that travels when work changes hands.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::EffectRecord;

/// Handoff document. Keys without a skip rule are always written; all keys are optional on read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HandoffArtifact {
    /// handoff_artifact after normalisation (Rust field type_name).
    #[serde(rename = "_type")]
    pub type_name: String,
    /// handoff when blank; absent in version 1 and 2 logs.
    pub kind: String,
    /// `handoff_<id>` when empty.
    pub id: String,
    /// Defaults to the current mutation session's run.
    pub parent_run_id: Option<String>,
    /// Required to be non-empty when created.
    pub source_persona: String,
    /// Must name someone.
    pub target_persona_or_human: HandoffTargetRecord,
    /// Required when created.
    pub task: String,
    /// Required when created.
    pub reason: String,
    /// Evidence.
    pub evidence_refs: Vec<HandoffEvidenceRefRecord>,
    /// Trimmed, blank-free, unique.
    pub files_or_entities_touched: Vec<String>,
    /// Same rule.
    pub open_questions: Vec<String>,
    /// Same rule.
    pub blocked_on: Vec<String>,
    /// Same rule.
    pub requested_capabilities: Vec<String>,
    /// Same rule.
    pub allowed_side_effects: Vec<String>,
    /// Capability policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_override: Option<Value>,
    /// Reminders that travel along.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reminder_propagation: Vec<SystemReminder>,
    /// Effects the receiver should expect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<EffectRecord>,
    /// Budget left.
    pub budget_remaining: Option<HandoffBudgetRemainingRecord>,
    /// Time limits.
    pub deadline_checkback: Option<HandoffDeadlineCheckbackRecord>,
    /// Clamped to 0..1.
    #[serde(serialize_with = "crate::wire::finite_option")]
    pub confidence: Option<f64>,
    /// Receipts.
    pub receipt_links: Vec<HandoffReceiptLinkRecord>,
    /// How it was routed.
    pub route_decision: Option<HandoffRouteDecisionRecord>,
    /// Opaque time text: RFC 3339 in old logs, unix-seconds text in newer ones.
    pub created_at: String,
    /// Free-form facts.
    pub metadata: BTreeMap<String, Value>,
}

/// Receiver of a handoff.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HandoffTargetRecord {
    /// persona, human, a2a (alias external_a2a) or worker (alias queue); anything else normalises
    /// to persona.
    pub kind: String,
    /// Identifier.
    pub id: Option<String>,
    /// Display name; shown before id.
    pub label: Option<String>,
    /// Address.
    pub uri: Option<String>,
}

/// Pointer to evidence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HandoffEvidenceRefRecord {
    /// Artifact that holds it.
    pub artifact_id: Option<String>,
    /// What kind of thing it is.
    pub kind: Option<String>,
    /// Display name.
    pub label: Option<String>,
    /// File path.
    pub path: Option<String>,
    /// Address.
    pub uri: Option<String>,
}

/// Budget left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HandoffBudgetRemainingRecord {
    /// Model tokens left.
    pub tokens: Option<i64>,
    /// Tool calls left.
    pub tool_calls: Option<i64>,
    /// Money left, in US dollars.
    #[serde(serialize_with = "crate::wire::finite_option")]
    pub dollars: Option<f64>,
}

/// Time limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HandoffDeadlineCheckbackRecord {
    /// When the work must be done.
    pub deadline: Option<String>,
    /// When to report back.
    pub checkback_at: Option<String>,
}

/// Link to a receipt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HandoffReceiptLinkRecord {
    /// Normalises to run_receipt when blank.
    pub kind: String,
    /// Display name.
    pub label: Option<String>,
    /// Run it belongs to.
    pub run_id: Option<String>,
    /// Artifact that holds it.
    pub artifact_id: Option<String>,
    /// File path.
    pub path: Option<String>,
    /// Link.
    pub href: Option<String>,
}

/// How a handoff was routed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HandoffRouteDecisionRecord {
    /// Route that matched.
    pub route_id: Option<String>,
    /// Position of the route.
    pub route_index: Option<u64>,
    /// Position of the target within the route.
    pub target_index: Option<u64>,
    /// Handoff that was routed.
    pub handoff_id: Option<String>,
    /// handoff when blank.
    pub handoff_kind: String,
    /// Who handed over.
    pub source_persona: String,
    /// Who receives, as text.
    pub target: String,
    /// Who receives.
    pub target_persona_or_human: HandoffTargetRecord,
    /// always when blank.
    pub matched_when: String,
    /// When the route was chosen.
    pub selected_at: String,
    /// How it was sent.
    pub dispatch_kind: String,
    /// What became of sending it.
    pub dispatch_status: Option<String>,
    /// Proof of sending.
    pub dispatch_receipt: Option<Value>,
    /// Free-form facts.
    pub metadata: BTreeMap<String, Value>,
}

/// Reminder carried by a handoff.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SystemReminder {
    /// Identifier.
    pub id: String,
    /// Labels.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Two reminders with one key are one reminder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe_key: Option<String>,
    /// Turns left to live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_turns: Option<i64>,
    /// Whether compaction keeps it.
    pub preserve_on_compact: bool,
    /// all, session or none.
    pub propagate: String,
    /// system, developer, user_block or ephemeral_cache.
    pub role_hint: String,
    /// contract, corrective or advisory; later revision.
    #[serde(default = "contract")]
    pub authority: String,
    /// stdlib_provider, hook, bridge, in_pipeline or inherited.
    pub source: String,
    /// Text.
    pub body: String,
    /// Turn at which it fired.
    pub fired_at_turn: i64,
    /// Agent that created it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub originating_agent_id: Option<String>,
}

/// What a reminder was before reminders had degrees.
fn contract() -> String {
    "contract".to_owned()
}
