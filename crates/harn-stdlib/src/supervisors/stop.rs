//! The end of a supervisor.

use std::task::Poll;

use harn_machine::{Context, Failure, Value, Waiting, argument};

use super::settle::{Now, finish, settle, stop_all, stopped};
use super::supervisor::{ChildStatus, Status, Supervisor, WaitReason};
use super::{describe, find, wait};
use crate::tasks::patience;

/// `supervisor_stop(supervisor, timeout)`: its state after all children have stopped, by
/// themselves or by force.
pub(super) fn stop(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let shared = find("supervisor_stop", context, argument(arguments, 0))?;
    settle(context, &shared);
    let now = Now::read(context);
    if !waiting.is_resumed() {
        let timeout = patience(argument(arguments, 1));
        let timeout = timeout.unwrap_or(shared.borrow().shutdown_ms);
        waiting.set_timeout(context, timeout);
        ask_to_stop(context, &mut shared.borrow_mut(), now);
        settle(context, &shared);
    }
    let is_over = waiting.is_over(context);
    let supervisor = &mut *shared.borrow_mut();
    if supervisor.status == Status::Draining {
        if !is_over {
            wait(context, supervisor, waiting);
            return Ok(Poll::Pending);
        }
        stop_all(context, supervisor, now);
        finish(context, supervisor, now, "forced");
    }
    Ok(Poll::Ready(describe::state_of(supervisor)))
}

/// Children that run are asked to stop, the others will not be started any more.
fn ask_to_stop(context: &mut Context<'_>, supervisor: &mut Supervisor, now: Now) {
    if !matches!(supervisor.status, Status::Running | Status::Completed) {
        return;
    }
    supervisor.status = Status::Draining;
    supervisor.note(now.time, None, "supervisor_stopping", None);
    for at in 0..supervisor.children.len() {
        let child = &mut supervisor.children[at];
        if let Some(task) = &child.task {
            child.status = ChildStatus::Draining;
            child.wait = Some(WaitReason::Shutdown);
            context.request_stop(task);
        } else if !child.status.is_final() {
            stopped(supervisor, at, now, Some("supervisor stop"));
        }
    }
    context.wake(&supervisor.changed);
}
