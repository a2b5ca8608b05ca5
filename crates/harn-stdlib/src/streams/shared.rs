//! Items that were drawn from one source for several readers.
//!
//! ```text
//! source ─► a b c d ─┬─ reader 0 has taken a b c
//!            ▲       └─ reader 1 has taken a
//!            └ taken by all: forgotten
//! ```

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use harn_machine::value::Foreign;
use harn_machine::{Context, Failure, Fault, Value, argument, take};

/// What readers share.
struct Shared {
    items: VecDeque<Value>,
    /// How many items were forgotten.
    forgotten: usize,
    /// How many items each reader has taken.
    taken: Vec<usize>,
}

pub(super) fn broadcast(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let readers = match *argument(arguments, 0) {
        Value::Int(readers) => usize::try_from(readers).unwrap_or(0),
        _ => 0,
    };
    // A program may ask for more readers than there is memory.
    let bytes = readers.saturating_mul(size_of::<usize>());
    context.reserve(bytes)?;
    let mut taken = Vec::new();
    let room = taken.try_reserve_exact(readers);
    room.map_err(|_| Fault::stopped(format!("Memory limit exceeded: {bytes} bytes")))?;
    taken.resize(readers, 0);
    let shared = Shared {
        items: VecDeque::new(),
        forgotten: 0,
        taken,
    };
    let content = Box::new(RefCell::new(shared));
    let foreign = Foreign::new("broadcast", "<broadcast>".to_owned(), content);
    Ok(Value::Foreign(Rc::new(foreign)))
}

fn shared(arguments: &[Value]) -> Option<&RefCell<Shared>> {
    match argument(arguments, 0) {
        Value::Foreign(foreign) => foreign.content.downcast_ref(),
        _ => None,
    }
}

pub(super) fn add(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let item = take(arguments, 1);
    if let Some(shared) = shared(arguments) {
        shared.borrow_mut().items.push_back(item);
    }
    Ok(Value::Nil)
}

pub(super) fn next(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (Some(shared), Value::Int(reader)) = (shared(arguments), argument(arguments, 1)) else {
        return Ok(Value::Nil);
    };
    let reader = usize::try_from(*reader).unwrap_or(usize::MAX);
    let item = shared.borrow_mut().next(reader);
    Ok(item.map(|item| Value::list(vec![item])).into())
}

impl Shared {
    /// The next item of a reader, if it was drawn already.
    fn next(&mut self, reader: usize) -> Option<Value> {
        let taken = self.taken.get_mut(reader)?;
        let item = self.items.get(*taken - self.forgotten)?.clone();
        *taken += 1;
        let was_last = *taken - self.forgotten == 1;
        if was_last && self.taken.iter().all(|taken| *taken > self.forgotten) {
            self.items.pop_front();
            self.forgotten += 1;
        }
        Some(item)
    }
}
