//! Work of agents that no effect of the program waits for.
//!
//! It is polled on the thread of the program like everything else about agents. The waker of an
//! effect brings it back there, so each piece of work has the id of an effect that the program
//! never begins: they count down from the end, where the program's own never come.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use harn_agent::{BoxFuture, Spawn};
use harn_machine::{EffectId, Outside};

use crate::models::TokioHandle;

/// Brings what was spawned to the thread of the program.
const ARRIVALS: EffectId = EffectId(u64::MAX);

/// What goes on in the background of a program.
pub(super) struct Background {
    outside: Outside,
    arrivals: Arc<Arrivals>,
    tasks: BTreeMap<EffectId, Task>,
    next: u64,
}

struct Task {
    work: BoxFuture<'static, ()>,
    waker: Waker,
}

/// What was spawned and has not begun.
struct Arrivals {
    waiting: Mutex<Vec<BoxFuture<'static, ()>>>,
    waker: Waker,
}

impl Spawn for Arrivals {
    fn spawn(&self, work: BoxFuture<'static, ()>) {
        let waiting = self.waiting.lock();
        waiting.unwrap_or_else(PoisonError::into_inner).push(work);
        self.waker.wake_by_ref();
    }
}

impl Background {
    pub(super) fn new(outside: &Outside) -> Self {
        Self {
            outside: outside.clone(),
            arrivals: Arc::new(Arrivals {
                waiting: Mutex::default(),
                waker: outside.waker(ARRIVALS),
            }),
            tasks: BTreeMap::new(),
            next: ARRIVALS.0,
        }
    }

    /// Where work is spawned.
    pub(super) fn spawner(&self) -> Arc<dyn Spawn> {
        Arc::clone(&self.arrivals) as Arc<dyn Spawn>
    }

    /// Goes on with what was woken; says whether that is something of the background.
    pub(super) fn resume(&mut self, id: EffectId, tokio: &TokioHandle) -> bool {
        if id == ARRIVALS {
            self.begin(tokio);
            return true;
        }
        match self.tasks.remove(&id) {
            Some(task) => {
                self.poll(id, task, tokio);
                true
            }
            None => false,
        }
    }

    fn begin(&mut self, tokio: &TokioHandle) {
        let waiting = self.arrivals.waiting.lock();
        let begun = std::mem::take(&mut *waiting.unwrap_or_else(PoisonError::into_inner));
        for work in begun {
            self.next -= 1;
            let id = EffectId(self.next);
            let waker = self.outside.waker(id);
            self.poll(id, Task { work, waker }, tokio);
        }
    }

    fn poll(&mut self, id: EffectId, mut task: Task, tokio: &TokioHandle) {
        let _entered = tokio.enter();
        let mut context = Context::from_waker(&task.waker);
        match task.work.as_mut().poll(&mut context) {
            Poll::Ready(()) => {}
            Poll::Pending => {
                self.tasks.insert(id, task);
            }
        }
    }
}
