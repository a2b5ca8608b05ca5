//! The queries of URLs, in the form that web pages send.

use harn_machine::{Context, Failure, Registry, Value, argument, thrown};
use url::form_urlencoded::{Serializer, parse};

use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("query_parse", query_parse),
        ("query_stringify", query_stringify),
    ]);
}

fn query_parse(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let query = text(arguments, 0);
    let query = query.strip_prefix('?').unwrap_or(&query);
    let pairs = parse(query.as_bytes());
    Ok(pairs
        .map(|(key, value)| Value::dict([("key", (&*key).into()), ("value", (&*value).into())]))
        .collect())
}

fn query_stringify(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let Value::List(items) = argument(arguments, 0) else {
        return thrown("query_stringify: expected a list of {key, value} dicts");
    };
    let mut query = Serializer::new(String::new());
    for item in items.iter() {
        let pair = match item {
            Value::Dict(item) => item.get("key").zip(item.get("value")),
            _ => None,
        };
        let Some((key, value)) = pair else {
            return thrown("query_stringify: each item must be a {key, value} dict");
        };
        query.append_pair(&key.to_text(), &value.to_text());
    }
    Ok(query.finish().into())
}
