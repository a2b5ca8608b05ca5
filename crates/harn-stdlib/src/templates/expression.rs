//! What expressions come to.
//!
//! Expressions nest to a bounded depth, so this may be recursive.

use std::cmp::Ordering;

use harn_machine::value::order;
use harn_machine::{Failure, Value};
use harn_syntax::template::{Comparison, Expression, Filtered, Path, Step};

use super::filters;
use super::scope::Scopes;

/// Asks for memory before much of it is taken.
pub(super) type Room<'a> = dyn FnMut(usize) -> Result<(), Failure> + 'a;

/// Why a directive has no value.
#[derive(Debug)]
pub(super) enum Trouble {
    /// What is wrong with it.
    Message(String),
    /// The program may not go on.
    Failure(Failure),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// A directive is wrong.
pub(super) fn wrong<T>(message: impl Into<String>) -> Result<T, Trouble> {
    Err(Trouble::Message(message.into()))
}

/// The value of an expression after its filters.
pub(super) fn filtered(
    filtered: &Filtered,
    scopes: &Scopes,
    room: &mut Room<'_>,
) -> Result<Value, Trouble> {
    let mut value = evaluate(&filtered.value, scopes);
    for call in &filtered.filters {
        let arguments = call.arguments.iter();
        let arguments: Vec<Value> = arguments.map(|it| evaluate(it, scopes)).collect();
        value = filters::apply(call.filter, value, &arguments, room)?;
    }
    Ok(value)
}

pub(super) fn evaluate(expression: &Expression, scopes: &Scopes) -> Value {
    match expression {
        Expression::Nil => Value::Nil,
        Expression::Bool(value) => (*value).into(),
        Expression::Int(value) => (*value).into(),
        Expression::Float(value) => (*value).into(),
        Expression::String(text) => text.as_str().into(),
        Expression::Path(path) => follow(path, scopes),
        Expression::Not(operand) => (!is_true(&evaluate(operand, scopes))).into(),
        Expression::Compare(comparison, operands) => {
            let (left, right) = &**operands;
            let (left, right) = (evaluate(left, scopes), evaluate(right, scopes));
            compare(*comparison, &left, &right).into()
        }
        Expression::And(operands) => first(operands, scopes, false),
        Expression::Or(operands) => first(operands, scopes, true),
    }
}

/// The first operand that is or is not true, else the last.
fn first(operands: &[Expression], scopes: &Scopes, truth: bool) -> Value {
    let mut value = Value::Nil;
    for operand in operands {
        value = evaluate(operand, scopes);
        if is_true(&value) == truth {
            break;
        }
    }
    value
}

/// Whether a condition holds. Unlike in programs, blank text does not, and what is no plain
/// data always does.
pub(super) fn is_true(value: &Value) -> bool {
    match value {
        Value::Text(text) => !text.trim().is_empty(),
        Value::Nil
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::List(_)
        | Value::Dict(_) => value.is_truthy(),
        _ => true,
    }
}

fn compare(comparison: Comparison, left: &Value, right: &Value) -> bool {
    let ordering = || {
        let comparable = matches!(
            (left, right),
            (
                Value::Int(_) | Value::Float(_),
                Value::Int(_) | Value::Float(_)
            ) | (Value::Text(_), Value::Text(_))
        );
        comparable.then(|| order(left, right)).flatten()
    };
    match comparison {
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
        Comparison::Less => ordering().is_some_and(Ordering::is_lt),
        Comparison::LessOrEqual => ordering().is_some_and(Ordering::is_le),
        Comparison::Greater => ordering().is_some_and(Ordering::is_gt),
        Comparison::GreaterOrEqual => ordering().is_some_and(Ordering::is_ge),
    }
}

/// What a path leads to, or nil.
fn follow(path: &Path, scopes: &Scopes) -> Value {
    let fact = match path.steps.first() {
        Some(Step::Key(key)) if path.root == "loop" => scopes.loop_fact(key),
        _ => None,
    };
    let (mut value, steps) = match fact {
        Some(fact) => (fact, &path.steps[1..]),
        None => (scopes.get(&path.root).unwrap_or_default(), &path.steps[..]),
    };
    for step in steps {
        value = match step {
            Step::Key(key) => member(&value, key),
            Step::Index(index) => item(&value, *index),
        }
        .unwrap_or_default();
    }
    value
}

fn member(value: &Value, key: &str) -> Option<Value> {
    match value {
        Value::Dict(dict) => dict.get(key).cloned(),
        Value::Struct(value) => value.get(key).cloned(),
        Value::Pair(pair) if key == "first" => Some(pair.first.clone()),
        Value::Pair(pair) if key == "second" => Some(pair.second.clone()),
        _ => None,
    }
}

fn item(value: &Value, index: i64) -> Option<Value> {
    match value {
        Value::List(items) => items.get(place(index, items.len())?).cloned(),
        Value::Text(text) => text
            .char_at(place(index, text.char_count())?)
            .map(Value::Text),
        Value::Range(range) => range.at(index).map(Value::Int),
        _ => None,
    }
}

/// The place that an index means; negative ones count from the end.
fn place(index: i64, length: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(index) => Some(index),
        Err(_) => length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}
