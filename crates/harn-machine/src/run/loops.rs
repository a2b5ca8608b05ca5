//! Loops: where the next item comes from.

use std::rc::Rc;

use crate::fault::Failure;
use crate::fiber::Fiber;
use crate::iterate::{Generator, GeneratorState, Iter, IterSource};
use crate::machine::Machine;
use crate::sync::{Channel, TaskState};
use crate::value::{Text, Value};

use super::call::resume;

/// What a loop comes to when it is asked for an item.
pub(crate) enum Next {
    Item(Value),
    End,
    /// A generator was entered. When it yields or ends, it looks at the instruction below it.
    Entered,
    /// It has to wait. The instruction is executed again.
    Waits,
}

/// What a loop goes over, and where it is.
///
/// ```text
/// list       the list            the next position
/// range      the next int        the last int
/// otherwise  an iterator         nothing
/// nothing    nil
/// ```
pub(crate) fn prepare(value: &Value) -> (Value, Value) {
    match value {
        Value::List(items) => (Value::List(items.clone()), Value::Int(0)),
        Value::Range(range) => match range.last() {
            Some(last) => (Value::Int(range.start), Value::Int(last)),
            None => (Value::Nil, Value::Nil),
        },
        Value::Set(set) => (Value::list(set.items().to_vec()), Value::Int(0)),
        Value::Dict(dict) => (Value::Dict(dict.clone()), Value::Int(0)),
        Value::Channel(_) | Value::Generator(_) | Value::Iter(_) => (value.clone(), Value::Nil),
        _ => (Value::Nil, Value::Nil),
    }
}

/// The next item of a loop that is not over a list or a range.
#[inline(never)]
pub(crate) fn next(
    machine: &mut Machine,
    fiber: &mut Fiber,
    state: usize,
) -> Result<Next, Failure> {
    match &fiber.stack[state] {
        Value::Dict(dict) => {
            let Value::Int(at) = fiber.stack[state + 1] else {
                return Ok(Next::End);
            };
            let entry = usize::try_from(at).ok().and_then(|at| dict.entry(at));
            let Some((key, value)) = entry else {
                return Ok(Next::End);
            };
            let entry = entry_dict(machine, key.clone(), value.clone());
            fiber.stack[state + 1] = Value::Int(at + 1);
            Ok(Next::Item(entry))
        }
        Value::Channel(channel) => {
            let channel = channel.clone();
            Ok(next_of_channel(machine, fiber, &channel))
        }
        Value::Generator(generator) => {
            let generator = generator.clone();
            next_of_generator(machine, fiber, &generator)
        }
        Value::Iter(iter) => {
            let iter = iter.clone();
            next_of_iter(machine, fiber, &iter)
        }
        _ => Ok(Next::End),
    }
}

fn entry_dict(machine: &mut Machine, key: Text, value: Value) -> Value {
    let names = machine.interner.entry_names();
    let [key_name, value_name] = names;
    let entries = vec![(key_name, Value::Text(key)), (value_name, value)];
    Value::Dict(crate::value::Dict::from_sorted(entries))
}

fn next_of_channel(machine: &mut Machine, fiber: &mut Fiber, channel: &Rc<Channel>) -> Next {
    let value = channel.queue.borrow_mut().pop_front();
    if let Some(value) = value {
        fiber.waiting = None;
        machine.scheduler.wake_all(&channel.senders);
        return Next::Item(value);
    }
    if channel.closed.get() {
        fiber.waiting = None;
        return Next::End;
    }
    channel.receivers.add(fiber.strand.id);
    wait(fiber)
}

fn wait(fiber: &mut Fiber) -> Next {
    let waiting = fiber.waiting.get_or_insert_default();
    waiting.resumed = true;
    Next::Waits
}

fn next_of_generator(
    machine: &mut Machine,
    fiber: &mut Fiber,
    generator: &Rc<Generator>,
) -> Result<Next, Failure> {
    let group = match &*generator.state.borrow() {
        GeneratorState::Done => return Ok(Next::End),
        GeneratorState::Receiving(group) => Some(group.clone()),
        GeneratorState::Paused { .. } | GeneratorState::Running { .. } => None,
    };
    let Some(group) = group else {
        if generator.is_asked_by_another(fiber.strand.id) {
            generator.waiters.add(fiber.strand.id);
            return Ok(wait(fiber));
        }
        fiber.waiting = None;
        return Ok(match resume(fiber, generator)? {
            true => Next::Entered,
            false => Next::End,
        });
    };
    let Some(task) = group.next_finished() else {
        if group.is_over() {
            generator.state.replace(GeneratorState::Done);
            fiber.waiting = None;
            return Ok(Next::End);
        }
        group.waiters.add(fiber.strand.id);
        return Ok(wait(fiber));
    };
    fiber.waiting = None;
    match task.state.replace(TaskState::Gone) {
        TaskState::Ended {
            result: Ok(value), ..
        } => Ok(Next::Item(value)),
        TaskState::Ended {
            result: Err(mut failure),
            ..
        } => {
            generator.state.replace(GeneratorState::Done);
            machine.stop_group(&group);
            failure.line = 0;
            Err(failure)
        }
        _ => Ok(Next::Item(Value::Nil)),
    }
}

fn next_of_iter(
    machine: &mut Machine,
    fiber: &mut Fiber,
    iter: &Rc<Iter>,
) -> Result<Next, Failure> {
    let mut source = iter.source.borrow_mut();
    let item = match &mut *source {
        IterSource::List(items, at) => step(at, items.get(*at).cloned()),
        IterSource::Set(set, at) => step(at, set.items().get(*at).cloned()),
        IterSource::Dict(dict, at) => {
            let entry = dict.entry(*at);
            let pair = entry.map(|(key, value)| Value::pair(key.clone().into(), value.clone()));
            step(at, pair)
        }
        IterSource::Chars(text, at) => {
            let char = text.get(*at..).and_then(|rest| rest.chars().next());
            char.map(|char| {
                *at += char.len_utf8();
                let mut buffer = [0; 4];
                Value::text(char.encode_utf8(&mut buffer))
            })
        }
        IterSource::Range(next, last) => match next.cmp(&last) {
            std::cmp::Ordering::Greater => None,
            _ => {
                let item = *next;
                match item.checked_add(1) {
                    Some(after) => *next = after,
                    None => *source = IterSource::Done,
                }
                Some(Value::Int(item))
            }
        },
        IterSource::Done => None,
        IterSource::Channel(channel) => {
            let channel = channel.clone();
            drop(source);
            let next = next_of_channel(machine, fiber, &channel);
            return Ok(ended(iter, next));
        }
        IterSource::Generator(generator) => {
            let generator = generator.clone();
            drop(source);
            let next = next_of_generator(machine, fiber, &generator)?;
            return Ok(ended(iter, next));
        }
    };
    match item {
        Some(item) => Ok(Next::Item(item)),
        None => {
            *source = IterSource::Done;
            Ok(Next::End)
        }
    }
}

fn step(at: &mut usize, item: Option<Value>) -> Option<Value> {
    *at += 1;
    item
}

/// An iterator that has ended stays so.
fn ended(iter: &Iter, next: Next) -> Next {
    if matches!(next, Next::End) {
        iter.source.replace(IterSource::Done);
    }
    next
}
