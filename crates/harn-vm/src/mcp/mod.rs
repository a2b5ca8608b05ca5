//! Servers of the Model Context Protocol, as programs reach them.
//!
//! ```text
//! mcp_call(client, …) ─► the client's number ─► effect `agent` ─► harn-agent: the pool
//! ```
//!
//! A client is a value that only these builtins understand: a number of the pool, or the name
//! of a server of the project. Everything else about servers is decided by the runtime.

use std::rc::Rc;
use std::task::Poll;

use harn_agent::tool_servers::ServerConfig;
use harn_machine::value::Foreign;
use harn_machine::{Context, Failure, Isolate, Registry, Value, Waiting, argument};

use crate::agents;

/// What a program calls a client.
const TYPE: &str = "mcp_client";

/// Whom a client of a program talks with.
enum Client {
    /// What was connected to under a number.
    Number(i64),
    /// A server of the project.
    Configured(String),
}

/// Bodies of builtins that take a client first.
macro_rules! of_client {
    ($($name:literal),* $(,)?) => {
        &[$(($name, |context, arguments, waiting| {
            ask($name, context, arguments, waiting)
        })),*]
    };
}

/// Bodies of builtins that take no client.
macro_rules! of_names {
    ($($name:literal),* $(,)?) => {
        &[$(($name, |context, arguments, waiting| {
            agents::ask(context, $name, arguments, waiting)
        })),*]
    };
}

/// Bodies of builtins that give a client.
macro_rules! giving_client {
    ($($name:literal),* $(,)?) => {
        &[$(($name, |context, arguments, waiting| {
            let answer = agents::ask(context, $name, arguments, waiting)?;
            Ok(answer.map(|client| given(&client)))
        })),*]
    };
}

pub(crate) fn register(registry: &mut Registry) {
    registry.waiting(of_client![
        "mcp_call",
        "mcp_complete",
        "mcp_disconnect",
        "mcp_get_prompt",
        "mcp_list_prompts",
        "mcp_list_resource_templates",
        "mcp_list_resources",
        "mcp_list_tools",
        "mcp_read_resource",
        "mcp_server_info",
    ]);
    registry.waiting(of_names![
        "mcp_registry_status",
        "mcp_release",
        "mcp_server_card"
    ]);
    registry.waiting(giving_client!["mcp_connect", "mcp_ensure_active"]);
}

/// What is predefined as `mcp`: the servers of the project, by name. None of them is started
/// because of it.
pub(crate) fn predefine(isolate: &mut Isolate, servers: &[ServerConfig]) {
    if !servers.is_empty() {
        let clients = servers.iter().map(|config| {
            let client = Client::Configured(config.name.clone());
            (&*config.name, value(&config.name, client))
        });
        isolate.set_servers(Value::dict(clients));
    }
}

fn ask(
    builtin: &str,
    context: &mut Context<'_>,
    arguments: &mut [Value],
    waiting: &mut Waiting,
) -> Result<Poll<Value>, Failure> {
    if !waiting.is_resumed()
        && let Some(first) = arguments.first_mut()
    {
        *first = number(first);
    }
    agents::ask(context, builtin, arguments, waiting)
}

/// How the runtime knows a client; nil for what is none.
fn number(value: &Value) -> Value {
    let client = match value {
        Value::Foreign(foreign) => foreign.content.downcast_ref(),
        _ => None,
    };
    match client {
        Some(Client::Number(number)) => Value::Int(*number),
        Some(Client::Configured(name)) => Value::dict([("configured", Value::from(name.as_str()))]),
        None => Value::Nil,
    }
}

/// The client that the runtime gives.
fn given(client: &Value) -> Value {
    let fields = std::slice::from_ref(client);
    let Value::Dict(fields) = argument(fields, 0) else {
        return Value::Nil;
    };
    let name = fields.get("name").map(|name| name.to_text().to_string());
    match fields.get("handle") {
        Some(Value::Int(number)) => value(&name.unwrap_or_default(), Client::Number(*number)),
        _ => Value::Nil,
    }
}

fn value(name: &str, client: Client) -> Value {
    let label = format!("<{TYPE}:{name}>");
    Value::Foreign(Rc::new(Foreign::new(TYPE, label, Box::new(client))))
}
