//! Queries that find at most one thing in a value, for many values at a time.

use harn_machine::Value;

use super::field::Field;
use super::run::{compare, item};
use super::{Query, Relation, Step};

/// A query that finds at most one thing, and that one in the value or in the query.
pub(super) enum Sieve<'a> {
    /// What steps lead to.
    Path(&'a [Step]),
    /// The value, if a comparison holds.
    Select(Way<'a>, Relation, Way<'a>),
    /// The value, if what steps lead to is true.
    SelectTrue(Way<'a>),
}

/// One thing that a query finds.
pub(super) enum Way<'a> {
    Literal(&'a Value),
    Field(&'a Field),
    Steps(&'a [Step]),
}

impl<'a> Sieve<'a> {
    /// A query as a sieve, if it is that simple.
    pub(super) fn of(query: &'a Query) -> Option<Self> {
        match query {
            Query::Path(None, steps) => are_simple(steps).then_some(Self::Path(steps)),
            Query::Select(condition) => match &**condition {
                Query::Comparison(left, relation, right) => {
                    Some(Self::Select(Way::of(left)?, *relation, Way::of(right)?))
                }
                condition => Way::of(condition).map(Self::SelectTrue),
            },
            _ => None,
        }
    }

    /// Passes values: each becomes what is found in it, or is left out.
    pub(super) fn pass(&self, values: &mut Vec<&'a Value>) {
        match self {
            Self::Path(steps) => {
                for value in values {
                    *value = after(steps, value);
                }
            }
            Self::Select(Way::Field(field), relation, Way::Literal(right)) => {
                keep(values, |value| {
                    compare(field.of(value).unwrap_or(&Value::Nil), *relation, right)
                });
            }
            Self::Select(left, relation, right) => {
                keep(values, |value| {
                    compare(left.from(value), *relation, right.from(value))
                });
            }
            Self::SelectTrue(way) => keep(values, |value| way.from(value).is_truthy()),
        }
    }
}

/// Keeps those that fit. Whether one does cannot be guessed, so nothing is made to depend on it
/// but where the next one goes.
#[inline]
fn keep<'a>(values: &mut Vec<&'a Value>, fits: impl Fn(&'a Value) -> bool) {
    let mut kept = 0;
    for at in 0..values.len() {
        let value = values[at];
        values[kept] = value;
        kept += usize::from(fits(value));
    }
    values.truncate(kept);
}

impl<'a> Way<'a> {
    /// A query as a way, if it is that simple.
    pub(super) fn of(query: &'a Query) -> Option<Self> {
        match query {
            Query::Literal(value) => Some(Self::Literal(value)),
            Query::Path(None, steps) => match &steps[..] {
                [Step::Field(field)] => Some(Self::Field(field)),
                steps => are_simple(steps).then_some(Self::Steps(steps)),
            },
            _ => None,
        }
    }

    /// What it leads to from a value; nil if there is nothing.
    #[inline]
    pub(super) fn from(&self, value: &'a Value) -> &'a Value {
        match self {
            Self::Literal(value) => value,
            Self::Field(field) => field.of(value).unwrap_or(&Value::Nil),
            Self::Steps(steps) => after(steps, value),
        }
    }
}

fn are_simple(steps: &[Step]) -> bool {
    let mut steps = steps.iter();
    steps.all(|step| matches!(step, Step::Field(_) | Step::Item(_)))
}

/// Where simple steps lead.
#[inline]
fn after<'a>(steps: &[Step], value: &'a Value) -> &'a Value {
    let mut place = value;
    for step in steps {
        let next = match step {
            Step::Field(field) => field.of(place),
            Step::Item(index) => item(place, *index),
            Step::Each | Step::Slice(..) => None,
        };
        place = next.unwrap_or(&Value::Nil);
    }
    place
}
