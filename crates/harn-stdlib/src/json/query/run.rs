//! A query on a document.

use std::cmp::Ordering;

use harn_machine::Value;
use harn_machine::value::{Dict, order};

use super::{Join, Query, Relation, Step, Word};

/// How many values a query may find on its way. Parts of a query multiply what they find, so
/// a short one could fill any memory.
const FOUND_MAX: usize = 10_000_000;

/// Everything a query finds, in order.
pub(super) fn run(query: &Query, document: &Value) -> Result<Vec<Value>, String> {
    let mut out = Vec::new();
    Run { found: 0 }.query(query, document, &mut out)?;
    Ok(out)
}

struct Run {
    found: usize,
}

impl Run {
    fn query(&mut self, query: &Query, input: &Value, out: &mut Vec<Value>) -> Result<(), String> {
        match query {
            Query::Path(None, steps) => return self.steps(steps, input, out),
            Query::Path(Some(base), steps) => {
                for input in &self.all(base, input)? {
                    self.steps(steps, input, out)?;
                }
            }
            Query::Descendants => return self.descendants(input, out),
            Query::Word(word) => out.push(computed(*word, input)),
            Query::Map(of_item) => {
                let mut items = Vec::new();
                if let Value::List(list) = input {
                    for item in list.iter() {
                        self.query(of_item, item, &mut items)?;
                    }
                }
                out.push(Value::list(items));
            }
            Query::Select(condition) => {
                if self.first(condition, input)?.is_truthy() {
                    out.push(input.clone());
                }
            }
            Query::Object(fields) => {
                let mut dict = Dict::default();
                for (key, query) in fields {
                    dict.insert(key.clone(), self.first(query, input)?);
                }
                out.push(dict.into());
            }
            Query::Literal(value) => out.push(value.clone()),
            Query::Pipe(queries) => {
                out.append(&mut self.pipe(queries, input)?);
                return Ok(());
            }
            Query::All(queries) => {
                for query in queries {
                    self.query(query, input, out)?;
                }
                return Ok(());
            }
            Query::Logic(first, more) => self.logic(first, more, input, out)?,
            Query::Comparison(left, relation, right) => {
                let rights = self.all(right, input)?;
                for left in &self.all(left, input)? {
                    let holds = |right| Value::Bool(holds(left, *relation, right));
                    out.extend(rights.iter().map(holds));
                    self.count(rights.len())?;
                }
            }
            Query::Not(condition) => {
                let all = self.all(condition, input)?;
                out.extend(all.iter().map(|value| Value::Bool(!value.is_truthy())));
            }
        }
        self.count(1)
    }

    fn count(&mut self, more: usize) -> Result<(), String> {
        self.found += more;
        match self.found > FOUND_MAX {
            true => Err("the query finds too much".to_owned()),
            false => Ok(()),
        }
    }

    fn all(&mut self, query: &Query, input: &Value) -> Result<Vec<Value>, String> {
        let mut out = Vec::new();
        self.query(query, input, &mut out)?;
        Ok(out)
    }

    /// The first thing found, or nil.
    fn first(&mut self, query: &Query, input: &Value) -> Result<Value, String> {
        Ok(self
            .all(query, input)?
            .into_iter()
            .next()
            .unwrap_or_default())
    }

    fn pipe(&mut self, queries: &[Query], input: &Value) -> Result<Vec<Value>, String> {
        let mut inputs = vec![input.clone()];
        for query in queries {
            let mut found = Vec::new();
            for input in &inputs {
                self.query(query, input, &mut found)?;
            }
            inputs = found;
        }
        Ok(inputs)
    }

    /// What is decided already is not asked again.
    fn logic(
        &mut self,
        first: &Query,
        more: &[(Join, Query)],
        input: &Value,
        out: &mut Vec<Value>,
    ) -> Result<(), String> {
        let mut lefts = self.all(first, input)?;
        for (join, right) in more {
            let rights = self.all(right, input)?;
            let mut joined = Vec::new();
            for left in &lefts {
                match (join, left.is_truthy()) {
                    (Join::And, false) => joined.push(Value::Bool(false)),
                    (Join::Or, true) => joined.push(Value::Bool(true)),
                    _ => joined.extend(rights.iter().map(|right| right.is_truthy().into())),
                }
                self.count(rights.len() + 1)?;
            }
            lefts = joined;
        }
        out.append(&mut lefts);
        Ok(())
    }

    fn steps(&mut self, steps: &[Step], input: &Value, out: &mut Vec<Value>) -> Result<(), String> {
        let Some(each) = steps.iter().position(|step| matches!(step, Step::Each)) else {
            out.push(walk(steps, input));
            return self.count(1);
        };
        // The list of what is in a value is gone through once for each such step.
        let mut inputs = vec![walk(&steps[..each], input)];
        let mut rest = &steps[each..];
        while let Some((_, after)) = rest.split_first() {
            let next = after.iter().position(|step| matches!(step, Step::Each));
            let (way, left) = after.split_at(next.unwrap_or(after.len()));
            let mut found = Vec::new();
            for input in &inputs {
                let before = found.len();
                found.extend(children(input).map(|child| walk(way, child)));
                self.count(found.len() - before)?;
            }
            inputs = found;
            rest = left;
        }
        out.append(&mut inputs);
        Ok(())
    }

    /// The input and everything in it, each before what is in it.
    fn descendants(&mut self, input: &Value, out: &mut Vec<Value>) -> Result<(), String> {
        let mut left = vec![input];
        while let Some(value) = left.pop() {
            out.push(value.clone());
            let from = left.len();
            left.extend(children(value));
            left[from..].reverse();
            self.count(1)?;
        }
        Ok(())
    }
}

/// What is in a value.
fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::List(items) => Box::new(items.iter()),
        Value::Set(set) => Box::new(set.iter()),
        Value::Dict(dict) => Box::new(dict.values()),
        _ => Box::new(std::iter::empty()),
    }
}

/// Where steps lead that each lead to one place.
fn walk(steps: &[Step], input: &Value) -> Value {
    let mut place = input.clone();
    for step in steps {
        place = next(step, &place);
    }
    place
}

fn next(step: &Step, place: &Value) -> Value {
    let found = match (step, place) {
        (Step::Field(key), Value::Dict(dict)) => dict.get_text(key),
        (Step::Field(key), Value::Struct(value)) => value.get(key),
        (Step::Item(index), Value::List(items)) => {
            position(*index, items.len()).and_then(|at| items.get(at))
        }
        (Step::Slice(start, end), Value::List(items)) => {
            let start = bound(start.unwrap_or(0), items.len());
            let end = end.map_or(items.len(), |end| bound(end, items.len()));
            let slice = items.get(start..end).unwrap_or_default();
            return slice.iter().cloned().collect();
        }
        (Step::Slice(..), _) => return Value::list(Vec::new()),
        _ => None,
    };
    found.cloned().into()
}

/// The position of an index, which counts from the end if it is negative.
fn position(index: i64, length: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(at) => Some(at),
        Err(_) => length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}

/// The same for a bound of a slice, which can be outside.
fn bound(index: i64, length: usize) -> usize {
    position(index, length).unwrap_or(0).min(length)
}

fn computed(word: Word, input: &Value) -> Value {
    match word {
        Word::Length => match input {
            Value::Nil => Value::Int(0),
            Value::Text(text) => text.char_count().into(),
            Value::Bytes(bytes) => bytes.len().into(),
            Value::List(items) => items.len().into(),
            Value::Dict(dict) => dict.len().into(),
            _ => Value::Int(1),
        },
        Word::Keys => match input {
            Value::Dict(dict) => dict.keys().cloned().map(Value::Text).collect(),
            Value::List(items) => (0..items.len()).map(Value::from).collect(),
            _ => Value::list(Vec::new()),
        },
        Word::Values => match input {
            Value::Dict(dict) => dict.values().cloned().collect(),
            Value::List(_) => input.clone(),
            _ => Value::list(Vec::new()),
        },
        Word::Type => Value::text(match input {
            Value::Nil => "null",
            Value::Bool(_) => "boolean",
            Value::Int(_) | Value::Float(_) => "number",
            Value::List(_) => "array",
            Value::Dict(_) => "object",
            other => other.type_name(),
        }),
    }
}

fn holds(left: &Value, relation: Relation, right: &Value) -> bool {
    let ordered = || match (left, right) {
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_))
        | (Value::Text(_), Value::Text(_)) => order(left, right),
        _ => None,
    };
    match relation {
        Relation::Equal => left == right,
        Relation::Unequal => left != right,
        Relation::Less => ordered() == Some(Ordering::Less),
        Relation::Greater => ordered() == Some(Ordering::Greater),
    }
}
