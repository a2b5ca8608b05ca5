//! Channels: queues between tasks.

use std::rc::Rc;
use std::task::Poll;

use harn_machine::value::{List, Text};
use harn_machine::{Channel, Context, Failure, Registry, Value, Waiting, argument, take, thrown};

use crate::tasks::patience;

/// How many values a channel holds unless it is told.
const CAPACITY: i64 = 256;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("channel", channel),
        ("try_receive", try_receive),
        ("close_channel", close_channel),
    ]);
    registry.waiting(&[
        ("send", send),
        ("receive", receive),
        ("select", select),
        ("channel_select", channel_select),
    ]);
}

/// `channel(name = "default", capacity = 256)`
fn channel(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let name = match argument(arguments, 0) {
        Value::Nil => Text::new("default"),
        name => name.to_text(),
    };
    let capacity = match argument(arguments, 1) {
        Value::Int(capacity) => *capacity,
        _ => CAPACITY,
    };
    let capacity = usize::try_from(capacity).unwrap_or(0);
    Ok(Value::Channel(Channel::new(name, capacity)))
}

/// The channel that is the first argument of a builtin.
fn expect_channel(builtin: &str, arguments: &[Value]) -> Result<Rc<Channel>, Failure> {
    match arguments.first() {
        Some(Value::Channel(channel)) => Ok(channel.clone()),
        Some(_) => thrown(format!("{builtin}: first argument must be a channel")),
        None => thrown(format!("{builtin}: requires a channel")),
    }
}

fn send(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if arguments.len() < 2 {
        return thrown("send: requires channel and value");
    }
    let channel = expect_channel("send", arguments)?;
    Ok(match put(context, &channel, || take(arguments, 1)) {
        Some(sent) => Poll::Ready(sent.into()),
        None => {
            waiting.on(&channel.senders, context);
            Poll::Pending
        }
    })
}

/// Whether a value was put into a channel, which it is unless that is closed; `None` as long
/// as there is no room for it.
pub(crate) fn put(
    context: &mut Context<'_>,
    channel: &Channel,
    value: impl FnOnce() -> Value,
) -> Option<bool> {
    if channel.closed.get() {
        return Some(false);
    }
    if channel.is_full() {
        return None;
    }
    channel.queue.borrow_mut().push_back(value());
    context.wake(&channel.receivers);
    Some(true)
}

/// The next value of a channel, if there is one now.
pub(crate) fn draw(context: &mut Context<'_>, channel: &Channel) -> Option<Value> {
    let value = channel.queue.borrow_mut().pop_front()?;
    context.wake(&channel.senders);
    Some(value)
}

fn receive(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let channel = expect_channel("receive", arguments)?;
    if let Some(value) = draw(context, &channel) {
        return Ok(Poll::Ready(value));
    }
    if channel.closed.get() {
        return Ok(Poll::Ready(Value::Nil));
    }
    waiting.on(&channel.receivers, context);
    Ok(Poll::Pending)
}

fn try_receive(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let channel = expect_channel("try_receive", arguments)?;
    Ok(draw(context, &channel).into())
}

fn close_channel(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let channel = expect_channel("close_channel", arguments)?;
    close(context, &channel);
    Ok(Value::Nil)
}

/// Closes a channel; those who wait at either end look again.
pub(crate) fn close(context: &mut Context<'_>, channel: &Channel) {
    channel.closed.set(true);
    context.wake(&channel.receivers);
    context.wake(&channel.senders);
}

/// `select(channel, …)`
fn select(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if arguments.is_empty() {
        return thrown("select: requires at least one channel");
    }
    let channels = all_channels(arguments);
    let Some(channels) = channels else {
        return thrown("select: all arguments must be channels");
    };
    Ok(match first_ready(context, &channels, waiting) {
        Ready::Value(found) => Poll::Ready(found),
        Ready::AllClosed => Poll::Ready(found(Value::Nil, -1, Value::Nil)),
        Ready::None => Poll::Pending,
    })
}

/// `channel_select([channel, …], timeout)`
fn channel_select(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let Value::List(channels) = argument(arguments, 0) else {
        return thrown("channel_select: first argument must be a list of channels");
    };
    let channels: List = channels.clone();
    let Some(channels) = all_channels(&channels) else {
        return thrown("channel_select: channel list must contain only channels");
    };
    if let Some(timeout) = patience(argument(arguments, 1)) {
        waiting.set_timeout(context, timeout);
    }
    Ok(match first_ready(context, &channels, waiting) {
        Ready::Value(found) => Poll::Ready(found),
        Ready::AllClosed => Poll::Ready(Value::Nil),
        Ready::None if waiting.is_over(context) => Poll::Ready(Value::Nil),
        Ready::None => Poll::Pending,
    })
}

fn all_channels(values: &[Value]) -> Option<Vec<&Channel>> {
    let channels = values.iter().map(|value| match value {
        Value::Channel(channel) => Some(&**channel),
        _ => None,
    });
    channels.collect()
}

/// What looking at some channels comes to.
enum Ready {
    /// What was found in the first that has something.
    Value(Value),
    /// Nothing will ever come.
    AllClosed,
    /// Something may come, and we are told.
    None,
}

fn first_ready(context: &mut Context<'_>, channels: &[&Channel], waiting: &mut Waiting) -> Ready {
    for (index, channel) in channels.iter().enumerate() {
        if let Some(value) = draw(context, channel) {
            let index = i64::try_from(index).unwrap_or(i64::MAX);
            return Ready::Value(found(channel.name.clone().into(), index, value));
        }
    }
    if channels.iter().all(|channel| channel.is_drained()) {
        return Ready::AllClosed;
    }
    for channel in channels {
        waiting.on(&channel.receivers, context);
    }
    Ready::None
}

fn found(channel: Value, index: i64, value: Value) -> Value {
    Value::dict([
        ("channel", channel),
        ("index", index.into()),
        ("value", value),
    ])
}
