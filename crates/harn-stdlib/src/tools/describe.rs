//! Tools as texts, for people and for models.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Value};

use crate::registries::{TOOLS, given, text_of};

const HEADING: &str = "\
# Available Tools

To use a tool, write a call in exactly this form:

<tool_call>{\"name\": \"tool_name\", \"arguments\": {\"param\": \"value\"}}</tool_call>

You may write several calls in one response; they are executed in order.

## Tools
";

/// `tool_describe(registry)`
pub(super) fn tool_describe(_: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    let registry = TOOLS.only("tool_describe", args)?;
    Ok(describe(&registry).into())
}

fn describe(registry: &Dict) -> String {
    let tools = TOOLS.sorted(registry);
    let mut out = String::from("Available tools:");
    if tools.is_empty() {
        out.push_str("\n(none)");
    }
    for (name, tool) in tools {
        let parameters = parameters(tool);
        let description = text_of(tool, "description");
        out.push_str(&format!("\n- {name}({parameters}): {description}"));
        if let Some(schema) = given(tool, "outputSchema") {
            out.push_str("\n  returns ");
            out.push_str(&schema_text(schema));
        }
    }
    out
}

/// `tool_prompt(registry)`
pub(super) fn tool_prompt(_: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    let registry = TOOLS.only("tool_prompt", args)?;
    Ok(prompt(&registry).into())
}

fn prompt(registry: &Dict) -> String {
    let tools = TOOLS.sorted(registry);
    if tools.is_empty() {
        return "No tools are available.".to_owned();
    }
    let mut out = String::from(HEADING);
    for (name, tool) in tools {
        out.push('\n');
        prompt_tool(&name, tool, &mut out);
    }
    out.truncate(out.trim_end().len());
    out
}

fn prompt_tool(name: &Text, tool: &Dict, out: &mut String) {
    out.push_str(&format!("### {name}\n{}\n", text_of(tool, "description")));
    let returns = given(tool, "outputSchema").map(schema_text);
    let lines = [
        ("Parameters", parameters(tool)),
        ("Returns", returns.unwrap_or_default()),
    ];
    for (label, text) in lines {
        if !text.is_empty() {
            out.push_str(&format!("{label}: {text}\n"));
        }
    }
}

fn parameters(tool: &Dict) -> String {
    match tool.get("parameters") {
        Some(Value::Dict(parameters)) => pairs(parameters),
        _ => String::new(),
    }
}

/// The entries of a dict, without its braces.
fn pairs(dict: &Dict) -> String {
    let pairs = dict.iter().map(|(key, value)| format!("{key}: {value}"));
    pairs.collect::<Vec<_>>().join(", ")
}

fn schema_text(schema: &Value) -> String {
    match schema {
        Value::Dict(schema) => match schema.get("$ref") {
            Some(name) => format!("$ref({name})"),
            None => pairs(schema),
        },
        other => other.show(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry(tools: Vec<Value>) -> Dict {
        Dict::from_iter([(Text::new("tools"), Value::list(tools))])
    }

    fn tool(name: &str, description: &str, parts: &[(&str, Value)]) -> Value {
        let fields = [("name", name.into()), ("description", description.into())];
        Value::dict(fields.into_iter().chain(parts.iter().cloned()))
    }

    fn search() -> Value {
        let limit = Value::dict([("type", "int".into()), ("required", false.into())]);
        let parameters = Value::dict([("query", "string".into()), ("limit", limit)]);
        let returns = Value::dict([("type", "array".into()), ("items", Value::dict([]))]);
        let parts = [("parameters", parameters), ("outputSchema", returns)];
        tool("search", "Find documents", &parts)
    }

    #[test]
    fn tools_are_described_by_name() {
        assert_eq!(describe(&registry(vec![])), "Available tools:\n(none)");
        let page = Value::dict([("$ref", "Page".into())]);
        let tools = vec![
            search(),
            tool("ask", "Ask", &[("outputSchema", "string".into())]),
            tool("open", "", &[("outputSchema", page)]),
        ];
        let expected = "\
Available tools:
- ask(): Ask
  returns string
- open(): 
  returns $ref(Page)
- search(limit: {required: false, type: int}, query: string): Find documents
  returns items: {}, type: array";
        assert_eq!(describe(&registry(tools)), expected);
    }

    #[test]
    fn a_prompt_explains_calls_and_lists_tools() {
        assert_eq!(prompt(&registry(vec![])), "No tools are available.");
        let text = prompt(&registry(vec![search(), tool("ask", "Ask", &[])]));
        assert!(text.starts_with("# Available Tools\n"), "{text}");
        let form =
            r#"<tool_call>{"name": "tool_name", "arguments": {"param": "value"}}</tool_call>"#;
        assert!(text.contains(form), "{text}");
        let tools = "

## Tools

### ask
Ask

### search
Find documents
Parameters: limit: {required: false, type: int}, query: string
Returns: items: {}, type: array";
        assert!(text.ends_with(tools), "{text}");
    }
}
