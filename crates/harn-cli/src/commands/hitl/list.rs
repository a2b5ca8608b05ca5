//! `harn hitl list`: what people were asked and have not answered.

use clap::{Args, ValueEnum};
use harn_log::OnDamage;
use harn_vm::agent::people::{Request, RequestKind, headers, is_gone};
use serde::Serialize;
use serde_json::Value;

use super::super::events::Ctx;
use super::super::events::failure::Failure;
use super::super::events::line::TimeArguments;
use super::super::events::log::LogArguments;
use super::super::{Form, Outcome};
use super::requests;
use crate::arguments::after_help;
use crate::table::Table;

const EXAMPLES: &str = "  \
  harn hitl list                       All of them, the oldest first
  harn hitl list --kind approval       Only approvals
  harn hitl list --agent s1            Only what one session asks
  harn hitl list --json | jq -r '.requests[].request_id'";

/// List what people were asked and have not answered
///
/// The oldest comes first. Those whose time is over are not listed.
///
/// With --json the answer is {"requests": [REQUEST, …]}. REQUEST has request_id, request_kind,
/// agent, prompt, timestamp, deadline, approvers, session_id, metadata, and is_waited_for:
/// whether the program that asks still runs. One that was killed finds the answer when it is
/// started again.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// Only requests of this kind; give it several times for several ones
    #[arg(long, value_name = "KIND")]
    kind: Vec<Kind>,

    /// Only what this agent asks: a session, or harn for a program outside of sessions
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,

    #[command(flatten)]
    log: LogArguments,

    #[command(flatten)]
    time: TimeArguments,
}

/// What a person is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Kind {
    Question,
    Approval,
    DualControl,
    Escalation,
}

impl Kind {
    fn is(self, kind: RequestKind) -> bool {
        let own = match self {
            Self::Question => RequestKind::Question,
            Self::Approval => RequestKind::Approval,
            Self::DualControl => RequestKind::DualControl,
            Self::Escalation => RequestKind::Escalation,
        };
        own == kind
    }
}

/// The answer. The names are a promise.
#[derive(Serialize)]
struct Listing<'a> {
    requests: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    request_id: &'a str,
    request_kind: &'static str,
    agent: &'a str,
    prompt: &'a str,
    timestamp: &'a Value,
    deadline: Option<&'a str>,
    approvers: Vec<&'a str>,
    session_id: Option<&'a str>,
    is_waited_for: bool,
    metadata: &'a Value,
}

pub(super) fn run(arguments: &Arguments, ctx: &mut Ctx<'_>) -> Result<Outcome, Failure> {
    let log = arguments.log.open_to_read(OnDamage::Skip)?;
    let requests = requests(&log.log)?;
    let mut open = requests.open(ctx.clock.now_ms());
    open.retain(|request| arguments.takes(request));
    match ctx.form {
        Form::Json => {
            let requests = open.iter().map(|request| Row::of(request)).collect();
            ctx.output.json(&Listing { requests })?;
        }
        Form::Text => write(&open, arguments.time, ctx)?,
    }
    Ok(Outcome::Done)
}

impl Arguments {
    fn takes(&self, request: &Request) -> bool {
        let is_of_kind = self.kind.is_empty() || self.kind.iter().any(|kind| kind.is(request.kind));
        let agent = self.agent.as_deref();
        is_of_kind && agent.is_none_or(|agent| agent == request.agent())
    }
}

impl<'a> Row<'a> {
    fn of(request: &'a Request) -> Self {
        Self {
            request_id: request.id(),
            request_kind: request.kind.name(),
            agent: request.agent(),
            prompt: request.prompt(),
            timestamp: &request.payload["timestamp"],
            deadline: request.header(headers::DEADLINE),
            approvers: request.approvers(),
            session_id: request.header(headers::SESSION),
            is_waited_for: !request.header(headers::PROCESS).is_some_and(is_gone),
            metadata: &request.payload["metadata"],
        }
    }
}

fn write(open: &[&Request], time: TimeArguments, ctx: &mut Ctx<'_>) -> Result<(), Failure> {
    if open.is_empty() {
        ctx.output.note(format_args!("nobody is asked anything"));
        return Ok(());
    }
    let mut table = Table::new(["REQUEST", "KIND", "AGENT", "ASKED", "WHO", "PROMPT"]);
    for request in open {
        let asked_at = request.asked_at().map(|at| at.timestamp_millis());
        let approvers = request.approvers().join(", ");
        table.add([
            request.id().to_owned(),
            request.kind.name().to_owned(),
            request.agent().to_owned(),
            asked_at.map_or_else(String::new, |at| time.show(at, ctx.clock)),
            match approvers.is_empty() {
                true => "anybody".to_owned(),
                false => approvers,
            },
            request.prompt().replace('\n', " "),
        ]);
    }
    Ok(table.write(ctx.output)?)
}
