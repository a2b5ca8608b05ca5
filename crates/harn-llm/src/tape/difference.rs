//! Where two JSON values begin to differ.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

/// How much of a value is shown.
const SHOWN_CHARS_MAX: usize = 200;

/// The first difference between what is on a tape and what was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Where: `$.body.messages[2].content`.
    pub path: String,
    /// What the tape has there; `None` if nothing.
    pub recorded: Option<Value>,
    /// What was asked there; `None` if nothing.
    pub asked: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let recorded = shown(self.recorded.as_ref());
        let asked = shown(self.asked.as_ref());
        let path = &self.path;
        write!(formatter, "{path} was {recorded} and is now {asked}")
    }
}

/// The first difference in the order of keys and items, if there is one.
pub(super) fn first(recorded: &Value, asked: &Value) -> Option<Difference> {
    below("$", Some(recorded), Some(asked))
}

fn below(path: &str, recorded: Option<&Value>, asked: Option<&Value>) -> Option<Difference> {
    match (recorded, asked) {
        (Some(Value::Object(before)), Some(Value::Object(now))) => {
            let keys: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
            let compare =
                |key: &String| below(&field_path(path, key), before.get(key), now.get(key));
            keys.into_iter().find_map(compare)
        }
        (Some(Value::Array(before)), Some(Value::Array(now))) => {
            let compare = |index: usize| {
                below(
                    &format!("{path}[{index}]"),
                    before.get(index),
                    now.get(index),
                )
            };
            (0..before.len().max(now.len())).find_map(compare)
        }
        (before, now) if before == now => None,
        (before, now) => Some(Difference {
            path: path.to_owned(),
            recorded: before.cloned(),
            asked: now.cloned(),
        }),
    }
}

fn field_path(path: &str, key: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if !key.is_empty() && key.chars().all(is_plain) {
        format!("{path}.{key}")
    } else {
        format!("{path}[{key:?}]")
    }
}

fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "nothing".to_owned();
    };
    let text = value.to_string();
    let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_difference_is_named_with_both_values() {
        let rows = [
            (json!({"a": 1}), json!({"a": 1}), None),
            (json!(1), json!(2), Some("$ was 1 and is now 2")),
            (
                json!({"m": [{"c": "a"}, {"c": "b"}], "z": 1}),
                json!({"m": [{"c": "a"}, {"c": "x"}], "z": 2}),
                Some("$.m[1].c was \"b\" and is now \"x\""),
            ),
            (
                json!({"m": [1]}),
                json!({"m": [1, 2]}),
                Some("$.m[1] was nothing and is now 2"),
            ),
            (
                json!({"a b": null}),
                json!({}),
                Some("$[\"a b\"] was null and is now nothing"),
            ),
            (
                json!({"a": {}}),
                json!({"a": []}),
                Some("$.a was {} and is now []"),
            ),
        ];
        for (recorded, asked, expected) in rows {
            let found = first(&recorded, &asked).map(|difference| difference.to_string());
            assert_eq!(found.as_deref(), expected);
        }
    }

    #[test]
    fn long_values_are_cut() {
        let text = first(&json!("x".repeat(300)), &json!(1))
            .unwrap()
            .to_string();
        let expected = format!("$ was \"{}... and is now 1", "x".repeat(199));
        assert_eq!(text, expected);
    }
}
