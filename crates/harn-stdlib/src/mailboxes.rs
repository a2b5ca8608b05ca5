//! Mailboxes: channels that are found by their name.

use std::collections::HashMap;
use std::rc::Rc;
use std::task::Poll;

use harn_machine::{
    Channel, Context, Failure, Fault, Holds, Registry, Value, Waiting, argument, take,
};

use crate::channels::{close, draw, put};
use crate::scopes::{Handle, Kind};

/// How many values a mailbox holds unless it is told.
const CAPACITY: i64 = 256;

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("mailbox_open", open),
        ("mailbox_lookup", lookup),
        ("mailbox_try_receive", try_receive),
        ("mailbox_close", close_mailbox),
        ("mailbox_metrics", metrics),
    ]);
    registry.waiting(&[("mailbox_send", send), ("mailbox_receive", receive)]);
}

/// The mailboxes of a run.
#[derive(Default)]
struct Mailboxes(HashMap<Handle, Mailbox>);

impl Holds for Mailboxes {
    fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        for mailbox in self.0.values() {
            each(&Value::Channel(mailbox.channel.clone()));
        }
    }
}

struct Mailbox {
    channel: Rc<Channel>,
    sent: i64,
    received: i64,
    failed_sends: i64,
}

fn mailbox<'a>(context: &'a mut Context<'_>, handle: &Handle) -> Option<&'a mut Mailbox> {
    context.holding::<Mailboxes>().0.get_mut(handle)
}

/// The handle that is the first argument of a builtin.
fn target(
    builtin: &str,
    context: &mut Context<'_>,
    arguments: &[Value],
) -> Result<Handle, Failure> {
    match arguments.first() {
        Some(value) => Handle::given(Kind::Mailbox, builtin, context, value),
        None => Err(Fault::runtime(format!("{builtin}: target is required"))),
    }
}

/// `mailbox_open(name_or_options, capacity = 256)`
fn open(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (handle, options) = Handle::opened(Kind::Mailbox, "mailbox_open", context, arguments)?;
    let capacity = options.get("capacity").unwrap_or(argument(arguments, 1));
    let capacity = match capacity {
        Value::Int(capacity) => *capacity,
        _ => CAPACITY,
    };
    let capacity = usize::try_from(capacity).unwrap_or(0);
    let shown = handle.to_value();
    let name = handle.key.clone();
    let mailboxes = &mut context.holding::<Mailboxes>().0;
    mailboxes.entry(handle).or_insert_with(|| Mailbox {
        channel: Channel::new(name, capacity),
        sent: 0,
        received: 0,
        failed_sends: 0,
    });
    Ok(shown)
}

/// `mailbox_lookup(name_or_handle)`: its handle, if there is such a mailbox.
fn lookup(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.is_empty() {
        return Err(Fault::runtime("mailbox_lookup: name or handle is required"));
    }
    let handle = target("mailbox_lookup", context, arguments)?;
    let found = mailbox(context, &handle).is_some();
    Ok(found.then(|| handle.to_value()).into())
}

/// `mailbox_send(mailbox, value)`: whether it was sent. It waits while there is no room.
fn send(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if arguments.len() < 2 {
        return Err(Fault::runtime("mailbox_send: requires target and value"));
    }
    let handle = target("mailbox_send", context, arguments)?;
    let Some(channel) = mailbox(context, &handle).map(|mailbox| mailbox.channel.clone()) else {
        return Ok(Poll::Ready(false.into()));
    };
    let Some(sent) = put(context, &channel, || take(arguments, 1)) else {
        waiting.on(&channel.senders, context);
        return Ok(Poll::Pending);
    };
    if let Some(mailbox) = mailbox(context, &handle) {
        mailbox.sent += i64::from(sent);
        mailbox.failed_sends += i64::from(!sent);
    }
    Ok(Poll::Ready(sent.into()))
}

/// The next value of a mailbox, if there is one now.
fn next(context: &mut Context<'_>, handle: &Handle) -> Option<Value> {
    let channel = mailbox(context, handle)?.channel.clone();
    let value = draw(context, &channel)?;
    mailbox(context, handle)?.received += 1;
    Some(value)
}

fn receive(
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    let handle = target("mailbox_receive", context, arguments)?;
    if let Some(value) = next(context, &handle) {
        return Ok(Poll::Ready(value));
    }
    let channel = mailbox(context, &handle).map(|mailbox| mailbox.channel.clone());
    let Some(channel) = channel.filter(|channel| !channel.closed.get()) else {
        return Ok(Poll::Ready(Value::Nil));
    };
    waiting.stops_at_once = true;
    waiting.on(&channel.receivers, context);
    Ok(Poll::Pending)
}

fn try_receive(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let handle = target("mailbox_try_receive", context, arguments)?;
    Ok(next(context, &handle).into())
}

/// `mailbox_close(mailbox)`: whether it was open.
fn close_mailbox(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let handle = target("mailbox_close", context, arguments)?;
    let channel = mailbox(context, &handle).map(|mailbox| mailbox.channel.clone());
    let Some(channel) = channel.filter(|channel| !channel.closed.get()) else {
        return Ok(false.into());
    };
    close(context, &channel);
    Ok(true.into())
}

fn metrics(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let handle = target("mailbox_metrics", context, arguments)?;
    Ok(mailbox(context, &handle)
        .map(|mailbox| describe(mailbox))
        .into())
}

fn describe(mailbox: &Mailbox) -> Value {
    let channel = &mailbox.channel;
    Value::dict([
        ("capacity", channel.capacity.into()),
        ("closed", channel.closed.get().into()),
        ("depth", channel.queue.borrow().len().into()),
        ("failed_send_count", mailbox.failed_sends.into()),
        ("received_count", mailbox.received.into()),
        ("sent_count", mailbox.sent.into()),
    ])
}
