//! When two values are equal.

use std::hash::{BuildHasher, Hasher};
use std::rc::Rc;

use foldhash::fast::FixedState;

use super::{Dict, Sameness, Set, Value};

/// How far into a value its hash looks. Equal values have equal hashes all the same.
const HASH_DEPTH: usize = 3;
/// How many members of a value its hash looks at.
const HASH_WIDTH: usize = 16;

impl PartialEq for Value {
    /// Structural equality; `1 == 1.0`. It never fails, and some values equal nothing.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Int(one), Self::Int(other)) => one == other,
            (Self::Text(one), Self::Text(other)) => one == other,
            _ => match compare(self, other) {
                Part::Decided(equal) => equal,
                Part::Open(pairs) => all_equal(pairs),
            },
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
fn all_equal<'a>(mut left: Vec<(&'a Value, &'a Value)>) -> bool {
    while let Some((one, other)) = left.pop() {
        match compare(one, other) {
            Part::Decided(true) => {}
            Part::Decided(false) => return false,
            Part::Open(pairs) => left.extend(pairs),
        }
    }
    true
}

fn compare<'a>(one: &'a Value, other: &'a Value) -> Part<'a> {
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
        (Set(one), Set(other)) => sets(one, other),
        (Pair(one), Pair(other)) => {
            let parts = [(&one.first, &other.first), (&one.second, &other.second)];
            return Part::Open(parts.into());
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
        true => Part::Open(one.iter().zip(other).collect()),
        false => Part::Decided(false),
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
        true => Part::Open(
            std::iter::zip(one, other)
                .map(|((_, one), (_, other))| (*one, *other))
                .collect(),
        ),
        false => Part::Decided(false),
    }
}

/// Regardless of order. Sets in sets in sets are the one thing that is compared recursively;
/// whoever nests them thousands deep has to hash them first, which looks no deeper than it must.
fn sets(one: &Set, other: &Set) -> bool {
    one.len() == other.len() && one.iter().all(|item| other.contains(item, Sameness::Equal))
}

/// Whether an int and a float are the same number, also where floats cannot tell ints apart.
fn int_equals(int: i64, float: f64) -> bool {
    int as f64 == float
}

/// A hash that equal values share.
pub(super) fn hash_value(value: &Value) -> u64 {
    hash_to(value, HASH_DEPTH)
}

fn hash_to(value: &Value, depth: usize) -> u64 {
    let mut hasher = FixedState::with_seed(1).build_hasher();
    match value {
        Value::Bool(value) => hasher.write_u8(u8::from(*value)),
        // An int and a float that are equal have the same bits as floats.
        Value::Int(value) => hasher.write_u64((*value as f64).to_bits()),
        Value::Float(value) => hasher.write_u64((value + 0.0).to_bits()),
        Value::Duration(value) => hasher.write_i64(*value),
        Value::Text(text) => return text.hash(),
        Value::Bytes(bytes) => hasher.write(bytes),
        Value::Range(range) => hasher.write_i64(range.start ^ range.end),
        Value::Enum(value) => hasher.write_u64(value.tag.variant.hash()),
        Value::List(items) => {
            hasher.write_usize(items.len());
            hash_items(&mut hasher, items, depth);
        }
        Value::Pair(pair) if depth > 0 => {
            hasher.write_u64(hash_to(&pair.first, depth - 1));
            hasher.write_u64(hash_to(&pair.second, depth - 1));
        }
        Value::Dict(dict) => {
            hasher.write_usize(dict.len());
            for (key, value) in dict.iter().take(HASH_WIDTH) {
                hasher.write_u64(key.hash());
                hash_items(&mut hasher, std::slice::from_ref(value), depth);
            }
        }
        Value::Struct(value) => hasher.write_u64(value.shape.name.hash()),
        Value::Set(set) => hasher.write_usize(set.len()),
        _ => hasher.write_u8(0),
    }
    hasher.finish()
}

fn hash_items(hasher: &mut impl Hasher, items: &[Value], depth: usize) {
    if depth > 0 {
        for item in items.iter().take(HASH_WIDTH) {
            hasher.write_u64(hash_to(item, depth - 1));
        }
    }
}
