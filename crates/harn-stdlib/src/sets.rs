//! Sets. Functions tell `1` from `1.0`, methods do not; otherwise they do the same.

use harn_machine::value::{Sameness, Set};
use harn_machine::{
    Body, Context, Failure, Plain, Receiver, Registry, Value, argument, take, thrown,
};

use crate::lists::take_list;

pub(crate) fn register(registry: &mut Registry) {
    registry.file("sets", include_str!("../harn/sets.harn"));
    registry.plain(FUNCTIONS);
    for (names, body) in METHODS {
        registry.method(Receiver::Set, names, Body::Plain(*body));
    }
    for (names, function) in CALLING_BACK {
        let file = "sets";
        registry.method(Receiver::Set, names, Body::Harn { file, function });
    }
}

const FUNCTIONS: &[(&str, Plain)] = &[
    ("set", set),
    ("set_add", set_add),
    ("set_remove", set_remove),
    ("set_contains", |context, arguments| {
        check_passed(context, arguments)?;
        contains(arguments, Sameness::Structural)
    }),
    ("set_union", |_, arguments| {
        of_sets("set_union", arguments, union)
    }),
    ("set_intersect", |_, arguments| {
        of_sets("set_intersect", arguments, intersect)
    }),
    ("set_difference", |_, arguments| {
        of_sets("set_difference", arguments, difference)
    }),
    ("set_symmetric_difference", |_, arguments| {
        of_sets("set_symmetric_difference", arguments, symmetric_difference)
    }),
    ("set_is_subset", |_, arguments| {
        Ok(is_subset(arguments, 0, 1, Sameness::Structural).into())
    }),
    ("set_is_superset", |_, arguments| {
        Ok(is_subset(arguments, 1, 0, Sameness::Structural).into())
    }),
    ("set_is_disjoint", |_, arguments| {
        Ok(is_disjoint(arguments, Sameness::Structural).into())
    }),
];

const METHODS: &[(&[&str], Plain)] = &[
    (&["count", "len"], |_, arguments| {
        Ok(members(arguments, 0).len().into())
    }),
    (&["empty"], |_, arguments| {
        Ok(members(arguments, 0).is_empty().into())
    }),
    (&["contains"], |context, arguments| {
        check_passed(context, arguments)?;
        contains(arguments, Sameness::Equal)
    }),
    (&["add"], |context, arguments| {
        check_passed(context, arguments)?;
        Ok(add(arguments, Sameness::Equal))
    }),
    (&["remove", "delete"], |context, arguments| {
        check_passed(context, arguments)?;
        Ok(remove(arguments, Sameness::Equal))
    }),
    (&["union"], |_, arguments| of_any(arguments, union)),
    (
        &["intersect", "intersection"],
        |_, arguments| match argument(arguments, 1) {
            Value::Set(_) => of_any(arguments, intersect),
            _ => Ok(Set::default().into()),
        },
    ),
    (&["difference"], |_, arguments| {
        of_any(arguments, difference)
    }),
    (&["symmetric_difference"], |_, arguments| {
        of_any(arguments, symmetric_difference)
    }),
    (&["is_subset"], |_, arguments| {
        Ok(is_subset(arguments, 0, 1, Sameness::Equal).into())
    }),
    (&["is_superset"], |_, arguments| {
        Ok(is_subset(arguments, 1, 0, Sameness::Equal).into())
    }),
    (&["is_disjoint"], |_, arguments| {
        Ok(is_disjoint(arguments, Sameness::Equal).into())
    }),
    (&["to_list"], |_, arguments| {
        Ok(Value::list(take_set(arguments, 0).into_items()))
    }),
];

const CALLING_BACK: &[(&[&str], &str)] = &[
    (&["map"], "map"),
    (&["filter"], "filter"),
    (&["any"], "any"),
    (&["all", "every"], "all"),
];

/// The set at a position, if it is one.
fn set_at(arguments: &[Value], at: usize) -> Option<&Set> {
    match argument(arguments, at) {
        Value::Set(set) => Some(set),
        _ => None,
    }
}

/// The members of the set at a position.
fn members(arguments: &[Value], at: usize) -> &[Value] {
    set_at(arguments, at).map_or(&[], Set::items)
}

/// Takes the set at a position, to change it.
fn take_set(arguments: &mut [Value], at: usize) -> Set {
    match take(arguments, at) {
        Value::Set(set) => set,
        _ => Set::default(),
    }
}

fn set(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    for argument in &*arguments {
        match argument {
            Value::List(items) => check_members(context, items)?,
            Value::Set(set) => check_members(context, set.items())?,
            member => check_members(context, std::slice::from_ref(member))?,
        }
    }
    let mut set = Set::default();
    for value in arguments.iter_mut().map(std::mem::take) {
        match value {
            Value::Set(other) if set.is_empty() => {
                set = Set::new(other.into_items(), Sameness::Structural);
            }
            Value::Set(other) => extend(&mut set, other.into_items()),
            Value::List(items) => extend(&mut set, items.into_items()),
            value => drop(set.add(value, Sameness::Structural)),
        }
    }
    Ok(set.into())
}

/// A set of these is about to be made. Members are told apart by all that is in them.
fn check_members(context: &mut Context<'_>, members: &[Value]) -> Result<(), Failure> {
    context.reserve(members.len().saturating_mul(2 * size_of::<Value>()))?;
    let mut containers = members.iter();
    containers.try_for_each(|member| member.check_shown(context.budget()))
}

/// The same for what is passed as a member.
fn check_passed(context: &mut Context<'_>, arguments: &[Value]) -> Result<(), Failure> {
    argument(arguments, 1).check_shown(context.budget())
}

fn extend(set: &mut Set, values: Vec<Value>) {
    for value in values {
        set.add(value, Sameness::Structural);
    }
}

fn contains(arguments: &[Value], sameness: Sameness) -> Result<Value, Failure> {
    let value = argument(arguments, 1);
    let found = set_at(arguments, 0).is_some_and(|set| set.contains(value, sameness));
    Ok(found.into())
}

fn add(arguments: &mut [Value], sameness: Sameness) -> Value {
    let value = take(arguments, 1);
    let mut set = take_set(arguments, 0);
    set.add(value, sameness);
    set.into()
}

fn remove(arguments: &mut [Value], sameness: Sameness) -> Value {
    let value = take(arguments, 1);
    let mut set = take_set(arguments, 0);
    set.remove(&value, sameness);
    set.into()
}

fn set_add(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    check_passed(context, arguments)?;
    match set_at(arguments, 0) {
        Some(_) => Ok(add(arguments, Sameness::Structural)),
        None => thrown("set_add: first argument must be a set"),
    }
}

fn set_remove(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    check_passed(context, arguments)?;
    match set_at(arguments, 0) {
        Some(_) => Ok(remove(arguments, Sameness::Structural)),
        None => thrown("set_remove: first argument must be a set"),
    }
}

/// Makes one set of two.
type Operation = fn(Set, &Set, Sameness) -> Set;

fn of_sets(name: &str, arguments: &mut [Value], operation: Operation) -> Result<Value, Failure> {
    if set_at(arguments, 0).is_none() || set_at(arguments, 1).is_none() {
        return thrown(format!("{name}: arguments must be sets"));
    }
    let other = take_set(arguments, 1);
    let set = take_set(arguments, 0);
    Ok(operation(set, &other, Sameness::Structural).into())
}

/// As a method: what is not a set is an empty one.
fn of_any(arguments: &mut [Value], operation: Operation) -> Result<Value, Failure> {
    let other = take_set(arguments, 1);
    let set = take_set(arguments, 0);
    Ok(operation(set, &other, Sameness::Equal).into())
}

fn union(mut set: Set, other: &Set, sameness: Sameness) -> Set {
    for value in other.iter() {
        set.add(value.clone(), sameness);
    }
    set
}

fn intersect(mut set: Set, other: &Set, sameness: Sameness) -> Set {
    set.retain(|value| other.contains(value, sameness));
    set
}

fn difference(mut set: Set, other: &Set, sameness: Sameness) -> Set {
    if !other.is_empty() {
        set.retain(|value| !other.contains(value, sameness));
    }
    set
}

fn symmetric_difference(set: Set, other: &Set, sameness: Sameness) -> Set {
    let mut out = difference(set.clone(), other, sameness);
    for value in other.iter().filter(|value| !set.contains(value, sameness)) {
        out.add(value.clone(), sameness);
    }
    out
}

/// Whether all of the set at one position is in the set at another.
fn is_subset(arguments: &[Value], one: usize, other: usize, sameness: Sameness) -> bool {
    let (Some(one), Some(other)) = (set_at(arguments, one), set_at(arguments, other)) else {
        return false;
    };
    one.iter().all(|value| other.contains(value, sameness))
}

fn is_disjoint(arguments: &[Value], sameness: Sameness) -> bool {
    let (Some(one), Some(other)) = (set_at(arguments, 0), set_at(arguments, 1)) else {
        return true;
    };
    !one.iter().any(|value| other.contains(value, sameness))
}

/// A set of values of which the first of equal ones stays.
pub(crate) fn set_of(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if let Value::List(items) = argument(arguments, 0) {
        check_members(context, items)?;
    }
    let values = take_list(arguments, 0).into_items();
    Ok(Set::new(values, Sameness::Equal).into())
}
