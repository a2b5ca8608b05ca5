//! Cells and maps that tasks share.
//!
//! Both count what is done with them and have a version that grows with every write. A
//! snapshot is a value with the version it had: whoever sets something only if it is still
//! as in the snapshot does not overwrite what others wrote in between.

mod cells;
mod maps;

use std::collections::BTreeMap;

use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Fault, Holds, Registry, Value, argument};

use crate::scopes::{Handle, Kind};

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("shared_cell", cells::open),
        ("shared_get", cells::get),
        ("shared_set", cells::set),
        ("shared_snapshot", cells::snapshot),
        ("shared_cas", cells::compare_and_set),
        ("shared_map", maps::open),
        ("shared_map_get", maps::get),
        ("shared_map_set", maps::set),
        ("shared_map_delete", maps::delete),
        ("shared_map_entries", maps::entries),
        ("shared_map_snapshot", maps::snapshot),
        ("shared_map_cas", maps::compare_and_set),
        ("shared_metrics", metrics),
    ]);
}

/// What the tasks of a run share. What was never opened is empty.
#[derive(Default)]
struct Shared(BTreeMap<Handle, Slot>);

impl Holds for Shared {
    fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        for slot in self.0.values() {
            each(&slot.value);
            each(&Value::Dict(slot.entries.clone()));
        }
    }
}

/// A cell or a map.
#[derive(Debug, Default)]
struct Slot {
    /// The value of a cell.
    value: Value,
    /// The entries of a map.
    entries: Dict,
    version: i64,
    reads: i64,
    writes: i64,
    cas_successes: i64,
    cas_failures: i64,
    stale_reads: i64,
}

impl Slot {
    /// Something was written.
    fn note_write(&mut self) {
        self.version += 1;
        self.writes += 1;
    }

    /// Whether something is still as it is expected to be: a value, or a snapshot.
    fn is_as_expected(&mut self, current: &Value, expected: &Value) -> bool {
        let snapshot = Snapshot::read(expected);
        let expected = snapshot
            .as_ref()
            .map_or(expected, |snapshot| &snapshot.value);
        let is_current = snapshot
            .as_ref()
            .is_none_or(|it| it.version == self.version);
        let matches = is_current && current == expected;
        match matches {
            true => self.cas_successes += 1,
            false => self.cas_failures += 1,
        }
        self.stale_reads += i64::from(!is_current);
        matches
    }

    fn metrics(&self) -> [(&'static str, Value); 6] {
        [
            ("cas_failure_count", self.cas_failures.into()),
            ("cas_success_count", self.cas_successes.into()),
            ("read_count", self.reads.into()),
            ("stale_read_count", self.stale_reads.into()),
            ("version", self.version.into()),
            ("write_count", self.writes.into()),
        ]
    }
}

/// A value with the version it had.
struct Snapshot {
    value: Value,
    version: i64,
}

const SNAPSHOT: &str = "shared_snapshot";

impl Snapshot {
    fn read(value: &Value) -> Option<Self> {
        let Value::Dict(dict) = value else {
            return None;
        };
        match (dict.get("_type")?, dict.get("version")?) {
            (Value::Text(name), Value::Int(version)) if name.as_str() == SNAPSHOT => Some(Self {
                value: dict.get("value").cloned().unwrap_or_default(),
                version: *version,
            }),
            _ => None,
        }
    }

    fn to_value(&self) -> Value {
        Value::dict([
            ("_type", SNAPSHOT.into()),
            ("value", self.value.clone()),
            ("version", self.version.into()),
        ])
    }
}

/// The slot of a handle, which is made if there is none.
fn slot<'a>(context: &'a mut Context<'_>, handle: Handle) -> &'a mut Slot {
    context.holding::<Shared>().0.entry(handle).or_default()
}

/// Opens a slot: what is there already stays.
fn open(
    kind: Kind,
    builtin: &str,
    context: &mut Context<'_>,
    arguments: &[Value],
    fill: fn(&mut Slot, Value),
) -> Result<Value, Failure> {
    let (handle, options) = Handle::opened(kind, builtin, context, arguments)?;
    let initial = match options.get("initial") {
        Some(initial) => initial.clone(),
        None => argument(arguments, 1).clone(),
    };
    let shown = handle.to_value();
    context
        .holding::<Shared>()
        .0
        .entry(handle)
        .or_insert_with(|| {
            let mut slot = Slot::default();
            fill(&mut slot, initial);
            slot
        });
    Ok(shown)
}

/// `shared_metrics(handle)`; without a handle, of all cells and maps.
fn metrics(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let value = argument(arguments, 0);
    if value.is_nil() {
        let all = context.holding::<Shared>().0.iter();
        return Ok(all.map(|(handle, slot)| listed(handle, slot)).collect());
    }
    let builtin = "shared_metrics";
    let handle = match value {
        Value::Text(name) => {
            let cell = Handle::named(Kind::Cell, builtin, context, name.clone())?;
            let map = Handle {
                kind: Kind::Map,
                ..cell.clone()
            };
            let shared = &context.holding::<Shared>().0;
            match !shared.contains_key(&cell) && shared.contains_key(&map) {
                true => map,
                false => cell,
            }
        }
        Value::Dict(dict) => Handle::read(dict)
            .filter(|handle| handle.kind != Kind::Mailbox)
            .ok_or_else(not_a_handle)?,
        _ => return Err(not_a_handle()),
    };
    Ok(Value::dict(slot(context, handle).metrics()))
}

fn not_a_handle() -> Failure {
    Fault::runtime("shared_metrics: expected shared_cell handle")
}

fn listed(handle: &Handle, slot: &Slot) -> Value {
    let Value::Dict(mut dict) = handle.to_value() else {
        return Value::Nil;
    };
    for (name, number) in slot.metrics() {
        dict.insert(name.into(), number);
    }
    dict.into()
}

/// Fails unless so many arguments were given.
fn expect_arguments(arguments: &[Value], count: usize, message: &str) -> Result<(), Failure> {
    match arguments.len() < count {
        true => Err(Fault::runtime(message)),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests;
