//! The functions of a program that can be called from outside.

use std::rc::{Rc, Weak};
use std::sync::Arc;

use hashbrown::HashMap;

use crate::closure::Closure;
use crate::fault::Fault;
use crate::fiber::{DEPTH_MAX, Facts, Fiber, Strand};
use crate::handle::{self, HostCall, Progress, Reply};
use crate::machine::Machine;
use crate::run;
use crate::sync::{FiberId, Task};
use crate::value::{Dict, Text, Value};

/// The functions that can be called from outside, until they are released.
#[derive(Default)]
pub(crate) struct Exports {
    functions: HashMap<u64, Rc<Export>>,
    /// How many there have been. Numbers are never used again.
    count: u64,
}

/// A function that can be called from outside, with what its calls inherit from the task that
/// let it out. A call is a part of what that task does, though it has a fiber of its own.
pub(crate) struct Export {
    pub(crate) closure: Rc<Closure>,
    /// The values that calls start with.
    pub(crate) values: Dict,
    /// What is known of the task.
    facts: Rc<Facts>,
    /// Whose output gets what calls write; `None`: that of the program.
    home: Option<FiberId>,
    /// Whether nothing is shown of what calls write.
    is_muted: bool,
    /// The task, to see whether it was asked to stop.
    task: Weak<Task>,
    /// How many calls were nested in the task.
    depth: u32,
}

/// What the fiber of a call knows of whoever called.
pub(crate) struct Caller {
    reply: Reply,
    progress: Arc<Progress>,
    /// Whose output gets what it writes; `None`: that of the program.
    pub(crate) home: Option<FiberId>,
    /// The task that it is a part of.
    pub(crate) task: Weak<Task>,
}

impl Caller {
    /// The call has ended.
    pub(crate) fn answer(self, result: Result<Value, crate::Failure>) {
        handle::answer(self.reply, &self.progress, result);
    }
}

impl Export {
    /// A function that a task lets out, so deep in its calls.
    pub(crate) fn of(closure: &Rc<Closure>, strand: &Strand, depth: u32) -> Self {
        let (home, task) = match (&strand.caller, &strand.task) {
            (Some(caller), _) => (caller.home, caller.task.clone()),
            (None, task) => {
                let home = (!strand.is_root).then_some(strand.id);
                (home, task.as_ref().map_or_else(Weak::new, Rc::downgrade))
            }
        };
        Self {
            closure: closure.clone(),
            values: strand.values.clone(),
            facts: strand.facts.clone(),
            home,
            is_muted: strand.muted > 0,
            task,
            depth,
        }
    }

    /// A function that the program as such lets out.
    pub(crate) fn of_program(closure: &Rc<Closure>) -> Self {
        Self {
            closure: closure.clone(),
            values: Dict::default(),
            facts: Rc::new(Facts::of_root()),
            home: None,
            is_muted: false,
            task: Weak::new(),
            depth: 0,
        }
    }

    /// A fiber for a call.
    fn fiber(&self, id: FiberId, reply: Reply, progress: Arc<Progress>) -> Box<Fiber> {
        let parent = self.facts.id.clone();
        let facts = Facts {
            id: Text::from(format!("{parent}:call:{}", id.0)),
            parent: Some(parent),
            name: Text::new("call"),
            group: self.facts.group.clone(),
        };
        let mut fiber = Box::new(Fiber::new(id, Rc::new(facts)));
        fiber.depth = self.depth;
        fiber.strand.is_root = self.home.is_none();
        fiber.strand.muted = u32::from(self.is_muted);
        fiber.strand.values = self.values.clone();
        fiber.strand.caller = Some(Box::new(Caller {
            reply,
            progress,
            home: self.home,
            task: self.task.clone(),
        }));
        fiber
    }
}

impl Exports {
    /// Keeps a function until it is released. Gives its number.
    pub(crate) fn add(&mut self, export: Export) -> u64 {
        self.count += 1;
        self.functions.insert(self.count, Rc::new(export));
        self.count
    }

    /// Nobody can call a function any more.
    pub(crate) fn release(&mut self, number: u64) {
        self.functions.remove(&number);
    }

    /// How many functions somebody outside could call.
    pub(crate) fn len(&self) -> usize {
        self.functions.len()
    }

    /// Everything that is kept, to be measured.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Export> {
        self.functions.values().map(|export| &**export)
    }
}

impl Machine {
    /// A call from outside becomes a fiber, unless it was given up before.
    pub(crate) fn begin_call(&mut self, call: HostCall) {
        let Some(export) = self.exports.functions.get(&call.function).cloned() else {
            return call.answer(Err(Fault::own("there is no such function")));
        };
        if export.depth >= DEPTH_MAX {
            return call.answer(Err(Fault::stack_overflow()));
        }
        let id = self.scheduler.new_fiber();
        if !call.progress.start(id) {
            return;
        }
        let mut fiber = export.fiber(id, call.reply, call.progress);
        for (name, value) in call.values {
            fiber.strand.values.insert(Text::new(name), value.into());
        }
        let arguments = call.arguments.into_iter().map(Value::from).collect();
        match run::prepare_call(&mut fiber, export.closure.clone(), arguments) {
            None => self.scheduler.add_ready(fiber),
            Some(generator) => self.scheduler.finish(*fiber, Ok(generator)),
        }
    }
}
