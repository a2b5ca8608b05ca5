//! Things that give one item after another.

use std::cell::RefCell;
use std::rc::Rc;

use crate::closure::Closure;
use crate::run::Group;
use crate::sync::{Channel, FiberId, Waiters};
use crate::value::{Dict, List, Range, Set, Text, Value, bury};

/// A function that pauses wherever it yields.
#[derive(Debug)]
pub struct Generator {
    /// What kind it is.
    pub kind: GeneratorKind,
    pub(crate) state: RefCell<GeneratorState>,
    /// Who waits until it is not being asked by somebody else any more.
    pub(crate) waiters: Waiters,
}

/// What kind of generator it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneratorKind {
    /// From a function that contains `yield`.
    Generator,
    /// From a `gen fn`, or from tasks as they complete.
    Stream,
}

/// Where a generator is.
#[derive(Debug)]
pub(crate) enum GeneratorState {
    /// It waits to be asked for an item.
    Paused {
        closure: Rc<Closure>,
        /// The next instruction.
        pc: u32,
        /// How many arguments it was called with.
        argc: u8,
        /// The registers of its frame.
        registers: Vec<Value>,
    },
    /// It is being asked.
    Running {
        /// By whom.
        fiber: FiberId,
        /// Where its registers were: empty, and kept for the next pause.
        registers: Vec<Value>,
    },
    /// Its items are what tasks give as they end; one that fails ends it.
    Receiving(Rc<Group>),
    /// It is over.
    Done,
}

impl Generator {
    /// A stream of what tasks give as they end.
    pub(crate) fn receiving(group: Rc<Group>) -> Self {
        Self {
            kind: GeneratorKind::Stream,
            state: RefCell::new(GeneratorState::Receiving(group)),
            waiters: Waiters::default(),
        }
    }

    /// Everything it holds, to be dropped. It is over then.
    pub(crate) fn take_values(&mut self) -> Vec<Value> {
        let state = std::mem::replace(self.state.get_mut(), GeneratorState::Done);
        match state {
            GeneratorState::Paused {
                closure,
                mut registers,
                ..
            } => {
                registers.push(Value::Closure(closure));
                registers
            }
            GeneratorState::Running { .. }
            | GeneratorState::Receiving(_)
            | GeneratorState::Done => Vec::new(),
        }
    }

    /// Somebody else is asking it, who has to be waited for.
    pub(crate) fn is_asked_by_another(&self, me: FiberId) -> bool {
        matches!(*self.state.borrow(), GeneratorState::Running { fiber, .. } if fiber != me)
    }

    /// What `type_of` calls it.
    pub fn type_name(&self) -> &'static str {
        match self.kind {
            GeneratorKind::Generator => "generator",
            GeneratorKind::Stream => "stream",
        }
    }

    /// Whether it has nothing more to give.
    pub fn is_done(&self) -> bool {
        matches!(*self.state.borrow(), GeneratorState::Done)
    }
}

impl Drop for Generator {
    /// One draws from another, which draws from another: a chain of them is as deep as one
    /// likes.
    fn drop(&mut self) {
        let values = self.take_values();
        if values.iter().any(Value::is_container) {
            bury(values);
        }
    }
}

/// Something to draw items from, once.
#[derive(Debug)]
pub struct Iter {
    pub(crate) source: RefCell<IterSource>,
}

/// Where items come from.
#[derive(Debug)]
pub(crate) enum IterSource {
    List(List, usize),
    Set(Set, usize),
    /// Pairs of key and value.
    Dict(Dict, usize),
    /// Characters, from a byte offset on.
    Chars(Text, usize),
    /// The next and the last int.
    Range(i64, i64),
    Generator(Rc<Generator>),
    Channel(Rc<Channel>),
    Done,
}

impl Iter {
    /// An iterator over a value; `None` if it cannot be iterated. An iterator is one already.
    pub fn over(value: &Value) -> Option<Rc<Self>> {
        let source = match value {
            Value::Iter(iter) => return Some(iter.clone()),
            Value::List(items) => IterSource::List(items.clone(), 0),
            Value::Set(set) => IterSource::Set(set.clone(), 0),
            Value::Dict(dict) => IterSource::Dict(dict.clone(), 0),
            Value::Text(text) => IterSource::Chars(text.clone(), 0),
            Value::Range(range) => Self::over_range(range),
            Value::Generator(generator) => IterSource::Generator(generator.clone()),
            Value::Channel(channel) => IterSource::Channel(channel.clone()),
            _ => return None,
        };
        Some(Rc::new(Self {
            source: RefCell::new(source),
        }))
    }

    fn over_range(range: &Range) -> IterSource {
        match range.last() {
            Some(last) => IterSource::Range(range.start, last),
            // Not ended yet: nobody has asked.
            None => IterSource::Range(1, 0),
        }
    }

    /// What it draws from, to be dropped. It has ended then.
    pub(crate) fn take_source(&mut self) -> Option<Value> {
        match std::mem::replace(self.source.get_mut(), IterSource::Done) {
            IterSource::List(items, _) => Some(Value::List(items)),
            IterSource::Set(set, _) => Some(Value::Set(set)),
            IterSource::Dict(dict, _) => Some(Value::Dict(dict)),
            IterSource::Generator(generator) => Some(Value::Generator(generator)),
            IterSource::Chars(..)
            | IterSource::Range(..)
            | IterSource::Channel(_)
            | IterSource::Done => None,
        }
    }

    /// Whether it has items, or none, without anything to be run or waited for.
    pub fn is_immediate(&self) -> bool {
        match &*self.source.borrow() {
            IterSource::Generator(_) | IterSource::Channel(_) => false,
            IterSource::List(..)
            | IterSource::Set(..)
            | IterSource::Dict(..)
            | IterSource::Chars(..)
            | IterSource::Range(..)
            | IterSource::Done => true,
        }
    }

    /// All items, if there are at most so many and nothing is to be run or waited for. Then it
    /// has ended.
    pub fn drain(&self, most: usize) -> Option<Vec<Value>> {
        let mut source = self.source.borrow_mut();
        let items = match &*source {
            IterSource::List(items, at) => items[(*at).min(items.len())..].to_vec(),
            IterSource::Set(set, at) => set.items()[(*at).min(set.len())..].to_vec(),
            IterSource::Dict(dict, at) => {
                let pair = |(key, value): (&Text, &Value)| {
                    Value::pair(Value::Text(key.clone()), value.clone())
                };
                dict.iter().skip(*at).map(pair).collect()
            }
            IterSource::Range(next, last) if last.abs_diff(*next) < most as u64 => {
                (*next..=*last).map(Value::Int).collect()
            }
            IterSource::Done => Vec::new(),
            IterSource::Range(..)
            | IterSource::Chars(..)
            | IterSource::Generator(_)
            | IterSource::Channel(_) => return None,
        };
        *source = IterSource::Done;
        Some(items)
    }

    /// Whether it has ended.
    pub fn is_exhausted(&self) -> bool {
        match &*self.source.borrow() {
            IterSource::Done => true,
            IterSource::Generator(generator) => generator.is_done(),
            _ => false,
        }
    }
}
