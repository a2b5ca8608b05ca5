//! Methods of text. The receiver is the first argument.

use harn_machine::value::Text;
use harn_machine::{
    Body, Context, Failure, Iter, Plain, Receiver, Registry, Value, argument, take,
};

use super::functions::padded;
use super::{pieces, position, remade, replaced};
use crate::expect::{count, int, int_or, text, text_or};
use crate::growing::{repeat, texts};

pub(super) fn register(registry: &mut Registry) {
    let methods: &[(&[&'static str], Plain)] = &[
        (&["char_at"], char_at),
        (&["chars"], chars),
        (&["contains"], contains),
        (&["count", "len"], length),
        (&["empty"], empty),
        (&["ends_with"], ends_with),
        (&["index_of"], index_of),
        (&["iter"], iter),
        (&["last_index_of"], last_index_of),
        (&["lines"], lines),
        (&["lowercase", "lower", "to_lower"], lowercase),
        (&["pad_left"], pad_left),
        (&["pad_right"], pad_right),
        (&["repeat"], repeated),
        (&["replace"], replace),
        (&["reverse"], reverse),
        (&["split"], split),
        (&["starts_with"], starts_with),
        (&["substring"], substring),
        (&["trim"], |_, arguments| Ok(this(arguments).trim().into())),
        (&["trim_end"], |_, arguments| {
            Ok(this(arguments).trim_end().into())
        }),
        (&["trim_start"], |_, arguments| {
            Ok(this(arguments).trim_start().into())
        }),
        (&["uppercase", "upper", "to_upper"], uppercase),
    ];
    for (names, body) in methods {
        registry.method(Receiver::Text, names, Body::Plain(*body));
    }
}

/// The receiver.
fn this(arguments: &[Value]) -> Text {
    text(arguments, 0)
}

fn length(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(this(arguments).char_count().into())
}

fn empty(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(this(arguments).is_empty().into())
}

fn contains(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(this(arguments).contains(text(arguments, 1).as_str()).into())
}

fn starts_with(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(this(arguments)
        .starts_with(text(arguments, 1).as_str())
        .into())
}

fn ends_with(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    Ok(this(arguments)
        .ends_with(text(arguments, 1).as_str())
        .into())
}

fn replace(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.len() < 3 {
        return Ok(Value::Nil);
    }
    let (old, new) = (text(arguments, 1), text(arguments, 2));
    replaced(context, &this(arguments), &old, &new)
}

fn split(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    pieces(context, &this(arguments), &text_or(arguments, 1, ","))
}

fn lowercase(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    remade(context, &this(arguments), str::to_lowercase)
}

fn uppercase(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    remade(context, &this(arguments), str::to_uppercase)
}

/// By start and end, unlike the function.
fn substring(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let this = this(arguments);
    let (start, end) = bounds(int(arguments, 1), int(arguments, 2), this.char_count());
    Ok(this.slice(start, end).into())
}

/// The part of a text that a start and an end stand for.
fn bounds(start: Option<i64>, end: Option<i64>, length: usize) -> (usize, usize) {
    let start = count(start.unwrap_or(0)).min(length);
    let end = match end {
        Some(end @ 0..) => count(end).min(length),
        _ => length,
    };
    (start, end.max(start))
}

fn index_of(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let this = this(arguments);
    let found = this.find(text(arguments, 1).as_str());
    Ok(found.map_or(Value::Int(-1), |offset| position(&this, offset).into()))
}

fn last_index_of(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let this = this(arguments);
    let found = this.rfind(text(arguments, 1).as_str());
    Ok(found.map_or(Value::Int(-1), |offset| position(&this, offset).into()))
}

fn char_at(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let at = int(arguments, 1).and_then(|at| usize::try_from(at).ok());
    Ok(at.and_then(|at| this(arguments).char_at(at)).into())
}

fn chars(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let this = this(arguments);
    let after = |(at, char): (usize, char)| &this[at..at + char.len_utf8()];
    texts(context, this.char_indices().map(after))
}

fn lines(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    texts(context, this(arguments).lines())
}

fn repeated(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let times = count(int_or(arguments, 1, 1));
    Ok(repeat(context, &this(arguments), times)?.into())
}

fn reverse(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    remade(context, &this(arguments), |text| {
        text.chars().rev().collect()
    })
}

fn pad_left(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (this, fill, missing) = padding(arguments);
    padded(context, &this, &fill, missing, 0)
}

fn pad_right(context: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let (this, fill, missing) = padding(arguments);
    padded(context, &this, &fill, 0, missing)
}

/// What is padded, with which character, and how often.
fn padding(arguments: &[Value]) -> (Text, String, usize) {
    let this = this(arguments);
    let missing = count(int_or(arguments, 1, 0)).saturating_sub(this.char_count());
    let fill = text_or(arguments, 2, " ").chars().next().unwrap_or(' ');
    (this, fill.to_string(), missing)
}

fn iter(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let over = Iter::over(argument(arguments, 0));
    take(arguments, 0);
    Ok(over.map_or(Value::Nil, Value::Iter))
}

#[cfg(test)]
mod tests {
    use super::bounds;

    #[test]
    fn a_start_and_an_end_are_brought_into_the_text() {
        for (start, end, expected) in [
            (None, None, (0, 5)),
            (Some(1), Some(3), (1, 3)),
            (Some(-4), Some(3), (0, 3)),
            (Some(9), Some(3), (5, 5)),
            (Some(3), Some(1), (3, 3)),
            (Some(1), Some(-1), (1, 5)),
            (Some(1), Some(99), (1, 5)),
        ] {
            assert_eq!(bounds(start, end, 5), expected, "{start:?} {end:?}");
        }
    }
}
