//! What command policies say, for the tools of the runtime.

use harn_agent::CommandRules;
use harn_machine::Value;
use serde_json::{Value as Json, json};

use crate::json::from_json;

/// The rules that builtins follow too.
pub(super) struct PolicyRules;

impl CommandRules for PolicyRules {
    fn refusal(&self, policy: &Json, request: &Json) -> Option<Json> {
        let (Value::Dict(policy), Value::Dict(request)) = (from_json(policy), from_json(request))
        else {
            return None;
        };
        let refusal = harn_stdlib::command_refusal(&policy, &request)?;
        let source = match refusal.action {
            "deny" => "deny_pattern",
            _ => "require_approval",
        };
        Some(json!({
            "action": refusal.action, "reason": refusal.reason,
            "risk_labels": refusal.risk_labels, "source": source,
        }))
    }
}
