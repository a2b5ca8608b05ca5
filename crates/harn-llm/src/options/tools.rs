//! Tools as programs declare them, and as models and the mock's log see them.
//!
//! ```text
//! registry or list ─► Declared (full schema) ─┬─► the wire: everything that was declared
//!                                             └─► native_projection: the flat form programs see
//! ```

use serde_json::{Map, Value};

use super::value::{Options, display, truthy};
use crate::ToolSpec;
use crate::catalog::Invalid;
use crate::catalog::route::Style;
use crate::object::object;

/// How deep a schema is read for the language's own names of types; what lies deeper is
/// passed on as it is.
const DEPTH_MAX: usize = 64;

/// Keys that say what a value is without naming its type.
const TYPE_LIKE: [&str; 6] = ["$ref", "anyOf", "oneOf", "allOf", "enum", "const"];

/// A tool of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declared {
    /// What a model is told.
    pub spec: ToolSpec,
    /// The MCP server it comes from.
    pub server: Option<String>,
}

/// Reads the option `tools`: a registry, or a list of entries. Closures in it are `null`.
///
/// # Errors
/// It is something else.
pub fn parse(tools: &Value) -> Result<Vec<Declared>, Invalid> {
    let entries = match tools {
        Value::Array(entries) => Some(entries),
        Value::Object(registry) => registry.get("tools").and_then(Value::as_array),
        _ => None,
    };
    let Some(entries) = entries else {
        return Err(Invalid::new(
            "tools must be a tool_registry or a list of tool definition dicts",
        ));
    };
    let mut declared = Vec::with_capacity(entries.len());
    for entry in entries {
        match entry {
            Value::Object(inner) if is_registry(inner) => {
                let inner = inner.get("tools").and_then(Value::as_array);
                let inner = inner.into_iter().flatten().filter_map(Value::as_object);
                declared.extend(inner.map(|fields| read(Options(fields))));
            }
            Value::Object(fields) => declared.push(read(Options(fields))),
            // Who names a tool instead of declaring it deserves to hear what is expected.
            Value::String(_) => {
                return Err(Invalid::new(
                    "tools must be declared as tool definition dicts or a tool_registry",
                ));
            }
            _ => {
                return Err(Invalid::new(
                    "tools must contain only tool definition dicts",
                ));
            }
        }
    }
    Ok(declared)
}

fn is_registry(fields: &Map<String, Value>) -> bool {
    fields.get("_type").and_then(Value::as_str) == Some("tool_registry")
}

fn read(entry: Options<'_>) -> Declared {
    // A tool may already be written as OpenAI wants it.
    let inner = match entry.given("function") {
        Some(Value::Object(inner)) if entry.given("name").is_none() => Options(inner),
        _ => entry,
    };
    let schema = ["inputSchema", "input_schema"]
        .into_iter()
        .find_map(|key| inner.given(key).filter(|value| value.is_object()));
    let parameters = match (inner.given("parameters"), schema) {
        (Some(Value::Object(fields)), _) if is_schema(fields) => normal(fields, 0).into(),
        (Some(Value::Object(fields)), _) if !fields.is_empty() => parameters(fields),
        (_, Some(Value::Object(fields))) => normal(fields, 0).into(),
        _ => parameters(&Map::new()),
    };
    let server = entry.given_text("mcp_server");
    let server = server.or_else(|| entry.given_text("_mcp_server"));
    Declared {
        spec: ToolSpec {
            name: inner.given_text("name").unwrap_or_default(),
            description: inner.given_text("description").unwrap_or_default(),
            parameters,
            output_schema: entry.given("outputSchema").map(|value| property(value, 0)),
            defer_loading: entry.flag("defer_loading"),
            namespace: entry.given_text("namespace"),
            strict: inner.given("strict").map(truthy),
        },
        server,
    }
}

/// Whether parameters are written as one JSON Schema instead of one entry each.
fn is_schema(fields: &Map<String, Value>) -> bool {
    fields.get("type").and_then(Value::as_str) == Some("object")
        && fields.get("properties").is_some_and(Value::is_object)
}

/// The schema of parameters given one by one.
fn parameters(fields: &Map<String, Value>) -> Value {
    let mut required: Vec<&String> = fields
        .iter()
        .filter(|(_, value)| value.get("required") != Some(&Value::Bool(false)))
        .map(|(name, _)| name)
        .collect();
    required.sort_unstable();
    let schema = object([
        ("type", "object".into()),
        ("properties", properties(fields, 0).into()),
        ("required", names(required)),
        ("additionalProperties", false.into()),
    ]);
    schema.into()
}

/// The schemas of values by their names.
fn properties(fields: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    let mut properties = Map::with_capacity(fields.len());
    for (name, value) in fields {
        properties.insert(name.clone(), property(value, depth));
    }
    properties
}

fn names(names: Vec<&String>) -> Value {
    names.into_iter().map(String::as_str).collect()
}

/// The schema of one value: a name of a type, or a dict.
fn property(value: &Value, depth: usize) -> Value {
    let Value::Object(fields) = value else {
        let kind = match value {
            Value::String(name) => json_type(name),
            other => json_type(&display(other)),
        };
        return object([("type", kind.into())]).into();
    };
    let mut fields = normal(fields, depth);
    if !fields.contains_key("type") && !TYPE_LIKE.iter().any(|key| fields.contains_key(*key)) {
        fields.insert("type".to_owned(), "string".into());
    }
    fields.into()
}

/// A schema with the types that JSON Schema knows, all the way down. Whether a parameter is
/// required is the business of the object around it.
fn normal(fields: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    if depth >= DEPTH_MAX {
        return fields.clone();
    }
    let mut out = Map::with_capacity(fields.len());
    for (key, value) in fields {
        let value = match (key.as_str(), value) {
            ("required", Value::Bool(_)) => continue,
            ("type", Value::String(name)) => json_type(name).into(),
            ("properties", Value::Object(inner)) => properties(inner, depth + 1).into(),
            ("items" | "additionalProperties", Value::Object(inner)) => {
                normal(inner, depth + 1).into()
            }
            _ => value.clone(),
        };
        out.insert(key.clone(), value);
    }
    out
}

fn json_type(name: &str) -> &'static str {
    match name {
        "int" | "integer" => "integer",
        "float" | "number" => "number",
        "bool" | "boolean" => "boolean",
        "list" | "array" => "array",
        "dict" | "object" => "object",
        "null" => "null",
        _ => "string",
    }
}

/// A tool as programs see it in the log of the mock: flat, each parameter required.
pub fn native_projection(spec: &ToolSpec, style: Style) -> Value {
    let declared = spec.parameters.get("properties").and_then(Value::as_object);
    let empty = Map::new();
    let declared = declared.unwrap_or(&empty);
    let mut properties = Map::with_capacity(declared.len());
    for (name, schema) in declared {
        properties.insert(name.clone(), flat(schema));
    }
    let mut required: Vec<&String> = declared.keys().collect();
    required.sort_unstable();
    let parameters = object([
        ("type", "object".into()),
        ("required", names(required)),
        ("properties", properties.into()),
        ("additionalProperties", false.into()),
    ]);
    let called = |schema| {
        object([
            ("name", spec.name.as_str().into()),
            ("description", spec.description.as_str().into()),
            (schema, parameters.into()),
        ])
    };
    let mut tool = match style {
        Style::Anthropic => called("input_schema"),
        Style::OpenAi => object([
            ("type", "function".into()),
            ("function", called("parameters").into()),
        ]),
    };
    if let Some(schema) = &spec.output_schema {
        tool.insert("x-harn-output-schema".to_owned(), schema.clone());
    }
    if spec.defer_loading {
        tool.insert("defer_loading".to_owned(), true.into());
    }
    if let Some(namespace) = &spec.namespace {
        tool.insert("namespace".to_owned(), namespace.as_str().into());
    }
    tool.into()
}

fn flat(schema: &Value) -> Value {
    let kind = schema.get("type").and_then(Value::as_str);
    let kind = kind.filter(|kind| *kind != "null").unwrap_or("string");
    let description = schema.get("description").filter(|value| !value.is_null());
    let description = description.map(display).unwrap_or_default();
    let fields = object([
        ("type", json_type(kind).into()),
        ("description", description.into()),
    ]);
    fields.into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn registry(entries: Value) -> Value {
        json!({"_type": "tool_registry", "tools": entries})
    }

    #[test]
    fn every_mistake_has_its_text() {
        let shape = "tools must be a tool_registry or a list of tool definition dicts";
        let only = "tools must contain only tool definition dicts";
        let rows = [
            (json!("read"), shape),
            (json!(5), shape),
            (json!({"name": "a"}), shape),
            (
                json!(["read"]),
                "tools must be declared as tool definition dicts or a tool_registry",
            ),
            (json!([5]), only),
            (registry(json!([null])), only),
        ];
        for (tools, expected) in rows {
            assert_eq!(parse(&tools).unwrap_err().to_string(), expected, "{tools}");
        }
    }

    #[test]
    fn parameters_become_a_full_schema() {
        let tools = registry(json!([{
            "name": "find",
            "description": "Finds.",
            "handler": null,
            "parameters": {
                "query": "string",
                "limit": {"type": "int", "description": "How many", "required": false, "default": 5},
                "where": {
                    "type": "dict",
                    "properties": {"depth": {"type": "int"}, "kind": "bool"},
                    "required": ["depth"],
                },
                "tags": {"type": "list", "items": {"type": "string", "enum": ["a", "b"]}},
                "point": {"$ref": "#/components/schemas/Point"},
                "odd": 5,
            },
            "outputSchema": {"type": "list"},
            "namespace": "web",
            "defer_loading": true,
            "mcp_server": "files",
        }]));
        let declared = parse(&tools).unwrap();
        assert_eq!(declared[0].server.as_deref(), Some("files"));
        let spec = &declared[0].spec;
        assert_eq!(
            spec.parameters,
            json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["odd", "point", "query", "tags", "where"],
                "properties": {
                    "query": {"type": "string"},
                    "limit": {"type": "integer", "description": "How many", "default": 5},
                    "where": {
                        "type": "object",
                        "properties": {"depth": {"type": "integer"}, "kind": {"type": "boolean"}},
                        "required": ["depth"],
                    },
                    "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
                    "point": {"$ref": "#/components/schemas/Point"},
                    "odd": {"type": "string"},
                },
            })
        );
        assert_eq!(spec.output_schema, Some(json!({"type": "array"})));
        assert!(spec.defer_loading);
        assert_eq!(spec.namespace.as_deref(), Some("web"));
    }

    #[test]
    fn the_projection_is_flat_and_requires_everything() {
        let tools = json!([{
            "name": "find",
            "description": "Finds.",
            "parameters": {
                "a": "int", "b": {"type": "float", "description": "B", "required": false},
                "c": "bool", "d": {"type": "list", "items": {"type": "int"}}, "e": "dict",
                "f": "email", "g": {"$ref": "X"},
            },
        }]);
        let spec = &parse(&tools).unwrap()[0].spec;
        let schema = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["a", "b", "c", "d", "e", "f", "g"],
            "properties": {
                "a": {"type": "integer", "description": ""},
                "b": {"type": "number", "description": "B"},
                "c": {"type": "boolean", "description": ""},
                "d": {"type": "array", "description": ""},
                "e": {"type": "object", "description": ""},
                "f": {"type": "string", "description": ""},
                "g": {"type": "string", "description": ""},
            },
        });
        assert_eq!(
            native_projection(spec, Style::Anthropic),
            json!({"name": "find", "description": "Finds.", "input_schema": schema})
        );
        assert_eq!(
            native_projection(spec, Style::OpenAi),
            json!({
                "type": "function",
                "function": {"name": "find", "description": "Finds.", "parameters": schema},
            })
        );
    }

    #[test]
    fn what_stands_around_the_schema_is_shown_when_set() {
        let spec = ToolSpec {
            name: "t".to_owned(),
            parameters: parameters(&Map::new()),
            output_schema: Some(json!({"type": "string"})),
            defer_loading: true,
            namespace: Some("n".to_owned()),
            ..ToolSpec::default()
        };
        let empty = json!({
            "type": "object", "properties": {}, "required": [], "additionalProperties": false,
        });
        assert_eq!(
            native_projection(&spec, Style::Anthropic),
            json!({
                "name": "t", "description": "", "input_schema": empty,
                "x-harn-output-schema": {"type": "string"},
                "defer_loading": true,
                "namespace": "n",
            })
        );
    }

    #[test]
    fn schemas_written_elsewhere_are_taken_as_they_are() {
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": []});
        let rows = [
            json!({"name": "t", "inputSchema": schema}),
            json!({"name": "t", "input_schema": schema}),
            json!({"name": "t", "parameters": schema}),
            json!({"type": "function", "function": {"name": "t", "parameters": schema}}),
            json!({"name": "t", "parameters": {}, "inputSchema": schema}),
        ];
        for row in rows {
            let declared = parse(&json!([row])).unwrap();
            assert_eq!(declared[0].spec.name, "t");
            assert_eq!(declared[0].spec.parameters, schema, "{row}");
        }
    }

    #[test]
    fn registries_in_a_list_are_joined() {
        let tools = json!([registry(json!([{"name": "a"}])), {"name": "b"}]);
        let names: Vec<String> = parse(&tools)
            .unwrap()
            .into_iter()
            .map(|tool| tool.spec.name)
            .collect();
        assert_eq!(names, ["a", "b"]);
    }
}
