//! Operators on whatever is not two ints or two floats.
//!
//! The loop of the interpreter does the common cases itself and comes here with the rest. An
//! operand that is read for the last time is taken, so that it can be changed in place; it is
//! taken only when nothing can fail any more.

use std::cmp::Ordering;

use crate::fault::{Failure, Fault};
use crate::value::{Sameness, Text, Value, order};

/// An operand, which may be taken.
pub(crate) struct Operand<'a> {
    pub(crate) value: &'a mut Value,
    pub(crate) is_last_use: bool,
}

impl Operand<'_> {
    fn take(self) -> Value {
        match self.is_last_use {
            true => std::mem::take(self.value),
            false => self.value.clone(),
        }
    }
}

/// An operator that gives a number for two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

/// How many bytes an operator copies, of operands of which one is no number. What is read for
/// the last time and belongs to nobody else is changed in place.
#[inline]
pub(crate) fn copied(op: Arithmetic, left: &Value, right: &Value, is_last_use: bool) -> usize {
    const SLOT: usize = size_of::<Value>();
    if !left.is_counted() && !right.is_counted() {
        return 0;
    }
    let kept = |len: usize, is_unique: bool| if is_unique && is_last_use { 0 } else { len };
    match (op, left, right) {
        (Arithmetic::Add, Value::Text(text), Value::Text(more)) => {
            kept(text.len(), text.is_unique()) + more.len()
        }
        (Arithmetic::Add, Value::List(list), Value::List(more)) => {
            (kept(list.len(), list.is_unique()) + more.len()) * SLOT
        }
        (Arithmetic::Add, Value::Dict(dict), Value::Dict(more)) => {
            (kept(dict.len(), dict.is_unique()) + more.len()) * 4 * SLOT
        }
        (Arithmetic::Multiply, Value::Text(text), Value::Int(count)) => repeated(text, *count),
        (Arithmetic::Multiply, Value::Int(count), Value::Text(text)) => repeated(text, *count),
        _ => 0,
    }
}

fn repeated(text: &Text, count: i64) -> usize {
    text.len()
        .saturating_mul(usize::try_from(count).unwrap_or(0))
}

/// The value of an arithmetic operator.
#[inline(never)]
pub(crate) fn arithmetic(
    op: Arithmetic,
    left: Operand<'_>,
    right: Operand<'_>,
) -> Result<Value, Failure> {
    use Value::{Float, Int};
    match (&*left.value, &*right.value) {
        (Int(left), Int(right)) => ints(op, *left, *right),
        (Float(left), Float(right)) => floats(op, *left, *right),
        (Int(left), Float(right)) => floats(op, *left as f64, *right),
        (Float(left), Int(right)) => floats(op, *left, *right as f64),
        _ => match op {
            Arithmetic::Add => add(left, right),
            Arithmetic::Multiply => repeat(&left, &right),
            _ => Err(misfit(op, left.value, right.value)),
        },
    }
}

fn ints(op: Arithmetic, left: i64, right: i64) -> Result<Value, Failure> {
    let by_zero = || Fault::own("Division by zero");
    Ok(Value::Int(match op {
        Arithmetic::Add => left.wrapping_add(right),
        Arithmetic::Subtract => left.wrapping_sub(right),
        Arithmetic::Multiply => left.wrapping_mul(right),
        Arithmetic::Divide if right == 0 => return Err(by_zero()),
        Arithmetic::Divide => left.wrapping_div(right),
        Arithmetic::Remainder if right == 0 => return Err(by_zero()),
        Arithmetic::Remainder => left.wrapping_rem(right),
        Arithmetic::Power if right < 0 => {
            return Ok(Value::Float((left as f64).powf(right as f64)));
        }
        Arithmetic::Power => power(left, right),
    }))
}

/// By squaring, wrapping around. The exponent is not negative.
fn power(mut base: i64, mut exponent: i64) -> i64 {
    let mut result: i64 = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    result
}

fn floats(op: Arithmetic, left: f64, right: f64) -> Result<Value, Failure> {
    Ok(Value::Float(match op {
        Arithmetic::Add => left + right,
        Arithmetic::Subtract => left - right,
        Arithmetic::Multiply => left * right,
        Arithmetic::Divide => left / right,
        Arithmetic::Remainder if right == 0.0 => return Err(Fault::own("Division by zero")),
        Arithmetic::Remainder => left % right,
        Arithmetic::Power => left.powf(right),
    }))
}

fn add(left: Operand<'_>, right: Operand<'_>) -> Result<Value, Failure> {
    match (&*left.value, &*right.value) {
        (Value::Text(_), Value::Text(more)) => {
            let more = more.clone();
            let Value::Text(mut text) = left.take() else {
                unreachable!("it was text just now")
            };
            text.append(&more);
            Ok(Value::Text(text))
        }
        (Value::List(_), Value::List(more)) => {
            let more = more.clone();
            let Value::List(mut list) = left.take() else {
                unreachable!("it was a list just now")
            };
            list.items_mut().extend_from_slice(&more);
            Ok(Value::List(list))
        }
        (Value::Dict(_), Value::Dict(more)) => {
            let more = more.clone();
            let Value::Dict(mut dict) = left.take() else {
                unreachable!("it was a dict just now")
            };
            for (key, value) in &more {
                dict.insert(key.clone(), value.clone());
            }
            Ok(Value::Dict(dict))
        }
        (left, right) => Err(misfit(Arithmetic::Add, left, right)),
    }
}

fn repeat(left: &Operand<'_>, right: &Operand<'_>) -> Result<Value, Failure> {
    let (text, count) = match (&*left.value, &*right.value) {
        (Value::Text(text), Value::Int(count)) | (Value::Int(count), Value::Text(text)) => {
            (text, usize::try_from(*count).unwrap_or(0))
        }
        (left, right) => return Err(misfit(Arithmetic::Multiply, left, right)),
    };
    Ok(Value::Text(Text::from(text.repeat(count))))
}

fn misfit(op: Arithmetic, left: &Value, right: &Value) -> Failure {
    let (left, right) = (left.type_name(), right.type_name());
    match op {
        Arithmetic::Add => Fault::type_error(format!("Cannot add {left} and {right}")),
        Arithmetic::Subtract => Fault::type_error(format!("Cannot subtract {right} from {left}")),
        Arithmetic::Multiply => Fault::type_error(format!("Cannot multiply {left} and {right}")),
        Arithmetic::Power => Fault::type_error(format!("Cannot exponentiate {left} by {right}")),
        Arithmetic::Divide => Fault::runtime(format!("Cannot divide {left} by {right}")),
        Arithmetic::Remainder => Fault::runtime(format!("Cannot modulo {left} by {right}")),
    }
}

/// `-value`
pub(crate) fn negate(value: &Value) -> Result<Value, Failure> {
    match value {
        Value::Int(value) => Ok(Value::Int(value.wrapping_neg())),
        Value::Float(value) => Ok(Value::Float(-value)),
        _ => Err(Fault::runtime(format!(
            "Cannot negate value of type {}",
            value.type_name()
        ))),
    }
}

/// `left < right`
#[inline(never)]
pub(crate) fn is_less(left: &Value, right: &Value) -> bool {
    order(left, right) == Some(Ordering::Less)
}

/// `left <= right`: also what cannot be ordered, but nothing that is not a number.
#[inline(never)]
pub(crate) fn is_less_equal(left: &Value, right: &Value) -> bool {
    matches!(order(left, right), Some(Ordering::Less | Ordering::Equal))
}

/// `item in container`
pub(crate) fn contains(item: &Value, container: &Value) -> bool {
    match container {
        Value::List(items) => items.contains(item),
        Value::Set(set) => set.contains(item, Sameness::Equal),
        Value::Dict(dict) => dict.get_text(&item.to_text()).is_some(),
        Value::Text(text) => text.contains(item.to_text().as_str()),
        Value::Range(range) => matches!(item, Value::Int(number) if range.contains(*number)),
        _ => false,
    }
}
