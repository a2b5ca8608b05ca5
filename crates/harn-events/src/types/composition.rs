//! Runs of a snippet that calls several tools.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::empty_object;
use super::string_enum::string_enum;
use super::{
    SideEffectLevel, ToolAnnotations, ToolCallErrorCategory, ToolCallStatus, ToolExecutor,
};

string_enum! {
    /// Why a composition run failed.
    pub enum CompositionFailureCategory {
        /// Snippet language not enabled.
        UnsupportedLanguage = "unsupported_language",
        /// Snippet or manifest invalid.
        SchemaValidation = "schema_validation",
        /// Ceiling or child refused.
        PolicyDenied = "policy_denied",
        /// A child failed.
        ChildToolError = "child_tool_error",
        /// Executor fault.
        ExecutionError = "execution_error",
        /// Budget spent.
        Timeout = "timeout",
        /// Stopped.
        Cancelled = "cancelled",
        /// Unclassified.
        Unknown = "unknown",
    }
    unknown => Unknown
}

/// One composition run. Keys are always written unless a skip rule is given; all optional on read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompositionRunEnvelope {
    /// Containing execution; later revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// Run it belongs to.
    pub run_id: String,
    /// harn, typescript, javascript, ...
    pub language: String,
    /// `sha256:<hex>` over language and snippet.
    pub snippet_hash: String,
    /// `sha256:<hex>` over the manifest.
    pub binding_manifest_hash: String,
    /// Highest side effect the run may have.
    pub requested_side_effect_ceiling: SideEffectLevel,
    /// Captured output.
    pub stdout: Option<String>,
    /// Captured error output.
    pub stderr: Option<String>,
    /// Produced artifacts.
    pub artifacts: Vec<Value>,
    /// Value.
    pub result: Option<Value>,
    /// Why it failed.
    pub failure_category: Option<CompositionFailureCategory>,
    /// Failure text.
    pub error: Option<String>,
    /// Wall time.
    pub duration_ms: Option<u64>,
    /// Unknown keys must be ignored.
    pub metadata: Value,
}

impl Default for CompositionRunEnvelope {
    fn default() -> Self {
        Self {
            execution_id: None,
            run_id: String::new(),
            language: String::new(),
            snippet_hash: String::new(),
            binding_manifest_hash: String::new(),
            requested_side_effect_ceiling: SideEffectLevel::ReadOnly,
            stdout: None,
            stderr: None,
            artifacts: Vec::new(),
            result: None,
            failure_category: None,
            error: None,
            duration_ms: None,
            metadata: empty_object(),
        }
    }
}

/// Child operation. All keys always written, all optional on read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompositionChildCall {
    /// Run it belongs to.
    pub run_id: String,
    /// Call id.
    pub tool_call_id: String,
    /// Tool name.
    pub tool_name: String,
    /// Position within the run.
    pub operation_index: u64,
    /// Annotations of the tool.
    pub annotations: Option<ToolAnnotations>,
    /// Side effect asked for.
    pub requested_side_effect_level: SideEffectLevel,
    /// Policy in force.
    pub policy_context: Value,
    /// Arguments.
    pub raw_input: Value,
}

impl Default for CompositionChildCall {
    fn default() -> Self {
        Self {
            run_id: String::new(),
            tool_call_id: String::new(),
            tool_name: String::new(),
            operation_index: 0,
            annotations: None,
            requested_side_effect_level: SideEffectLevel::None,
            policy_context: empty_object(),
            raw_input: Value::Null,
        }
    }
}

/// Child outcome. Keys are always written unless a skip rule is given; all optional on read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompositionChildResult {
    /// Run it belongs to.
    pub run_id: String,
    /// Call id.
    pub tool_call_id: String,
    /// Tool name.
    pub tool_name: String,
    /// Position within the run.
    pub operation_index: u64,
    /// Status.
    pub status: ToolCallStatus,
    /// Result.
    pub raw_output: Option<Value>,
    /// Failure text.
    pub error: Option<String>,
    /// Failure class.
    pub error_category: Option<ToolCallErrorCategory>,
    /// Later revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_details: Option<Value>,
    /// Backend that ran it.
    pub executor: Option<ToolExecutor>,
    /// Wall time.
    pub duration_ms: Option<u64>,
    /// Wall time inside the backend.
    pub execution_duration_ms: Option<u64>,
    /// Later revision.
    pub attempt: u32,
    /// Later revision.
    pub retry_attempts: u32,
    /// Later revision.
    pub retry_errors: Vec<String>,
    /// Later revision.
    pub retry_delays_ms: Vec<u64>,
}

impl Default for CompositionChildResult {
    fn default() -> Self {
        Self {
            run_id: String::new(),
            tool_call_id: String::new(),
            tool_name: String::new(),
            operation_index: 0,
            status: ToolCallStatus::Pending,
            raw_output: None,
            error: None,
            error_category: None,
            error_details: None,
            executor: None,
            duration_ms: None,
            execution_duration_ms: None,
            attempt: 1,
            retry_attempts: 0,
            retry_errors: Vec::new(),
            retry_delays_ms: Vec::new(),
        }
    }
}
