//! `harn hitl answer`: says what a program waits for.

use clap::{ArgGroup, Args};
use harn_log::block_on;
use harn_vm::agent::people::{
    Given, Request, RequestKind, Requests, RespondError, Response, headers, is_gone, respond,
};
use harn_vm::agent::{Principal, PrincipalKind};
use serde_json::{Value, json};

use super::super::events::Ctx;
use super::super::events::failure::Failure;
use super::super::events::log::LogArguments;
use super::super::{Form, Outcome};
use super::requests;
use crate::arguments::after_help;
use crate::environment;
use crate::output::Untrusted;

const EXAMPLES: &str = "  \
  harn hitl answer ID --text blue      The answer to a question
  harn hitl answer ID --value '{\"n\": 3}'     An answer that is not text
  harn hitl answer ID --approve        Go ahead
  harn hitl answer ID --deny --reason 'not on a friday'
  harn hitl answer ID --approve --reviewer ada
  harn hitl answer ID --accept         I take over";

/// Answer what a person was asked
///
/// ID is that of `harn hitl list`, or the end of it. The answer is kept in the event log: a
/// program that waits goes on at once, and one that was killed when it is started again.
///
/// What is not known, was answered before or is over cannot be answered: the status is 1.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
#[command(group = ArgGroup::new("what").required(true))]
pub(super) struct Arguments {
    /// The request
    #[arg(value_name = "ID")]
    id: String,

    /// The answer to a question
    #[arg(long, value_name = "TEXT", group = "what", allow_hyphen_values = true)]
    text: Option<String>,

    /// The answer to a question, as JSON
    #[arg(long, value_name = "JSON", group = "what", allow_hyphen_values = true)]
    value: Option<String>,

    /// Approve
    #[arg(long, group = "what")]
    approve: bool,

    /// Do not approve, or do not take over
    #[arg(long, group = "what")]
    deny: bool,

    /// Take over what was escalated
    #[arg(long, group = "what")]
    accept: bool,

    /// Who answers; the user who is logged in unless it is said
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,

    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    #[command(flatten)]
    log: LogArguments,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<Outcome, Failure> {
    let log = arguments.log.open_to_write()?;
    let requests = requests(&log.log)?;
    let request = named(&requests, &arguments.id)?;
    let response = arguments.response(request)?;
    let reviewer = arguments.reviewer();
    let actor = Principal::new(PrincipalKind::Terminal, "operator", "harn hitl answer");
    let given = Given {
        reviewer: reviewer.as_deref(),
        reason: arguments.reason.as_deref(),
        actor: &actor,
    };
    let responding = respond(&log.log, request.id(), response, given, ctx.clock.now_ms());
    // Before it has the answer: with it the program may come to its end at once.
    let is_waited_for = !request.header(headers::PROCESS).is_some_and(is_gone);
    block_on(responding).map_err(refused)?;
    match ctx.form {
        Form::Json => ctx.output.json(&json!({
            "request_id": request.id(),
            "reviewer": reviewer,
            "is_waited_for": is_waited_for,
        }))?,
        Form::Text => {
            ctx.output
                .note(format_args!("answered {}", Untrusted(request.id())));
            if !is_waited_for {
                ctx.output.note(format_args!(
                    "the program that asked has ended; it finds the answer when it is started again"
                ));
            }
        }
    }
    Ok(Outcome::Done)
}

/// The request that is meant: by its id, or by the end of it among those that are open.
fn named<'a>(requests: &'a Requests, id: &str) -> Result<&'a Request, Failure> {
    if let Some(request) = requests.get(id) {
        return Ok(request);
    }
    let mut all = requests.all();
    all.retain(|request| !id.is_empty() && request.id().ends_with(id));
    match &all[..] {
        [request] => Ok(request),
        [] => Err(Failure::Told(format!(
            "there is no request {id}; `harn hitl list` shows what is open"
        ))),
        several => Err(Failure::Told(format!(
            "{} requests end with {id}; give more of the id",
            several.len()
        ))),
    }
}

impl Arguments {
    fn response(&self, request: &Request) -> Result<Response, Failure> {
        if let Some(text) = &self.text {
            return Ok(Response::Answer(json!(text)));
        }
        if let Some(value) = &self.value {
            let value: Result<Value, _> = serde_json::from_str(value);
            let no_json = |error| Failure::Told(format!("--value is no JSON: {error}"));
            return value.map(Response::Answer).map_err(no_json);
        }
        Ok(match (self.accept, request.kind) {
            (true, _) => Response::Accepted(true),
            (false, RequestKind::Escalation) if self.deny => Response::Accepted(false),
            (false, _) => Response::Approved(self.approve),
        })
    }

    /// Who answers.
    fn reviewer(&self) -> Option<String> {
        let user = || environment::variable("USER").or_else(|| environment::variable("LOGNAME"));
        self.reviewer
            .clone()
            .or_else(user)
            .filter(|name| !name.is_empty())
    }
}

fn refused(error: RespondError) -> Failure {
    match error {
        RespondError::Log(error) => Failure::Log(error),
        other => Failure::Told(other.to_string()),
    }
}
