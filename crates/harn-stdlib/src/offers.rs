//! What a program offers to those who connect to it.
//!
//! A server that looks at [`Offers`] after the program has run is specified (`harn serve mcp`) and
//! not built. So an offer is checked and then refused: a program that makes one relies on being
//! found by it.

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

/// What is said of an offer that is in order: there is no server that would make it.
fn no_server(function: &str) -> Result<Value, Failure> {
    let text = format!("{function} is not available in this build");
    Err(Fault::runtime(text))
}

/// `mcp_tools(registry)`, also known as `mcp_serve`
fn mcp_tools(_: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    if args.is_empty() {
        return Err(Fault::runtime(
            "mcp_tools: requires a tool_registry argument",
        ));
    }
    match take(args, 0) {
        Value::Dict(registry) if TOOLS.is_registry(&registry) => no_server("mcp_tools"),
        Value::Dict(_) => Err(Fault::runtime(
            "mcp_tools: argument must be a tool registry (created with tool_registry())",
        )),
        _ => Err(Fault::runtime(
            "mcp_tools: argument must be a tool registry",
        )),
    }
}

/// `mcp_resource({uri, name, text, …})`
fn mcp_resource(_: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    let kind = "argument must be a dict with {uri, name, text}";
    let resource = offer("mcp_resource", kind, args)?;
    require("mcp_resource", &resource, &["uri", "name", "text"])?;
    no_server("mcp_resource")
}

/// `mcp_resource_template({uri_template, name, handler, …})`
fn mcp_resource_template(_: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    let function = "mcp_resource_template";
    let template = offer(function, "argument must be a dict", args)?;
    require(function, &template, &["uri_template", "name"])?;
    require_handler(function, &template)?;
    no_server(function)
}

/// `mcp_prompt({name, handler, …})`
fn mcp_prompt(_: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    let kind = "argument must be a dict with {name, handler}";
    let prompt = offer("mcp_prompt", kind, args)?;
    require("mcp_prompt", &prompt, &["name"])?;
    require_handler("mcp_prompt", &prompt)?;
    no_server("mcp_prompt")
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
