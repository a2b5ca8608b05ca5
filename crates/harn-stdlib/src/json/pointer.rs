//! Places in a document (RFC 6901).
//!
//! Documents are values, so changing one place makes a new document that shares everything
//! else. The document is taken apart on the way down and put together again on the way back,
//! which copies nothing that nobody else holds.

use harn_machine::value::{List, Text};
use harn_machine::{Context, Failure, Fault, Registry, Value, argument, take};

use super::require;
use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("json_pointer", get),
        ("json_pointer_delete", delete),
        ("json_pointer_set", set),
    ]);
}

fn get(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("json_pointer", arguments, 2)?;
    let tokens = tokens("json_pointer", &text(arguments, 1))?;
    let mut place = Some(argument(arguments, 0));
    for token in &tokens {
        place = place.and_then(|place| child(place, token));
    }
    Ok(place.cloned().into())
}

fn set(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("json_pointer_set", arguments, 3)?;
    let tokens = tokens("json_pointer_set", &text(arguments, 1))?;
    let (document, value) = (take(arguments, 0), take(arguments, 2));
    let Some((last, way)) = tokens.split_last() else {
        return Ok(value);
    };
    Ok(changed(document, way, |place| put(place, last, value)))
}

fn delete(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("json_pointer_delete", arguments, 2)?;
    let tokens = tokens("json_pointer_delete", &text(arguments, 1))?;
    let Some((last, way)) = tokens.split_last() else {
        return Ok(Value::Nil);
    };
    Ok(changed(take(arguments, 0), way, |place| {
        remove(place, last)
    }))
}

/// The tokens of a pointer.
fn tokens(function: &str, pointer: &str) -> Result<Vec<Text>, Failure> {
    let Some(rest) = pointer.strip_prefix('/') else {
        return match pointer.is_empty() {
            true => Ok(Vec::new()),
            false => Err(Fault::thrown(format!(
                "{function}: pointer must be empty or start with '/'"
            ))),
        };
    };
    let tokens = rest.split('/').map(unescaped).collect::<Result<_, _>>();
    tokens.map_err(|problem| Fault::thrown(format!("{function}: {problem}")))
}

fn unescaped(token: &str) -> Result<Text, String> {
    let mut pieces = token.split('~');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (letter, rest) = match piece.chars().next() {
            Some('0') => ('~', &piece[1..]),
            Some('1') => ('/', &piece[1..]),
            Some(other) => return Err(format!("invalid escape '~{other}' in pointer")),
            None => return Err("dangling '~' in pointer".to_owned()),
        };
        out.push(letter);
        out.push_str(rest);
    }
    Ok(Text::from(out))
}

/// The position that a token stands for in a list.
fn index(token: &str) -> Option<usize> {
    let is_number = token.bytes().all(|octet| octet.is_ascii_digit());
    let has_leading_zero = token.len() > 1 && token.starts_with('0');
    match is_number && !has_leading_zero {
        true => token.parse().ok(),
        false => None,
    }
}

fn child<'a>(place: &'a Value, token: &Text) -> Option<&'a Value> {
    match place {
        Value::Dict(dict) => dict.get_text(token),
        Value::List(items) => items.get(index(token)?),
        Value::Struct(value) => value.get(token),
        _ => None,
    }
}

/// The document with the place at the end of a way changed; as it was if there is no such place.
fn changed(document: Value, way: &[Text], change: impl FnOnce(&mut Value)) -> Value {
    let mut place = Some(&document);
    for token in way {
        place = place.and_then(|place| match place {
            Value::Struct(_) => None,
            _ => child(place, token),
        });
    }
    if place.is_none() {
        return document;
    }
    let mut outer = Vec::with_capacity(way.len());
    let mut inner = document;
    for token in way {
        let next = taken(&mut inner, token);
        outer.push((inner, token));
        inner = next;
    }
    change(&mut inner);
    for (mut place, token) in outer.into_iter().rev() {
        give_back(&mut place, token, inner);
        inner = place;
    }
    inner
}

/// Takes out a child that is there, so that it can be changed in place.
fn taken(place: &mut Value, token: &Text) -> Value {
    slot(place, token).map(std::mem::take).unwrap_or_default()
}

fn give_back(place: &mut Value, token: &Text, value: Value) {
    if let Some(slot) = slot(place, token) {
        *slot = value;
    }
}

fn slot<'a>(place: &'a mut Value, token: &Text) -> Option<&'a mut Value> {
    match place {
        Value::Dict(dict) => dict.get_mut(token),
        Value::List(items) => items.items_mut().get_mut(index(token)?),
        _ => None,
    }
}

fn put(place: &mut Value, token: &Text, value: Value) {
    match place {
        Value::Dict(dict) => {
            dict.insert(token.clone(), value);
        }
        Value::List(items) => put_item(items, token, value),
        _ => {}
    }
}

fn put_item(items: &mut List, token: &str, value: Value) {
    let at = match token {
        "-" => Some(items.len()),
        _ => index(token),
    };
    match at {
        Some(at) if at < items.len() => items.items_mut()[at] = value,
        Some(at) if at == items.len() => items.items_mut().push(value),
        _ => {}
    }
}

fn remove(place: &mut Value, token: &Text) {
    match place {
        Value::Dict(dict) => {
            dict.remove(token);
        }
        Value::List(items) => {
            if let Some(at) = index(token).filter(|at| *at < items.len()) {
                items.items_mut().remove(at);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn document() -> Value {
        parse(r#"{"a": {"b": [1, 2]}, "m~n": 8, "x/y": 9, "": 0}"#).expect("it is JSON")
    }

    fn at(pointer: &str) -> String {
        let tokens = tokens("json_pointer", pointer).expect("it is a pointer");
        let document = document();
        let mut place = Some(&document);
        for token in &tokens {
            place = place.and_then(|place| child(place, token));
        }
        Value::from(place.cloned()).show()
    }

    #[test]
    fn pointers_point() {
        for (pointer, shown) in [
            ("/a/b/1", "2"),
            ("/m~0n", "8"),
            ("/x~1y", "9"),
            ("/", "0"),
            ("/a/b/2", "nil"),
            ("/a/b/01", "nil"),
            ("/a/b/+1", "nil"),
            ("/a/c/d", "nil"),
        ] {
            assert_eq!(at(pointer), shown, "{pointer}");
        }
    }

    #[test]
    fn bad_pointers_say_why() {
        for (pointer, message) in [
            ("a", "Thrown: f: pointer must be empty or start with '/'"),
            ("/~2", "Thrown: f: invalid escape '~2' in pointer"),
            ("/a~", "Thrown: f: dangling '~' in pointer"),
        ] {
            assert_eq!(tokens("f", pointer).expect_err("it is bad").text(), message);
        }
    }

    #[test]
    fn documents_are_changed_at_places_that_are_there() {
        let original = document();
        for (pointer, shown) in [
            ("/a/b/0", "{: 0, a: {b: [7, 2]}, m~n: 8, x/y: 9}"),
            ("/a/b/-", "{: 0, a: {b: [1, 2, 7]}, m~n: 8, x/y: 9}"),
            ("/a/b/2", "{: 0, a: {b: [1, 2, 7]}, m~n: 8, x/y: 9}"),
            ("/a/b/9", "{: 0, a: {b: [1, 2]}, m~n: 8, x/y: 9}"),
            ("/a/c", "{: 0, a: {b: [1, 2], c: 7}, m~n: 8, x/y: 9}"),
            ("/q/c", "{: 0, a: {b: [1, 2]}, m~n: 8, x/y: 9}"),
        ] {
            let tokens = tokens("f", pointer).expect("it is a pointer");
            let (last, way) = tokens.split_last().expect("it is not empty");
            let put = changed(original.clone(), way, |place| {
                put(place, last, Value::Int(7))
            });
            assert_eq!(put.show(), shown, "{pointer}");
            assert_eq!(original, document());
        }
        let tokens = tokens("f", "/a/b/0").expect("it is a pointer");
        let (last, way) = tokens.split_last().expect("it is not empty");
        let less = changed(original, way, |place| remove(place, last));
        assert_eq!(less.show(), "{: 0, a: {b: [2]}, m~n: 8, x/y: 9}");
    }
}
