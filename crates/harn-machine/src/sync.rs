//! What tasks share: channels, handles of tasks, and how they wait for each other.
//!
//! Whoever has to wait leaves the number of its fiber; whoever changes something takes those
//! numbers and wakes them, in the order in which they came. A woken fiber looks again: it may
//! find that somebody was faster, and waits on.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use hashbrown::HashSet;

use crate::fault::Failure;
use crate::value::{Text, Value, bury};

/// A fiber, by its number. Numbers are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FiberId(pub u64);

/// Fibers that wait for something to change.
#[derive(Debug, Default)]
pub struct Waiters(RefCell<Queue>);

#[derive(Debug, Default)]
struct Queue {
    order: Vec<FiberId>,
    /// Who is in it, once there are many.
    known: Option<Box<HashSet<FiberId>>>,
}

/// The most fibers that are looked through one by one.
const FEW: usize = 16;

impl Waiters {
    /// A fiber waits.
    pub fn add(&self, fiber: FiberId) {
        let mut queue = self.0.borrow_mut();
        if queue.is_new(fiber) {
            queue.order.push(fiber);
        }
    }

    /// Everybody who waits, in the order in which they came; nobody waits any more.
    pub fn take(&self) -> Vec<FiberId> {
        std::mem::take(&mut *self.0.borrow_mut()).order
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.0.borrow().order.is_empty()
    }
}

impl Queue {
    fn is_new(&mut self, fiber: FiberId) -> bool {
        if self.order.len() < FEW {
            return !self.order.contains(&fiber);
        }
        let order = &self.order;
        let known = || Box::new(order.iter().copied().collect());
        self.known.get_or_insert_with(known).insert(fiber)
    }
}

/// Rung where something is dropped that somebody waits for: whoever drops a value has no
/// scheduler at hand and cannot wake anybody.
#[derive(Debug, Default)]
pub struct Bell(RefCell<Vec<FiberId>>);

impl Bell {
    /// Wakes a fiber before the next one runs.
    pub fn ring_for(&self, fiber: FiberId) {
        self.0.borrow_mut().push(fiber);
    }

    /// For whom it was rung since the last time somebody asked.
    pub(crate) fn answer(&self) -> Vec<FiberId> {
        self.0.take()
    }
}

/// A bounded queue between tasks.
#[derive(Debug)]
pub struct Channel {
    /// Its name.
    pub name: Text,
    /// How many values it holds at most.
    pub capacity: usize,
    /// What was sent and not received.
    pub queue: RefCell<VecDeque<Value>>,
    /// Whether nothing more can be sent.
    pub closed: Cell<bool>,
    /// Who waits for a value or for its end.
    pub receivers: Waiters,
    /// Who waits for room.
    pub senders: Waiters,
}

impl Channel {
    /// An open channel; it holds one value at least.
    pub fn new(name: Text, capacity: usize) -> Rc<Self> {
        Rc::new(Self {
            name,
            capacity: capacity.max(1),
            queue: RefCell::default(),
            closed: Cell::new(false),
            receivers: Waiters::default(),
            senders: Waiters::default(),
        })
    }

    /// Everything in it, to be dropped.
    pub(crate) fn take_values(&mut self) -> VecDeque<Value> {
        std::mem::take(self.queue.get_mut())
    }

    /// Whether it is closed and nothing is left in it.
    pub fn is_drained(&self) -> bool {
        self.closed.get() && self.queue.borrow().is_empty()
    }

    /// Whether it has no room.
    pub fn is_full(&self) -> bool {
        self.queue.borrow().len() >= self.capacity
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        let values = self.take_values();
        if values.iter().any(Value::is_container) {
            bury(values.into());
        }
    }
}

/// A task as others see it.
#[derive(Debug)]
pub struct Task {
    /// How it is shown: `vm_task_1`.
    pub id: Text,
    /// The fiber that runs it.
    pub fiber: FiberId,
    /// How far it is.
    pub state: RefCell<TaskState>,
    /// Whether it was asked to stop.
    pub cancel_requested: Cell<bool>,
    /// Who waits for its end.
    pub waiters: Waiters,
}

/// How far a task is.
#[derive(Debug)]
pub enum TaskState {
    /// It runs, or could.
    Running,
    /// It has ended, and nobody has asked for its value yet.
    Ended {
        /// Its value, or what went wrong.
        result: Result<Value, Failure>,
        /// What it wrote.
        output: String,
    },
    /// Its value was given away, or it was stopped.
    Gone,
}

impl Task {
    /// What it has come to, to be dropped.
    pub(crate) fn take_value(&mut self) -> Option<Value> {
        match std::mem::replace(self.state.get_mut(), TaskState::Gone) {
            TaskState::Ended {
                result: Ok(value), ..
            } => Some(value),
            _ => None,
        }
    }

    /// Whether it has ended in one way or another.
    pub fn is_over(&self) -> bool {
        !matches!(*self.state.borrow(), TaskState::Running)
    }

    /// Whether nobody will get anything of it any more.
    pub fn is_gone(&self) -> bool {
        matches!(*self.state.borrow(), TaskState::Gone)
    }

    /// Its value or its failure, with what it wrote, once it has ended. Only the first who
    /// asks gets it.
    pub fn take_end(&self) -> Option<(Result<Value, Failure>, String)> {
        if !matches!(*self.state.borrow(), TaskState::Ended { .. }) {
            return None;
        }
        match self.state.replace(TaskState::Gone) {
            TaskState::Ended { result, output } => Some((result, output)),
            TaskState::Running | TaskState::Gone => None,
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(value) = self.take_value().filter(Value::is_container) {
            bury(vec![value]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_waits_once_and_in_order() {
        let waiters = Waiters::default();
        let many = 3 * FEW as u64;
        for _ in 0..2 {
            (0..many).for_each(|id| waiters.add(FiberId(id)));
        }
        let order: Vec<FiberId> = (0..many).map(FiberId).collect();
        assert_eq!(waiters.take(), order);
        assert!(waiters.is_empty());
        waiters.add(FiberId(0));
        assert_eq!(waiters.take(), [FiberId(0)], "who was woken may wait again");
    }
}
