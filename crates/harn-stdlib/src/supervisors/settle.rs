//! Carrying out what is planned: children that have ended are judged, those whose time has
//! come are started again.

use std::rc::Rc;

use harn_machine::value::Text;
use harn_machine::{Context, Facts, Failure, Start, Value};

use super::SharedSupervisor;
use super::policy::{End, History, Verdict};
use super::spec::Strategy;
use super::supervisor::{ChildStatus, Due, Status, Supervisor, WaitReason};

/// The two clocks, read once for everything that happens at a time.
#[derive(Clone, Copy)]
pub(super) struct Now {
    pub(super) elapsed: i64,
    pub(super) time: i64,
}

impl Now {
    pub(super) fn read(context: &mut Context<'_>) -> Self {
        Self {
            elapsed: context.elapsed(),
            time: context.now(),
        }
    }
}

/// Starts all children, and the task that watches them.
pub(super) fn begin(context: &mut Context<'_>, shared: &SharedSupervisor, watch: &Value) {
    let now = Now::read(context);
    let mut supervisor = shared.borrow_mut();
    supervisor.note(now.time, None, "supervisor_started", None);
    for at in 0..supervisor.children.len() {
        start(context, &mut supervisor, at, now, "child_started");
    }
    let Value::Closure(watch) = watch else {
        return;
    };
    let id = Text::from(format!(
        "{}:supervisor:{}",
        supervisor.parent, supervisor.id
    ));
    context.scheduler().start(Start {
        closure: watch.clone(),
        arguments: vec![supervisor.id.clone().into()],
        facts: Rc::new(Facts {
            id: id.clone(),
            parent: Some(supervisor.parent.clone()),
            name: Text::new("supervisor"),
            group: Some(supervisor.id.clone()),
        }),
        values: supervisor.values.clone(),
        handle: id,
    });
}

fn start(
    context: &mut Context<'_>,
    supervisor: &mut Supervisor,
    at: usize,
    now: Now,
    event: &'static str,
) {
    let child = &mut supervisor.children[at];
    child.attempts += 1;
    child.status = ChildStatus::Running;
    child.wait = None;
    child.due = None;
    let (name, kind) = (child.spec.name.clone(), child.spec.kind.clone());
    let argument = Value::dict([
        ("attempt", child.attempts.into()),
        ("child_kind", kind.clone().into()),
        ("child_name", name.clone().into()),
        ("restart_count", child.history.restarts.into()),
        ("supervisor_id", supervisor.id.clone().into()),
    ]);
    let (parent, id) = (&supervisor.parent, &supervisor.id);
    let task_id = Text::from(format!("{parent}:supervisor:{id}:{name}"));
    child.task = Some(context.scheduler().start(Start {
        closure: child.spec.task.clone(),
        arguments: vec![argument],
        facts: Rc::new(Facts {
            id: task_id.clone(),
            parent: Some(parent.clone()),
            name: Text::from(format!("supervisor {kind}")),
            group: Some(id.clone()),
        }),
        values: supervisor.values.clone(),
        handle: task_id,
    }));
    supervisor.metrics.started += 1;
    supervisor.note(now.time, Some(at), event, None);
}

/// Does what is to be done now.
pub(super) fn settle(context: &mut Context<'_>, shared: &SharedSupervisor) {
    let mut supervisor = shared.borrow_mut();
    if supervisor.status.is_final() {
        return;
    }
    let now = Now::read(context);
    for at in 0..supervisor.children.len() {
        let task = supervisor.children[at].task.as_ref();
        if task.is_some_and(|task| task.is_over())
            && let Some(task) = supervisor.children[at].task.take()
        {
            let (result, output) = task.take_end().unwrap_or((Ok(Value::Nil), String::new()));
            if !output.is_empty() {
                supervisor.note(now.time, Some(at), "child_output", Some(output));
            }
            ended(context, &mut supervisor, at, result, now);
        }
    }
    for at in 0..supervisor.children.len() {
        let due = supervisor.children[at].due;
        if due.is_some_and(|due| due.elapsed <= now.elapsed) {
            start_again(context, &mut supervisor, at, now);
        }
    }
    conclude(context, &mut supervisor, now);
}

/// A child has ended.
fn ended(
    context: &mut Context<'_>,
    supervisor: &mut Supervisor,
    at: usize,
    result: Result<Value, Failure>,
    now: Now,
) {
    if supervisor.status == Status::Draining {
        stopped(supervisor, at, now, Some("supervisor stop"));
        return;
    }
    let end = match result {
        Ok(_) => End::Normal,
        Err(failure) => {
            failed(supervisor, at, failure.text(), now);
            End::Failure
        }
    };
    if end == End::Failure && supervisor.strategy == Strategy::Escalate {
        escalate(context, supervisor, at, now);
        return;
    }
    let child = &mut supervisor.children[at];
    let name = child.spec.name.clone();
    let verdict = child
        .spec
        .policy
        .judge(end, &mut child.history, now.elapsed, &name);
    if end == End::Normal {
        stopped(supervisor, at, now, None);
    }
    match verdict {
        Verdict::Stay => {}
        Verdict::Restart(delay) => {
            plan(supervisor, at, delay, WaitReason::Backoff, now);
            if end == End::Failure {
                propagate(context, supervisor, at, delay, now);
            }
        }
        Verdict::Suppress => suppress(supervisor, at, now),
        Verdict::OpenCircuit(time) => open_circuit(supervisor, at, time, now),
    }
}

fn failed(supervisor: &mut Supervisor, at: usize, error: String, now: Now) {
    supervisor.metrics.failed += 1;
    supervisor.note(now.time, Some(at), "child_failed", Some(error.clone()));
    let child = &mut supervisor.children[at];
    child.status = ChildStatus::Failed;
    child.last_error = Some(error);
}

/// A child does not run any more.
pub(super) fn stopped(supervisor: &mut Supervisor, at: usize, now: Now, message: Option<&str>) {
    let child = &mut supervisor.children[at];
    child.status = ChildStatus::Stopped;
    child.wait = None;
    child.due = None;
    supervisor.metrics.stopped += 1;
    let message = message.map(str::to_owned);
    supervisor.note(now.time, Some(at), "child_stopped", message);
}

/// A child is to be started again.
fn plan(supervisor: &mut Supervisor, at: usize, delay: i64, reason: WaitReason, now: Now) {
    let child = &mut supervisor.children[at];
    child.status = ChildStatus::Waiting;
    child.wait = Some(reason);
    child.due = Some(after(now, delay));
    supervisor.metrics.restarted += 1;
    let message = format!("scheduled after {delay}ms");
    supervisor.note(now.time, Some(at), "child_restarted", Some(message));
}

fn after(now: Now, delay: i64) -> Due {
    Due {
        elapsed: now.elapsed.saturating_add(delay),
        time: now.time.saturating_add(delay),
    }
}

/// Others are started again because one is.
fn propagate(
    context: &mut Context<'_>,
    supervisor: &mut Supervisor,
    failed: usize,
    delay: i64,
    now: Now,
) {
    for at in supervisor.followers(failed) {
        if let Some(task) = supervisor.children[at].task.take() {
            context.stop(&task);
            stopped(supervisor, at, now, Some("propagation restart"));
        }
        plan(supervisor, at, delay, WaitReason::Propagation, now);
    }
}

fn suppress(supervisor: &mut Supervisor, at: usize, now: Now) {
    let child = &mut supervisor.children[at];
    child.status = ChildStatus::Suppressed;
    child.wait = Some(WaitReason::Capped);
    supervisor.metrics.suppressed += 1;
    let message = "restart cap reached".to_owned();
    supervisor.note(now.time, Some(at), "child_suppressed", Some(message));
}

fn open_circuit(supervisor: &mut Supervisor, at: usize, time: i64, now: Now) {
    let child = &mut supervisor.children[at];
    child.status = ChildStatus::CircuitOpen;
    child.wait = Some(WaitReason::CircuitOpen);
    child.due = Some(after(now, time));
    supervisor.metrics.suppressed += 1;
    let message = "restart cap reached; circuit opened".to_owned();
    supervisor.note(now.time, Some(at), "child_suppressed", Some(message));
}

/// A child is started again. One whose circuit was open begins afresh.
fn start_again(context: &mut Context<'_>, supervisor: &mut Supervisor, at: usize, now: Now) {
    let child = &mut supervisor.children[at];
    match child.status {
        ChildStatus::CircuitOpen => child.history = History::default(),
        _ => child.history.restarts += 1,
    }
    start(context, supervisor, at, now, "child_restart_started");
}

/// The failure of a child is more than this supervisor deals with.
fn escalate(context: &mut Context<'_>, supervisor: &mut Supervisor, at: usize, now: Now) {
    supervisor.metrics.escalated += 1;
    let message = "failure escalated to parent supervisor".to_owned();
    supervisor.note(now.time, Some(at), "child_escalated", Some(message));
    stop_all(context, supervisor, now);
    supervisor.status = Status::Escalated;
    context.wake(&supervisor.changed);
}

/// Stops every child where it is; whether there were any to stop.
pub(super) fn stop_all(context: &mut Context<'_>, supervisor: &mut Supervisor, now: Now) -> bool {
    let mut forced = false;
    for at in 0..supervisor.children.len() {
        if let Some(task) = supervisor.children[at].task.take() {
            context.stop(&task);
            forced = true;
        } else if supervisor.children[at].status.is_final() {
            continue;
        }
        stopped(supervisor, at, now, Some("supervisor stop"));
    }
    forced
}

/// Notes that everything is over, if it is.
fn conclude(context: &mut Context<'_>, supervisor: &mut Supervisor, now: Now) {
    let mut children = supervisor.children.iter();
    if supervisor.status.is_final() || !children.all(|child| child.status.is_final()) {
        return;
    }
    if supervisor.status == Status::Draining {
        finish(context, supervisor, now, "drained");
        return;
    }
    supervisor.status = Status::Completed;
    supervisor.note(now.time, None, "supervisor_completed", None);
    context.wake(&supervisor.changed);
}

/// The supervisor was stopped.
pub(super) fn finish(context: &mut Context<'_>, supervisor: &mut Supervisor, now: Now, how: &str) {
    supervisor.status = Status::Stopped;
    supervisor.note(now.time, None, "supervisor_stopped", Some(how.to_owned()));
    context.wake(&supervisor.changed);
}
