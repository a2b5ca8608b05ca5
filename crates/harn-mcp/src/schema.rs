//! Whether a value fits a JSON Schema, as far as schemas of tools go.
//!
//! A server checks its own arguments; this check saves a round trip and tells a model what is
//! wrong in words. So what is not known here, such as formats, is let through. References lead
//! to other places of the same schema and nowhere else: nothing is ever fetched.

use serde_json::{Map, Value};

/// How deep schemas are followed.
const DEPTH_MAX: usize = 64;

/// Says what does not fit, and where.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    let checker = Checker { root: schema };
    checker.check(schema, value, "", 0)
}

struct Checker<'a> {
    root: &'a Value,
}

impl Checker<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str, depth: usize) -> Result<(), String> {
        let fields = match schema {
            Value::Object(fields) => fields,
            Value::Bool(false) => return Err(format!("{} is not allowed", place(at))),
            _ => return Ok(()),
        };
        if depth > DEPTH_MAX {
            return Ok(());
        }
        if let Some(target) = self.target(fields) {
            self.check(target, value, at, depth + 1)?;
        }
        check_type(fields, value, at)?;
        check_fixed(fields, value, at)?;
        check_numbers(fields, value, at)?;
        check_lengths(fields, value, at)?;
        self.check_parts(fields, value, at, depth)?;
        self.check_combinations(fields, value, at, depth)
    }

    /// Where a reference leads, if it leads somewhere inside.
    fn target(&self, fields: &Map<String, Value>) -> Option<&Value> {
        let reference = fields.get("$ref")?.as_str()?;
        self.root.pointer(reference.strip_prefix('#')?)
    }

    fn check_parts(
        &self,
        fields: &Map<String, Value>,
        value: &Value,
        at: &str,
        depth: usize,
    ) -> Result<(), String> {
        match value {
            Value::Object(given) => self.check_object(fields, given, at, depth),
            Value::Array(items) => {
                let schema = fields.get("items").unwrap_or(&Value::Null);
                for (index, item) in items.iter().enumerate() {
                    self.check(schema, item, &format!("{at}[{index}]"), depth + 1)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn check_object(
        &self,
        fields: &Map<String, Value>,
        given: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Result<(), String> {
        let required = fields.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !given.contains_key(name) {
                return Err(format!("{} is required", place(&inside(at, name))));
            }
        }
        let known = fields.get("properties").and_then(Value::as_object);
        let has_patterns = fields.contains_key("patternProperties");
        for (name, value) in given {
            let at = inside(at, name);
            match known.and_then(|known| known.get(name)) {
                Some(schema) => self.check(schema, value, &at, depth + 1)?,
                None if has_patterns => {}
                None => match fields.get("additionalProperties") {
                    Some(Value::Bool(false)) => {
                        return Err(format!("{} is not something it takes", place(&at)));
                    }
                    Some(schema) => self.check(schema, value, &at, depth + 1)?,
                    None => {}
                },
            }
        }
        Ok(())
    }

    fn check_combinations(
        &self,
        fields: &Map<String, Value>,
        value: &Value,
        at: &str,
        depth: usize,
    ) -> Result<(), String> {
        let schemas = |key: &str| fields.get(key).and_then(Value::as_array);
        for schema in schemas("allOf").into_iter().flatten() {
            self.check(schema, value, at, depth + 1)?;
        }
        let fitting = |schemas: &Vec<Value>| {
            let fitting = schemas
                .iter()
                .filter(|schema| self.check(schema, value, at, depth + 1).is_ok());
            fitting.count()
        };
        if schemas("anyOf").is_some_and(|schemas| fitting(schemas) == 0) {
            return Err(format!("{} fits none of what is allowed", place(at)));
        }
        match schemas("oneOf").map(fitting) {
            None | Some(1) => {}
            Some(0) => return Err(format!("{} fits none of what is allowed", place(at))),
            Some(_) => {
                return Err(format!(
                    "{} fits more than one of what is allowed",
                    place(at)
                ));
            }
        }
        match fields.get("not") {
            Some(schema) if self.check(schema, value, at, depth + 1).is_ok() => {
                Err(format!("{} is what it must not be", place(at)))
            }
            _ => Ok(()),
        }
    }
}

fn check_type(fields: &Map<String, Value>, value: &Value, at: &str) -> Result<(), String> {
    let names: Vec<&str> = match fields.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    match names.iter().any(|name| is_of(name, value)) {
        true => Ok(()),
        false => Err(format!("{} has to be {}", place(at), names.join(" or "))),
    }
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        _ => true,
    }
}

fn check_fixed(fields: &Map<String, Value>, value: &Value, at: &str) -> Result<(), String> {
    if let Some(fixed) = fields.get("const")
        && fixed != value
    {
        return Err(format!("{} has to be {fixed}", place(at)));
    }
    match fields.get("enum") {
        Some(Value::Array(allowed)) if !allowed.contains(value) => {
            let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
            Err(format!(
                "{} has to be one of {}",
                place(at),
                allowed.join(", ")
            ))
        }
        _ => Ok(()),
    }
}

fn check_numbers(fields: &Map<String, Value>, value: &Value, at: &str) -> Result<(), String> {
    let Some(number) = value.as_f64() else {
        return Ok(());
    };
    let limit = |key: &str| fields.get(key).and_then(Value::as_f64);
    let rules = [
        (
            limit("minimum").is_some_and(|min| number < min),
            "minimum",
            "at least",
        ),
        (
            limit("maximum").is_some_and(|max| number > max),
            "maximum",
            "at most",
        ),
        (
            limit("exclusiveMinimum").is_some_and(|min| number <= min),
            "exclusiveMinimum",
            "more than",
        ),
        (
            limit("exclusiveMaximum").is_some_and(|max| number >= max),
            "exclusiveMaximum",
            "less than",
        ),
    ];
    for (is_broken, key, words) in rules {
        if is_broken {
            return Err(format!("{} has to be {words} {}", place(at), fields[key]));
        }
    }
    Ok(())
}

fn check_lengths(fields: &Map<String, Value>, value: &Value, at: &str) -> Result<(), String> {
    let (length, keys) = match value {
        Value::String(text) => (text.chars().count(), ["minLength", "maxLength"]),
        Value::Array(items) => (items.len(), ["minItems", "maxItems"]),
        Value::Object(given) => (given.len(), ["minProperties", "maxProperties"]),
        _ => return Ok(()),
    };
    let limit = |key: &str| {
        let limit = fields.get(key).and_then(Value::as_u64)?;
        usize::try_from(limit).ok()
    };
    if limit(keys[0]).is_some_and(|min| length < min) {
        return Err(format!("{} is too short", place(at)));
    }
    match limit(keys[1]).is_some_and(|max| length > max) {
        true => Err(format!("{} is too long", place(at))),
        false => Ok(()),
    }
}

fn inside(at: &str, name: &str) -> String {
    match at {
        "" => name.to_owned(),
        at => format!("{at}.{name}"),
    }
}

fn place(at: &str) -> String {
    match at {
        "" => "it".to_owned(),
        at => format!("'{at}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn fits(schema: Value, value: Value) {
        assert_eq!(check(&schema, &value), Ok(()));
    }

    #[track_caller]
    fn fails(schema: Value, value: Value, expected: &str) {
        assert_eq!(check(&schema, &value), Err(expected.to_owned()));
    }

    #[test]
    fn types_and_required_names_are_checked() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": ["string", "null"]}},
            "required": ["a"],
            "additionalProperties": false,
        });
        fits(schema.clone(), json!({"a": 1, "b": null}));
        fits(schema.clone(), json!({"a": 2.0}));
        fails(schema.clone(), json!({}), "'a' is required");
        fails(schema.clone(), json!({"a": "1"}), "'a' has to be integer");
        fails(
            schema.clone(),
            json!({"a": 1, "b": 1}),
            "'b' has to be string or null",
        );
        fails(
            schema.clone(),
            json!({"a": 1, "c": 1}),
            "'c' is not something it takes",
        );
        fails(schema, json!(1), "it has to be object");
    }

    #[test]
    fn lists_numbers_and_choices_are_checked() {
        let schema = json!({"type": "array", "items": {"type": "number", "minimum": 1}});
        fails(schema, json!([1, 0]), "'[1]' has to be at least 1");
        fails(
            json!({"enum": ["a", 1]}),
            json!("b"),
            "it has to be one of \"a\", 1",
        );
        fails(json!({"const": 1}), json!(2), "it has to be 1");
        fails(json!({"maxLength": 2}), json!("äöü"), "it is too long");
        let either = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
        fits(either.clone(), json!(null));
        fails(either, json!(1), "it fits none of what is allowed");
        let one = json!({"oneOf": [{"type": "number"}, {"type": "integer"}]});
        fails(one, json!(1), "it fits more than one of what is allowed");
        fails(
            json!({"not": {"type": "null"}}),
            json!(null),
            "it is what it must not be",
        );
    }

    #[test]
    fn references_lead_inside_and_never_for_ever() {
        let schema = json!({
            "$defs": {"name": {"type": "string"}},
            "properties": {"n": {"$ref": "#/$defs/name"}},
        });
        fails(schema, json!({"n": 1}), "'n' has to be string");
        fits(
            json!({"$ref": "https://example.test/schema.json"}),
            json!(1),
        );
        fits(json!({"$ref": "#"}), json!(1));
        fits(
            json!({"properties": {"a": {"$ref": "#"}}}),
            json!({"a": {"a": {"a": 1}}}),
        );
    }
}
