//! When two values are equal.

use std::hash::Hasher;
use std::rc::Rc;

use hashbrown::HashSet;

use super::hash::{Hashed, seeded};
use super::structural::structural_key;
use super::{Dict, Set, Value};

/// How many values are compared before it is noted which were.
const FEW_STEPS: usize = 1000;
/// How deeply sets of sets are compared member by member.
const SET_DEPTH: usize = 32;

impl PartialEq for Value {
    /// Structural equality; `1 == 1.0`. It never fails, and some values equal nothing.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Int(one), Self::Int(other)) => one == other,
            (Self::Text(one), Self::Text(other)) => one == other,
            _ => is_equal(self, other, SET_DEPTH),
        }
    }
}

/// What comparing two values comes to without looking into them.
enum Part<'a> {
    Decided(bool),
    /// They are equal if all of these are.
    Open(Vec<(&'a Value, &'a Value)>),
}

/// Values nest deeply, so what is left to compare is kept in a list.
fn is_equal(one: &Value, other: &Value, set_depth: usize) -> bool {
    let mut left = match compare(one, other, set_depth) {
        Part::Decided(equal) => return equal,
        Part::Open(pairs) => pairs,
    };
    let mut steps = 0;
    let mut seen = HashSet::new();
    while let Some((one, other)) = left.pop() {
        steps += 1;
        if steps > FEW_STEPS && !is_new(&mut seen, one, other) {
            continue;
        }
        match compare(one, other, set_depth) {
            Part::Decided(true) => {}
            Part::Decided(false) => return false,
            Part::Open(pairs) => left.extend(pairs),
        }
    }
    true
}

/// Whether two values are compared for the first time. A value can be in another one twice, and
/// that in yet another one twice: there are more ways to it than anybody could go.
fn is_new(seen: &mut HashSet<(usize, usize)>, one: &Value, other: &Value) -> bool {
    match (place(one), place(other)) {
        (Some(one), Some(other)) => seen.insert((one, other)),
        _ => true,
    }
}

/// Where a value is that others can be in.
fn place(value: &Value) -> Option<usize> {
    Some(match value {
        Value::List(list) => list.address(),
        Value::Dict(dict) => dict.address(),
        Value::Set(set) => set.address(),
        Value::Pair(pair) => Rc::as_ptr(pair).addr(),
        Value::Enum(value) => Rc::as_ptr(value).addr(),
        Value::Struct(value) => Rc::as_ptr(value).addr(),
        _ => return None,
    })
}

fn compare<'a>(one: &'a Value, other: &'a Value, set_depth: usize) -> Part<'a> {
    use Value::*;
    Part::Decided(match (one, other) {
        (Nil | Absent, Nil | Absent) => true,
        (Bool(one), Bool(other)) => one == other,
        (Int(one), Int(other)) | (Duration(one), Duration(other)) => one == other,
        (Float(one), Float(other)) => one == other,
        (Int(int), Float(float)) | (Float(float), Int(int)) => int_equals(*int, *float),
        (Text(one), Text(other)) => one == other,
        (Bytes(one), Bytes(other)) => one == other,
        (Builtin(one), Builtin(other)) => one == other,
        (Range(one), Range(other)) => one == other,
        (Task(one), Task(other)) => one.id == other.id,
        (Atomic(one), Atomic(other)) => one.get() == other.get(),
        (Iter(one), Iter(other)) => Rc::ptr_eq(one, other),
        (List(one), List(other)) => {
            return match one.is_same(other) && one.iter().all(is_reflexive) {
                true => Part::Decided(true),
                false => zipped(one, other),
            };
        }
        (Dict(one), Dict(other)) => return dicts(one, other),
        (Set(one), Set(other)) => sets(one, other, set_depth),
        (Pair(one), Pair(other)) => {
            let parts = [(&one.first, &other.first), (&one.second, &other.second)];
            return all(parts.into_iter());
        }
        (Enum(one), Enum(other)) => match one.tag == other.tag {
            true => return zipped(&one.payload, &other.payload),
            false => false,
        },
        (Struct(one), Struct(other)) => {
            if one.shape.name != other.shape.name {
                return Part::Decided(false);
            }
            let (left, right): (Vec<_>, Vec<_>) =
                (one.fields().collect(), other.fields().collect());
            return same_entries(&left, &right);
        }
        _ => false,
    })
}

/// Whether a value is certain to equal itself: numbers may be NaN, functions never do.
fn is_reflexive(value: &Value) -> bool {
    matches!(
        value,
        Value::Nil | Value::Bool(_) | Value::Int(_) | Value::Text(_)
    )
}

fn zipped<'a>(one: &'a [Value], other: &'a [Value]) -> Part<'a> {
    match one.len() == other.len() {
        true => all(std::iter::zip(one, other)),
        false => Part::Decided(false),
    }
}

/// All of these have to be equal. What is not nested is decided at once.
fn all<'a>(pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Part<'a> {
    let mut open = Vec::new();
    for (one, other) in pairs {
        if one.is_container() && other.is_container() {
            open.push((one, other));
        } else if let Part::Decided(false) = compare(one, other, 0) {
            return Part::Decided(false);
        }
    }
    match open.is_empty() {
        true => Part::Decided(true),
        false => Part::Open(open),
    }
}

fn dicts<'a>(one: &'a Dict, other: &'a Dict) -> Part<'a> {
    if one.len() != other.len() {
        return Part::Decided(false);
    }
    let (left, right): (Vec<_>, Vec<_>) = (one.iter().collect(), other.iter().collect());
    same_entries(&left, &right)
}

fn same_entries<'a>(
    one: &[(&'a super::Text, &'a Value)],
    other: &[(&'a super::Text, &'a Value)],
) -> Part<'a> {
    let same_keys = one.len() == other.len()
        && std::iter::zip(one, other).all(|((one, _), (other, _))| one == other);
    match same_keys {
        true => all(std::iter::zip(one, other).map(|((_, one), (_, other))| (*one, *other))),
        false => Part::Decided(false),
    }
}

/// Regardless of order. Which member goes with which is only known by comparing them, so sets
/// in sets are the one thing that is compared recursively. Deeper than anybody nests them on
/// purpose their structural keys are compared instead, which need no recursion.
fn sets(one: &Set, other: &Set, depth: usize) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let Some(depth) = depth.checked_sub(1) else {
        let [one, other] = [one, other].map(|set| structural_key(&Value::Set(set.clone())));
        return one == other;
    };
    let is_equal = |one: &Value, other: &Value| is_equal(one, other, depth);
    let mut is_taken = vec![false; other.len()];
    one.iter().all(|item| {
        let Some(mut at) = other.position_by(item, is_equal) else {
            return false;
        };
        // Two members may equal the same one of the other set, as 1 and 1.0 do.
        if is_taken[at] {
            let is_free = |(at, member): (usize, &Value)| !is_taken[at] && is_equal(member, item);
            match other.iter().enumerate().position(is_free) {
                Some(free) => at = free,
                None => return false,
            }
        }
        is_taken[at] = true;
        true
    })
}

/// Whether an int and a float are the same number, also where floats cannot tell ints apart.
fn int_equals(int: i64, float: f64) -> bool {
    int as f64 == float
}

/// Whether a value is of a kind that equals nothing, not even itself.
pub(super) fn equals_nothing(value: &Value) -> bool {
    match value {
        Value::Float(value) => value.is_nan(),
        Value::Closure(_) | Value::Channel(_) | Value::Generator(_) | Value::Permit(_) => true,
        Value::Foreign(_) => true,
        _ => false,
    }
}

/// A hash that equal values share. It looks at all of a value, except that of members of
/// members of sets it only sees how many there are.
pub(super) fn hash_value(value: &Value) -> u64 {
    if let Value::Text(text) = value {
        return text.hash();
    }
    let mut hasher = seeded(Hashed::Value);
    let mut left = Vec::new();
    hash_one(value, &mut hasher, &mut left);
    while let Some(value) = left.pop() {
        hash_one(value, &mut hasher, &mut left);
    }
    hasher.finish()
}

/// Hashes what is in the value itself, and says what else is to be hashed.
fn hash_one<'a>(value: &'a Value, hasher: &mut impl Hasher, left: &mut Vec<&'a Value>) {
    match value {
        Value::Bool(value) => hasher.write_u8(u8::from(*value)),
        // An int and a float that are equal have the same bits as floats; 0.0 and -0.0 too.
        Value::Int(value) => hasher.write_u64((*value as f64).to_bits()),
        Value::Float(value) => hasher.write_u64((value + 0.0).to_bits()),
        Value::Duration(value) => hasher.write_i64(*value),
        Value::Text(text) => hasher.write_u64(text.hash()),
        Value::Bytes(bytes) => hasher.write(bytes),
        Value::Builtin(id) => hasher.write_u16(id.position()),
        Value::Task(task) => hasher.write_u64(task.id.hash()),
        Value::Iter(iter) => hasher.write_usize(Rc::as_ptr(iter).addr()),
        Value::Range(range) => {
            hasher.write_i64(range.start);
            hasher.write_i64(range.end);
        }
        Value::Pair(pair) => left.extend([&pair.first, &pair.second]),
        Value::List(items) => {
            hasher.write_usize(items.len());
            left.extend(items.iter());
        }
        Value::Enum(value) => {
            hasher.write_u64(value.tag.variant.hash());
            left.extend(&value.payload);
        }
        Value::Dict(dict) => hash_fields(dict.iter(), hasher, left),
        Value::Struct(value) => {
            hasher.write_u64(value.shape.name.hash());
            hash_fields(value.fields(), hasher, left);
        }
        Value::Set(set) => {
            let members = set.iter().filter(|member| !member.is_container());
            let sum = members.map(hash_value).fold(0, u64::wrapping_add);
            hasher.write_u64(sum ^ set.len() as u64);
        }
        // Atomics change and stay where they are, so their values tell nothing.
        _ => hasher.write_u8(0),
    }
}

fn hash_fields<'a>(
    fields: impl Iterator<Item = (&'a super::Text, &'a Value)>,
    hasher: &mut impl Hasher,
    left: &mut Vec<&'a Value>,
) {
    for (key, value) in fields {
        hasher.write_u64(key.hash());
        left.push(value);
    }
}
