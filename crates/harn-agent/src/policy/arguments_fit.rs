//! Whether arguments fit what a tool says about its parameters.
//!
//! A model's arguments are checked where they are read. These come from somewhere else, and
//! nothing that does not fit must reach the tool.

use serde_json::{Map, Value};

/// How deep schemas are followed. What is further down is not looked at.
const DEPTH_MAX: usize = 32;

/// Says what does not fit; `parameters` are one schema, or one schema for each of them.
///
/// # Errors
/// What does not fit, and where.
pub fn arguments_fit(parameters: &Value, arguments: &Value) -> Result<(), String> {
    let is_schema = parameters["type"] == "object" && parameters["properties"].is_object();
    let Some(given) = arguments.as_object() else {
        return Err("the arguments are no object".to_owned());
    };
    match parameters {
        Value::Object(_) if is_schema => fits(parameters, arguments, "the arguments", DEPTH_MAX),
        Value::Object(each) => each_fits(each, given),
        _ => Ok(()),
    }
}

/// Parameters with a schema each, as tools of programs have them.
fn each_fits(parameters: &Map<String, Value>, given: &Map<String, Value>) -> Result<(), String> {
    for (name, schema) in parameters {
        match given.get(name) {
            Some(value) => fits(schema, value, &format!("`{name}`"), DEPTH_MAX)?,
            None if schema["required"] == true => {
                return Err(format!("`{name}` is missing"));
            }
            None => {}
        }
    }
    match given.keys().find(|name| !parameters.contains_key(*name)) {
        Some(stranger) if !parameters.is_empty() => {
            Err(format!("there is no parameter `{stranger}`"))
        }
        _ => Ok(()),
    }
}

fn fits(schema: &Value, value: &Value, place: &str, depth: usize) -> Result<(), String> {
    if depth == 0 {
        return Ok(());
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(word) => vec![word],
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|word| is_a(word, value)) {
        return Err(format!("{place} must be {}", types.join(" or ")));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return Err(format!("{place} is none of the values it may have"));
    }
    match value {
        Value::Object(fields) => object_fits(schema, fields, place, depth),
        Value::Array(items) if schema["items"].is_object() => {
            items.iter().enumerate().try_for_each(|(at, item)| {
                fits(&schema["items"], item, &format!("{place}[{at}]"), depth - 1)
            })
        }
        _ => Ok(()),
    }
}

fn object_fits(
    schema: &Value,
    fields: &Map<String, Value>,
    place: &str,
    depth: usize,
) -> Result<(), String> {
    let required = schema["required"].as_array().into_iter().flatten();
    let mut required = required.filter_map(Value::as_str);
    if let Some(missing) = required.find(|name| !fields.contains_key(*name)) {
        return Err(format!("`{missing}` is missing in {place}"));
    }
    for (name, value) in fields {
        match schema["properties"].get(name) {
            Some(inner) => fits(inner, value, &format!("`{name}`"), depth - 1)?,
            None if schema["additionalProperties"] == false => {
                return Err(format!("{place} must not have `{name}`"));
            }
            None => {}
        }
    }
    Ok(())
}

/// Whether a value is of a kind, in the words of JSON Schema and in those of programs. A word
/// that is not known says nothing.
fn is_a(word: &str, value: &Value) -> bool {
    match word {
        "string" | "str" => value.is_string(),
        "integer" | "int" => value.is_i64() || value.is_u64(),
        "number" | "float" => value.is_number(),
        "boolean" | "bool" => value.is_boolean(),
        "object" | "dict" => value.is_object(),
        "array" | "list" => value.is_array(),
        "null" | "nil" => value.is_null(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_does_not_fit_is_named() {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "lines": {"type": "array", "items": {"type": "integer"}},
                "mode": {"enum": ["a", "b"]},
                "more": {"type": ["object", "null"], "required": ["x"]},
            },
            "required": ["path"],
            "additionalProperties": false,
        });
        let each = json!({
            "path": {"type": "string", "required": true},
            "count": {"type": "int", "required": false},
        });
        let rows = [
            (
                &schema,
                json!({"path": "a", "lines": [1], "mode": "a", "more": null}),
                Ok(()),
            ),
            (&schema, json!([1]), Err("the arguments are no object")),
            (
                &schema,
                json!({}),
                Err("`path` is missing in the arguments"),
            ),
            (&schema, json!({"path": 1}), Err("`path` must be string")),
            (
                &schema,
                json!({"path": "a", "x": 1}),
                Err("the arguments must not have `x`"),
            ),
            (
                &schema,
                json!({"path": "a", "lines": [1, "b"]}),
                Err("`lines`[1] must be integer"),
            ),
            (
                &schema,
                json!({"path": "a", "mode": "c"}),
                Err("`mode` is none of the values it may have"),
            ),
            (
                &schema,
                json!({"path": "a", "more": {}}),
                Err("`x` is missing in `more`"),
            ),
            (
                &schema,
                json!({"path": "a", "more": 1}),
                Err("`more` must be object or null"),
            ),
            (&each, json!({"path": "a"}), Ok(())),
            (&each, json!({"count": 1}), Err("`path` is missing")),
            (
                &each,
                json!({"path": "a", "count": "1"}),
                Err("`count` must be int"),
            ),
            (
                &each,
                json!({"path": "a", "other": 1}),
                Err("there is no parameter `other`"),
            ),
            (&Value::Null, json!({"anything": 1}), Ok(())),
        ];
        for (schema, arguments, expected) in rows {
            let fits = arguments_fit(schema, &arguments);
            let expected = expected.map_err(str::to_owned);
            assert_eq!(fits, expected, "{arguments}");
        }
    }
}
