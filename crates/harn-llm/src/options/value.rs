//! The language's values, as they look when they arrive as JSON.

use std::fmt::Write;

use serde_json::{Map, Value};

/// What is left to write.
enum Step<'a> {
    Value(&'a Value),
    Text(&'a str),
}

/// The display form of a value. A program decides how deep a value is, so this keeps its own
/// stack.
pub fn display(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => display_deep(other),
    }
}

fn display_deep(value: &Value) -> String {
    let mut out = String::new();
    let mut steps = vec![Step::Value(value)];
    while let Some(step) = steps.pop() {
        match step {
            Step::Text(text) => out.push_str(text),
            Step::Value(Value::Null) => out.push_str("nil"),
            Step::Value(Value::Bool(value)) => out.push_str(if *value { "true" } else { "false" }),
            Step::Value(Value::String(text)) => out.push_str(text),
            Step::Value(Value::Number(number)) => push_number(number, &mut out),
            Step::Value(Value::Array(items)) => {
                out.push('[');
                steps.push(Step::Text("]"));
                for (index, item) in items.iter().enumerate().rev() {
                    steps.push(Step::Value(item));
                    steps.extend((index > 0).then_some(Step::Text(", ")));
                }
            }
            Step::Value(Value::Object(fields)) => {
                out.push('{');
                steps.push(Step::Text("}"));
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_unstable_by_key(|(key, _)| *key);
                for (index, (key, field)) in fields.into_iter().enumerate().rev() {
                    steps.extend([Step::Value(field), Step::Text(": "), Step::Text(key)]);
                    steps.extend((index > 0).then_some(Step::Text(", ")));
                }
            }
        }
    }
    out
}

fn push_number(number: &serde_json::Number, out: &mut String) {
    let written = match number.as_f64() {
        Some(float) if number.is_f64() => match float.fract() == 0.0 && float.abs() < 1e15 {
            true => write!(out, "{float:.1}"),
            false => write!(out, "{float}"),
        },
        _ => write!(out, "{number}"),
    };
    written.expect("a string takes all that is written to it");
}

/// What the language calls the kind of a value.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nil",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

/// Whether a condition holds for a value.
pub fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// Reads options one by one, with the coercions of the language.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a>(pub &'a Map<String, Value>);

/// Up to so many options are looked through one by one: a call reads dozens of keys of a few
/// options, and the hash of a key costs more than a look at all of them.
const FEW: usize = 16;

impl<'a> Options<'a> {
    /// An option, nil included.
    pub fn find(self, key: &str) -> Option<&'a Value> {
        if self.0.len() > FEW {
            return self.0.get(key);
        }
        let mut fields = self.0.iter();
        fields.find_map(|(name, value)| (name == key).then_some(value))
    }

    /// An option that is not nil.
    pub fn given(self, key: &str) -> Option<&'a Value> {
        self.find(key).filter(|value| !value.is_null())
    }

    /// The display form of an option; also nil has one.
    pub fn text(self, key: &str) -> Option<String> {
        self.find(key).map(display)
    }

    /// The display form of an option that is not nil.
    pub fn given_text(self, key: &str) -> Option<String> {
        self.given(key).map(display)
    }

    /// An int; any other kind counts as absent.
    pub fn int(self, key: &str) -> Option<i64> {
        self.find(key).and_then(Value::as_i64)
    }

    /// An int that is not negative.
    pub fn count(self, key: &str) -> Option<u64> {
        self.int(key).map(|value| value.max(0).unsigned_abs())
    }

    /// An int of at least 1.
    pub fn positive(self, key: &str) -> Option<u64> {
        self.count(key).filter(|value| *value > 0)
    }

    /// A float or an int.
    pub fn float(self, key: &str) -> Option<f64> {
        self.find(key).and_then(Value::as_f64)
    }

    /// Whether an option holds.
    pub fn flag(self, key: &str) -> bool {
        self.find(key).is_some_and(truthy)
    }

    /// The display forms of a list; an empty one counts as absent.
    pub fn texts(self, key: &str) -> Vec<String> {
        match self.find(key) {
            Some(Value::Array(items)) => items.iter().map(display).collect(),
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_shown_as_the_language_shows_them() {
        let rows = [
            (json!(null), "nil", "nil", false),
            (json!(true), "true", "bool", true),
            (json!(0), "0", "int", false),
            (json!(-7), "-7", "int", true),
            (json!(2.0), "2.0", "float", true),
            (json!(0.0), "0.0", "float", false),
            (json!(3.25), "3.25", "float", true),
            (json!(1e15), "1000000000000000", "float", true),
            (json!(""), "", "string", false),
            (json!("a"), "a", "string", true),
            (json!([]), "[]", "list", false),
            (
                json!(["a", null, 2.0, {"k": "v"}]),
                "[a, nil, 2.0, {k: v}]",
                "list",
                true,
            ),
            (json!({}), "{}", "dict", false),
            (
                json!({"b": 1, "a": [true]}),
                "{a: [true], b: 1}",
                "dict",
                true,
            ),
        ];
        for (value, shown, named, holds) in rows {
            assert_eq!(display(&value), shown);
            assert_eq!(kind(&value), named, "{shown}");
            assert_eq!(truthy(&value), holds, "{shown}");
        }
    }

    #[test]
    fn options_are_coerced() {
        let map = json!({
            "nil": null, "int": 5, "float": 1.5, "text": "x", "list": [1, "b"], "empty": [],
            "no": false, "minus": -1,
        });
        let options = Options(map.as_object().unwrap());
        assert_eq!(options.text("nil").as_deref(), Some("nil"));
        assert_eq!(options.text("int").as_deref(), Some("5"));
        assert_eq!(options.text("none"), None);
        assert_eq!(options.given_text("nil"), None);
        assert_eq!(options.int("int"), Some(5));
        assert_eq!(options.int("float"), None);
        assert_eq!(options.int("text"), None);
        assert_eq!(options.count("minus"), Some(0));
        assert_eq!(options.positive("minus"), None);
        assert_eq!(options.float("int"), Some(5.0));
        assert_eq!(options.float("float"), Some(1.5));
        assert_eq!(options.float("text"), None);
        assert!(options.flag("text") && !options.flag("no") && !options.flag("none"));
        assert_eq!(options.texts("list"), ["1", "b"]);
        assert!(options.texts("empty").is_empty() && options.texts("text").is_empty());
    }
}
