//! Puts together arguments that come in pieces, each with the place it belongs to.
//!
//! A piece is `{jsonPath: "$.a[0].b", stringValue | numberValue | boolValue | nullValue,
//! willContinue?}`; some endpoints call the value `value`. A text that will continue grows with
//! the next piece of the same place.

use serde_json::{Map, Value};

use crate::{Category, Error};

/// No arguments nest deeper than that; a server must not make us build a tower.
const DEPTH_MAX: usize = 64;
/// Nor does a list grow by more than that in one step.
const GAP_MAX: usize = 64;

/// Arguments that are not complete yet.
#[derive(Debug)]
pub(super) struct Arguments {
    value: Value,
    /// The place of the text that will continue.
    growing: Option<String>,
}

impl Arguments {
    /// Begins with what came whole, if anything did.
    pub(super) fn new(whole: Value) -> Self {
        let value = match whole {
            Value::Object(_) => whole,
            _ => Value::Object(Map::new()),
        };
        Self {
            value,
            growing: None,
        }
    }

    /// Adds what came whole beside the pieces.
    pub(super) fn merge(&mut self, more: Value) {
        if let (Value::Object(fields), Value::Object(more)) = (&mut self.value, more) {
            fields.extend(more);
        }
    }

    /// Adds a piece.
    ///
    /// # Errors
    /// It has no place among the others, so the arguments can never be complete.
    pub(super) fn add(&mut self, piece: &Value) -> Result<(), Error> {
        let path = piece["jsonPath"].as_str().unwrap_or_default();
        let place = parse(path)
            .and_then(|steps| find(&mut self.value, &steps))
            .ok_or_else(|| misplaced(path))?;
        let continues = self.growing.as_deref() == Some(path);
        match (place, value_of(piece)) {
            (Value::String(text), Value::String(more)) if continues => text.push_str(&more),
            (place, value) => *place = value,
        }
        let will_continue = piece["willContinue"] == true;
        self.growing = will_continue.then(|| path.to_owned());
        Ok(())
    }

    /// The arguments.
    pub(super) fn finish(self) -> Value {
        self.value
    }
}

fn misplaced(path: &str) -> Error {
    Error::new(
        Category::ServerError,
        format!("the provider sent a piece of arguments without a place: {path:?}"),
    )
}

fn value_of(piece: &Value) -> Value {
    let names = ["stringValue", "numberValue", "boolValue", "value"];
    let value = names.iter().find_map(|name| piece.get(*name));
    value.cloned().unwrap_or(Value::Null)
}

#[derive(Debug, PartialEq)]
enum Step {
    Field(String),
    Item(usize),
}

/// The steps of a path such as `$.a[0]['b c']`.
fn parse(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = match rest.strip_prefix('[') {
            Some(inside) => parse_bracket(inside)?,
            None => {
                let name = rest.strip_prefix('.')?;
                let end = name.find(['.', '[']).unwrap_or(name.len());
                (Step::Field(name[..end].to_owned()), &name[end..])
            }
        };
        steps.push(step);
        rest = after;
    }
    let is_sensible = !steps.is_empty() && steps.len() <= DEPTH_MAX;
    is_sensible.then_some(steps)
}

fn parse_bracket(inside: &str) -> Option<(Step, &str)> {
    for quote in ['\'', '"'] {
        if let Some(name) = inside.strip_prefix(quote) {
            let (name, after) = name.split_once(quote)?;
            return Some((Step::Field(name.to_owned()), after.strip_prefix(']')?));
        }
    }
    let (index, after) = inside.split_once(']')?;
    Some((Step::Item(index.parse().ok()?), after))
}

/// The place those steps lead to, made on the way where it is missing.
fn find<'a>(value: &'a mut Value, steps: &[Step]) -> Option<&'a mut Value> {
    let mut place = value;
    for step in steps {
        place = match step {
            Step::Field(name) => {
                if place.is_null() {
                    *place = Value::Object(Map::new());
                }
                place.as_object_mut()?.entry(name).or_insert(Value::Null)
            }
            Step::Item(index) => {
                if place.is_null() {
                    *place = Value::Array(Vec::new());
                }
                let items = place.as_array_mut()?;
                if *index > items.len() + GAP_MAX {
                    return None;
                }
                if *index >= items.len() {
                    items.resize(index + 1, Value::Null);
                }
                &mut items[*index]
            }
        };
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(pieces: Value, expected: Result<Value, &str>) {
        let mut arguments = Arguments::new(Value::Null);
        let outcome = pieces
            .as_array()
            .unwrap()
            .iter()
            .try_for_each(|piece| arguments.add(piece));
        let result = outcome.map(|()| arguments.finish());
        let prefix = "the provider sent a piece of arguments without a place: ";
        let expected = expected.map_err(|path| format!("{prefix}{path:?}"));
        assert_eq!(result.map_err(|error| error.message), expected);
    }

    #[test]
    fn pieces_find_their_place() {
        let rows = [
            (json!([]), json!({})),
            (
                json!([
                    {"jsonPath": "$.a", "stringValue": "New ", "willContinue": true},
                    {"jsonPath": "$.a", "stringValue": "York"},
                    {"jsonPath": "$.b", "numberValue": 2},
                    {"jsonPath": "$.c", "boolValue": true},
                    {"jsonPath": "$.d", "nullValue": "NULL_VALUE"},
                ]),
                json!({"a": "New York", "b": 2, "c": true, "d": null}),
            ),
            (
                json!([{"jsonPath": "$.l[0].x", "value": "1"}, {"jsonPath": "$.l[1]['y z']", "value": 2}]),
                json!({"l": [{"x": "1"}, {"y z": 2}]}),
            ),
            // A text that was complete is replaced, not continued.
            (
                json!([{"jsonPath": "$.a", "value": "x"}, {"jsonPath": "$.a", "value": "y"}]),
                json!({"a": "y"}),
            ),
        ];
        for (pieces, expected) in rows {
            check(pieces, Ok(expected));
        }
    }

    #[test]
    fn pieces_without_a_place_are_refused() {
        for path in [
            "",
            "a",
            "$",
            "$.l[99999999]",
            "$.l[-1]",
            "$[0]",
            "$['a",
            "$.a.b[x]",
        ] {
            check(json!([{"jsonPath": path, "value": 1}]), Err(path));
        }
        check(
            json!([{"jsonPath": "$.a", "value": 1}, {"jsonPath": "$.a.b", "value": 1}]),
            Err("$.a.b"),
        );
        let tower = "$".to_owned() + &".a".repeat(DEPTH_MAX + 1);
        check(json!([{"jsonPath": tower, "value": 1}]), Err(&tower));
    }
}
