//! What programs are told about supervisors.

use harn_machine::value::Text;
use harn_machine::{Context, Failure, Value, argument};

use super::settle::settle;
use super::supervisor::{Child, Event, Supervisor};
use super::{SharedSupervisor, Supervisors, find};

/// `supervisor_state(supervisor)`
pub(super) fn state(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let supervisor = settled("supervisor_state", context, arguments)?;
    let supervisor = supervisor.borrow();
    Ok(state_of(&supervisor))
}

/// `supervisor_metrics(supervisor)`
pub(super) fn metrics(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let supervisor = settled("supervisor_metrics", context, arguments)?;
    let supervisor = supervisor.borrow();
    Ok(metrics_of(&supervisor))
}

/// `supervisor_events(supervisor)`
pub(super) fn events(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let supervisor = settled("supervisor_events", context, arguments)?;
    let supervisor = supervisor.borrow();
    let events = supervisor.events.iter();
    Ok(events
        .map(|event| event_of(&supervisor.id, event))
        .collect())
}

/// The supervisor that the first argument names, as it is now.
fn settled(
    builtin: &str,
    context: &mut Context<'_>,
    arguments: &[Value],
) -> Result<SharedSupervisor, Failure> {
    let supervisor = find(builtin, context, argument(arguments, 0))?;
    settle(context, &supervisor);
    Ok(supervisor)
}

/// The states of all supervisors of the run.
pub(crate) fn states(context: &mut Context<'_>) -> Value {
    let all = context.holding::<Supervisors>().all.clone();
    let states = all.iter().map(|supervisor| {
        settle(context, supervisor);
        state_of(&supervisor.borrow())
    });
    states.collect()
}

pub(super) fn state_of(supervisor: &Supervisor) -> Value {
    let children = supervisor.children.iter();
    Value::dict([
        ("_type", "supervisor_state".into()),
        ("children", children.map(child_of).collect()),
        ("id", supervisor.id.clone().into()),
        ("metrics", metrics_of(supervisor)),
        ("name", supervisor.name.clone().into()),
        ("status", supervisor.status.name().into()),
        ("strategy", supervisor.strategy.name().into()),
    ])
}

fn child_of(child: &Child) -> Value {
    Value::dict([
        ("active_lease", child.spec.lease.clone()),
        (
            "current_wait_reason",
            child.wait.map(|wait| wait.name()).into(),
        ),
        ("kind", child.spec.kind.clone().into()),
        ("last_error", child.last_error.clone().into()),
        ("name", child.spec.name.clone().into()),
        ("next_restart_time", child.due.map(|due| due.time).into()),
        ("restart_count", child.history.restarts.into()),
        ("status", child.status.name().into()),
    ])
}

fn metrics_of(supervisor: &Supervisor) -> Value {
    let metrics = &supervisor.metrics;
    Value::dict([
        ("escalated", metrics.escalated.into()),
        ("failed", metrics.failed.into()),
        ("restarted", metrics.restarted.into()),
        ("started", metrics.started.into()),
        ("stopped", metrics.stopped.into()),
        ("suppressed", metrics.suppressed.into()),
    ])
}

fn event_of(supervisor: &Text, event: &Event) -> Value {
    Value::dict([
        ("at_ms", event.time.into()),
        ("child", event.child.clone().into()),
        ("kind", event.kind.into()),
        ("message", event.message.clone().into()),
        ("seq", event.number.into()),
        ("supervisor_id", supervisor.clone().into()),
    ])
}
