//! Locks: mutexes, semaphores, gates and locks for readers and writers.
//!
//! All four are the same thing: a number of places, of which a permit takes some until it is
//! given back. They differ in how many places there are and how many a permit takes.
//!
//! ```text
//! mutex       1 place       a permit takes 1
//! semaphore   n places      a permit takes p of them
//! gate        n places      a permit takes 1
//! rwlock      1024 places   a reader takes 1, a writer all
//! ```
//!
//! Whoever finds no room stands in line, and only the first in line is ever served. A task
//! that is stopped while it stands there leaves the line, and a permit that nobody can reach
//! any more is noted as lost: both ring a bell for the first in line, because whoever drops
//! something cannot wake anybody. The first in line then puts things in order; see [`settle`].

mod acquire;
mod line;
mod metrics;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use harn_machine::value::{LostPermit, PermitHome, Text};
use harn_machine::{Bell, Context, Failure, Fault, Registry, Value, argument};

use line::Line;

pub(crate) fn register(registry: &mut Registry) {
    acquire::register(registry);
    registry.plain(&[
        ("sync_release", release),
        ("sync_metrics", metrics::metrics),
    ]);
}

/// The locks of a run, made with the first of them.
#[derive(Default)]
struct State(Option<Rc<Locks>>);

/// The locks of a run.
#[derive(Default)]
struct Locks {
    /// By kind and name.
    lines: RefCell<BTreeMap<(&'static str, Text), SharedLine>>,
    /// Permits that nobody can reach any more.
    lost: RefCell<Vec<LostPermit>>,
    bell: Rc<Bell>,
}

/// A line, known to the locks and to everybody who stands in it.
type SharedLine = Rc<RefCell<Line>>;

impl Locks {
    /// Those of the run.
    fn of(context: &mut Context<'_>) -> Rc<Self> {
        let bell = context.scheduler().bell().clone();
        let made = &mut context.state::<State>().0;
        let locks = made.get_or_insert_with(|| {
            Rc::new(Self {
                bell,
                ..Self::default()
            })
        });
        locks.clone()
    }

    fn line(&self, kind: &'static str, key: &Text) -> Option<SharedLine> {
        self.lines.borrow().get(&(kind, key.clone())).cloned()
    }
}

impl PermitHome for Locks {
    fn take_back(&self, permit: LostPermit) {
        if let Some(line) = self.line(permit.kind, &permit.key)
            && let Some(first) = line.borrow().first()
        {
            self.bell.ring_for(first);
        }
        self.lost.borrow_mut().push(permit);
    }
}

/// `sync_release(permit)`: whether it was still held.
fn release(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let locks = settle(context);
    let Value::Permit(permit) = argument(arguments, 0) else {
        let message = "sync_release: first argument must be a sync permit";
        return Err(Fault::runtime(message));
    };
    if permit.released.replace(true) {
        return Ok(false.into());
    }
    let lost = LostPermit {
        kind: permit.kind,
        key: permit.key.clone(),
        places: permit.places,
        since: permit.since,
    };
    give_back(context, &locks, lost);
    Ok(true.into())
}

/// Gives back the permits that nobody can reach any more, and wakes those who can go on.
fn settle(context: &mut Context<'_>) -> Rc<Locks> {
    let locks = Locks::of(context);
    for permit in locks.lost.take() {
        give_back(context, &locks, permit);
    }
    locks
}

fn give_back(context: &mut Context<'_>, locks: &Locks, permit: LostPermit) {
    let held_ms = context.elapsed().saturating_sub(permit.since);
    if let Some(line) = locks.line(permit.kind, &permit.key) {
        line.borrow_mut().give_back(permit.places, held_ms);
        wake_first(context, &line);
    }
}

/// Wakes the first in line if there is room for it now.
fn wake_first(context: &mut Context<'_>, line: &SharedLine) {
    if let Some(fiber) = line.borrow().next_served() {
        context.scheduler().wake(fiber);
    }
}
