//! Tasks that are a part of the one that starts them: nobody sees them, and what they write
//! is written by whoever asked for their value.

use std::rc::Rc;
use std::task::Poll;

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Fault, Start, Task, TaskState, Value, Waiting, argument};

pub(super) fn start(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let Value::Closure(closure) = argument(arguments, 0).clone() else {
        return Err(Fault::type_error("a task needs a body"));
    };
    let strand = context.strand();
    let (facts, values): (_, Dict) = (strand.facts.clone(), strand.values.clone());
    let task = context.scheduler().start(Start {
        closure,
        arguments: Vec::new(),
        facts,
        values,
        handle: Text::default(),
    });
    Ok(Value::Task(task))
}

fn task(arguments: &[Value]) -> Option<&Rc<Task>> {
    match argument(arguments, 0) {
        Value::Task(task) => Some(task),
        _ => None,
    }
}

/// What a task that is over has come to. Its output is written if it went well.
fn end(context: &mut Context<'_>, task: &Task) -> Result<Value, Failure> {
    match task.state.replace(TaskState::Gone) {
        TaskState::Ended { result, output } => {
            if result.is_ok() && !output.is_empty() {
                context.write(&output);
            }
            result
        }
        TaskState::Running | TaskState::Gone => Ok(Value::Nil),
    }
}

/// Waits for a task: as long as given, or without a time as long as it takes. With no time at
/// all it waits until the task would have to wait itself.
pub(super) fn pulled(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let Some(task) = task(arguments).cloned() else {
        return Ok(Poll::Ready(Value::Nil));
    };
    if task.is_over() {
        return end(context, &task).map(Poll::Ready);
    }
    let window = match *argument(arguments, 1) {
        Value::Int(window) => Some(window),
        _ => None,
    };
    if let Some(window) = window {
        waiting.set_timeout(context, window);
        let is_stuck = context.scheduler().is_parked(task.fiber);
        if waiting.is_over(context) && is_stuck {
            return Ok(Poll::Ready(Value::Nil));
        }
    }
    waiting.on(&task.waiters, context);
    Ok(Poll::Pending)
}

/// Waits until one of some tasks is over. What is no task is passed over.
pub(super) fn wait_any(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let Value::List(tasks) = argument(arguments, 0) else {
        return Ok(Poll::Ready(Value::Nil));
    };
    let tasks = tasks.iter().filter_map(|task| match task {
        Value::Task(task) => Some(task),
        _ => None,
    });
    let tasks: Vec<&Rc<Task>> = tasks.collect();
    if tasks.is_empty() || tasks.iter().any(|task| task.is_over()) {
        return Ok(Poll::Ready(Value::Nil));
    }
    for task in tasks {
        waiting.on(&task.waiters, context);
    }
    Ok(Poll::Pending)
}

/// Waits for a task of a race. `Ok(v)` and any value but `Err` is a success; a failure is
/// told by its text.
pub(super) fn outcome(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let Some(task) = task(arguments).cloned() else {
        return Ok(Poll::Ready(Value::Nil));
    };
    if !task.is_over() {
        waiting.on(&task.waiters, context);
        return Ok(Poll::Pending);
    }
    let outcome = match end(context, &task) {
        Ok(value) => match value.as_result() {
            Some(Ok(inner)) => Value::ok(inner.clone()),
            Some(Err(error)) => Value::err(error.to_text().into()),
            None => Value::ok(value),
        },
        Err(failure) if failure.is_catchable() => Value::err(failure.text().into()),
        Err(failure) => return Err(failure),
    };
    Ok(Poll::Ready(outcome))
}
