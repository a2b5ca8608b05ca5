//! What a program offers to those who connect to it.
//!
//! Nothing is served here. A server that looks at [`Offers`] after the program has run is
//! specified (`harn serve mcp`) and not built.

use harn_machine::value::Dict;
use harn_machine::{Context, Failure, Fault, Registry, Value, take};

use crate::registries::{TOOLS, given};

pub(crate) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("mcp_prompt", mcp_prompt),
        ("mcp_resource", mcp_resource),
        ("mcp_resource_template", mcp_resource_template),
        ("mcp_serve", mcp_tools),
        ("mcp_tools", mcp_tools),
    ]);
}

/// What a program offers, as it was given.
#[derive(Debug, Default)]
pub struct Offers {
    /// The tools: the registry that was offered last.
    pub tools: Option<Dict>,
    /// Resources, in the order they were offered.
    pub resources: Vec<Dict>,
    /// Templates of resources.
    pub resource_templates: Vec<Dict>,
    /// Prompts.
    pub prompts: Vec<Dict>,
}

/// `mcp_tools(registry)`, also known as `mcp_serve`
fn mcp_tools(context: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    if args.is_empty() {
        return Err(Fault::runtime(
            "mcp_tools: requires a tool_registry argument",
        ));
    }
    let registry = match take(args, 0) {
        Value::Dict(registry) if TOOLS.is_registry(&registry) => registry,
        Value::Dict(_) => {
            return Err(Fault::runtime(
                "mcp_tools: argument must be a tool registry (created with tool_registry())",
            ));
        }
        _ => {
            return Err(Fault::runtime(
                "mcp_tools: argument must be a tool registry",
            ));
        }
    };
    context.state::<Offers>().tools = Some(registry);
    Ok(Value::Nil)
}

/// `mcp_resource({uri, name, text, …})`
fn mcp_resource(context: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    let kind = "argument must be a dict with {uri, name, text}";
    let resource = offer("mcp_resource", kind, args)?;
    require("mcp_resource", &resource, &["uri", "name", "text"])?;
    context.state::<Offers>().resources.push(resource);
    Ok(Value::Nil)
}

/// `mcp_resource_template({uri_template, name, handler, …})`
fn mcp_resource_template(context: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    let function = "mcp_resource_template";
    let template = offer(function, "argument must be a dict", args)?;
    require(function, &template, &["uri_template", "name"])?;
    require_handler(function, &template)?;
    let templates = &mut context.state::<Offers>().resource_templates;
    templates.push(template);
    Ok(Value::Nil)
}

/// `mcp_prompt({name, handler, …})`
fn mcp_prompt(context: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    let kind = "argument must be a dict with {name, handler}";
    let prompt = offer("mcp_prompt", kind, args)?;
    require("mcp_prompt", &prompt, &["name"])?;
    require_handler("mcp_prompt", &prompt)?;
    context.state::<Offers>().prompts.push(prompt);
    Ok(Value::Nil)
}

fn offer(function: &str, reason: &str, args: &mut [Value]) -> Result<Dict, Failure> {
    match take(args, 0) {
        Value::Dict(offer) => Ok(offer),
        _ => Err(Fault::runtime(format!("{function}: {reason}"))),
    }
}

fn require(function: &str, offer: &Dict, keys: &[&str]) -> Result<(), Failure> {
    match keys.iter().find(|key| given(offer, key).is_none()) {
        Some(key) => Err(Fault::runtime(format!("{function}: '{key}' is required"))),
        None => Ok(()),
    }
}

fn require_handler(function: &str, offer: &Dict) -> Result<(), Failure> {
    match offer.get("handler") {
        Some(handler) if handler.is_callable() => Ok(()),
        _ => Err(Fault::runtime(format!(
            "{function}: 'handler' closure is required"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harn_machine::value::Text;

    #[test]
    fn what_is_required_is_asked_for_in_order() {
        let offer = Dict::from_iter([(Text::new("name"), Value::from("a"))]);
        let missing = |keys: &[&str]| require("f", &offer, keys).map_err(|error| error.text());
        assert_eq!(missing(&["name"]), Ok(()));
        let expected = Err("Runtime error: f: 'uri' is required".to_owned());
        assert_eq!(missing(&["uri", "name", "text"]), expected);
        let handler = require_handler("f", &offer).unwrap_err().text();
        assert_eq!(handler, "Runtime error: f: 'handler' closure is required");
    }
}
