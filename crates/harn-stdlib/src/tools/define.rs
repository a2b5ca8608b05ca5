//! `tool_define`: a tool as it is kept in a registry, and everything that can be wrong with it.

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Value, take, thrown};

use crate::expect::text;
use crate::registries::{TOOLS, given};

/// The runtime's own tools, which need no handler.
const OWN: [&str; 4] = ["read_file", "list_directory", "emit_plan", "update_plan"];

/// Who does what a tool is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Executor {
    Harn,
    HostBridge,
    McpServer,
    ProviderNative,
}

impl Executor {
    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "harn" | "harn_builtin" => Self::Harn,
            "host_bridge" => Self::HostBridge,
            "mcp_server" => Self::McpServer,
            "provider_native" => Self::ProviderNative,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Harn => "harn",
            Self::HostBridge => "host_bridge",
            Self::McpServer => "mcp_server",
            Self::ProviderNative => "provider_native",
        }
    }
}

/// `tool_define(registry, name, description, config)`
pub(super) fn tool_define(_: &mut Context<'_>, args: &mut [Value]) -> Result<Value, Failure> {
    if args.len() < 4 {
        return refuse("requires registry, name, description, and config dict");
    }
    let mut registry = TOOLS.first("tool_define", args)?;
    let (name, description) = (text(args, 1), text(args, 2));
    let Value::Dict(config) = take(args, 3) else {
        return refuse("config must be a dict with parameters and handler");
    };
    let entry = entry(&name, description, config)?;
    TOOLS.put_last(&mut registry, &name, entry);
    Ok(registry.into())
}

fn refuse<T>(reason: &str) -> Result<T, Failure> {
    thrown(format!("tool_define: {reason}"))
}

fn entry(name: &Text, description: Text, mut config: Dict) -> Result<Dict, Failure> {
    let executor = executor(name, &config)?;
    check_executor(name, executor, &config)?;
    check_loading(&config)?;
    if given(&config, "handler").is_none() {
        config.remove("handler");
    }
    if let Some(returns) = config.remove("returns").filter(|schema| !schema.is_nil()) {
        config.insert(Text::new("outputSchema"), returns);
    }
    if given(&config, "parameters").is_none() {
        config.insert(Text::new("parameters"), Dict::default().into());
    }
    config.insert(Text::new("name"), name.clone().into());
    config.insert(Text::new("description"), description.into());
    config.insert(Text::new("executor"), executor.name().into());
    Ok(config)
}

fn executor(name: &str, config: &Dict) -> Result<Executor, Failure> {
    if config.contains("params") {
        return refuse("use 'parameters', not 'params'");
    }
    let executor = match given(config, "executor") {
        None if given(config, "handler").is_some() => return Ok(Executor::Harn),
        None => return refuse(&without_handler(name)),
        Some(Value::Text(executor)) => executor,
        Some(_) => {
            return refuse(
                "`executor` must be a string \
                 (\"harn\", \"host_bridge\", \"mcp_server\", or \"provider_native\")",
            );
        }
    };
    match Executor::of_name(executor) {
        Some(executor) => Ok(executor),
        None => refuse(&format!(
            "unknown executor \"{executor}\" for tool \"{name}\". Expected one of: \
             \"harn\", \"host_bridge\", \"mcp_server\", \"provider_native\""
        )),
    }
}

fn without_handler(name: &str) -> String {
    format!(
        "tool \"{name}\" has no `handler` and no `executor`. \
         Either attach a `handler` fn (executor: \"harn\") or declare an alternate backend, \
         e.g. executor: \"host_bridge\" + host_capability: \"cap.op\", \
         executor: \"mcp_server\" + mcp_server: \"server-name\", executor: \"provider_native\". \
         Defining a handlerless tool would surface as `[builtin_call] unhandled: {name}` \
         at the first model call."
    )
}

/// What an executor needs and what it cannot use.
fn check_executor(name: &str, executor: Executor, config: &Dict) -> Result<(), Failure> {
    let has_handler = given(config, "handler").is_some();
    let has_capability = is_set(config, "host_capability");
    let has_server = is_set(config, "mcp_server");
    let reason = match executor {
        Executor::Harn if !has_handler && !OWN.contains(&name) => {
            "has no `handler`. Attach the handler fn or change the executor."
        }
        Executor::Harn if has_capability => {
            "also sets `host_capability`. Drop one — the harn executor runs the handler in-VM \
             and never reaches the host bridge."
        }
        Executor::Harn if has_server => {
            "also sets `mcp_server`. Drop one — MCP-served tools must declare \
             executor: \"mcp_server\"."
        }
        Executor::HostBridge if has_handler => {
            "also has a `handler`. Drop the handler — host-bridge tools are dispatched by \
             the host shell, not the VM."
        }
        Executor::HostBridge if !has_capability => {
            "is missing `host_capability`. Set it to the canonical bridge identifier \
             (e.g. \"interaction.ask\") so `harn check` can validate the binding against \
             the host capability manifest."
        }
        Executor::McpServer if has_handler => {
            "also has a `handler`. Drop the handler — MCP-served tools route through \
             the MCP transport."
        }
        Executor::McpServer if !has_server => {
            "is missing `mcp_server` (the configured server name)."
        }
        Executor::ProviderNative if has_handler => {
            "also has a `handler`. Provider-side tools are executed by the model server; \
             the runtime never dispatches them locally."
        }
        _ => return Ok(()),
    };
    let executor = executor.name();
    refuse(&format!(
        "tool \"{name}\" declares executor: \"{executor}\" but {reason}"
    ))
}

/// Whether a key says something: neither nil nor empty.
fn is_set(config: &Dict, key: &str) -> bool {
    match config.get(key) {
        None | Some(Value::Nil) => false,
        Some(Value::Text(text)) => !text.is_empty(),
        Some(_) => true,
    }
}

fn check_loading(config: &Dict) -> Result<(), Failure> {
    match given(config, "defer_loading") {
        None | Some(Value::Bool(_)) => {}
        Some(_) => {
            return refuse(
                "`defer_loading` must be a bool (true → hold schema back until \
                 a tool_search call surfaces it; false or absent → ship eagerly)",
            );
        }
    }
    match given(config, "namespace") {
        None => Ok(()),
        Some(Value::Text(namespace)) if !namespace.is_empty() => Ok(()),
        Some(_) => refuse(
            "`namespace` must be a non-empty string (groups deferred tools for OpenAI \
             tool_search; Anthropic ignores it)",
        ),
    }
}

#[cfg(test)]
mod tests;
