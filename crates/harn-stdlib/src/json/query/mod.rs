//! Queries over documents, in a small part of the language of jq.
//!
//! ```text
//! text ─► parse ─► Query ─► run on a document ─► what it finds
//! ```
//!
//! A query never fails on a document: what is not there is nil or nothing at all. Only its
//! text can be wrong, and it can find more than anybody wants to hold.

mod field;
mod parse;
mod run;
mod sieve;

use harn_machine::value::Text;
use harn_machine::{Context, Failure, Fault, Registry, Value, argument};

use super::require;
use crate::expect::text;
use field::Field;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[("jq", jq), ("jq_first", jq_first)]);
}

/// What a query says: a chain of outputs made from outputs.
enum Query {
    /// Steps from what another query finds, or from the input.
    Path(Option<Box<Query>>, Vec<Step>),
    /// The input and everything in it.
    Descendants,
    /// What a word without arguments computes.
    Word(Word),
    /// The list of all that is found in the items.
    Map(Box<Query>),
    /// The input, if something holds for it.
    Select(Box<Query>),
    /// An object of the first thing that each query finds.
    Object(Vec<(Text, Query)>),
    /// A value that is written down.
    Literal(Value),
    /// Each query on what the one before finds.
    Pipe(Vec<Query>),
    /// What each of the queries finds.
    All(Vec<Query>),
    /// Conditions joined from left to right.
    Logic(Box<Query>, Vec<(Join, Query)>),
    /// Two values compared.
    Comparison(Box<Query>, Relation, Box<Query>),
    /// A condition turned round.
    Not(Box<Query>),
}

/// One step into a value.
enum Step {
    Field(Field),
    Item(i64),
    Slice(Option<i64>, Option<i64>),
    Each,
}

#[derive(Clone, Copy)]
enum Word {
    Keys,
    Length,
    Type,
    Values,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    And,
    Or,
}

#[derive(Clone, Copy)]
enum Relation {
    Equal,
    Unequal,
    Less,
    Greater,
}

fn jq(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(Value::list(found("jq", arguments)?))
}

fn jq_first(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(found("jq_first", arguments)?.into_iter().next().into())
}

/// Everything that the query of the second argument finds in the first.
fn found(function: &str, arguments: &[Value]) -> Result<Vec<Value>, Failure> {
    require(function, arguments, 2)?;
    let found = query(&text(arguments, 1), argument(arguments, 0));
    found.map_err(|problem| Fault::thrown(format!("jq: {problem}")))
}

/// Everything that a query finds in a document, or what is wrong with the query.
pub(crate) fn query(text: &str, document: &Value) -> Result<Vec<Value>, String> {
    run::run(&parse::parse(text)?, document)
}

#[cfg(test)]
mod tests;
