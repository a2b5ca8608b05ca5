//! Answers a request, from wherever its log can be reached.

use chrono::SecondsFormat;
use harn_log::{AnyEventLog, EventLog, LogError, LogEvent, Topic};
use serde_json::{Map, Value, json};

use super::request::{Outcome, Request, RequestState};
use super::{RESPONDED, RequestKind, Requests};
use crate::moment::rfc3339;
use crate::principal::Principal;

/// What a person says.
#[derive(Clone, Debug, PartialEq)]
pub enum Response {
    /// To a question.
    Answer(Value),
    /// To something that needs approval.
    Approved(bool),
    /// To something that somebody should take over.
    Accepted(bool),
}

/// Why a response was not taken.
#[derive(Debug, thiserror::Error)]
pub enum RespondError {
    /// Nobody has asked that.
    #[error("there is no request {0}")]
    Unknown(String),
    /// It was answered before.
    #[error("{id} was already answered")]
    AlreadyAnswered {
        /// The request.
        id: String,
    },
    /// Nobody waits for an answer any more.
    #[error("{id} is over: {}", ended(*.outcome))]
    Over {
        /// The request.
        id: String,
        /// How it ended.
        outcome: Outcome,
    },
    /// It came too late.
    #[error("{id} had to be answered by {deadline}")]
    Late {
        /// The request.
        id: String,
        /// Until when there was time.
        deadline: String,
    },
    /// Something else was asked for.
    #[error("{id} is {}, which needs {}", article(*.kind), wanted(*.kind))]
    WrongKind {
        /// The request.
        id: String,
        /// What was asked for.
        kind: RequestKind,
    },
    /// Others were asked.
    #[error("{id} can be answered by {} and not by {reviewer}", .approvers.join(", "))]
    NotAsked {
        /// The request.
        id: String,
        /// Who said something.
        reviewer: String,
        /// Who was asked.
        approvers: Vec<String>,
    },
    /// They have said it before.
    #[error("{reviewer} has already approved {id}, which needs somebody else as well")]
    Repeated {
        /// The request.
        id: String,
        /// Who.
        reviewer: String,
    },
    /// The log does not work.
    #[error(transparent)]
    Log(#[from] LogError),
}

fn ended(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Answered => "it was answered, and the program went on",
        Outcome::TimedOut => "nobody answered in time",
        Outcome::Cancelled => "it was cancelled",
    }
}

fn article(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Question => "a question",
        RequestKind::Approval => "an approval",
        RequestKind::DualControl => "an approval by several people",
        RequestKind::Escalation => "an escalation",
    }
}

fn wanted(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Question => "an answer",
        RequestKind::Approval | RequestKind::DualControl => "to be approved or denied",
        RequestKind::Escalation => "to be accepted or refused",
    }
}

/// What is said beside an answer.
pub struct Given<'a> {
    /// The name that the answer is given in.
    pub reviewer: Option<&'a str>,
    /// Why.
    pub reason: Option<&'a str>,
    /// Who gives it.
    pub actor: &'a Principal,
}

/// Answers a request. The answer is durable when this resolves; whoever waits hears of it, or
/// finds it when the program is started again.
///
/// # Errors
/// There is no such request, or the answer would not count.
pub async fn respond(
    log: &AnyEventLog,
    request_id: &str,
    response: Response,
    given: Given<'_>,
    now_ms: i64,
) -> Result<(), RespondError> {
    let Given {
        reviewer,
        reason,
        actor,
    } = given;
    let mut requests = Requests::default();
    requests.read(log).await?;
    let unknown = || RespondError::Unknown(request_id.to_owned());
    let request = requests.get(request_id).ok_or_else(unknown)?;
    check(request, &response, reviewer, now_ms)?;
    let mut payload = Map::new();
    let mut set = |name: &str, value: Value| payload.insert(name.to_owned(), value);
    set("request_id", json!(request_id));
    match response {
        Response::Answer(answer) => set("answer", answer),
        Response::Approved(approved) => set("approved", json!(approved)),
        Response::Accepted(accepted) => set("accepted", json!(accepted)),
    };
    if let Some(reviewer) = reviewer {
        set("reviewer", json!(reviewer));
    }
    if let Some(reason) = reason {
        set("reason", json!(reason));
    }
    set("metadata", json!({"actor": actor.stored()}));
    set("responded_at", json!(rfc3339(now_ms)));
    let topic = Topic::new(request.kind.topic())?;
    let event = LogEvent::at(RESPONDED, Value::Object(payload), now_ms);
    log.append_durable(&topic, event).await?;
    Ok(())
}

/// Whether a response would count.
fn check(
    request: &Request,
    response: &Response,
    reviewer: Option<&str>,
    now_ms: i64,
) -> Result<(), RespondError> {
    let id = request.id().to_owned();
    match request.state {
        RequestState::Open => {}
        RequestState::Answered => return Err(RespondError::AlreadyAnswered { id }),
        RequestState::Over(outcome) => return Err(RespondError::Over { id, outcome }),
    }
    if request.is_late(now_ms) {
        let deadline = request.deadline().unwrap_or_default();
        let deadline = deadline.to_rfc3339_opts(SecondsFormat::Secs, true);
        return Err(RespondError::Late { id, deadline });
    }
    let kind = request.kind;
    let fits = match response {
        Response::Answer(_) => kind == RequestKind::Question,
        Response::Approved(_) => kind.is_approval(),
        Response::Accepted(_) => kind == RequestKind::Escalation,
    };
    if !fits {
        return Err(RespondError::WrongKind { id, kind });
    }
    let reviewer = reviewer.unwrap_or("unknown").to_owned();
    let approvers = request.approvers();
    if kind.is_approval() && !approvers.is_empty() && !approvers.contains(&&*reviewer) {
        let approvers = approvers.into_iter().map(str::to_owned).collect();
        return Err(RespondError::NotAsked {
            id,
            reviewer,
            approvers,
        });
    }
    match request.approvals.contains(&reviewer) {
        true => Err(RespondError::Repeated { id, reviewer }),
        false => Ok(()),
    }
}
