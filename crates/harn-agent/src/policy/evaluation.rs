//! Asks the levels of permissions about one call.
//!
//! ```text
//! level: granted for the session? ──► denied by a rule? ──► allowed by a rule? ──► next level
//!                                            │                     │ no
//!                                            └──► on_escalation ◄──┘
//! ```
//!
//! Nothing is changed here. What is to be kept and what is to be written into the transcript
//! comes back as data, so that a replay applies the same.

use std::fmt;

use harn_events::ToolAnnotations;
use harn_llm::desk::Thrown;
use harn_llm::options::value::display;
use harn_shell::Surroundings;
use serde_json::{Map, Value, json};

use super::grants::{PermissionRecord, RecordKind, SessionGrant, SessionGrants};
use super::parameters::DeclaredParameters;
use super::permissions::Permissions;
use crate::callback::Callback;

/// A call to ask about.
#[derive(Clone, Copy)]
pub struct PermissionCall<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The arguments, with their canonical names.
    pub arguments: &'a Value,
    /// What the tool says it takes.
    pub parameters: &'a DeclaredParameters,
    /// What is known about the tool.
    pub annotations: Option<&'a ToolAnnotations>,
    /// The session it is made in.
    pub session_id: &'a str,
    /// Where its commands would run.
    pub place: &'a (dyn Surroundings + Sync),
    /// What an escalation is told besides, inside a trigger dispatch: `agent`, `action`,
    /// `trace_id`, `autonomy_tier`, `requested_tier`.
    pub dispatch: Option<&'a Map<String, Value>>,
}

impl fmt::Debug for PermissionCall<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("PermissionCall");
        shown
            .field("tool", &self.tool)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

/// What all levels together say.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether the call may run.
    pub granted: bool,
    /// Why.
    pub reason: String,
    /// Whether a function of the program was asked.
    pub escalated: bool,
    /// Who granted it, if that function said so.
    pub approver: Option<String>,
    /// What to keep in the session, also when a later level denied the call.
    pub session_grants: Vec<SessionGrant>,
    /// What to write into the transcript, in this order. None when there are no levels.
    pub records: Vec<PermissionRecord>,
}

/// Asks the levels, the outermost first, until one denies.
///
/// # Errors
/// What a function of the program throws. The call must not run then.
pub async fn evaluate(
    levels: &[Permissions],
    call: PermissionCall<'_>,
    grants: &SessionGrants,
) -> Result<Verdict, Thrown> {
    let mut verdict = Verdict {
        granted: true,
        reason: String::new(),
        escalated: false,
        approver: None,
        session_grants: Vec::new(),
        records: Vec::new(),
    };
    for (index, level) in levels.iter().enumerate() {
        let grant = SessionGrant::of((index, &level.owner), call.tool, call.arguments);
        if grants.contains(&grant) {
            verdict.settle(true, "session grant".to_owned());
            continue;
        }
        match level.ask(call).await? {
            Rules::Allowed => verdict.settle(true, "permission allow rule matched".to_owned()),
            Rules::Denied(reason) => match &level.on_escalation {
                None => verdict.settle(false, reason),
                Some(function) => {
                    let answer = escalate(&**function, call, &reason).await?;
                    verdict.take(answer, grant, call);
                }
            },
        }
        if !verdict.granted {
            break;
        }
    }
    if !levels.is_empty() {
        verdict.close(call);
    }
    Ok(verdict)
}

/// What the rules of one level say.
enum Rules {
    Allowed,
    Denied(String),
}

impl Permissions {
    async fn ask(&self, call: PermissionCall<'_>) -> Result<Rules, Thrown> {
        for rule in &self.deny {
            if rule.denies(call).await? {
                let glob = &rule.tool;
                let reason = format!("permission denied by deny rule: {glob}");
                return Ok(Rules::Denied(reason));
            }
        }
        let mut allowed = self.allow.is_none();
        for rule in self.allow.iter().flatten() {
            allowed = allowed || rule.allows(call).await?;
        }
        Ok(match allowed {
            true => Rules::Allowed,
            false => Rules::Denied(format!(
                "permission denied: tool '{}' is not allowed by this agent's permissions",
                call.tool
            )),
        })
    }
}

/// What the function of a level answered.
struct Answer {
    granted: Option<Lasting>,
    reason: String,
    approver: Option<String>,
}

/// How long a grant lasts.
enum Lasting {
    Once,
    Session,
}

async fn escalate(
    function: &dyn Callback,
    call: PermissionCall<'_>,
    reason: &str,
) -> Result<Answer, Thrown> {
    let mut request = call.dispatch.cloned().unwrap_or_default();
    let fields = [
        ("_type", json!("PermissionRequest")),
        ("tool", json!(call.tool)),
        ("args", call.arguments.clone()),
        ("session_id", json!(call.session_id)),
        ("reason", json!(reason)),
        ("grant_options", json!(["once", "session", false])),
    ];
    request.extend(fields.map(|(key, value)| (key.to_owned(), value)));
    let answer = function.call(vec![Value::Object(request)]).await?;
    Ok(read_answer(&answer))
}

fn read_answer(answer: &Value) -> Answer {
    let field = |key: &str| answer.get(key).filter(|value| !value.is_null());
    let text = |key: &str| field(key).map(display).filter(|text| !text.is_empty());
    let granted = match answer {
        Value::Object(_) => field("grant").or(field("granted")).and_then(lasting),
        plain => lasting(plain),
    };
    let usual = match granted {
        Some(_) => "permission escalation granted",
        None => "permission escalation denied",
    };
    Answer {
        granted,
        reason: text("reason").unwrap_or_else(|| usual.to_owned()),
        approver: text("approver"),
    }
}

/// What is no clear yes is a no.
fn lasting(value: &Value) -> Option<Lasting> {
    match value {
        Value::Bool(true) => Some(Lasting::Once),
        Value::String(word) if word == "once" => Some(Lasting::Once),
        Value::String(word) if word == "session" => Some(Lasting::Session),
        _ => None,
    }
}

impl Verdict {
    /// Notes what a level said. A grant after an escalation keeps the reason of the escalation,
    /// which tells more than that another level had nothing against the call.
    fn settle(&mut self, granted: bool, reason: String) {
        self.granted = granted;
        if !granted || !self.escalated {
            self.reason = reason;
        }
    }

    fn take(&mut self, answer: Answer, grant: SessionGrant, call: PermissionCall<'_>) {
        self.granted = answer.granted.is_some();
        self.escalated = true;
        self.reason = answer.reason;
        self.approver = answer.approver;
        self.record(RecordKind::PermissionEscalation, call);
        if let Some(Lasting::Session) = answer.granted {
            self.session_grants.push(grant);
        }
    }

    /// Adds the one record that tells how it ended.
    fn close(&mut self, call: PermissionCall<'_>) {
        let kind = match self.granted {
            true => RecordKind::PermissionGrant,
            false => RecordKind::PermissionDeny,
        };
        self.record(kind, call);
    }

    fn record(&mut self, kind: RecordKind, call: PermissionCall<'_>) {
        self.records.push(PermissionRecord {
            kind,
            tool_name: call.tool.to_owned(),
            arguments: call.arguments.clone(),
            reason: self.reason.clone(),
            escalated: self.escalated,
        });
    }
}

#[cfg(test)]
mod tests;
