//! How much memory the values of a program take.
//!
//! Everything that can be reached is visited once. That takes a while, so it is only done
//! when the budget says that the limit may have been reached.

use std::rc::Rc;

use hashbrown::HashSet;

use crate::fiber::Fiber;
use crate::iterate::{GeneratorState, IterSource};
use crate::machine::Machine;
use crate::value::Value;

/// About what a count and a header take.
const HEADER: usize = 48;

struct Walk {
    seen: HashSet<usize>,
    left: Vec<Value>,
    bytes: usize,
}

/// About how many bytes everything takes that the program can reach.
pub(crate) fn measure(machine: &Machine, running: &Fiber) -> usize {
    let mut walk = Walk {
        seen: HashSet::new(),
        left: machine.globals.clone(),
        bytes: machine.globals.len() * size_of::<Value>(),
    };
    for fiber in machine.scheduler.fibers().chain([running]) {
        walk.fiber(fiber);
    }
    for export in machine.exports.all() {
        walk.left.push(Value::Closure(export.closure.clone()));
        walk.left.push(Value::Dict(export.values.clone()));
    }
    machine.library.each_value(&mut |value| {
        walk.bytes += size_of::<Value>();
        walk.left.push(value.clone());
    });
    while let Some(value) = walk.left.pop() {
        walk.value(&value);
    }
    walk.bytes
}

impl Walk {
    fn fiber(&mut self, fiber: &Fiber) {
        self.bytes += size_of::<Fiber>() + fiber.stack.capacity() * size_of::<Value>();
        self.bytes += fiber.strand.output.capacity();
        self.extend(&fiber.stack);
        for frame in &fiber.frames {
            self.left.push(Value::Closure(frame.closure.clone()));
        }
        self.left.push(Value::Dict(fiber.strand.values.clone()));
    }

    fn extend(&mut self, values: &[Value]) {
        let counted = values.iter().filter(|value| value.is_counted());
        self.left.extend(counted.cloned());
    }

    /// Whether something is seen for the first time; it takes so many bytes.
    fn enter(&mut self, address: usize, bytes: usize) -> bool {
        let is_new = self.seen.insert(address);
        if is_new {
            self.bytes += HEADER + bytes;
        }
        is_new
    }

    fn value(&mut self, value: &Value) {
        let slots = |count: usize| count * size_of::<Value>();
        match value {
            Value::Text(text) => {
                self.enter(text.address(), text.len());
            }
            Value::Bytes(bytes) => {
                self.enter(bytes.address(), bytes.len());
            }
            Value::List(items) if self.enter(items.address(), slots(items.len())) => {
                self.extend(items);
            }
            Value::Set(set) if self.enter(set.address(), slots(set.len() * 2)) => {
                self.extend(set.items());
            }
            Value::Dict(dict) if self.enter(dict.address(), slots(dict.len() * 2)) => {
                for (key, value) in dict {
                    self.left.push(Value::Text(key.clone()));
                    self.left.push(value.clone());
                }
            }
            Value::Struct(body)
                if self.enter(Rc::as_ptr(body).addr(), slots(body.values.len())) =>
            {
                self.extend(&body.values);
            }
            Value::Enum(body) if self.enter(Rc::as_ptr(body).addr(), slots(body.payload.len())) => {
                self.extend(&body.payload);
            }
            Value::Closure(body)
                if self.enter(Rc::as_ptr(body).addr(), slots(body.captures.len())) =>
            {
                self.extend(&body.captures);
            }
            Value::Pair(pair) if self.enter(Rc::as_ptr(pair).addr(), slots(2)) => {
                self.left.push(pair.first.clone());
                self.left.push(pair.second.clone());
            }
            _ => self.shared(value),
        }
    }

    /// What several tasks may look at.
    fn shared(&mut self, value: &Value) {
        match value {
            Value::Channel(channel) if self.enter(Rc::as_ptr(channel).addr(), 0) => {
                let queue = channel.queue.borrow();
                self.bytes += queue.len() * size_of::<Value>();
                self.left.extend(queue.iter().cloned());
            }
            Value::Generator(generator) if self.enter(Rc::as_ptr(generator).addr(), 0) => {
                if let GeneratorState::Paused { registers, .. } = &*generator.state.borrow() {
                    self.bytes += registers.len() * size_of::<Value>();
                    self.extend(registers);
                }
            }
            Value::Iter(iter) if self.enter(Rc::as_ptr(iter).addr(), 0) => {
                let inner = match &*iter.source.borrow() {
                    IterSource::List(items, _) => Value::List(items.clone()),
                    IterSource::Set(set, _) => Value::Set(set.clone()),
                    IterSource::Dict(dict, _) => Value::Dict(dict.clone()),
                    IterSource::Chars(text, _) => Value::Text(text.clone()),
                    IterSource::Generator(generator) => Value::Generator(generator.clone()),
                    IterSource::Channel(channel) => Value::Channel(channel.clone()),
                    IterSource::Range(..) | IterSource::Done => Value::Nil,
                };
                self.left.push(inner);
            }
            Value::Late(cell) if self.enter(Rc::as_ptr(cell).addr(), 0) => {
                self.left.push(cell.borrow().clone());
            }
            _ => {}
        }
    }
}
