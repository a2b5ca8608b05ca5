//! Values that are nested deeper than any stack.

use super::*;
use crate::iterate::Iter;
use crate::sync::{Channel, FiberId, Task, TaskState, Waiters};

const DEEP: usize = 100_000;

/// Puts a value into another one so many times.
fn nested(within: impl Fn(Value) -> Value) -> Value {
    (0..DEEP).fold(Value::Int(1), |inner, _| within(inner))
}

/// A way to put a value into another one.
type Within = fn(Value) -> Value;

/// All the ways to put a value into another one.
const WITHIN: [(&str, Within); 8] = [
    ("list", |inner| Value::list(vec![inner])),
    ("dict", |inner| Value::dict([("k", inner)])),
    ("pair", |inner| Value::pair(inner, Value::Nil)),
    ("second", |inner| Value::pair(Value::Nil, inner)),
    ("enum", |inner| {
        Value::Enum(Rc::new(Enum::new(Tag::new("E", "V"), vec![inner])))
    }),
    ("struct", |inner| point(vec![inner])),
    ("set", |inner| {
        Value::Set(Set::new([inner], Sameness::Structural))
    }),
    ("result", Value::ok),
];

#[test]
fn deep_values_are_shown_compared_and_dropped() {
    for (name, within) in WITHIN {
        let (one, other) = (nested(within), nested(within));
        assert!(one == other, "{name}");
        let different = (0..DEEP).fold(Value::Int(2), |inner, _| within(inner));
        assert!(one != different, "{name}");
        assert_eq!(one.show(), other.show(), "{name}");
        assert_eq!(structural_key(&one), structural_key(&other), "{name}");
        assert!(structural_key(&one) != structural_key(&different), "{name}");
        order(&one, &other);
    }
}

#[test]
fn deep_values_can_be_members() {
    for (name, within) in WITHIN {
        let (one, other) = (nested(within), nested(within));
        for sameness in [Sameness::Equal, Sameness::Structural] {
            let mut set = Set::new((0..20).map(Value::Int), sameness);
            assert!(set.add(one.clone(), sameness), "{name}");
            assert!(!set.add(other.clone(), sameness), "{name}");
            assert!(set.remove(&other, sameness), "{name}");
        }
    }
}

#[test]
fn deep_sets_of_two_are_compared() {
    let within = |inner| Value::Set(Set::new([inner, Value::Nil], Sameness::Structural));
    let nest = || (0..2000).fold(Value::Int(1), |inner, _| within(inner));
    assert!(nest() == nest());
}

#[test]
fn deep_chains_of_handles_are_dropped() {
    nested(|inner| Value::Iter(Iter::over(&Value::list(vec![inner])).expect("lists are lifted")));
    nested(|inner| {
        let channel = Channel::new(Text::new("c"), 1);
        channel.queue.borrow_mut().push_back(inner);
        Value::Channel(channel)
    });
    nested(|inner| {
        let result = Ok(inner);
        let output = String::new();
        Value::Task(Rc::new(Task {
            id: Text::default(),
            fiber: FiberId(0),
            state: TaskState::Ended { result, output }.into(),
            cancel_requested: false.into(),
            waiters: Waiters::default(),
        }))
    });
}

#[test]
fn values_that_share_their_parts_are_compared_part_by_part() {
    let twice: [Within; 3] = [
        |inner| Value::list(vec![inner.clone(), inner]),
        |inner| Value::pair(inner.clone(), inner),
        |inner| Value::dict([("a", inner.clone()), ("b", inner)]),
    ];
    for within in twice {
        let nest = |leaf| (0..200).fold(leaf, |inner, _| within(inner));
        assert!(nest(Value::Int(1)) == nest(Value::Int(1)));
        assert!(nest(Value::Int(1)) != nest(Value::Int(2)));
    }
}
