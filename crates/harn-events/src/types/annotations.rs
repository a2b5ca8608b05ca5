//! What a tool declares about itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{SideEffectLevel, ToolKind};

/// Tool annotations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolAnnotations {
    /// What kind of thing it is.
    pub kind: ToolKind,
    /// How invasive it is.
    pub side_effect_level: SideEffectLevel,
    /// observation, mutation or verification; later revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_evidence_role: Option<String>,
    /// Argument annotations.
    pub arg_schema: ToolArgSchema,
    /// capability -> operations.
    pub capabilities: BTreeMap<String, Vec<String>>,
    /// Whether results are artifacts.
    pub emits_artifacts: bool,
    /// Tools that read its results.
    pub result_readers: Vec<String>,
    /// Whether the result is small enough to show in line.
    pub inline_result: bool,
    /// MCP hint: changes nothing.
    #[serde(rename = "readOnlyHint", skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// MCP hint: may destroy.
    #[serde(rename = "destructiveHint", skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// MCP hint: repeating changes nothing more.
    #[serde(rename = "idempotentHint", skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// MCP hint: touches the outside world.
    #[serde(rename = "openWorldHint", skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// Argument annotations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolArgSchema {
    /// Arguments that are paths.
    pub path_params: Vec<String>,
    /// Arguments that are commands of a shell; rules look at what they run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command_params: Vec<String>,
    /// Later revision.
    pub dependency_key_params: Vec<String>,
    /// Later revision.
    pub dependency_range_params: Vec<ToolDependencyRangeParams>,
    /// alias -> canonical key.
    pub arg_aliases: BTreeMap<String, String>,
    /// Arguments that must be present.
    pub required: Vec<String>,
}

/// Argument pair describing an inclusive range.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolDependencyRangeParams {
    /// Argument that holds the first element.
    pub start: String,
    /// Argument that holds the last element.
    pub end: String,
}
