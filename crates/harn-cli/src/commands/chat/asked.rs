//! What the person is asked in the middle of a turn.

use harn_events::ToolKind;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::clean::{clean, clean_line};

/// Something the person is asked.
pub(super) enum Asked {
    /// Whether a tool may be called.
    Permission(Permission),
    /// What the program wants to know of a person.
    Request(Request),
}

/// Whether a tool may be called.
pub(super) struct Permission {
    pub(super) tool: String,
    /// What it is about, in short.
    pub(super) told: String,
    /// Why the person is asked each time, if that is so.
    pub(super) caution: Option<String>,
    pub(super) scope: Scope,
    pub(super) reply: oneshot::Sender<Value>,
}

/// What "always" would mean.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// Every call of the tool.
    Tool(String),
    /// The same call again. What a command does is not told by the tool that runs it.
    SameCall(String, String),
    /// Nothing, the person is asked each time: a runtime is cautious, or nobody can tell what
    /// would be the same again.
    Once,
}

impl Scope {
    pub(super) fn of(tool: &str, kind: Option<ToolKind>, arguments: &Value) -> Self {
        match kind {
            Some(ToolKind::Edit | ToolKind::Read | ToolKind::Search | ToolKind::Think) => {
                Self::Tool(tool.to_owned())
            }
            _ => Self::SameCall(tool.to_owned(), arguments.to_string()),
        }
    }

    /// What the runtime takes for the same call: for a command its parts, its folder and the
    /// scripts it runs.
    pub(super) fn known_as(self, parameters: &Value) -> Self {
        match (self, parameters.get("remembersAs")) {
            (Self::SameCall(tool, _), Some(Value::String(known))) => {
                Self::SameCall(tool, known.clone())
            }
            (_, Some(Value::Null)) => Self::Once,
            (scope, _) => scope,
        }
    }

    /// What "always" means, for the person who says it.
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Tool(tool) => format!("always {}", clean_line(tool)),
            Self::SameCall(..) => "always this call".to_owned(),
            Self::Once => "asked each time".to_owned(),
        }
    }
}

/// What the program wants to know of a person, as the log has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request {
    pub(super) id: String,
    pub(super) kind: RequestKind,
    pub(super) prompt: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    Question,
    Approval,
    DualControl,
    Escalation,
}

impl RequestKind {
    pub(super) const ALL: [Self; 4] = [
        Self::Question,
        Self::Approval,
        Self::DualControl,
        Self::Escalation,
    ];

    /// Where the log keeps such requests.
    pub(super) fn topic(self) -> &'static str {
        match self {
            Self::Question => "hitl.questions",
            Self::Approval => "hitl.approvals",
            Self::DualControl => "hitl.dual_control",
            Self::Escalation => "hitl.escalations",
        }
    }

    /// The record that such a request is.
    pub(super) fn asked(self) -> &'static str {
        match self {
            Self::Question => "hitl.question_asked",
            Self::Approval => "hitl.approval_requested",
            Self::DualControl => "hitl.dual_control_requested",
            Self::Escalation => "hitl.escalation_issued",
        }
    }
}

impl Request {
    /// Reads the record of a request.
    pub(super) fn read(kind: RequestKind, payload: &Value) -> Option<Self> {
        let text = |key: &str| payload[key].as_str();
        Some(Self {
            id: text("request_id")?.to_owned(),
            kind,
            prompt: clean(text("prompt").unwrap_or_default()),
        })
    }

    /// The record that answers it with a text.
    pub(super) fn answer(&self, text: &str, reviewer: &str) -> Value {
        json!({"request_id": self.id, "answer": text, "reviewer": reviewer})
    }

    /// The record that agrees or does not.
    pub(super) fn decide(&self, agreed: bool, reviewer: &str) -> Value {
        let key = match self.kind {
            RequestKind::Escalation => "accepted",
            _ => "approved",
        };
        json!({"request_id": self.id, key: agreed, "reviewer": reviewer})
    }
}

impl Asked {
    /// Whether a text answers it, and not yes or no.
    pub(super) fn wants_text(&self) -> bool {
        matches!(self, Self::Request(request) if request.kind == RequestKind::Question)
    }

    /// Whether somebody still waits for the answer.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Permission(permission) => !permission.reply.is_closed(),
            Self::Request(_) => true,
        }
    }

    /// What is asked.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Permission(permission) => {
                let Permission {
                    tool,
                    told,
                    caution,
                    ..
                } = permission;
                let question = format!("May it call {tool} {told}");
                let caution = caution.as_deref().map(|caution| format!(" It {caution}."));
                question.trim_end().to_owned() + "?" + &caution.unwrap_or_default()
            }
            Self::Request(request) => match request.kind {
                RequestKind::Question => request.prompt.clone(),
                RequestKind::Approval | RequestKind::DualControl => {
                    format!("Do you approve: {}", request.prompt)
                }
                RequestKind::Escalation => format!("Do you take this over: {}", request.prompt),
            },
        }
    }

    /// What can be answered.
    pub(super) fn choices(&self) -> String {
        match self {
            Self::Permission(permission) if permission.scope == Scope::Once => {
                "y yes · n no · asked each time".to_owned()
            }
            Self::Permission(permission) => {
                format!("y yes · n no · a {}", permission.scope.in_words())
            }
            Self::Request(request) if request.kind == RequestKind::Question => {
                "type the answer, then Enter".to_owned()
            }
            Self::Request(_) => "y yes · n no".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn always_means_little_where_a_tool_can_do_anything() {
        let arguments = json!({"command": "ls"});
        let edit = Scope::of("write", Some(ToolKind::Edit), &arguments);
        assert_eq!(edit.in_words(), "always write");
        for kind in [None, Some(ToolKind::Execute), Some(ToolKind::Other)] {
            let scope = Scope::of("run", kind, &arguments);
            assert_eq!(scope.in_words(), "always this call");
            assert_ne!(scope, Scope::of("run", kind, &json!({"command": "rm"})));
        }
    }

    #[test]
    fn always_is_not_offered_for_what_nobody_can_recognise_again() {
        let scope = || Scope::of("run", Some(ToolKind::Execute), &json!({"command": "$x"}));
        assert_eq!(scope().known_as(&json!({"remembersAs": null})), Scope::Once);
        let known = scope().known_as(&json!({"remembersAs": "run 1"}));
        assert_eq!(known, Scope::SameCall("run".to_owned(), "run 1".to_owned()));
        assert_eq!(scope().known_as(&json!({})), scope());
    }

    #[test]
    fn a_request_is_read_and_answered_as_the_log_has_it() {
        let payload = json!({"request_id": "r", "prompt": "Which\u{1b}[1m?"});
        let request = Request::read(RequestKind::Question, &payload).unwrap();
        assert_eq!(request.prompt, "Which\\u{1b}[1m?");
        let answer = json!({"request_id": "r", "answer": "blue", "reviewer": "ada"});
        assert_eq!(request.answer("blue", "ada"), answer);
        let request = Request::read(RequestKind::Escalation, &payload).unwrap();
        assert_eq!(request.decide(true, "ada")["accepted"], true);
        assert!(Request::read(RequestKind::Approval, &json!({})).is_none());
    }
}
