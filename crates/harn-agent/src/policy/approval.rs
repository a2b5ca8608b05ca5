//! Which calls a person wants to see first.

use harn_events::{ToolAnnotations, ToolApprovalPolicy};
use harn_llm::desk::Thrown;
use harn_options::APPROVAL_POLICY;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::annotations::{declared_paths, is_read_only};
use super::glob::{any_glob_matches, any_glob_matches_path, first_forbidding};
use super::reading::{fields, patterns};
use crate::known_options::refuse_unknown;

/// The keys that are followed. The others of the table are those of later revisions.
const KEYS: [&str; 4] = [
    "auto_approve",
    "auto_deny",
    "require_approval",
    "write_path_allowlist",
];

/// Which calls are approved, denied or asked about. All of it are patterns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovalPolicy(pub ToolApprovalPolicy);

/// What an approval policy says to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// It may run.
    Approved,
    /// It may not, for this reason.
    Denied(String),
    /// The host decides.
    Ask,
}

/// How a call was approved or denied, as the audit of its events tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalStatus {
    /// The policy denied it.
    AutoDenied,
    /// The host denied it, or could not be asked.
    HostDenied,
    /// The host granted it.
    HostGranted,
}

impl ApprovalStatus {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AutoDenied => "auto_denied",
            Self::HostDenied => "host_denied",
            Self::HostGranted => "host_granted",
        }
    }
}

impl ApprovalPolicy {
    /// Reads a policy from a program's dict. Nil approves everything. Keys that are not known
    /// here are kept.
    ///
    /// # Errors
    /// A field of the wrong kind or of an unknown name is thrown, and so is a pattern that cannot
    /// be read, because a question must not get lost.
    pub fn read(label: &str, value: &Value) -> Result<Self, Thrown> {
        let Some(fields) = fields(label, value)? else {
            return Ok(Self::default());
        };
        refuse_unknown(label, &APPROVAL_POLICY, fields)?;
        let list = |key: &str| patterns(&format!("{label}.{key}"), fields.get(key));
        let later = fields.iter().filter(|(key, _)| !KEYS.contains(&&***key));
        Ok(Self(ToolApprovalPolicy {
            auto_approve: list("auto_approve")?,
            auto_deny: list("auto_deny")?,
            require_approval: list("require_approval")?,
            write_path_allowlist: list("write_path_allowlist")?,
            later: later
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        }))
    }

    /// What both policies say: it denies and asks what one of them does, and approves what both
    /// do. An empty list of approvals or paths is none, so the other one counts; two lists of
    /// paths without a common entry allow no path.
    pub fn intersect(outer: &Self, inner: &Self) -> Self {
        let (outer, inner) = (&outer.0, &inner.0);
        let mut later = inner.later.clone();
        later.extend(outer.later.clone());
        let mut paths = shared(&outer.write_path_allowlist, &inner.write_path_allowlist);
        if paths.is_empty() && !outer.write_path_allowlist.is_empty() {
            // An empty list would allow every path; this one matches none.
            paths.push(String::new());
        }
        Self(ToolApprovalPolicy {
            auto_approve: shared(&outer.auto_approve, &inner.auto_approve),
            auto_deny: union(&outer.auto_deny, &inner.auto_deny),
            require_approval: union(&outer.require_approval, &inner.require_approval),
            write_path_allowlist: paths,
            later,
        })
    }

    /// What the policy says to a call whose arguments have their canonical names.
    pub fn decide(
        &self,
        tool: &str,
        annotations: Option<&ToolAnnotations>,
        arguments: &Value,
    ) -> Approval {
        let policy = &self.0;
        if let Some(glob) = first_forbidding(&policy.auto_deny, tool) {
            return Approval::Denied(format!("tool '{tool}' matches deny pattern '{glob}'"));
        }
        if let Some(path) = self.path_outside(annotations, arguments) {
            return Approval::Denied(format!(
                "tool '{tool}' targets '{path}' which is not in the write-path allowlist"
            ));
        }
        let approved = any_glob_matches(&policy.auto_approve, tool);
        match first_forbidding(&policy.require_approval, tool) {
            Some(_) if !approved => Approval::Ask,
            _ => Approval::Approved,
        }
    }

    /// The first declared path of a call that may change something and is not to be written.
    fn path_outside<'a>(
        &self,
        annotations: Option<&'a ToolAnnotations>,
        arguments: &'a Value,
    ) -> Option<&'a str> {
        let allowed = &self.0.write_path_allowlist;
        if allowed.is_empty() || annotations.is_some_and(|known| is_read_only(known.kind)) {
            return None;
        }
        let paths = declared_paths(annotations, arguments).into_iter();
        paths
            .map(|(_, path)| path)
            .find(|path| !any_glob_matches_path(allowed, path))
    }
}

fn shared(outer: &[String], inner: &[String]) -> Vec<String> {
    if outer.is_empty() || inner.is_empty() {
        return union(outer, inner);
    }
    let both = outer.iter().filter(|entry| inner.contains(entry));
    both.cloned().collect()
}

fn union(outer: &[String], inner: &[String]) -> Vec<String> {
    let more = inner.iter().filter(|entry| !outer.contains(entry));
    outer.iter().chain(more).cloned().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::policy::read_annotations;

    fn policy(value: Value) -> ApprovalPolicy {
        ApprovalPolicy::read("approval_policy", &value).expect("the policy is well formed")
    }

    #[track_caller]
    fn check(rules: Value, annotations: Value, arguments: Value, expected: Approval) {
        let annotations = read_annotations(&annotations);
        let answer = policy(rules).decide("write", annotations.as_ref(), &arguments);
        assert_eq!(answer, expected);
    }

    #[test]
    fn rules_are_asked_in_their_order() {
        let denied = Approval::Denied("tool 'write' matches deny pattern 'w*'".to_owned());
        let rows = [
            (json!({}), Approval::Approved),
            (json!(null), Approval::Approved),
            (json!({"auto_deny": ["w*"], "auto_approve": ["*"]}), denied),
            (
                json!({"auto_approve": ["write"], "require_approval": ["*"]}),
                Approval::Approved,
            ),
            (json!({"require_approval": ["*"]}), Approval::Ask),
            (json!({"require_approval": ["read*"]}), Approval::Approved),
            (json!({"require_approval": ["*it*"]}), Approval::Ask),
            (json!({"require_approval": ["{read,write}"]}), Approval::Ask),
            (json!({"require_approval": ["wr?te"]}), Approval::Ask),
        ];
        for (rules, expected) in rows {
            check(rules, json!(null), json!({}), expected);
        }
    }

    #[test]
    fn declared_paths_have_to_be_allowed() {
        let rules = json!({"write_path_allowlist": ["src/*"], "auto_approve": ["*"]});
        let edits = json!({"kind": "edit", "arg_schema": {"path_params": ["path", "to"]}});
        let reads = json!({"kind": "read", "arg_schema": {"path_params": ["path"]}});
        let outside = |path: &str| {
            Approval::Denied(format!(
                "tool 'write' targets '{path}' which is not in the write-path allowlist"
            ))
        };
        let good = json!({"path": "src/a", "to": "src/b"});
        check(rules.clone(), edits.clone(), good, Approval::Approved);
        let bad = json!({"path": "src/a", "to": "etc/b"});
        check(rules.clone(), edits.clone(), bad, outside("etc/b"));
        let up = json!({"path": "src/../etc/b"});
        check(rules.clone(), edits.clone(), up, outside("src/../etc/b"));
        let listed = json!({"path": ["src/a", "b"]});
        check(rules.clone(), edits.clone(), listed, outside("b"));
        check(
            rules.clone(),
            edits,
            json!({"text": "b"}),
            Approval::Approved,
        );
        check(
            rules.clone(),
            reads,
            json!({"path": "etc/b"}),
            Approval::Approved,
        );
        check(
            rules,
            json!(null),
            json!({"path": "etc/b"}),
            Approval::Approved,
        );
    }

    #[test]
    fn policies_are_intersected() {
        let outer = policy(json!({
            "auto_approve": ["a", "b"], "auto_deny": ["x"], "require_approval": ["r"],
            "write_path_allowlist": ["src/*"], "repeat_limit": 1,
        }));
        let inner = policy(json!({
            "auto_approve": ["b", "c"], "auto_deny": ["x", "y"], "require_approval": ["s"],
        }));
        let both = ApprovalPolicy::intersect(&outer, &inner);
        let expected = policy(json!({
            "auto_approve": ["b"], "auto_deny": ["x", "y"], "require_approval": ["r", "s"],
            "write_path_allowlist": ["src/*"], "repeat_limit": 1,
        }));
        assert_eq!(both, expected);
        let written = serde_json::to_value(&both).expect("it is data");
        assert_eq!(written["repeat_limit"], 1);
        assert_eq!(serde_json::from_value(written).ok(), Some(both));
    }

    #[test]
    fn lists_of_paths_without_a_common_entry_allow_no_path() {
        let outer = policy(json!({"write_path_allowlist": ["src/*"]}));
        let inner = policy(json!({"write_path_allowlist": ["lib/*"]}));
        let both = ApprovalPolicy::intersect(&outer, &inner);
        let edits = read_annotations(&json!({
            "kind": "edit", "arg_schema": {"path_params": ["path"]},
        }));
        let answer = both.decide("write", edits.as_ref(), &json!({"path": "etc/a"}));
        assert!(matches!(answer, Approval::Denied(_)));
    }

    #[test]
    fn what_cannot_be_read_is_thrown() {
        let rows = [
            (json!(1), "approval_policy: expected a dict, got int"),
            (
                json!({"auto_denny": ["run"]}),
                "approval_policy: unknown key 'auto_denny'; did you mean 'auto_deny'?",
            ),
            (
                json!({"auto_deny": [1]}),
                "approval_policy.auto_deny: list entries must be strings",
            ),
            (
                json!({"auto_deny": ["{run,write"]}),
                "pattern '{run,write' cannot be read: a '{' is not closed (in \
                 approval_policy.auto_deny)",
            ),
        ];
        for (value, text) in rows {
            let thrown = ApprovalPolicy::read("approval_policy", &value);
            assert_eq!(thrown, Err(Thrown::Plain(text.to_owned())));
        }
    }

    #[test]
    fn statuses_have_words() {
        assert_eq!(ApprovalStatus::AutoDenied.as_str(), "auto_denied");
        assert_eq!(ApprovalStatus::HostDenied.as_str(), "host_denied");
        assert_eq!(ApprovalStatus::HostGranted.as_str(), "host_granted");
    }
}
