//! As much of a library as these tests need.

use std::rc::Rc;
use std::task::Poll;

use harn_machine::{
    Answer, Context, Failure, Fault, Registry, Request, Value, Waiting, argument, take,
};

/// Effects that answer only when a test says so.
pub(crate) const SLOW: &str = "slow";
/// Effects that call functions of the program.
pub(crate) const LOOP: &str = "loop";

pub(crate) fn registry() -> Rc<Registry> {
    let mut registry = Registry::default();
    registry.plain(&[
        ("println", println),
        ("throw_error", throw_error),
        ("exit", exit),
        ("runtime_context", runtime_context),
        ("runtime_context_set", runtime_context_set),
        ("is_cancelled", is_cancelled),
        ("cancel", cancel),
        ("cancel_graceful", request_stop),
    ]);
    registry.waiting(&[
        ("await", wait_for),
        ("sleep", sleep),
        ("agent_loop", agent_loop),
    ]);
    Rc::new(registry)
}

fn println(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let line = format!("{}\n", argument(arguments, 0).show());
    context.write(&line);
    Ok(Value::Nil)
}

fn throw_error(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (message, category) = (argument(arguments, 0), argument(arguments, 1));
    Err(Fault::categorised(category.show(), message.show()))
}

fn exit(_: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    Err(Fault::exit(3))
}

/// What is known of the task, and how deep it is.
fn runtime_context(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    let depth = Value::Int(context.depth().into());
    let strand = context.strand();
    let facts = &strand.facts;
    Ok(Value::dict([
        ("depth", depth),
        ("group", facts.group.clone().into()),
        ("parent", facts.parent.clone().into()),
        ("values", strand.values.clone().into()),
    ]))
}

fn runtime_context_set(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    if let Value::Text(key) = take(arguments, 0) {
        let values = &mut context.strand().values;
        values.insert(key, take(arguments, 1));
    }
    Ok(Value::Nil)
}

fn is_cancelled(context: &mut Context<'_>, _: &mut [Value]) -> Result<Value, Failure> {
    Ok(context.strand().is_cancelled().into())
}

fn cancel(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if let Value::Task(task) = argument(arguments, 0) {
        context.stop(task);
    }
    Ok(Value::Nil)
}

fn request_stop(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if let Value::Task(task) = argument(arguments, 0) {
        context.request_stop(task);
    }
    Ok(Value::Nil)
}

fn wait_for(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let Value::Task(task) = argument(arguments, 0) else {
        return Ok(Poll::Ready(Value::Nil));
    };
    if !task.is_over() {
        waiting.on(&task.waiters, context);
        return Ok(Poll::Pending);
    }
    let Some((result, output)) = task.take_end() else {
        return Ok(Poll::Ready(Value::Nil));
    };
    context.write(&output);
    result.map(Poll::Ready)
}

/// `sleep()` waits for an effect that a test completes.
fn sleep(
    context: &mut Context<'_>,
    _: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let request = || Request::Other {
        kind: SLOW,
        payload: String::new(),
    };
    Ok(match waiting.effect(context, request) {
        Some(_) => Poll::Ready(Value::Nil),
        None => Poll::Pending,
    })
}

/// `agent_loop(prompt, nil, {name: function …})` exports the functions, in the order of their
/// names, for an effect.
fn agent_loop(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let mut numbers = Vec::new();
    if let Value::Dict(options) = argument(arguments, 2)
        && !waiting.is_resumed()
    {
        for (_, value) in options.iter() {
            if let Value::Closure(closure) = value {
                numbers.push(context.export(closure).to_string());
            }
        }
    }
    let request = || Request::Other {
        kind: LOOP,
        payload: numbers.join(" "),
    };
    Ok(match waiting.effect(context, request) {
        Some(Answer::Text(text)) => Poll::Ready(text.map(Value::from).into()),
        Some(_) => Poll::Ready(Value::Nil),
        None => Poll::Pending,
    })
}
