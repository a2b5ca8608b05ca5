//! Tools as JSON schemas, for other programs.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Value, argument};

use crate::registries::{TOOLS, given, name, text_of};

const VERSION: &str = "harn-tools/1.0";

/// `tool_schema(registry, components?)`
pub(super) fn tool_schema(_: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    let registry = TOOLS.only("tool_schema", args)?;
    let components = match argument(args, 1) {
        Value::Dict(components) => Some(components),
        _ => None,
    };
    Ok(schema(&registry, components))
}

fn schema(registry: &Dict, components: Option<&Dict>) -> Value {
    let tools = TOOLS.entries(registry);
    let tools: Value = tools.map(|tool| tool_value(tool, components)).collect();
    let mut fields = vec![("schema_version", VERSION.into()), ("tools", tools)];
    if let Some(components) = components {
        let schemas = Value::dict([("schemas", components.clone().into())]);
        fields.push(("components", schemas));
    }
    Value::dict(fields)
}

fn tool_value(tool: &Dict, components: Option<&Dict>) -> Value {
    let mut fields = vec![
        ("name", name(tool).into()),
        ("description", text_of(tool, "description").into()),
        ("inputSchema", input(tool, components)),
    ];
    if let Some(output) = given(tool, "outputSchema") {
        fields.push(("outputSchema", output.clone()));
    }
    Value::dict(fields)
}

/// What a tool takes. Everything is required, also what has a default.
fn input(tool: &Dict, components: Option<&Dict>) -> Value {
    let parameters = match tool.get("parameters") {
        Some(Value::Dict(parameters)) => parameters.clone(),
        _ => Dict::default(),
    };
    let properties = parameters.iter();
    let properties = properties.map(|(key, value)| (key.clone(), property(value, components)));
    let properties: Dict = properties.collect();
    let mut fields = vec![("type", "object".into()), ("properties", properties.into())];
    if !parameters.is_empty() {
        let required = parameters.keys().cloned().map(Value::Text);
        fields.push(("required", required.collect()));
    }
    Value::dict(fields)
}

fn property(parameter: &Value, components: Option<&Dict>) -> Value {
    let Value::Dict(parameter) = parameter else {
        return Value::dict([("type", json_type(&parameter.to_text()).into())]);
    };
    if let Some(name) = parameter.get("$ref") {
        let name = name.to_text();
        let known = components.and_then(|components| components.get_text(&name));
        return match known {
            Some(schema) => schema.clone(),
            None => {
                let place = format!("#/components/schemas/{name}");
                Value::dict([("$ref", place.into())])
            }
        };
    }
    let mut property = parameter.clone();
    if let Some(Value::Text(kind)) = parameter.get("type") {
        property.insert(Text::new("type"), json_type(kind).into());
    }
    property.into()
}

/// What JSON schemas call a type. Declared tools have its words already.
fn json_type(kind: &str) -> &'static str {
    match kind {
        "int" | "integer" => "integer",
        "float" | "number" => "number",
        "bool" | "boolean" => "boolean",
        "list" | "array" => "array",
        "dict" | "object" => "object",
        "null" => "null",
        _ => "string",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(parameters: Value) -> Dict {
        let fields = [("name", "t".into()), ("parameters", parameters)];
        let fields = fields.map(|(key, value)| (Text::new(key), value));
        fields.into_iter().collect()
    }

    #[track_caller]
    fn check(parameter: Value, expected: &str) {
        let components = Dict::from_iter([(Text::new("Page"), Value::dict([]))]);
        assert_eq!(property(&parameter, Some(&components)).show(), expected);
    }

    #[test]
    fn a_parameter_gets_the_words_of_json_schemas() {
        for (kind, expected) in [
            ("int", "{type: integer}"),
            ("float", "{type: number}"),
            ("bool", "{type: boolean}"),
            ("list", "{type: array}"),
            ("array", "{type: array}"),
            ("dict", "{type: object}"),
            ("object", "{type: object}"),
            ("string", "{type: string}"),
            ("duration", "{type: string}"),
        ] {
            check(kind.into(), expected);
            check(Value::dict([("type", kind.into())]), expected);
        }
        let limit = [("type", "int".into()), ("default", Value::Int(2))];
        check(Value::dict(limit), "{default: 2, type: integer}");
        check(Value::dict([("oneOf", Value::list(vec![]))]), "{oneOf: []}");
    }

    #[test]
    fn a_reference_is_resolved_if_its_schema_is_known() {
        check(Value::dict([("$ref", "Page".into())]), "{}");
        let unknown = Value::dict([("$ref", "Book".into())]);
        check(unknown.clone(), "{$ref: #/components/schemas/Book}");
        let shown = property(&unknown, None).show();
        assert_eq!(shown, "{$ref: #/components/schemas/Book}");
    }

    #[test]
    fn every_parameter_is_required() {
        let none = input(&tool(Value::dict([])), None);
        assert_eq!(none.show(), "{properties: {}, type: object}");
        let some = input(
            &tool(Value::dict([("b", "int".into()), ("a", "x".into())])),
            None,
        );
        let expected = "{properties: {a: {type: string}, b: {type: integer}}, \
                        required: [a, b], type: object}";
        assert_eq!(some.show(), expected);
    }
}
