//! Which of two values comes first.

use std::cmp::Ordering;

use super::Value;

/// Which of two values comes first. What cannot be ordered counts as equal; `None` only for
/// numbers of which one is not a number.
pub fn order(one: &Value, other: &Value) -> Option<Ordering> {
    let mut left = vec![(one, other)];
    while let Some((one, other)) = left.pop() {
        let ordering = match (one, other) {
            (Value::Int(one), Value::Int(other))
            | (Value::Duration(one), Value::Duration(other)) => one.cmp(other),
            (Value::Float(one), Value::Float(other)) => one.partial_cmp(other)?,
            (Value::Int(one), Value::Float(other)) => (*one as f64).partial_cmp(other)?,
            (Value::Float(one), Value::Int(other)) => one.partial_cmp(&(*other as f64))?,
            (Value::Text(one), Value::Text(other)) => one.cmp(other),
            (Value::Pair(one), Value::Pair(other)) => {
                left.push((&one.second, &other.second));
                left.push((&one.first, &other.first));
                continue;
            }
            _ => Ordering::Equal,
        };
        if ordering != Ordering::Equal {
            return Some(ordering);
        }
    }
    Some(Ordering::Equal)
}
