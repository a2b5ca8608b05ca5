//! A query on a document.
//!
//! What is found is mostly a part of the document or of the query, so it is referred to and not
//! copied until somebody keeps it.

use std::borrow::Cow;
use std::cmp::Ordering;

use harn_machine::Value;
use harn_machine::value::{Dict, order};

use super::sieve::{Sieve, Way};
use super::{Join, Query, Relation, Step, Word};

/// How many values a query may find on its way. Parts of a query multiply what they find, so
/// a short one could fill any memory.
const FOUND_MAX: usize = 10_000_000;

/// How many items pass one part of a query before the next part.
const BATCH: usize = 64;

type Found<'a> = Cow<'a, Value>;

/// Everything a query finds, in order.
pub(super) fn run(query: &Query, document: &Value) -> Result<Vec<Value>, String> {
    let mut out = Vec::new();
    Run { found: 0 }.query(query, &Cow::Borrowed(document), &mut out)?;
    Ok(out.into_iter().map(Cow::into_owned).collect())
}

struct Run {
    found: usize,
}

impl Run {
    fn query<'a>(
        &mut self,
        query: &'a Query,
        input: &Found<'a>,
        out: &mut Vec<Found<'a>>,
    ) -> Result<(), String> {
        match query {
            Query::Path(None, steps) => return self.steps(steps, input.clone(), out),
            Query::Path(Some(base), steps) => {
                for input in self.all(base, input)? {
                    self.steps(steps, input, out)?;
                }
            }
            Query::Descendants => return self.descendants(input, out),
            Query::Word(word) => out.push(Cow::Owned(computed(*word, input))),
            Query::Map(of_item) => {
                let mut items = Vec::new();
                if let Value::List(_) = &**input {
                    for item in children(input) {
                        self.query(of_item, &item, &mut items)?;
                    }
                }
                out.push(Cow::Owned(items.into_iter().map(Cow::into_owned).collect()));
            }
            Query::Select(condition) => {
                if self.holds(condition, input)? {
                    out.push(input.clone());
                }
            }
            Query::Object(fields) => {
                let mut dict = Dict::default();
                for (key, query) in fields {
                    dict.insert(key.clone(), self.first(query, input)?.into_owned());
                }
                out.push(Cow::Owned(dict.into()));
            }
            Query::Literal(value) => out.push(Cow::Borrowed(value)),
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
                    let holds = |right: &Found<'_>| truth(compare(left, *relation, right));
                    out.extend(rights.iter().map(holds));
                    self.count(rights.len())?;
                }
            }
            Query::Not(condition) => {
                let all = self.all(condition, input)?;
                out.extend(all.iter().map(|value| truth(!value.is_truthy())));
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

    fn all<'a>(&mut self, query: &'a Query, input: &Found<'a>) -> Result<Vec<Found<'a>>, String> {
        let mut out = Vec::new();
        self.query(query, input, &mut out)?;
        Ok(out)
    }

    /// The first thing found, or nil.
    fn first<'a>(&mut self, query: &'a Query, input: &Found<'a>) -> Result<Found<'a>, String> {
        let first = self.all(query, input)?.into_iter().next();
        Ok(first.unwrap_or(Cow::Owned(Value::Nil)))
    }

    /// Whether the first thing found is true. Most conditions compare one place with a value,
    /// which needs no list of what is found.
    fn holds<'a>(&mut self, condition: &'a Query, input: &Found<'a>) -> Result<bool, String> {
        if let Query::Comparison(left, relation, right) = condition
            && let (Some(left), Some(right)) = (Way::of(left), Way::of(right))
        {
            self.count(1)?;
            return Ok(compare(left.from(input), *relation, right.from(input)));
        }
        Ok(self.first(condition, input)?.is_truthy())
    }

    /// Each query on what the one before finds. Queries that find at most one thing follow at
    /// once, while what they look at is near.
    fn pipe<'a>(
        &mut self,
        queries: &'a [Query],
        input: &Found<'a>,
    ) -> Result<Vec<Found<'a>>, String> {
        let mut inputs = vec![input.clone()];
        let mut rest = queries;
        while let Some((query, after)) = rest.split_first() {
            let simple = after.iter().take_while(|query| is_simple(query)).count();
            let (filters, left) = after.split_at(simple);
            let mut found = Vec::new();
            for input in &inputs {
                match each_item(query, input) {
                    Some(items) => self.filter_items(filters, items, &mut found)?,
                    None => {
                        for input in self.all(query, input)? {
                            self.filter(filters, input, &mut found)?;
                        }
                    }
                }
            }
            inputs = found;
            rest = left;
        }
        Ok(inputs)
    }

    /// Passes items through queries that find at most one thing. All of a batch pass one query
    /// before the next: what an item leads to is far away in memory, and while one is fetched
    /// the others are asked for.
    fn filter_items<'a>(
        &mut self,
        filters: &'a [Query],
        items: &'a [Value],
        out: &mut Vec<Found<'a>>,
    ) -> Result<(), String> {
        let Some(sieves) = filters.iter().map(Sieve::of).collect::<Option<Vec<_>>>() else {
            for item in items {
                self.filter(filters, Cow::Borrowed(item), out)?;
            }
            return Ok(());
        };
        let mut batch = Vec::with_capacity(BATCH);
        for items in items.chunks(BATCH) {
            batch.clear();
            batch.extend(items);
            sieves.iter().for_each(|sieve| sieve.pass(&mut batch));
            out.extend(batch.iter().copied().map(Cow::Borrowed));
            self.count(items.len())?;
        }
        Ok(())
    }

    /// Passes a value through queries that find at most one thing.
    fn filter<'a>(
        &mut self,
        filters: &'a [Query],
        input: Found<'a>,
        out: &mut Vec<Found<'a>>,
    ) -> Result<(), String> {
        let mut value = input;
        for filter in filters {
            match filter {
                Query::Path(None, steps) => value = walk(steps, value),
                Query::Select(condition) if !self.holds(condition, &value)? => {
                    return self.count(1);
                }
                _ => {}
            }
        }
        out.push(value);
        self.count(1)
    }

    /// What is decided already is not asked again.
    fn logic<'a>(
        &mut self,
        first: &'a Query,
        more: &'a [(Join, Query)],
        input: &Found<'a>,
        out: &mut Vec<Found<'a>>,
    ) -> Result<(), String> {
        let mut lefts = self.all(first, input)?;
        for (join, right) in more {
            let rights = self.all(right, input)?;
            let mut joined = Vec::new();
            for left in &lefts {
                match (join, left.is_truthy()) {
                    (Join::And, false) => joined.push(truth(false)),
                    (Join::Or, true) => joined.push(truth(true)),
                    _ => joined.extend(rights.iter().map(|right| truth(right.is_truthy()))),
                }
                self.count(rights.len() + 1)?;
            }
            lefts = joined;
        }
        out.append(&mut lefts);
        Ok(())
    }

    fn steps<'a>(
        &mut self,
        steps: &'a [Step],
        input: Found<'a>,
        out: &mut Vec<Found<'a>>,
    ) -> Result<(), String> {
        let (way, mut rest) = until_each(steps);
        let input = walk(way, input);
        if rest.is_empty() {
            out.push(input);
            return self.count(1);
        }
        // The list of what is in a value is gone through once for each such step.
        let mut inputs = vec![input];
        while let Some((_, after)) = rest.split_first() {
            let (way, left) = until_each(after);
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
    fn descendants<'a>(
        &mut self,
        input: &Found<'a>,
        out: &mut Vec<Found<'a>>,
    ) -> Result<(), String> {
        let mut left = vec![input.clone()];
        while let Some(value) = left.pop() {
            let from = left.len();
            left.extend(children(&value));
            left[from..].reverse();
            out.push(value);
            self.count(1)?;
        }
        Ok(())
    }
}

fn truth<'a>(value: bool) -> Found<'a> {
    Cow::Owned(Value::Bool(value))
}

/// Whether a query finds at most one thing, and without any list.
fn is_simple(query: &Query) -> bool {
    let leads_to_one = |query: &Query| match query {
        Query::Literal(_) => true,
        Query::Path(None, steps) => until_each(steps).1.is_empty(),
        _ => false,
    };
    match query {
        Query::Path(None, steps) => until_each(steps).1.is_empty(),
        Query::Select(condition) => match &**condition {
            Query::Comparison(left, _, right) => leads_to_one(left) && leads_to_one(right),
            condition => leads_to_one(condition),
        },
        _ => false,
    }
}

/// The items that a query such as `.a.b[]` finds, if it is one and they are in the document.
fn each_item<'a>(query: &'a Query, input: &Found<'a>) -> Option<&'a [Value]> {
    let Query::Path(None, steps) = query else {
        return None;
    };
    let (Step::Each, way) = steps.split_last()? else {
        return None;
    };
    if !until_each(way).1.is_empty() {
        return None;
    }
    match walk(way, input.clone()) {
        Cow::Borrowed(Value::List(items)) => Some(items),
        _ => None,
    }
}

/// The steps that each lead to one place, and the rest.
fn until_each(steps: &[Step]) -> (&[Step], &[Step]) {
    let each = steps.iter().position(|step| matches!(step, Step::Each));
    steps.split_at(each.unwrap_or(steps.len()))
}

/// What is in a value.
fn children<'a>(value: &Found<'a>) -> Box<dyn Iterator<Item = Found<'a>> + 'a> {
    match value {
        Cow::Borrowed(value) => Box::new(parts(value).map(Cow::Borrowed)),
        Cow::Owned(value) => {
            let parts: Vec<Value> = parts(value).cloned().collect();
            Box::new(parts.into_iter().map(Cow::Owned))
        }
    }
}

fn parts(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::List(items) => Box::new(items.iter()),
        Value::Set(set) => Box::new(set.iter()),
        Value::Dict(dict) => Box::new(dict.values()),
        _ => Box::new(std::iter::empty()),
    }
}

/// Where steps lead that each lead to one place.
fn walk<'a>(steps: &'a [Step], input: Found<'a>) -> Found<'a> {
    let mut place = input;
    for step in steps {
        place = match place {
            Cow::Borrowed(value) => next(step, value),
            Cow::Owned(value) => Cow::Owned(next(step, &value).into_owned()),
        };
    }
    place
}

fn next<'a>(step: &Step, place: &'a Value) -> Found<'a> {
    let found = match step {
        Step::Field(field) => field.of(place),
        Step::Item(index) => item(place, *index),
        Step::Slice(start, end) => return Cow::Owned(slice(place, *start, *end)),
        Step::Each => None,
    };
    found.map_or(Cow::Owned(Value::Nil), Cow::Borrowed)
}

pub(super) fn item(place: &Value, index: i64) -> Option<&Value> {
    match place {
        Value::List(items) => items.get(position(index, items.len())?),
        _ => None,
    }
}

fn slice(place: &Value, start: Option<i64>, end: Option<i64>) -> Value {
    let Value::List(items) = place else {
        return Value::list(Vec::new());
    };
    let start = bound(start.unwrap_or(0), items.len());
    let end = end.map_or(items.len(), |end| bound(end, items.len()));
    let slice = items.get(start..end).unwrap_or_default();
    slice.iter().cloned().collect()
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

pub(super) fn compare(left: &Value, relation: Relation, right: &Value) -> bool {
    // The usual kinds are compared here, without asking how deep they are.
    let is_equal = || match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => left == right,
        _ => left == right,
    };
    let ordered = || match (left, right) {
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_))
        | (Value::Text(_), Value::Text(_)) => order(left, right),
        _ => None,
    };
    match relation {
        Relation::Equal => is_equal(),
        Relation::Unequal => !is_equal(),
        Relation::Less => ordered() == Some(Ordering::Less),
        Relation::Greater => ordered() == Some(Ordering::Greater),
    }
}
