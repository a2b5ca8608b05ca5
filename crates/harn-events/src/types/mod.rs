//! The records and enums that events carry.
//!
//! Their JSON is fixed by the catalogue: a test decodes, encodes and mutilates
//! each of them field by field and compares the outcome with what the catalogue
//! says, so a drift between the two cannot land.

mod annotations;
mod composition;
mod effect;
mod handoff;
mod iteration_info;
mod log_record;
mod mutation;
mod names;
mod receipt;
mod string_enum;
mod tool;
mod worker;
mod workspace;

pub use annotations::{ToolAnnotations, ToolArgSchema, ToolDependencyRangeParams};
pub use composition::{
    CompositionChildCall, CompositionChildResult, CompositionFailureCategory,
    CompositionRunEnvelope,
};
pub use effect::{EffectKind, EffectRecord, EffectScope};
pub use handoff::{
    HandoffArtifact, HandoffBudgetRemainingRecord, HandoffDeadlineCheckbackRecord,
    HandoffEvidenceRefRecord, HandoffReceiptLinkRecord, HandoffRouteDecisionRecord,
    HandoffTargetRecord, SystemReminder,
};
pub use iteration_info::{IterationInfo, SessionLists, has_partial_list};
pub use log_record::{AgentEventLogPayload, CompactReport, LogEvent};
pub use mutation::{MutationSessionRecord, ToolApprovalPolicy};
pub use names::NameList;
pub use receipt::ToolCallReceipt;
pub use tool::{SideEffectLevel, ToolCallErrorCategory, ToolCallStatus, ToolExecutor, ToolKind};
pub use worker::{InvalidTransition, WorkerEvent, WorkerLifecycle, WorkerStatus};
pub use workspace::{FsWatchEvent, MountMode, MountedRoot, WorkspaceAnchor};

use serde_json::Value;

/// `{}`: the default of free-form objects, where `null` would mean something else.
fn empty_object() -> Value {
    Value::Object(serde_json::Map::new())
}
