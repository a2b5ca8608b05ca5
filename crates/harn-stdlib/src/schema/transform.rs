//! Schemas made of schemas.

use harn_machine::value::{Dict, List, Text};
use harn_machine::{Context, Failure, Fault, Registry, Value, argument, thrown};

use super::canonical::canonical;
use super::export::{Dialect, export};
use crate::json::require;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("schema_extend", schema_extend),
        ("schema_from_json_schema", |_, arguments| {
            Ok(schema("schema_from_json_schema", arguments, 0)?.into())
        }),
        ("schema_from_openapi_schema", |_, arguments| {
            Ok(schema("schema_from_openapi_schema", arguments, 0)?.into())
        }),
        ("schema_omit", schema_omit),
        ("schema_partial", schema_partial),
        ("schema_pick", schema_pick),
        ("schema_to_json_schema", |_, arguments| {
            let schema = schema("schema_to_json_schema", arguments, 0)?;
            Ok(export(&schema, Dialect::Json).into())
        }),
        ("schema_to_openapi_schema", |_, arguments| {
            let schema = schema("schema_to_openapi_schema", arguments, 0)?;
            Ok(export(&schema, Dialect::OpenApi).into())
        }),
    ]);
}

/// An argument that is a schema, in canonical form.
fn schema(function: &str, arguments: &[Value], at: usize) -> Result<Dict, Failure> {
    require(function, arguments, at + 1)?;
    canonical(argument(arguments, at)).map_err(Fault::thrown)
}

fn schema_extend(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    require("schema_extend", arguments, 2)?;
    let mut base = schema("schema_extend", arguments, 0)?;
    for (key, value) in &schema("schema_extend", arguments, 1)? {
        base.insert(key.clone(), value.clone());
    }
    Ok(base.into())
}

fn schema_partial(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let schema = schema("schema_partial", arguments, 0)?;
    Ok(partial(&schema).into())
}

/// A schema without required keys, all the way down. Canonical schemas are bounded in depth.
fn partial(schema: &Dict) -> Dict {
    let relaxed = |value: &Value| match value {
        Value::Dict(schema) => partial(schema).into(),
        other => other.clone(),
    };
    let mut out = Dict::default();
    for (key, value) in schema {
        let value = match (key.as_str(), value) {
            ("required", _) => continue,
            ("items" | "additional_properties", schema) => relaxed(schema),
            ("properties", Value::Dict(properties)) => {
                let relax = |(name, schema): (&Text, &Value)| (name.clone(), relaxed(schema));
                properties.iter().map(relax).collect::<Dict>().into()
            }
            ("union" | "all_of", Value::List(branches)) => branches.iter().map(relaxed).collect(),
            (_, value) => value.clone(),
        };
        out.insert(key.clone(), value);
    }
    out
}

fn schema_pick(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    filtered("schema_pick", arguments, |keys, key| keys.contains(key))
}

fn schema_omit(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    filtered("schema_omit", arguments, |keys, key| !keys.contains(key))
}

/// A schema with only those properties that the keys let through.
fn filtered(
    function: &str,
    arguments: &[Value],
    is_kept: fn(&Dict, &str) -> bool,
) -> Result<Value, Failure> {
    require(function, arguments, 2)?;
    let mut schema = schema(function, arguments, 0)?;
    let Value::List(keys) = argument(arguments, 1) else {
        return thrown(format!("{function}: keys must be a list"));
    };
    let keys: Dict = keys.iter().map(|key| (key.to_text(), Value::Nil)).collect();
    if let Some(Value::Dict(properties)) = schema.get("properties") {
        let kept = properties.iter().filter(|(key, _)| is_kept(&keys, key));
        let kept: Dict = kept
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        schema.insert("properties".into(), kept.into());
    }
    if let Some(Value::List(required)) = schema.get("required") {
        let kept = required.iter().filter(|key| is_kept(&keys, &key.to_text()));
        let kept: List = kept.cloned().collect();
        schema.insert("required".into(), kept.into());
    }
    Ok(schema.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn a_partial_schema_requires_nothing() {
        let schema = parse(
            r#"{"required": ["a"], "properties": {"a": {"required": ["b"], "type": "dict"}},
                "items": {"required": []}, "union": [{"required": ["c"]}], "default": {"required": 1}}"#,
        );
        let schema = canonical(&schema.expect("it is JSON")).expect("it is a schema");
        assert_eq!(
            Value::Dict(partial(&schema)).show(),
            "{default: {required: 1}, items: {}, properties: {a: {type: dict}}, union: [{}]}"
        );
    }

    #[test]
    fn properties_are_picked_and_omitted() {
        let schema = parse(r#"{"properties": {"a": {}, "b": {}}, "required": ["b", "a"]}"#);
        let keys = Value::list(vec!["a".into()]);
        let arguments = [schema.expect("it is JSON"), keys];
        let pick = filtered("schema_pick", &arguments, |keys, key| keys.contains(key));
        assert_eq!(pick.unwrap().show(), "{properties: {a: {}}, required: [a]}");
        let omit = filtered("schema_omit", &arguments, |keys, key| !keys.contains(key));
        assert_eq!(omit.unwrap().show(), "{properties: {b: {}}, required: [b]}");
        let [schema, _] = arguments;
        let failure = filtered("schema_pick", &[schema, Value::Nil], |_, _| true);
        assert_eq!(
            failure.unwrap_err().text(),
            "Thrown: schema_pick: keys must be a list"
        );
    }
}
