//! Canonical schemas as JSON Schema and OpenAPI write them.

use harn_machine::Value;
use harn_machine::value::{Dict, Text};

use super::canonical::DEFINITIONS;

/// Whose words are used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Json,
    OpenApi,
}

/// A canonical schema in another dialect. Canonical schemas are bounded in depth.
pub(super) fn export(schema: &Dict, dialect: Dialect) -> Dict {
    let mut out = Dict::default();
    for (key, value) in schema {
        let name = match key.as_str() {
            "min" => "minimum",
            "max" => "maximum",
            "min_length" => "minLength",
            "max_length" => "maxLength",
            "min_items" => "minItems",
            "max_items" => "maxItems",
            "additional_properties" => "additionalProperties",
            "union" => "oneOf",
            "all_of" => "allOf",
            "type" | "nullable" => continue,
            name => name,
        };
        out.insert(Text::new(name), exported(name, value, dialect));
    }
    if let Some(Value::Text(name)) = schema.get("type") {
        export_type(name, &mut out);
    }
    if matches!(schema.get("nullable"), Some(Value::Bool(true))) {
        allow_null(&mut out, dialect);
    }
    out
}

fn exported(name: &str, value: &Value, dialect: Dialect) -> Value {
    match (name, value) {
        ("minimum" | "maximum", Value::Int(number)) => Value::Float(*number as f64),
        ("items" | "additionalProperties", Value::Dict(schema)) => export(schema, dialect).into(),
        (name, Value::Dict(schemas)) if name == "properties" || DEFINITIONS.contains(&name) => {
            export_all(schemas, dialect).into()
        }
        ("components", Value::Dict(components)) => {
            let schemas = match components.get("schemas") {
                Some(Value::Dict(schemas)) => export_all(schemas, dialect),
                _ => Dict::default(),
            };
            Value::dict([("schemas", schemas.into())])
        }
        ("oneOf" | "allOf", Value::List(branches)) => {
            let export_one = |branch: &Value| match branch {
                Value::Dict(branch) => export(branch, dialect).into(),
                other => other.clone(),
            };
            branches.iter().map(export_one).collect()
        }
        _ => value.clone(),
    }
}

fn export_all(schemas: &Dict, dialect: Dialect) -> Dict {
    let export_one = |(name, schema): (&Text, &Value)| match schema {
        Value::Dict(schema) => (name.clone(), export(schema, dialect).into()),
        other => (name.clone(), other.clone()),
    };
    schemas.iter().map(export_one).collect()
}

fn export_type(name: &str, out: &mut Dict) {
    let exported = match name {
        "int" => "integer",
        "float" => "number",
        "bool" => "boolean",
        "list" => "array",
        "dict" => "object",
        "nil" => "null",
        "set" => {
            out.insert("uniqueItems".into(), Value::Bool(true));
            "array"
        }
        "closure" | "builtin" => {
            out.insert("x-harn-type".into(), name.into());
            "string"
        }
        "any" => return,
        name => name,
    };
    out.insert("type".into(), exported.into());
}

fn allow_null(out: &mut Dict, dialect: Dialect) {
    if dialect == Dialect::OpenApi {
        out.insert("nullable".into(), Value::Bool(true));
        return;
    }
    if let Some(name) = out.get("type").cloned() {
        out.insert("type".into(), Value::list(vec![name, "null".into()]));
    } else if let Some(Value::List(mut branches)) = out.remove("oneOf") {
        let null = Value::dict([("type", "null".into())]);
        branches.items_mut().push(null);
        out.insert("oneOf".into(), branches.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;
    use crate::schema::canonical::canonical;

    #[test]
    fn our_names_become_those_of_others() {
        for (schema, json, open_api) in [
            (
                r#"{"type": "int", "min": 1}"#,
                "{minimum: 1.0, type: integer}",
                "{minimum: 1.0, type: integer}",
            ),
            (
                r#"{"type": "set"}"#,
                "{type: array, uniqueItems: true}",
                "{type: array, uniqueItems: true}",
            ),
            (
                r#"{"type": "closure"}"#,
                "{type: string, x-harn-type: closure}",
                "{type: string, x-harn-type: closure}",
            ),
            (
                r#"{"type": "string", "nullable": true}"#,
                "{type: [string, null]}",
                "{nullable: true, type: string}",
            ),
            (
                r#"{"type": "dict", "properties": {"a": {"union": [{"type": "nil"}, {"type": "bool"}]}},
                    "required": ["a"], "additional_properties": {"type": "float"}}"#,
                "{additionalProperties: {type: number}, properties: {a: {oneOf: [{type: null}, \
                 {type: boolean}]}}, required: [a], type: object}",
                "{additionalProperties: {type: number}, properties: {a: {oneOf: [{type: null}, \
                 {type: boolean}]}}, required: [a], type: object}",
            ),
        ] {
            let schema = canonical(&parse(schema).expect("it is JSON")).expect("it is a schema");
            let shown = |dialect| Value::Dict(export(&schema, dialect)).show();
            assert_eq!(shown(Dialect::Json), json);
            assert_eq!(shown(Dialect::OpenApi), open_api);
        }
    }
}
