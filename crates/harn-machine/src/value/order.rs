//! Which of two values comes first.

use std::cmp::Ordering;
use std::rc::Rc;

use super::{Pair, Value};

/// Which of two values comes first. What cannot be ordered counts as equal; `None` only for
/// numbers of which one is not a number.
pub fn order(one: &Value, other: &Value) -> Option<Ordering> {
    match (one, other) {
        (Value::Pair(one), Value::Pair(other)) => order_pairs(one, other),
        _ => order_parts(one, other),
    }
}

/// Values that are no pairs.
fn order_parts(one: &Value, other: &Value) -> Option<Ordering> {
    Some(match (one, other) {
        (Value::Int(one), Value::Int(other)) | (Value::Duration(one), Value::Duration(other)) => {
            one.cmp(other)
        }
        (Value::Float(one), Value::Float(other)) => one.partial_cmp(other)?,
        (Value::Int(one), Value::Float(other)) => (*one as f64).partial_cmp(other)?,
        (Value::Float(one), Value::Int(other)) => one.partial_cmp(&(*other as f64))?,
        (Value::Text(one), Value::Text(other)) => one.cmp(other),
        _ => Ordering::Equal,
    })
}

/// By the first that differ. Pairs nest deeply, so what is left to compare is kept in a list.
fn order_pairs(one: &Rc<Pair>, other: &Rc<Pair>) -> Option<Ordering> {
    let mut left = vec![(&one.second, &other.second), (&one.first, &other.first)];
    while let Some((one, other)) = left.pop() {
        if let (Value::Pair(one), Value::Pair(other)) = (one, other) {
            left.push((&one.second, &other.second));
            left.push((&one.first, &other.first));
            continue;
        }
        let ordering = order_parts(one, other)?;
        if ordering != Ordering::Equal {
            return Some(ordering);
        }
    }
    Some(Ordering::Equal)
}
