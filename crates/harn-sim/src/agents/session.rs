//! What happens in a session: wild runs, a good one, and its end.

use std::sync::Arc;

use harn_agent::events::{AgentEventSink, CloseSession};
use harn_agent::llm::desk::Thrown;
use harn_agent::session::CannotOpen;
use harn_agent::{CannotClaim, LoopRequest};
use serde_json::{Value, json};

use super::Shared;
use super::executor::{Ended, Script, run_until};
use super::model::mark;
use super::plan::{Plan, RunPlan, SessionPlan};
use super::readers::{Recorder, attach};
use super::tools::tools;
use super::world::lock;

/// The wild part of every session.
pub(super) fn scripts<'a>(world: &'a Shared, plan: &'a Plan) -> Vec<Script<'a>> {
    let script =
        |session: &'a SessionPlan| Box::pin(run_wildly(world, plan, session)) as Script<'a>;
    plan.sessions.iter().map(script).collect()
}

async fn run_wildly(world: &Shared, plan: &Plan, session: &SessionPlan) {
    match world.runtime().open_session(&session.id).await {
        // Nobody can know whose it is while the disk is broken.
        Err(CannotOpen::Unclaimed {
            cause: CannotClaim::Log(_),
            ..
        }) => world.count("session unclaimed"),
        Err(thrown) => world.complain(format!("the session cannot be opened: {thrown:?}")),
        Ok(_) => {}
    }
    attach(world, &session.id, session.readers);
    for (at, run) in session.runs.iter().enumerate() {
        let name = format!("run{at}");
        let began = world.waits();
        let mut polls = 0;
        let is_enough = || {
            polls += 1;
            // Where a log has threads, only the waits of the simulation can be counted on.
            let waited = match plan.log {
                Some(_) => world.waits() - began,
                None => polls,
            };
            run.cancel_at.is_some_and(|at| waited > at)
        };
        let ended = run_until(start(world, session, run, &name), is_enough).await;
        if let Ended::Dropped = ended {
            // A task of the runtime lets closures see how it ended, some time later. They see it
            // here, so that the seed decides when.
            let runtime = world.runtime();
            runtime.bus().deliver_to_subscribers(&session.id).await;
        }
        tell_end(world, session, &name, &ended);
    }
}

fn tell_end(world: &Shared, session: &SessionPlan, name: &str, ended: &Ended<Outcome>) {
    let words = match ended {
        Ended::Dropped => "was dropped".to_owned(),
        Ended::Panicked(words) => {
            world.complain(format!("{} {name} panicked: {words}", session.id));
            "panicked".to_owned()
        }
        Ended::Ready(Err(_)) => "threw".to_owned(),
        Ended::Ready(Ok(result)) => format!("ended {}", result["status"]),
    };
    world.count(format!("run {words}"));
    world.tell(|| match ended {
        Ended::Ready(Err(thrown)) => format!("{} {name} threw {thrown:?}", session.id),
        _ => format!("{} {name} {words}", session.id),
    });
}

type Outcome = Result<Value, Thrown>;

async fn start(world: &Shared, session: &SessionPlan, run: &RunPlan, name: &str) -> Outcome {
    let own: Arc<Recorder> = Arc::default();
    let request = request(world, session, run, name, &own);
    world.tell(|| format!("{} {name} begins: {run:?}", session.id));
    lock(&world.begun).push(session.id.clone());
    let runtime = world.runtime();
    let result = runtime.run(request).await;
    if is_unclaimed(&result) {
        lock(&world.begun).pop(); // It had not begun.
    }
    let result = result.map(|result| result.to_value());
    for seen in own.seen() {
        let of = seen.event.session_id();
        if of != session.id {
            let id = &session.id;
            world.complain(format!("the sink of a run on {id} saw an event of {of}"));
        }
    }
    result
}

/// Whether a run was refused because the log could not be told whose its session is.
fn is_unclaimed<T>(result: &Result<T, Thrown>) -> bool {
    let told = result.as_ref().err().map(ToString::to_string);
    told.is_some_and(|told| told.contains("cannot be claimed in the log"))
}

fn request(
    world: &Shared,
    session: &SessionPlan,
    run: &RunPlan,
    name: &str,
    own: &Arc<Recorder>,
) -> LoopRequest {
    let model = match run.provider {
        "openai" => "gpt-4o",
        "anthropic" => "claude-sonnet-4-5",
        _ => "llama3.2",
    };
    let mut request = LoopRequest::new("Do it.")
        .option("session_id", &*session.id)
        .option("provider", run.provider)
        .option("model", model)
        .option("tool_format", run.format)
        .option("tool_format_override_reason", "to see what happens");
    request.options.extend(run.options.clone());
    request.system = Some(mark(&session.id, name, run.format));
    request.event_sink = Some(Arc::clone(own) as Arc<dyn AgentEventSink>);
    if run.has_tools {
        request.tools = tools(world);
    }
    if run.callback {
        let weak = Arc::downgrade(world);
        let callback = move |_: Vec<Value>| match weak.upgrade() {
            Some(world) if world.wild(10) => Err(Thrown::Plain("no more".to_owned())),
            Some(world) if world.wild(20) => Ok(json!({"message": "go on", "stop": false})),
            _ => Ok(Value::Null),
        };
        request
            .functions
            .insert("/post_turn_callback", Arc::new(callback));
    }
    request
}

/// After all that, a session is as good as new.
pub(super) async fn run_well(world: &Shared, plan: &Plan) {
    for session in &plan.sessions {
        let ended = run_until(start(world, session, &session.last, "last"), || false).await;
        tell_end(world, session, "last", &ended);
        if let Ended::Ready(result) = ended {
            let status = result.as_ref().map(|result| result["status"].clone());
            if status.as_ref().ok() != Some(&json!("done")) {
                let id = &session.id;
                world.complain(format!("{id} does not work any more: {status:?}"));
            }
        }
    }
}

/// Closes all sessions.
pub(super) async fn close_all(world: &Shared, plan: &Plan) {
    for session in &plan.sessions {
        let bus = world.runtime().bus().clone();
        if let Some(health) = bus.session_health(&session.id)
            && health.subscriber_backlog > 0
        {
            let left = health.subscriber_backlog;
            world.complain(format!(
                "{left} events of {} were not delivered",
                session.id
            ));
        }
        let closing = CloseSession::because("done");
        bus.close_session_and_await(&session.id, closing).await;
    }
    super::children::close_all(world).await;
    let health = world.runtime().bus().health();
    if health.sessions != 0 || health.feedback_waiting != 0 {
        world.complain(format!("something is left on the bus: {health:?}"));
    }
}
