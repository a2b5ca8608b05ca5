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
//! any more is given back: both ring a bell, because whoever drops something cannot wake the
//! next one. Those who wait are woken by it and put things in order; see [`settle`].

mod acquire;
mod line;
mod metrics;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use harn_machine::value::{LostPermits, Permit, Text};
use harn_machine::{Context, Failure, Fault, Registry, Value, argument};

use line::Line;

pub(crate) fn register(registry: &mut Registry) {
    registry.waiting(&[
        ("sync_mutex_acquire", acquire::mutex),
        ("sync_semaphore_acquire", acquire::semaphore),
        ("sync_gate_acquire", acquire::gate),
        ("sync_rwlock_acquire", acquire::rwlock),
    ]);
    registry.plain(&[
        ("sync_release", release),
        ("sync_metrics", metrics::metrics),
    ]);
}

/// The locks of a run.
#[derive(Default)]
struct Locks {
    /// By kind and name.
    all: BTreeMap<(&'static str, Text), SharedLine>,
    /// Where permits go that nobody can reach any more; made with the first lock.
    lost: Option<Rc<LostPermits>>,
}

/// A line, known to the locks and to everybody who stands in it.
type SharedLine = Rc<RefCell<Line>>;

impl Locks {
    fn line(&self, kind: &'static str, key: &Text) -> Option<&SharedLine> {
        self.all.get(&(kind, key.clone()))
    }
}

/// `sync_release(permit)`: whether it was still held.
fn release(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    settle(context);
    let Value::Permit(permit) = argument(arguments, 0) else {
        let message = "sync_release: first argument must be a sync permit";
        return Err(Fault::runtime(message));
    };
    if permit.released.replace(true) {
        return Ok(false.into());
    }
    let Permit {
        kind,
        key,
        places,
        since,
        ..
    } = &**permit;
    give_back(context, kind, key, *places, *since);
    Ok(true.into())
}

/// Gives back the permits that nobody can reach any more, and wakes those who can go on.
fn settle(context: &mut Context<'_>) {
    let lost = context.state::<Locks>().lost.as_ref();
    let lost = lost.map(|lost| lost.take()).unwrap_or_default();
    for permit in lost {
        give_back(
            context,
            permit.kind,
            &permit.key,
            permit.places,
            permit.since,
        );
    }
}

fn give_back(context: &mut Context<'_>, kind: &'static str, key: &Text, places: i64, since: i64) {
    let now = context.elapsed();
    let Some(line) = context.state::<Locks>().line(kind, key).cloned() else {
        return;
    };
    line.borrow_mut()
        .give_back(places, now.saturating_sub(since));
    wake_first(context, &line);
}

/// Wakes the first in line if there is room for it now.
fn wake_first(context: &mut Context<'_>, line: &SharedLine) {
    if let Some(fiber) = line.borrow().next_served() {
        context.scheduler().wake(fiber);
    }
}
