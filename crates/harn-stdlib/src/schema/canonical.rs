//! Schemas in the one form that the rest of this part reads.

use harn_machine::Value;
use harn_machine::value::{Dict, Text};

use super::DEPTH_MAX;

/// How many schemas one schema may consist of, its parts counted as often as they occur.
const SIZE_MAX: u32 = 100_000;

/// Keys whose values are kept as they are.
const PLAIN: [(&str, &str); 14] = [
    ("const", "const"),
    ("default", "default"),
    ("deprecated", "deprecated"),
    ("description", "description"),
    ("enum", "enum"),
    ("example", "example"),
    ("examples", "examples"),
    ("format", "format"),
    ("nullable", "nullable"),
    ("pattern", "pattern"),
    ("readOnly", "readOnly"),
    ("title", "title"),
    ("writeOnly", "writeOnly"),
    ("x-harn-type", "x-harn-type"),
];

/// Keys whose values are numbers.
const NUMBERS: [(&str, &str); 12] = [
    ("max", "max"),
    ("maxItems", "max_items"),
    ("maxLength", "max_length"),
    ("max_items", "max_items"),
    ("max_length", "max_length"),
    ("maximum", "max"),
    ("min", "min"),
    ("minItems", "min_items"),
    ("minLength", "min_length"),
    ("min_items", "min_items"),
    ("min_length", "min_length"),
    ("minimum", "min"),
];

/// Keys whose values are schemas by name. Newer JSON Schema writes `$defs`, and references say
/// which of them is meant, so both stay as they are.
pub(super) const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// A schema with the names of this language and nothing unknown in it.
pub(super) fn canonical(schema: &Value) -> Result<Dict, String> {
    let mut reader = Reader { size: 0 };
    reader.schema(schema, 0)
}

/// The name of a type in this language.
fn type_name(name: &str) -> &str {
    match name {
        "object" => "dict",
        "array" => "list",
        "integer" => "int",
        "number" => "float",
        "boolean" => "bool",
        "null" => "nil",
        name => name,
    }
}

struct Reader {
    size: u32,
}

impl Reader {
    fn schema(&mut self, schema: &Value, depth: u32) -> Result<Dict, String> {
        self.size += 1;
        if self.size > SIZE_MAX || depth > DEPTH_MAX {
            return Err("schema is too large".to_owned());
        }
        let Value::Dict(given) = schema else {
            return Err("schema must be a dict".to_owned());
        };
        let mut out = Dict::default();
        self.named_schemas(given, &mut out, depth)?;
        if let Some(reference) = given.get("$ref") {
            out.insert("$ref".into(), reference.to_text().into());
            return Ok(out);
        }
        for (key, name) in PLAIN {
            if let Some(value) = given.get(key) {
                out.insert(name.into(), value.clone());
            }
        }
        for (key, name) in NUMBERS {
            if let Some(value @ (Value::Int(_) | Value::Float(_))) = given.get(key) {
                out.insert(name.into(), value.clone());
            }
        }
        if let Some(required) = given.get("required") {
            out.insert("required".into(), shown_items(required));
        }
        self.parts(given, &mut out, depth)?;
        self.branches(given, &mut out, depth)?;
        read_type(given, &mut out);
        Ok(out)
    }

    /// The schemas that can be referred to.
    fn named_schemas(&mut self, given: &Dict, out: &mut Dict, depth: u32) -> Result<(), String> {
        for key in DEFINITIONS {
            if let Some(Value::Dict(definitions)) = given.get(key) {
                let definitions = self.schemas(definitions, depth)?;
                out.insert(key.into(), definitions.into());
            }
        }
        if let Some(Value::Dict(components)) = given.get("components")
            && let Some(Value::Dict(schemas)) = components.get("schemas")
        {
            let schemas = self.schemas(schemas, depth)?;
            let components = Value::dict([("schemas", schemas.into())]);
            out.insert("components".into(), components);
        }
        Ok(())
    }

    /// The schemas of what a value consists of.
    fn parts(&mut self, given: &Dict, out: &mut Dict, depth: u32) -> Result<(), String> {
        if let Some(Value::Dict(properties)) = given.get("properties") {
            let properties = self.schemas(properties, depth)?;
            out.insert("properties".into(), properties.into());
        }
        if let Some(items) = given.get("items") {
            let items = self.schema(items, depth + 1)?;
            out.insert("items".into(), items.into());
        }
        let additional = given.get("additionalProperties");
        if let Some(additional) = given.get("additional_properties").or(additional) {
            let additional = match additional {
                Value::Bool(allowed) => Value::Bool(*allowed),
                schema => self.schema(schema, depth + 1)?.into(),
            };
            out.insert("additional_properties".into(), additional);
        }
        Ok(())
    }

    fn schemas(&mut self, given: &Dict, depth: u32) -> Result<Dict, String> {
        let schemas = given.iter().map(|(name, schema)| {
            let schema = self.schema(schema, depth + 1)?;
            Ok((name.clone(), schema.into()))
        });
        schemas.collect()
    }

    /// The schemas of which one or all must fit.
    fn branches(&mut self, given: &Dict, out: &mut Dict, depth: u32) -> Result<(), String> {
        for (keys, name) in [
            (&["union", "oneOf", "anyOf"][..], "union"),
            (&["all_of", "allOf"], "all_of"),
        ] {
            let Some(branches) = keys.iter().find_map(|key| given.get(key)) else {
                continue;
            };
            let Value::List(branches) = branches else {
                return Err("schema union/all_of must be a list".to_owned());
            };
            let branches = branches.iter().map(|branch| {
                let branch = self.schema(branch, depth + 1)?;
                Ok(branch.into())
            });
            let branches = branches.collect::<Result<Vec<Value>, String>>()?;
            out.insert(name.into(), Value::list(branches));
        }
        Ok(())
    }
}

/// The type of a schema, or the union of its types.
fn read_type(given: &Dict, out: &mut Dict) {
    let is_set = matches!(given.get("x-harn-type"), Some(Value::Text(name)) if &**name == "set");
    let is_unique = matches!(given.get("uniqueItems"), Some(Value::Bool(true)));
    match given.get("type") {
        Some(Value::List(types)) => {
            let branch = |name: &Value| Value::dict([("type", type_name(&name.to_text()).into())]);
            out.insert("union".into(), types.iter().map(branch).collect());
        }
        _ if is_set => {
            out.insert("type".into(), "set".into());
        }
        Some(name) => {
            let name = name.to_text();
            let name = match type_name(&name) {
                "list" if is_unique => "set",
                name => name,
            };
            out.insert("type".into(), name.into());
        }
        None => {}
    }
}

/// The items of a list as texts; of anything else none.
fn shown_items(value: &Value) -> Value {
    match value {
        Value::List(items) => items
            .iter()
            .map(|item| Value::Text(item.to_text()))
            .collect(),
        _ => Value::list(Vec::new()),
    }
}

/// The schema that a reference points at.
pub(super) fn resolve<'a>(root: &'a Value, reference: &Text) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    if pointer.is_empty() {
        return Some(root);
    }
    let mut tokens = pointer.strip_prefix('/')?.split('/');
    tokens.try_fold(root, |place, token| match place {
        Value::Dict(inner) => inner.get(&token.replace("~1", "/").replace("~0", "~")),
        Value::List(branches) => branches.get(token.parse::<usize>().ok()?),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::canonical;
    use crate::json::parse;

    fn shown(schema: &str) -> String {
        match canonical(&parse(schema).expect("it is JSON")) {
            Ok(schema) => harn_machine::Value::Dict(schema).show(),
            Err(problem) => problem,
        }
    }

    #[test]
    fn other_names_become_ours() {
        for (schema, expected) in [
            (
                r#"{"type": "integer", "minimum": 1, "foo": 2}"#,
                "{min: 1, type: int}",
            ),
            (
                r#"{"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"],
                    "additionalProperties": false}"#,
                "{additional_properties: false, properties: {a: {type: float}}, required: [a], \
                 type: dict}",
            ),
            (
                r#"{"type": ["string", "null"], "minLength": 2}"#,
                "{min_length: 2, union: [{type: string}, {type: nil}]}",
            ),
            (r#"{"type": "array", "uniqueItems": true}"#, "{type: set}"),
            (
                r#"{"x-harn-type": "set", "type": "array"}"#,
                "{type: set, x-harn-type: set}",
            ),
            (r#"{"required": "a"}"#, "{required: []}"),
            (
                r##"{"$ref": "#/definitions/X", "type": "int"}"##,
                "{$ref: #/definitions/X}",
            ),
            (
                r##"{"$ref": "#/$defs/X", "$defs": {"X": {"type": "integer", "foo": 1}}}"##,
                "{$defs: {X: {type: int}}, $ref: #/$defs/X}",
            ),
            (r#"{"anyOf": [{"type": "null"}]}"#, "{union: [{type: nil}]}"),
            (r#"{"allOf": 1}"#, "schema union/all_of must be a list"),
            (r#"{"items": 1}"#, "schema must be a dict"),
            ("1", "schema must be a dict"),
        ] {
            assert_eq!(shown(schema), expected);
        }
    }

    #[test]
    fn schemas_are_bounded() {
        let deep = r#"{"items":"#.repeat(50_000) + "{}" + &"}".repeat(50_000);
        assert_eq!(shown(&deep), "schema is too large");
        let mut wide = harn_machine::Value::dict([]);
        for _ in 0..60 {
            let branches = harn_machine::Value::list(vec![wide.clone(), wide]);
            wide = harn_machine::Value::dict([("union", branches)]);
        }
        assert_eq!(canonical(&wide).unwrap_err(), "schema is too large");
    }
}
