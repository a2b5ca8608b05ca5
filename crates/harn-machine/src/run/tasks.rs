//! `spawn`, `parallel` and `select`.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use crate::closure::Closure;
use crate::code::{Instruction, Op};
use crate::fault::{Failure, Fault};
use crate::fiber::{Facts, Fiber};
use crate::iterate::Generator;
use crate::machine::Machine;
use crate::scheduler::{Scheduler, Start};
use crate::sync::{Channel, Task, TaskState, Waiters};
use crate::value::{Text, Value};

/// Tasks that belong together: at most so many of them run at once.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// The tasks in source order, as far as they have been started.
    pub(crate) tasks: RefCell<Vec<Rc<Task>>>,
    /// Those that have not.
    pub(crate) backlog: RefCell<VecDeque<Start>>,
    /// Which have ended and were not asked for, in the order of their ends.
    finished: RefCell<VecDeque<usize>>,
    /// How many have not ended.
    left: Cell<usize>,
    /// Whether whoever waits wants to know about each end, or only about the last.
    wakes_for_each: Cell<bool>,
    /// Who waits.
    pub(crate) waiters: Waiters,
}

impl std::fmt::Debug for Start {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Start").field("facts", &self.facts).finish()
    }
}

impl Group {
    /// Whether nothing is left to happen.
    pub(crate) fn is_over(&self) -> bool {
        self.left.get() == 0 && self.finished.borrow().is_empty()
    }

    /// A task that has ended, in the order of their ends.
    pub(crate) fn next_finished(&self) -> Option<Rc<Task>> {
        let at = self.finished.borrow_mut().pop_front()?;
        self.tasks.borrow().get(at).cloned()
    }

    /// A member has ended. Gives who must be told, and what can be started.
    pub(crate) fn end(self: &Rc<Self>, index: usize, scheduler: &mut Scheduler) {
        self.left.set(self.left.get() - 1);
        self.finished.borrow_mut().push_back(index);
        self.start_next(scheduler);
        if self.wakes_for_each.get() || self.left.get() == 0 {
            scheduler.wake_all(&self.waiters);
        }
    }

    fn start_next(self: &Rc<Self>, scheduler: &mut Scheduler) {
        let next = self.backlog.borrow_mut().pop_front();
        if let Some(start) = next {
            let index = self.tasks.borrow().len();
            let task = scheduler.start_in(start, Some((self.clone(), index)));
            self.tasks.borrow_mut().push(task);
        }
    }
}

/// `spawn`
pub(crate) fn spawn(machine: &mut Machine, fiber: &mut Fiber, closure: Rc<Closure>) -> Value {
    let strand = &mut fiber.strand;
    strand.spawned += 1;
    let number = strand.spawned;
    let parent = strand.facts.id.clone();
    let name = machine.interner.text("spawn");
    let task = machine.scheduler.start(Start {
        closure,
        arguments: Vec::new(),
        facts: Rc::new(Facts {
            id: Text::from(format!("{parent}:spawn:{number}")),
            parent: Some(parent),
            name,
            group: None,
        }),
        values: strand.values.clone(),
        handle: Text::from(format!("vm_task_{number}")),
    });
    strand.adopt(&task);
    Value::Task(task)
}

/// How `parallel` is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Count,
    Each,
    Settle,
    Stream,
}

impl Mode {
    /// The mode with that number.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        [Self::Count, Self::Each, Self::Settle, Self::Stream]
            .get(usize::from(number))
            .copied()
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Count => ("parallel", "parallel"),
            Self::Each => ("parallel_each", "parallel each"),
            Self::Settle => ("parallel_settle", "parallel settle"),
            Self::Stream => ("parallel_each_stream", "parallel each as stream"),
        }
    }
}

/// What `parallel` comes to.
pub(crate) enum Parallel {
    Value(Value),
    Waits,
}

/// `parallel`: the source, the limit and the closure are in three registers.
pub(crate) fn parallel(
    machine: &mut Machine,
    fiber: &mut Fiber,
    mode: Mode,
    window: usize,
) -> Result<Parallel, Failure> {
    let waiting = fiber.waiting.take();
    let group = match waiting.and_then(|waiting| waiting.group.clone()) {
        Some(group) => group,
        None => {
            let Some(items) = items(mode, &fiber.stack[window]) else {
                return Ok(Parallel::Value(Value::Nil));
            };
            let limit = limit(&fiber.stack[window + 1])?;
            let Value::Closure(closure) = fiber.stack[window + 2].clone() else {
                return Ok(Parallel::Value(Value::Nil));
            };
            start(machine, fiber, mode, items, limit, &closure)
        }
    };
    if mode == Mode::Stream {
        return Ok(Parallel::Value(Value::Generator(Rc::new(
            Generator::receiving(group),
        ))));
    }
    if group.left.get() > 0 {
        group.waiters.add(fiber.strand.id);
        let waiting = fiber.waiting.get_or_insert_default();
        waiting.resumed = true;
        waiting.group = Some(group);
        return Ok(Parallel::Waits);
    }
    let tasks = group.tasks.take();
    match mode {
        Mode::Settle => Ok(Parallel::Value(settle(machine, fiber, tasks))),
        _ => collect(machine, fiber, tasks).map(Parallel::Value),
    }
}

/// What each body is given; `None` if there is nothing to go over.
fn items(mode: Mode, source: &Value) -> Option<Vec<Value>> {
    match (mode, source) {
        (Mode::Count, Value::Int(count)) => Some((0..*count).map(Value::Int).collect()),
        (Mode::Count, _) => Some(Vec::new()),
        (_, Value::List(items)) => Some(items.to_vec()),
        _ => None,
    }
}

fn limit(value: &Value) -> Result<usize, Failure> {
    match value {
        Value::Nil => Ok(usize::MAX),
        Value::Int(limit) => Ok(match usize::try_from(*limit) {
            Ok(0) | Err(_) => usize::MAX,
            Ok(limit) => limit,
        }),
        other => Err(Fault::type_error(format!(
            "parallel max_concurrent must be an int; got {}",
            other.type_name()
        ))),
    }
}

fn start(
    machine: &mut Machine,
    fiber: &mut Fiber,
    mode: Mode,
    items: Vec<Value>,
    limit: usize,
    closure: &Rc<Closure>,
) -> Rc<Group> {
    let strand = &mut fiber.strand;
    strand.parallels += 1;
    let (kind, name) = mode.names();
    let parent = strand.facts.id.clone();
    let id = Text::from(format!("{parent}:{kind}:{}", strand.parallels));
    let name = Text::new(name);
    let group = Rc::new(Group::default());
    group.left.set(items.len());
    group.wakes_for_each.set(mode == Mode::Stream);
    let starts = items.into_iter().enumerate().map(|(at, item)| Start {
        closure: closure.clone(),
        arguments: vec![item],
        facts: Rc::new(Facts {
            id: Text::from(format!("{id}:{at}")),
            parent: Some(parent.clone()),
            name: name.clone(),
            group: Some(id.clone()),
        }),
        values: strand.values.clone(),
        handle: Text::from(format!("{id}:{at}")),
    });
    *group.backlog.borrow_mut() = starts.collect();
    let count = group.backlog.borrow().len().min(limit);
    for _ in 0..count {
        group.start_next(&mut machine.scheduler);
    }
    group
}

/// All values in source order, or the first failure. What was written comes with them.
fn collect(
    machine: &mut Machine,
    fiber: &mut Fiber,
    tasks: Vec<Rc<Task>>,
) -> Result<Value, Failure> {
    let mut values = Vec::with_capacity(tasks.len());
    for task in tasks {
        match task.state.replace(TaskState::Gone) {
            TaskState::Ended { result, output } => match result {
                Ok(value) => {
                    write(machine, fiber, &output);
                    values.push(value);
                }
                Err(mut failure) => {
                    failure.line = 0;
                    return Err(failure);
                }
            },
            _ => values.push(Value::Nil),
        }
    }
    Ok(Value::list(values))
}

fn write(machine: &mut Machine, fiber: &mut Fiber, output: &str) {
    if output.is_empty() {
        return;
    }
    let source = fiber
        .frames
        .last()
        .map(|frame| frame.closure.function.source.clone());
    if let Some(source) = source {
        let depth = fiber.depth;
        let mut context = machine.context(&mut fiber.strand, &source, depth);
        context.write(output);
    }
}

fn settle(machine: &mut Machine, fiber: &mut Fiber, tasks: Vec<Rc<Task>>) -> Value {
    let (mut succeeded, mut failed) = (0, 0);
    let mut results = Vec::with_capacity(tasks.len());
    for task in tasks {
        let result = match task.state.replace(TaskState::Gone) {
            TaskState::Ended { result, output } => {
                // What a task wrote that failed does not appear, whoever waited for it.
                if result.is_ok() {
                    write(machine, fiber, &output);
                }
                result
            }
            _ => Ok(Value::Nil),
        };
        match result {
            Ok(value) => {
                succeeded += 1;
                results.push(Value::ok(value));
            }
            Err(failure) => {
                failed += 1;
                results.push(Value::err(Value::from(failure.text())));
            }
        }
    }
    Value::dict([
        ("failed", Value::Int(failed)),
        ("results", Value::list(results)),
        ("succeeded", Value::Int(succeeded)),
    ])
}

/// Executes `Parallel` or `Select`. Gives `false` if it has to wait.
#[inline(never)]
pub(super) fn wait(
    machine: &mut Machine,
    fiber: &mut Fiber,
    i: Instruction,
) -> Result<bool, Failure> {
    let Some(frame) = fiber.frames.last() else {
        return Ok(true);
    };
    let base = frame.base as usize;
    let (result, window) = (base + usize::from(i.a()), base + usize::from(i.b()));
    if i.op() == Op::Parallel {
        let mode = Mode::from_number(i.n()).unwrap_or(Mode::Count);
        let Parallel::Value(value) = parallel(machine, fiber, mode, window)? else {
            return Ok(false);
        };
        fiber.stack[window..window + 3].fill(Value::Nil);
        fiber.stack[result] = value;
        return Ok(true);
    }
    let count = usize::from(i.c());
    let Select::Chosen(index, value) = select(machine, fiber, window, count, i.n()) else {
        return Ok(false);
    };
    let all = count + usize::from(i.n() == 1);
    fiber.stack[window..window + all].fill(Value::Nil);
    fiber.stack[result] = Value::Int(index);
    fiber.stack[result + 1] = value;
    Ok(true)
}

/// The time is over, or nothing is ready.
pub(crate) const NONE_READY: i64 = -1;
/// All channels are closed and drained.
pub(crate) const ALL_CLOSED: i64 = -2;

/// What `select` comes to.
pub(crate) enum Select {
    Chosen(i64, Value),
    Waits,
}

/// `select`: channels in consecutive registers; with a time after them, without waiting, or
/// neither.
pub(crate) fn select(
    machine: &mut Machine,
    fiber: &mut Fiber,
    window: usize,
    count: usize,
    how: u8,
) -> Select {
    let channels: Vec<Option<Rc<Channel>>> = fiber.stack[window..window + count]
        .iter()
        .map(|value| match value {
            Value::Channel(channel) => Some(channel.clone()),
            _ => None,
        })
        .collect();
    for (at, channel) in (0..).zip(&channels) {
        let Some(channel) = channel else { continue };
        let value = channel.queue.borrow_mut().pop_front();
        if let Some(value) = value {
            fiber.waiting = None;
            machine.scheduler.wake_all(&channel.senders);
            return Select::Chosen(at, value);
        }
    }
    let over = match how {
        1 => is_over(machine, fiber, window + count),
        2 => true,
        _ => false,
    };
    let all_closed = channels
        .iter()
        .flatten()
        .all(|channel| channel.is_drained());
    if over || (all_closed && how == 0) {
        fiber.waiting = None;
        return Select::Chosen(if over { NONE_READY } else { ALL_CLOSED }, Value::Nil);
    }
    for channel in channels.iter().flatten() {
        channel.receivers.add(fiber.strand.id);
    }
    fiber.waiting.get_or_insert_default().resumed = true;
    Select::Waits
}

/// Whether the time of a `select` is over, which begins when it is asked first.
fn is_over(machine: &mut Machine, fiber: &mut Fiber, time: usize) -> bool {
    let now = machine.elapsed();
    let length = match fiber.stack[time] {
        Value::Duration(length) | Value::Int(length) => length.max(0),
        _ => 0,
    };
    let waiting = fiber.waiting.get_or_insert_default();
    let until = *waiting.until.get_or_insert(now.saturating_add(length));
    now >= until
}
