//! A strand of a program: its frames, its registers and what others know of it.

use std::rc::{Rc, Weak};

use crate::closure::Closure;
use crate::context::Waiting;
use crate::iterate::Generator;
use crate::sync::{FiberId, Task};
use crate::value::{Dict, Text, Value};

/// How many calls of a program's own functions nest at most.
pub(crate) const DEPTH_MAX: u32 = 512;

/// A strand of a program.
pub(crate) struct Fiber {
    pub(crate) strand: Strand,
    /// The registers of all frames; every one of them holds a value at all times.
    pub(crate) stack: Vec<Value>,
    pub(crate) frames: Vec<Frame>,
    /// How many of the frames belong to the program.
    pub(crate) depth: u32,
    /// Whether it waits to be woken.
    pub(crate) is_parked: bool,
    /// Counts how often it was parked, so that a timer of an earlier wait can be told.
    pub(crate) parked: u16,
    /// What the body that is being called waits for.
    pub(crate) waiting: Option<Box<Waiting>>,
    /// Who waited for a generator that this one has asked, and can ask it now.
    pub(crate) woken: Vec<FiberId>,
    /// When blocks with a deadline have to be over, the innermost last.
    pub(crate) deadlines: Vec<i64>,
}

/// A call that has not returned.
pub(crate) struct Frame {
    pub(crate) closure: Rc<Closure>,
    /// The next instruction.
    pub(crate) pc: u32,
    /// Where its registers begin.
    pub(crate) base: u32,
    /// The register of the frame below that gets the result.
    pub(crate) result: u16,
    /// How many arguments were passed.
    pub(crate) argc: u8,
    pub(crate) flags: u8,
    /// The generator that runs in it.
    pub(crate) generator: Option<Rc<Generator>>,
}

/// Errors that leave the frame are annotated.
pub(crate) const BOUNDARY: u8 = 1;
/// What is written while the frame runs is not shown.
pub(crate) const MUTED: u8 = 2;

/// A task as seen from inside.
pub struct Strand {
    /// Its fiber.
    pub id: FiberId,
    /// Whether it is the program itself.
    pub is_root: bool,
    /// What it has written, unless it is the program itself.
    pub output: String,
    /// How many generators run in it that may not write.
    pub(crate) muted: u32,
    /// Its handle.
    pub task: Option<Rc<Task>>,
    /// How others call it.
    pub facts: Rc<Facts>,
    /// Values that belong to it.
    pub values: Dict,
    /// How many tasks it has spawned.
    pub spawned: u32,
    /// How many parallel constructs it has run.
    pub parallels: u32,
    /// The tasks that it has spawned, as long as somebody knows them.
    pub children: Vec<Weak<Task>>,
    /// The group it belongs to, and its number there.
    pub(crate) group: Option<(Rc<crate::run::Group>, usize)>,
    /// Who outside has called it.
    pub(crate) caller: Option<Box<crate::exports::Caller>>,
    /// When it was asked to stop, and how many checks it has left.
    pub(crate) grace: Option<Grace>,
}

/// How long a task that was asked to stop may go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grace {
    /// Until when it may wait for something.
    pub(crate) until: i64,
    /// How many times it may still be asked whether it has stopped.
    pub(crate) checks: u32,
}

/// What is known of a task.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Its id.
    pub id: Text,
    /// The id of the task that started it.
    pub parent: Option<Text>,
    /// What it is called.
    pub name: Text,
    /// The group it belongs to.
    pub group: Option<Text>,
}

impl Default for Text {
    fn default() -> Self {
        Self::new("")
    }
}

impl Facts {
    /// What is known of the program itself.
    pub(crate) fn of_root() -> Self {
        Self {
            id: Text::new("task_root"),
            parent: None,
            name: Text::new("root"),
            group: None,
        }
    }
}

impl Strand {
    /// Whether it was asked to stop, or the task that it is called for.
    pub fn is_cancelled(&self) -> bool {
        let caller = self.caller.as_ref();
        let task = caller.and_then(|caller| caller.task.upgrade());
        self.must_stop() || task.is_some_and(|task| task.cancel_requested.get())
    }

    /// Whether it was asked to stop. What it is called for stops by itself, and stops it then.
    pub(crate) fn must_stop(&self) -> bool {
        let task = self.task.as_ref();
        task.is_some_and(|task| task.cancel_requested.get())
    }

    /// Remembers a task that it has spawned, and forgets those that nobody can await.
    pub fn adopt(&mut self, task: &Rc<Task>) {
        let children = &mut self.children;
        if children.len() == children.capacity() {
            children.retain(|child| child.upgrade().is_some_and(|child| !child.is_gone()));
        }
        children.push(Rc::downgrade(task));
    }
}

impl Fiber {
    /// A fiber with nothing to run.
    pub(crate) fn new(id: FiberId, facts: Rc<Facts>) -> Self {
        Self {
            strand: Strand {
                id,
                is_root: false,
                output: String::new(),
                muted: 0,
                task: None,
                facts,
                values: Dict::default(),
                spawned: 0,
                parallels: 0,
                children: Vec::new(),
                group: None,
                caller: None,
                grace: None,
            },
            stack: Vec::new(),
            // Most tasks that wait do so in their first frame.
            frames: Vec::with_capacity(1),
            depth: 0,
            is_parked: false,
            parked: 0,
            waiting: None,
            woken: Vec::new(),
            deadlines: Vec::new(),
        }
    }

    /// Makes sure that there are so many registers.
    pub(crate) fn grow(&mut self, registers: usize) {
        if self.stack.len() < registers {
            let room = registers.max(self.stack.len() * 2);
            let room = if self.stack.is_empty() {
                registers
            } else {
                room
            };
            self.stack.resize(room, Value::Nil);
        }
    }

    /// The earliest time when a block has to be over.
    pub(crate) fn deadline(&self) -> Option<i64> {
        self.deadlines.iter().copied().min()
    }
}
