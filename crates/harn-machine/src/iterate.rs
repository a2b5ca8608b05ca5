//! Things that give one item after another.

use std::cell::RefCell;
use std::rc::Rc;

use crate::closure::Closure;
use crate::run::Group;
use crate::sync::Channel;
use crate::value::{Dict, List, Range, Set, Text, Value};

/// A function that pauses wherever it yields.
#[derive(Debug)]
pub struct Generator {
    /// What kind it is.
    pub kind: GeneratorKind,
    pub(crate) state: RefCell<GeneratorState>,
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
    Running,
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
        }
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
            None => IterSource::Done,
        }
    }

    /// Whether it has ended.
    pub fn is_exhausted(&self) -> bool {
        matches!(*self.source.borrow(), IterSource::Done)
    }
}
