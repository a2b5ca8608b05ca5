//! The waitpoints of a run, as the log tells of them.
//!
//! What happens to a waitpoint is written to the log first and then read from it like what
//! anybody else has written. Each event is read once.

use std::collections::{BTreeMap, BTreeSet};
use std::task::Poll;

use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Holds, Value, Waiting};

use super::point::{Point, Status};
use crate::observability::event_log::{self, Entry};
use crate::people::{field, now};

/// Where the log keeps waitpoints.
const TOPIC: &str = "waitpoints";

const CREATED: &str = "waitpoint.created";
const COMPLETED: &str = "waitpoint.completed";
const CANCELLED: &str = "waitpoint.cancelled";
const WAITED: &str = "waitpoint.waited";

/// So many events are read at a time.
const BATCH: usize = 256;

/// The waitpoints of a run.
#[derive(Default)]
pub(in crate::people) struct Book {
    /// The last event that was read.
    cursor: i64,
    points: BTreeMap<String, Point>,
    /// How waits that were given an id have ended.
    waits: BTreeMap<String, Value>,
    /// Those that are kept where other processes find them.
    kept: BTreeSet<String>,
}

impl Holds for Book {
    fn each_value(&self, each: &mut dyn FnMut(&Value)) {
        for point in self.points.values() {
            point.each_value(each);
        }
        self.waits.values().for_each(each);
    }
}

impl Book {
    /// The book, with all that the log knows.
    pub(in crate::people) fn current<'a>(
        context: &'a mut Context<'_>,
    ) -> Result<&'a mut Self, Failure> {
        loop {
            let cursor = context.holding::<Self>().cursor;
            let events = event_log::read(context, TOPIC, cursor, BATCH)?;
            let count = events.len();
            let book = context.holding::<Self>();
            events.iter().for_each(|event| book.apply(event));
            if count < BATCH {
                break;
            }
        }
        Ok(context.holding())
    }

    pub(in crate::people) fn point(&self, id: &str) -> Option<&Point> {
        self.points.get(id)
    }

    /// What happens to this waitpoint is kept where other processes find it.
    pub(in crate::people) fn keep(&mut self, id: &str) {
        self.kept.insert(id.to_owned());
    }

    /// Whether it is.
    pub(in crate::people) fn keeps(&self, id: &str) -> bool {
        self.kept.contains(id)
    }

    /// How a wait has ended.
    pub(super) fn wait(&self, id: &str) -> Option<&Value> {
        self.waits.get(id)
    }

    fn apply(&mut self, event: &Value) {
        if let Some(Value::Int(id)) = field(event, "id") {
            self.cursor = self.cursor.max(*id);
        }
        let (Some(kind), Some(payload)) = (field(event, "kind"), field(event, "payload")) else {
            return;
        };
        let Some(id) = field(payload, "id").map(|id| id.to_text().to_string()) else {
            return;
        };
        match &*kind.to_text() {
            CREATED => {
                let point = Point::created(&id, payload);
                self.points.entry(id).or_insert(point);
            }
            COMPLETED => self.end(&id, Status::Completed, payload),
            CANCELLED => self.end(&id, Status::Cancelled, payload),
            WAITED => {
                let result = field(payload, "result").cloned().unwrap_or_default();
                self.waits.entry(id).or_insert(result);
            }
            // Others may write here what we do not know yet.
            _ => {}
        }
    }

    fn end(&mut self, id: &str, status: Status, event: &Value) {
        if let Some(point) = self.points.get_mut(id) {
            point.end(status, event);
        }
    }

    /// Where waitpoints are, and how far the book has read there.
    pub(in crate::people) fn cursor(context: &mut Context<'_>) -> (&'static str, i64) {
        (TOPIC, context.holding::<Self>().cursor)
    }

    /// Waits until a waitpoint has changed. Others run meanwhile.
    pub(in crate::people) fn wait_for_change(
        context: &mut Context<'_>,
        waiting: &mut Waiting,
    ) -> Result<Poll<()>, Failure> {
        let own = Self::cursor(context);
        event_log::wait_any(context, waiting, &[own])
    }
}

/// Writes an event and reads what has happened.
fn write<'a>(
    context: &'a mut Context<'_>,
    kind: &str,
    payload: Value,
) -> Result<&'a mut Book, Failure> {
    let id = field(&payload, "id").map(|id| id.to_text().to_string());
    let is_kept = id.is_some_and(|id| context.holding::<Book>().keeps(&id));
    event_log::append(
        context,
        Entry {
            topic: TOPIC.to_owned(),
            kind: kind.to_owned(),
            payload,
            kept: is_kept.then(Dict::default),
            ..Entry::default()
        },
    )?;
    Book::current(context)
}

/// Makes a waitpoint, or gives the one there is.
pub(in crate::people) fn create(
    context: &mut Context<'_>,
    id: &str,
    (by, metadata): (Value, Value),
) -> Result<Point, Failure> {
    if let Some(point) = Book::current(context)?.point(id) {
        return Ok(point.clone());
    }
    let payload = Value::dict([
        ("id", id.into()),
        ("at", now(context).into()),
        ("by", by),
        ("metadata", metadata),
    ]);
    let book = write(context, CREATED, payload)?;
    Ok(book.point(id).cloned().unwrap_or_default())
}

/// Says that what was waited for has happened; what ended before stays as it is.
pub(in crate::people) fn complete(
    context: &mut Context<'_>,
    id: &str,
    value: Value,
    options: &Value,
) -> Result<Point, Failure> {
    end(context, id, COMPLETED, value, options)
}

/// Says that what was waited for will not happen; what ended before stays as it is.
pub(in crate::people) fn cancel(
    context: &mut Context<'_>,
    id: &str,
    options: &Value,
) -> Result<Point, Failure> {
    end(context, id, CANCELLED, Value::Nil, options)
}

fn end(
    context: &mut Context<'_>,
    id: &str,
    kind: &str,
    value: Value,
    options: &Value,
) -> Result<Point, Failure> {
    let point = create(context, id, (Value::Nil, Value::Nil))?;
    if point.status != Status::Open {
        return Ok(point);
    }
    let option = |name: &str| field(options, name).cloned().unwrap_or_default();
    let text = |name: &str| Value::from(field(options, name).map(Value::to_text));
    let payload = Value::dict([
        ("id", id.into()),
        ("at", now(context).into()),
        ("by", text("by")),
        ("reason", text("reason")),
        ("value", value),
        ("metadata", option("metadata")),
    ]);
    let book = write(context, kind, payload)?;
    Ok(book.point(id).cloned().unwrap_or_default())
}

/// Remembers how a wait has ended.
pub(super) fn remember(
    context: &mut Context<'_>,
    wait_id: &str,
    result: &Value,
) -> Result<(), Failure> {
    let payload = Value::dict([("id", wait_id.into()), ("result", result.clone())]);
    write(context, WAITED, payload).map(|_book| ())
}
