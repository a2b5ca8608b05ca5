//! Getting a permit.

use std::cell::Cell;
use std::rc::Rc;
use std::task::Poll;

use harn_machine::value::{Permit, PermitHome, Text};
use harn_machine::{Bell, Context, Failure, Fault, Registry, Value, Waiting, argument};

use super::line::{Line, Number};
use super::{Locks, SharedLine, settle, wake_first};
use crate::tasks::patience;

/// How many places a lock for readers and writers has. A writer takes all.
const READERS_MAX: i64 = 1024;

pub(super) fn register(registry: &mut Registry) {
    registry.waiting(&[
        ("sync_mutex_acquire", |context, arguments, waiting| {
            acquire(context, waiting, || mutex(arguments))
        }),
        ("sync_semaphore_acquire", |context, arguments, waiting| {
            acquire(context, waiting, || semaphore(arguments))
        }),
        ("sync_gate_acquire", |context, arguments, waiting| {
            acquire(context, waiting, || gate(arguments))
        }),
        ("sync_rwlock_acquire", |context, arguments, waiting| {
            acquire(context, waiting, || rwlock(arguments))
        }),
    ]);
}

/// What somebody wants.
struct Wish {
    kind: &'static str,
    key: Text,
    capacity: i64,
    places: i64,
    patience: Option<i64>,
}

type Polled = Result<Poll<Value>, Failure>;

/// `sync_mutex_acquire(key = "__default__", timeout)`
fn mutex(arguments: &[Value]) -> Result<Wish, Failure> {
    Ok(Wish {
        kind: "mutex",
        key: key(arguments, "__default__"),
        capacity: 1,
        places: 1,
        patience: patience(argument(arguments, 1)),
    })
}

/// `sync_semaphore_acquire(key = "default", capacity = 1, permits = 1, timeout)`
fn semaphore(arguments: &[Value]) -> Result<Wish, Failure> {
    Ok(Wish {
        kind: "semaphore",
        key: key(arguments, "default"),
        capacity: positive("sync_semaphore_acquire", argument(arguments, 1))?,
        places: positive("sync_semaphore_acquire", argument(arguments, 2))?,
        patience: patience(argument(arguments, 3)),
    })
}

/// `sync_gate_acquire(key = "default", limit = 1, timeout)`
fn gate(arguments: &[Value]) -> Result<Wish, Failure> {
    Ok(Wish {
        kind: "gate",
        key: key(arguments, "default"),
        capacity: positive("sync_gate_acquire", argument(arguments, 1))?,
        places: 1,
        patience: patience(argument(arguments, 2)),
    })
}

/// `sync_rwlock_acquire(key = "default", mode = "read", timeout)`
fn rwlock(arguments: &[Value]) -> Result<Wish, Failure> {
    Ok(Wish {
        kind: "rwlock",
        key: key(arguments, "default"),
        capacity: READERS_MAX,
        places: mode(argument(arguments, 1))?,
        patience: patience(argument(arguments, 2)),
    })
}

fn key(arguments: &[Value], default: &str) -> Text {
    match argument(arguments, 0) {
        Value::Nil => Text::new(default),
        key => key.to_text(),
    }
}

/// A number of places; 1 unless it is given.
fn positive(builtin: &str, value: &Value) -> Result<i64, Failure> {
    match value {
        Value::Nil => Ok(1),
        Value::Int(number @ 1..) => Ok(*number),
        Value::Float(number) if *number >= 1.0 => Ok(*number as i64),
        _ => Err(Fault::runtime(format!("{builtin}: value must be positive"))),
    }
}

/// How many places reading or writing takes.
fn mode(value: &Value) -> Result<i64, Failure> {
    match value {
        Value::Nil => Ok(1),
        Value::Text(mode) if mode.as_str() == "read" => Ok(1),
        Value::Text(mode) if mode.as_str() == "write" => Ok(READERS_MAX),
        _ => Err(Fault::runtime(
            "sync_rwlock_acquire: mode must be read or write",
        )),
    }
}

/// Gets a permit, or stands in line for it.
fn acquire(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    wish: impl FnOnce() -> Result<Wish, Failure>,
) -> Polled {
    let locks = settle(context);
    let place = waiting.note.take().and_then(|note| note.downcast().ok());
    match place {
        None => come(context, waiting, &locks, wish()?),
        Some(place) => look_again(context, waiting, &locks, place),
    }
}

/// Takes a permit if there is one now, and stands in line if not.
fn come(context: &mut Context<'_>, waiting: &mut Waiting, locks: &Rc<Locks>, wish: Wish) -> Polled {
    let line = open(locks, &wish)?;
    let now = context.elapsed();
    if line.borrow_mut().take(wish.places) {
        return Ok(Poll::Ready(permit(locks, &wish, now)));
    }
    if wish.patience == Some(0) {
        line.borrow_mut().counts.timeouts += 1;
        return Ok(Poll::Ready(Value::Nil));
    }
    if let Some(patience) = wish.patience {
        waiting.set_timeout(context, patience);
    }
    waiting.stops_at_once = true;
    let number = line.borrow_mut().join(context.fiber(), wish.places, now);
    waiting.note = Some(Box::new(Place {
        line,
        number,
        bell: locks.bell.clone(),
        wish,
    }));
    Ok(Poll::Pending)
}

/// The lock that somebody wants, which is made if there is none of that name.
fn open(locks: &Locks, wish: &Wish) -> Result<SharedLine, Failure> {
    let Wish {
        kind,
        key,
        capacity,
        places,
        ..
    } = wish;
    let known = locks.line(kind, key);
    let existing = known.as_ref().map(|line| line.borrow().capacity);
    if let Some(existing) = existing.filter(|existing| existing != capacity) {
        return Err(Fault::runtime(format!(
            "sync {kind} '{key}' already exists with capacity {existing}, not {capacity}"
        )));
    }
    if places > capacity {
        return Err(Fault::runtime(format!(
            "sync {kind} '{key}' requested {places} permits from capacity {capacity}"
        )));
    }
    Ok(known.unwrap_or_else(|| {
        let line = SharedLine::new(Line::new(*capacity).into());
        let mut lines = locks.lines.borrow_mut();
        lines.insert((kind, key.clone()), line.clone());
        line
    }))
}

/// Somebody in the line was woken: it may be its turn, or its time may be over.
fn look_again(
    context: &mut Context<'_>,
    waiting: &mut Waiting,
    locks: &Rc<Locks>,
    place: Box<Place>,
) -> Polled {
    let now = context.elapsed();
    if place.line.borrow_mut().serve(place.number, now) {
        // There may be room for the next one too.
        wake_first(context, &place.line);
        return Ok(Poll::Ready(permit(locks, &place.wish, now)));
    }
    if waiting.is_over(context) {
        place.line.borrow_mut().give_up(place.number, now);
        wake_first(context, &place.line);
        return Ok(Poll::Ready(Value::Nil));
    }
    waiting.note = Some(place);
    Ok(Poll::Pending)
}

fn permit(locks: &Rc<Locks>, wish: &Wish, now: i64) -> Value {
    let home: Rc<dyn PermitHome> = locks.clone();
    Value::Permit(Rc::new(Permit {
        kind: wish.kind,
        key: wish.key.clone(),
        places: wish.places,
        since: now,
        released: Cell::new(false),
        home: Rc::downgrade(&home),
    }))
}

/// A place in a line. Whoever drops it before it was served leaves the line.
struct Place {
    line: SharedLine,
    number: Number,
    bell: Rc<Bell>,
    wish: Wish,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut line = self.line.borrow_mut();
        if line.leave(self.number)
            && let Some(first) = line.first()
        {
            self.bell.ring_for(first);
        }
    }
}
