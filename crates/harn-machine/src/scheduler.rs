//! Who runs next.
//!
//! ```text
//!          wake                     slice spent
//! parked ────────► ready (a queue) ◄──────────── running
//!    ▲                  └──────────────────────────▲ │
//!    └───────────────────────────────────────────────┘ waits
//! ```
//!
//! Fibers run in turn, in the order in which they became ready. Given the same completions of
//! effects in the same order, the same fibers run in the same order.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;

use hashbrown::HashMap;

use crate::budget::Budget;
use crate::closure::Closure;
use crate::effects::{Answer, EffectId};
use crate::fault::Failure;
use crate::fiber::{Facts, Fiber};
use crate::iterate::GeneratorState;
use crate::sync::{Bell, FiberId, Task, TaskState, Waiters};
use crate::value::{Dict, Text, Value};

/// Who runs next.
pub struct Scheduler {
    fibers: HashMap<FiberId, Box<Fiber>>,
    ready: VecDeque<FiberId>,
    /// When parked fibers wake by themselves. Those of fibers that something else has woken
    /// stay until they are found at the top, or are too many.
    timers: BinaryHeap<Reverse<Timer>>,
    effects: HashMap<EffectId, FiberId>,
    /// Rung when something is dropped that a parked fiber waits for.
    bell: Rc<Bell>,
    next: u64,
    /// What the program may still use.
    pub(crate) budget: Budget,
}

/// When a parked fiber wakes by itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Timer {
    at: i64,
    /// Keeps those of the same time in order.
    number: u64,
    fiber: FiberId,
    /// The wait that it belongs to.
    wait: u16,
}

/// So many timers are kept whatever has become of their fibers.
const STALE_TIMERS_MIN: usize = 64;

/// What fibers were waiting for that are stopped.
#[derive(Default)]
struct LeftBehind {
    tasks: Vec<Rc<Task>>,
    effects: Vec<EffectId>,
}

/// What a new task is to do.
pub struct Start {
    /// What it runs.
    pub closure: Rc<Closure>,
    /// With what.
    pub arguments: Vec<Value>,
    /// What others know of it.
    pub facts: Rc<Facts>,
    /// The values it starts with.
    pub values: Dict,
    /// How its handle is shown.
    pub handle: Text,
}

impl Scheduler {
    pub(crate) fn new(budget: Budget) -> Self {
        Self {
            fibers: HashMap::new(),
            ready: VecDeque::new(),
            timers: BinaryHeap::new(),
            effects: HashMap::new(),
            bell: Rc::default(),
            next: 0,
            budget,
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// A number for a new fiber.
    pub(crate) fn new_fiber(&mut self) -> FiberId {
        FiberId(self.number())
    }

    /// Starts a task. It runs when its turn comes.
    pub fn start(&mut self, start: Start) -> Rc<Task> {
        self.start_in(start, None)
    }

    /// Starts a task of a group.
    pub(crate) fn start_in(
        &mut self,
        start: Start,
        group: Option<(Rc<crate::run::Group>, usize)>,
    ) -> Rc<Task> {
        let id = self.new_fiber();
        let mut fiber = Box::new(Fiber::new(id, start.facts));
        let task = Rc::new(Task {
            id: start.handle,
            fiber: id,
            state: TaskState::Running.into(),
            cancel_requested: false.into(),
            waiters: Waiters::default(),
        });
        fiber.strand.task = Some(task.clone());
        fiber.strand.values = start.values;
        fiber.strand.group = group;
        crate::run::prepare(&mut fiber, start.closure, start.arguments);
        self.fibers.insert(id, fiber);
        self.ready.push_back(id);
        task
    }

    /// Puts a fiber where it waits for its turn.
    pub(crate) fn add_ready(&mut self, fiber: Box<Fiber>) {
        let id = fiber.strand.id;
        self.fibers.insert(id, fiber);
        self.ready.push_back(id);
    }

    /// Takes the fiber whose turn it is.
    pub(crate) fn next_ready(&mut self) -> Option<Box<Fiber>> {
        self.answer_bell();
        while let Some(id) = self.ready.pop_front() {
            if let Some(fiber) = self.fibers.remove(&id) {
                return Some(fiber);
            }
        }
        None
    }

    /// What is rung when something is dropped that somebody waits for.
    pub fn bell(&self) -> &Rc<Bell> {
        &self.bell
    }

    fn answer_bell(&mut self) {
        for fiber in self.bell.answer() {
            self.wake(fiber);
        }
    }

    /// Puts a fiber where it waits to be woken, at the latest at `until`.
    pub(crate) fn park(&mut self, mut fiber: Box<Fiber>, until: Option<i64>) {
        let id = fiber.strand.id;
        fiber.is_parked = true;
        fiber.parked = fiber.parked.wrapping_add(1);
        let wait = fiber.parked;
        self.fibers.insert(id, fiber);
        if let Some(until) = until {
            let number = self.number();
            self.timers.push(Reverse(Timer {
                at: until,
                number,
                fiber: id,
                wait,
            }));
            self.drop_stale_timers();
        }
    }

    /// Forgets the timers of waits that are over once they are most of all. A fiber has one
    /// timer at most, so whoever is woken early again and again does not fill the memory.
    fn drop_stale_timers(&mut self) {
        if self.timers.len() <= STALE_TIMERS_MIN + 2 * self.fibers.len() {
            return;
        }
        let mut timers = std::mem::take(&mut self.timers);
        timers.retain(|Reverse(timer)| self.is_awaited(timer));
        self.timers = timers;
    }

    /// Whether the wait of a timer goes on.
    fn is_awaited(&self, timer: &Timer) -> bool {
        let fiber = self.fibers.get(&timer.fiber);
        fiber.is_some_and(|fiber| fiber.is_parked && fiber.parked == timer.wait)
    }

    /// Whether a fiber waits to be woken.
    pub fn is_parked(&self, id: FiberId) -> bool {
        self.fibers.get(&id).is_some_and(|fiber| fiber.is_parked)
    }

    /// Wakes a fiber if it is parked.
    pub fn wake(&mut self, id: FiberId) {
        if let Some(fiber) = self.fibers.get_mut(&id)
            && fiber.is_parked
        {
            fiber.is_parked = false;
            self.ready.push_back(id);
        }
    }

    /// Wakes everybody who waits there, in the order in which they came.
    pub fn wake_all(&mut self, waiters: &Waiters) {
        if waiters.is_empty() {
            return;
        }
        for id in waiters.take() {
            self.wake(id);
        }
    }

    /// Wakes everybody whose time has come.
    pub(crate) fn wake_due(&mut self, now: i64) {
        while let Some(Reverse(timer)) = self.timers.peek().copied() {
            if timer.at > now {
                return;
            }
            self.timers.pop();
            if self.is_awaited(&timer) {
                self.wake(timer.fiber);
            }
        }
    }

    /// When somebody wakes by itself.
    pub(crate) fn next_time(&mut self) -> Option<i64> {
        while let Some(Reverse(timer)) = self.timers.peek() {
            if self.is_awaited(timer) {
                return Some(timer.at);
            }
            self.timers.pop();
        }
        None
    }

    /// Whether somebody may wake by itself.
    pub(crate) fn has_timers(&self) -> bool {
        !self.timers.is_empty()
    }

    /// Whether a fiber is there, whatever it does.
    pub(crate) fn is_known(&self, id: FiberId) -> bool {
        self.fibers.contains_key(&id)
    }

    /// Whether somebody waits for the world outside.
    pub(crate) fn has_effects(&self) -> bool {
        !self.effects.is_empty()
    }

    /// A fiber begins an effect.
    pub(crate) fn begin(&mut self, fiber: FiberId) -> EffectId {
        let id = EffectId(self.number());
        self.effects.insert(id, fiber);
        id
    }

    /// Nobody waits for an effect any more.
    pub(crate) fn forget(&mut self, id: EffectId) {
        self.effects.remove(&id);
    }

    /// An effect has its answer.
    pub(crate) fn complete(&mut self, id: EffectId, answer: Answer) {
        let Some(fiber) = self.effects.remove(&id) else {
            return;
        };
        if let Some(fiber) = self.fibers.get_mut(&fiber)
            && let Some(waiting) = &mut fiber.waiting
            && waiting.effect == Some(id)
        {
            waiting.answer = Some(Box::new(answer));
        }
        self.wake(fiber);
    }

    /// A task has ended.
    pub(crate) fn finish(&mut self, fiber: Fiber, result: Result<Value, Failure>) {
        if let Some(caller) = fiber.strand.caller {
            return caller.answer(result);
        }
        let Some(task) = fiber.strand.task else {
            return;
        };
        if task.is_over() {
            return;
        }
        let output = fiber.strand.output;
        task.state.replace(TaskState::Ended { result, output });
        self.wake_all(&task.waiters);
        if let Some((group, index)) = fiber.strand.group {
            group.end(index, self);
        }
    }

    /// Stops a task where it is, and those it waits for in a group. Gives the effects that
    /// nobody waits for any more.
    pub fn stop(&mut self, task: &Rc<Task>) -> Vec<EffectId> {
        let mut left_behind = LeftBehind::default();
        left_behind.tasks.push(task.clone());
        self.stop_all(left_behind)
    }

    /// The same for a fiber that is no task.
    pub(crate) fn stop_fiber(&mut self, id: FiberId) -> Vec<EffectId> {
        let mut left_behind = LeftBehind::default();
        if let Some(fiber) = self.fibers.remove(&id) {
            self.abandon(*fiber, &mut left_behind);
        }
        self.stop_all(left_behind)
    }

    fn stop_all(&mut self, mut left_behind: LeftBehind) -> Vec<EffectId> {
        while let Some(task) = left_behind.tasks.pop() {
            if !task.is_over() {
                task.state.replace(TaskState::Gone);
            }
            let fiber = self.fibers.remove(&task.fiber);
            self.wake_all(&task.waiters);
            if let Some(fiber) = fiber {
                self.abandon(*fiber, &mut left_behind);
            }
        }
        left_behind.effects
    }

    /// Drops a fiber that does not go on.
    fn abandon(&mut self, fiber: Fiber, left_behind: &mut LeftBehind) {
        let frames = fiber.frames.iter();
        for generator in frames.filter_map(|frame| frame.generator.as_ref()) {
            generator.state.replace(GeneratorState::Done);
            self.wake_all(&generator.waiters);
        }
        let Some(waiting) = fiber.waiting else {
            return;
        };
        if let Some(effect) = waiting.effect {
            self.forget(effect);
            left_behind.effects.push(effect);
        }
        if let Some(group) = waiting.group {
            group.backlog.borrow_mut().clear();
            left_behind.tasks.extend(group.tasks.take());
        }
    }

    /// Adds to the output of a task, if it still has one.
    pub(crate) fn write_to(&mut self, id: FiberId, text: &str) {
        if let Some(fiber) = self.fibers.get_mut(&id) {
            fiber.strand.output.push_str(text);
        }
    }

    /// Asks a task to stop. It has a while to notice.
    pub fn request_stop(&mut self, task: &Task, now: i64) {
        task.cancel_requested.set(true);
        let Some(fiber) = self.fibers.get_mut(&task.fiber) else {
            return;
        };
        let until = now.saturating_add(crate::run::GRACE_MS);
        fiber.strand.grace = Some(crate::fiber::Grace {
            until,
            checks: crate::run::GRACE_CHECKS,
        });
        // If it goes on waiting, it does so until then at the latest.
        self.wake(task.fiber);
    }

    /// Everything that is there, to be measured.
    pub(crate) fn fibers(&self) -> impl Iterator<Item = &Fiber> {
        self.fibers.values().map(|fiber| &**fiber)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheduler() -> Scheduler {
        Scheduler::new(Budget::default())
    }

    /// Parks a fiber and wakes it before its time.
    fn park_and_wake(scheduler: &mut Scheduler, fiber: Box<Fiber>, until: i64) -> Box<Fiber> {
        let id = fiber.strand.id;
        scheduler.park(fiber, Some(until));
        scheduler.wake(id);
        scheduler.next_ready().unwrap()
    }

    #[test]
    fn timers_of_waits_that_are_over_do_not_pile_up() {
        let mut scheduler = scheduler();
        let id = scheduler.new_fiber();
        let mut fiber = Box::new(Fiber::new(id, Rc::default()));
        for until in 0..10_000 {
            fiber = park_and_wake(&mut scheduler, fiber, 1_000_000 + until);
        }
        assert!(scheduler.timers.len() <= STALE_TIMERS_MIN + 2);
    }

    #[test]
    fn the_timer_of_an_earlier_wait_wakes_nobody() {
        let mut scheduler = scheduler();
        let id = scheduler.new_fiber();
        let fiber = Box::new(Fiber::new(id, Rc::default()));
        let fiber = park_and_wake(&mut scheduler, fiber, 10);
        scheduler.park(fiber, Some(20));
        assert_eq!(scheduler.next_time(), Some(20));
        scheduler.wake_due(15);
        assert!(scheduler.is_parked(id));
        scheduler.wake_due(20);
        assert!(!scheduler.is_parked(id));
    }

    #[test]
    fn a_fiber_that_waits_for_ever_has_no_time() {
        let mut scheduler = scheduler();
        let id = scheduler.new_fiber();
        let fiber = Box::new(Fiber::new(id, Rc::default()));
        let fiber = park_and_wake(&mut scheduler, fiber, 10);
        scheduler.park(fiber, None);
        assert_eq!(scheduler.next_time(), None);
    }
}
