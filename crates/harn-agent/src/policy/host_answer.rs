//! Asks a host for permission, and reads what it answers.

use harn_events::{ToolAnnotations, ToolKind};
use serde_json::{Value, json};

use super::annotations::declared_paths;
use crate::tool::ToolCall;

/// Why a call is denied when the host could not answer.
pub const REQUEST_FAILED: &str =
    "approval request failed or host does not implement session/request_permission";

/// Why a call is denied when there is nobody to ask.
pub const NO_HOST_BRIDGE: &str = "approval required but no host bridge is available";

const NOT_GRANTED: &str = "host did not grant approval";

/// The options that allow a call, with the spellings hosts use.
const ALLOWING: [&str; 5] = [
    "allow",
    "allow_once",
    "allow-once",
    "allow_always",
    "allow-always",
];

/// What an answer that is given for good is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every call of the tool in the session.
    Tool,
    /// The same call with the same arguments in the session.
    Call,
}

impl Scope {
    /// What to remember about a call. A tool that runs commands can do everything, so there
    /// only the very same command is meant.
    pub fn of(annotations: Option<&ToolAnnotations>) -> Self {
        match annotations.map(|known| known.kind) {
            Some(ToolKind::Execute) => Self::Call,
            _ => Self::Tool,
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Call => "call",
        }
    }
}

/// What a host answered.
#[derive(Clone, Debug, PartialEq)]
pub enum HostAnswer {
    /// The call may run.
    Granted {
        /// The arguments to run it with, when the host changed them; an object.
        arguments: Option<Value>,
    },
    /// It may not, for this reason.
    Denied(String),
}

/// The parameters of `session/request_permission`. The record of the approval and the mutation
/// session are the caller's, who knows ids and times.
pub fn permission_request(
    call: &ToolCall<'_>,
    annotations: Option<&ToolAnnotations>,
    approval: Value,
    mutation: Value,
    remembers: Option<Scope>,
) -> Value {
    let declared = declared_paths(annotations, call.arguments);
    let paths: Vec<&str> = declared.iter().map(|(_, path)| *path).collect();
    let entries: Vec<Value> = declared
        .iter()
        .map(|(key, path)| json!({"param": key, "path": path}))
        .collect();
    json!({
        "sessionId": call.session_id,
        "approvalRequest": approval,
        "toolCall": {
            "toolCallId": call.id,
            "toolName": call.name,
            "kind": annotations.map(|known| known.kind),
            "rawInput": call.arguments,
        },
        "remembers": remembers.map(Scope::word),
        "mutation": mutation,
        "declaredPaths": paths,
        "declaredPathEntries": entries,
    })
}

/// Reads the answer to `session/request_permission`. Whatever does not clearly grant denies.
pub fn read_host_answer(answer: &Value) -> HostAnswer {
    if is_granted(answer) {
        let replaced = [answer.get("args"), answer.pointer("/_meta/harn/args")];
        let mut objects = replaced
            .into_iter()
            .flatten()
            .filter(|args| args.is_object());
        let arguments = objects.next().cloned();
        return HostAnswer::Granted { arguments };
    }
    let reasons = [answer.get("reason"), answer.pointer("/outcome/reason")];
    let mut texts = reasons.into_iter().flatten().filter_map(Value::as_str);
    let reason = texts.find(|text| !text.is_empty());
    HostAnswer::Denied(reason.unwrap_or(NOT_GRANTED).to_owned())
}

/// Whether the answer is meant for all calls to come.
pub fn is_for_good(answer: &Value) -> bool {
    let option = answer.pointer("/outcome/optionId").and_then(Value::as_str);
    let for_good = [
        "allow_always",
        "allow-always",
        "reject_always",
        "reject-always",
    ];
    option.is_some_and(|option| for_good.contains(&option))
}

fn is_granted(answer: &Value) -> bool {
    let text_at = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str);
    let selected = text_at("/outcome/outcome") == Some("selected")
        && text_at("/outcome/optionId").is_some_and(|option| ALLOWING.contains(&option));
    selected || text_at("/outcome") == Some("allow") || answer.get("granted") == Some(&json!(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::read_annotations;

    #[test]
    fn a_request_names_the_call_and_its_paths() {
        let arguments = json!({"path": "src/a", "text": "x"});
        let call = ToolCall {
            id: "tool-1",
            session_id: "s",
            name: "write",
            arguments: &arguments,
        };
        let annotations = read_annotations(&json!({"arg_schema": {"path_params": ["path"]}}));
        let approval = json!({"id": "a"});
        let request = permission_request(
            &call,
            annotations.as_ref(),
            approval,
            json!({"run_id": "r"}),
            Some(Scope::of(annotations.as_ref())),
        );
        let expected = json!({
            "sessionId": "s",
            "approvalRequest": {"id": "a"},
            "toolCall": {
                "toolCallId": "tool-1", "toolName": "write", "kind": "other", "rawInput": arguments,
            },
            "remembers": "tool",
            "mutation": {"run_id": "r"},
            "declaredPaths": ["src/a"],
            "declaredPathEntries": [{"param": "path", "path": "src/a"}],
        });
        assert_eq!(request, expected);
    }

    #[test]
    fn answers_grant_or_deny() {
        let plain = HostAnswer::Granted { arguments: None };
        let denied = |reason: &str| HostAnswer::Denied(reason.to_owned());
        let selected =
            |option: &str| json!({"outcome": {"outcome": "selected", "optionId": option}});
        let rows = [
            (selected("allow_once"), plain.clone()),
            (selected("allow-always"), plain.clone()),
            (
                selected("reject_once"),
                denied("host did not grant approval"),
            ),
            (
                selected("allow_nothing"),
                denied("host did not grant approval"),
            ),
            (
                json!({"outcome": {"outcome": "selected"}}),
                denied("host did not grant approval"),
            ),
            (
                json!({"outcome": {"outcome": "cancelled"}}),
                denied("host did not grant approval"),
            ),
            (json!({"outcome": "allow"}), plain.clone()),
            (
                json!({"outcome": "deny", "reason": "not now"}),
                denied("not now"),
            ),
            (json!({"granted": true}), plain.clone()),
            (
                json!({"granted": "yes"}),
                denied("host did not grant approval"),
            ),
            (json!({"granted": false, "reason": "no"}), denied("no")),
            (
                json!({"granted": false, "reason": ""}),
                denied("host did not grant approval"),
            ),
            (
                json!({"outcome": {"outcome": "rejected", "reason": "never"}}),
                denied("never"),
            ),
            (json!(null), denied("host did not grant approval")),
            (json!("allow"), denied("host did not grant approval")),
            (
                json!({"granted": true, "args": {"a": 1}}),
                HostAnswer::Granted {
                    arguments: Some(json!({"a": 1})),
                },
            ),
            (
                json!({"outcome": "allow", "_meta": {"harn": {"args": {"b": 2}}}}),
                HostAnswer::Granted {
                    arguments: Some(json!({"b": 2})),
                },
            ),
            (json!({"granted": true, "args": "x"}), plain),
        ];
        for (answer, expected) in rows {
            assert_eq!(read_host_answer(&answer), expected, "{answer}");
        }
    }
}
