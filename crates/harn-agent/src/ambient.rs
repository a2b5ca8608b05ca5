//! What holds around a loop, level by level.
//!
//! ```text
//! outermost policies ─► … ─► policies of the loop       a call must pass every level
//! ```
//!
//! The policies of a loop are shown to it as one: the intersection of all levels. By its rules a
//! level can name folders, say what tools do, or approve calls, and stand for the level above
//! it in that. So what was in force above stays in force beside the intersection, with what was
//! known there: whatever a child says, it is never allowed more than its parent.

#[cfg(test)]
pub(crate) mod tests;

use harn_events::{SideEffectLevel, ToolAnnotations};
use harn_shell::Surroundings;
use serde_json::Value;

use crate::policy::{Approval, ApprovalPolicy, CapabilityPolicy, DeclaredParameters};
use crate::runtime::Ambient;

/// The policies of a level that another one has narrowed.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Level {
    /// What tools may do.
    pub policy: Option<CapabilityPolicy>,
    /// What has to be asked for.
    pub approval: Option<ApprovalPolicy>,
}

impl Level {
    fn annotations<'a>(
        &'a self,
        tool: &str,
        own: Option<&'a ToolAnnotations>,
    ) -> Option<&'a ToolAnnotations> {
        match &self.policy {
            Some(policy) => policy.annotations_for(tool, own),
            None => own,
        }
    }
}

impl Ambient {
    /// Lowers what holds by two policies, which must not ask for more than there is.
    ///
    /// # Errors
    /// The text to throw if they do.
    pub(crate) fn narrow(
        &mut self,
        policy: Option<&CapabilityPolicy>,
        approval: Option<&ApprovalPolicy>,
    ) -> Result<(), String> {
        let before = Level {
            policy: self.policy.clone(),
            approval: self.approval.clone(),
        };
        if let Some(inner) = policy {
            let outer = before.policy.clone();
            let outer = outer.unwrap_or_else(CapabilityPolicy::ceiling);
            self.policy = Some(CapabilityPolicy::intersect(&outer, inner)?);
        }
        if let Some(inner) = approval {
            self.approval = Some(match &before.approval {
                Some(outer) => ApprovalPolicy::intersect(outer, inner),
                None => inner.clone(),
            });
        }
        let is_narrowed = self.policy != before.policy || self.approval != before.approval;
        if is_narrowed && before != Level::default() {
            self.outer.push(before);
        }
        Ok(())
    }

    /// Whether a tool may be called, as far as policies say.
    ///
    /// # Errors
    /// What it exceeds.
    pub(crate) fn check_tool(
        &self,
        tool: &str,
        own: Option<&ToolAnnotations>,
        parameters: &DeclaredParameters,
        arguments: &Value,
        place: &dyn Surroundings,
    ) -> Result<(), String> {
        self.policies()
            .try_for_each(|policy| policy.check_tool(tool, own, parameters, arguments, place))
    }

    /// Whether a builtin may be called. `operation` is what `host_call` is asked for.
    ///
    /// # Errors
    /// What it exceeds.
    pub(crate) fn check_builtin(
        &self,
        builtin: &str,
        operation: Option<&str>,
    ) -> Result<(), String> {
        self.policies().try_for_each(|policy| match builtin {
            "host_call" => policy.check_host_call(operation.unwrap_or_default()),
            builtin => policy.check_builtin(builtin),
        })
    }

    /// What the approval policies say to a call: the strictest of them.
    pub(crate) fn decide(
        &self,
        tool: &str,
        own: Option<&ToolAnnotations>,
        arguments: &Value,
    ) -> Approval {
        let here = Level {
            policy: self.policy.clone(),
            approval: self.approval.clone(),
        };
        let mut decided = Approval::Approved;
        for level in [&here].into_iter().chain(&self.outer) {
            let Some(approval) = &level.approval else {
                continue;
            };
            let annotations = level.annotations(tool, own);
            match approval.decide(tool, annotations, arguments) {
                denied @ Approval::Denied(_) => return denied,
                Approval::Ask => decided = Approval::Ask,
                Approval::Approved => {}
            }
        }
        decided
    }

    /// Lists of folders; what is done has to be in one folder of each.
    pub fn workspace_roots(&self) -> Vec<Vec<String>> {
        let roots = self.policies().map(|policy| policy.workspace_roots.clone());
        roots.filter(|roots| !roots.is_empty()).collect()
    }

    /// Whether something may be changed in the workspace.
    pub fn may_write(&self) -> bool {
        let mut policies = self.policies();
        policies.all(|policy| policy.allows_level(SideEffectLevel::WorkspaceWrite))
    }

    /// Whether nothing is limited.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.policy.is_none()
            && self.approval.is_none()
            && self.permissions.is_empty()
            && self.outer.is_empty()
    }

    /// The policies that hold, the innermost first.
    fn policies(&self) -> impl Iterator<Item = &CapabilityPolicy> {
        let outer = self.outer.iter().rev();
        let outer = outer.filter_map(|level| level.policy.as_ref());
        self.policy.iter().chain(outer)
    }
}
