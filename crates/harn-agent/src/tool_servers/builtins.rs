//! The builtins `mcp_…`, as JSON.
//!
//! A client is a number here, or `{"configured": NAME}` for a server of the project; whatever
//! else a program passes is null by the time it arrives.

use std::sync::Arc;

use harn_llm::desk::Thrown;
use serde_json::{Map, Value, json};

use super::pool::unknown;
use super::{
    Endpoint, Listed, ServerCall, ServerConfig, ServerError, StdioEndpoint, ToolServer, calling,
};
use crate::builtins::Asked;
use crate::runtime::Runtime;

/// Answers, if it is one of these.
pub(crate) async fn answer(runtime: &Arc<Runtime>, asked: &Asked) -> Option<Result<Value, Thrown>> {
    if !asked.builtin.starts_with("mcp_") {
        return None;
    }
    runtime.start_servers();
    Some(answer_it(runtime, asked).await)
}

async fn answer_it(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    match &*asked.builtin {
        "mcp_connect" => connect(runtime, asked).await,
        "mcp_list_tools" => list_tools(runtime, asked).await,
        "mcp_call" => call(runtime, asked).await,
        "mcp_server_info" => info(runtime, asked).await,
        "mcp_disconnect" => disconnect(runtime, asked).await,
        "mcp_list_resources" => list(runtime, asked, Listed::Resources).await,
        "mcp_list_resource_templates" => list(runtime, asked, Listed::ResourceTemplates).await,
        "mcp_read_resource" => read_resource(runtime, asked).await,
        "mcp_list_prompts" => list(runtime, asked, Listed::Prompts).await,
        "mcp_get_prompt" => get_prompt(runtime, asked).await,
        "mcp_complete" => complete(runtime, asked).await,
        "mcp_ensure_active" => ensure_active(runtime, asked).await,
        "mcp_release" => release(runtime, asked),
        "mcp_registry_status" => Ok(Value::Array(runtime.servers.status())),
        "mcp_server_card" => server_card(runtime, asked).await,
        other => Err(Thrown::Runtime(format!("{other} is not known"))),
    }
}

/// What a program catches when a server fails.
fn thrown(function: &str, error: ServerError) -> Thrown {
    match error {
        ServerError::Disconnected => Thrown::Runtime(error.to_string()),
        error => Thrown::Categorised(error.category(), format!("{function}: {error}")),
    }
}

/// A client, for programs.
fn client(runtime: &Runtime, server: &Arc<dyn ToolServer>) -> Value {
    let handle = runtime.servers.handle(Arc::clone(server));
    json!({"handle": handle, "name": server.name()})
}

/// A text that must be there.
fn required(asked: &Asked, at: usize, what: &str) -> Result<String, Thrown> {
    let given = asked.text(at).filter(|text| !text.is_empty());
    let missing = || Thrown::Plain(format!("{}: {what} is required", asked.builtin));
    given.map(str::to_owned).ok_or_else(missing)
}

/// A dict, or nothing.
fn arguments(asked: &Asked, at: usize) -> Result<Map<String, Value>, Thrown> {
    match asked.argument(at) {
        Value::Null => Ok(Map::new()),
        Value::Object(fields) => Ok(fields.clone()),
        _ => {
            let text = format!("{}: arguments must be a dict", asked.builtin);
            Err(Thrown::Plain(text))
        }
    }
}

/// The server that the first argument names.
async fn named(
    runtime: &Arc<Runtime>,
    asked: &Asked,
    what: &str,
) -> Result<Arc<dyn ToolServer>, Thrown> {
    let client = asked.argument(0);
    if let Some(name) = client["configured"].as_str() {
        let found = runtime.server_for(name, asked.session_id.as_deref().unwrap_or_default());
        let found = found.await.unwrap_or_else(|| Err(unknown(name)));
        return found.map_err(|error| thrown(&asked.builtin, error));
    }
    let Some(number) = client.as_u64() else {
        let text = format!("{}: {what} must be an MCP client", asked.builtin);
        return Err(Thrown::Plain(text));
    };
    let disconnected = || Thrown::Runtime(ServerError::Disconnected.to_string());
    runtime.servers.of_handle(number).ok_or_else(disconnected)
}

/// A process that is started.
fn process(command: String, given: &Value) -> ServerConfig {
    let given = given.as_array().cloned().unwrap_or_default();
    let given = given.iter().map(harn_llm::options::value::display);
    let endpoint = StdioEndpoint {
        command: command.clone(),
        arguments: given.collect(),
        ..StdioEndpoint::default()
    };
    ServerConfig::new(command, Endpoint::Stdio(endpoint))
}

/// A service at a URL. What else can be said about it is what `harn.toml` can say.
fn service(url: &str, options: &Value) -> Result<ServerConfig, Thrown> {
    let wrong = |why: String| Thrown::Plain(format!("mcp_connect: {why}"));
    let mut described = match options {
        Value::Null => Map::new(),
        Value::Object(options) => options.clone(),
        _ => return Err(wrong("the options of a URL must be a dict".to_owned())),
    };
    let host = url.split("://").nth(1).unwrap_or_default();
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let is_kept = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    let name: String = host
        .chars()
        .map(|one| if is_kept(one) { one } else { '-' })
        .take(64)
        .collect();
    described.entry("name").or_insert(json!(name));
    described.insert("transport".to_owned(), json!("http"));
    described.insert("url".to_owned(), json!(url));
    ServerConfig::read(&Value::Object(described)).map_err(wrong)
}

async fn connect(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let place = required(asked, 0, "command")?;
    let is_url = place.starts_with("http://") || place.starts_with("https://");
    let config = match is_url {
        true => service(&place, asked.argument(1))?,
        false => process(place, asked.argument(1)),
    };
    let failed = |error| match error {
        ServerError::Unreachable(reason) => Thrown::Plain(format!("mcp_connect: {reason}")),
        error => thrown("mcp_connect", error),
    };
    let server = runtime.make_server(config, asked.session_id.as_deref());
    let server = server.map_err(failed)?;
    server.connect().await.map_err(failed)?;
    Ok(client(runtime, &server))
}

async fn list(runtime: &Arc<Runtime>, asked: &Asked, what: Listed) -> Result<Value, Thrown> {
    let server = named(runtime, asked, "argument").await?;
    let listed = server.list(what).await;
    let listed = listed.map_err(|error| thrown(&asked.builtin, error))?;
    Ok(json!(*listed))
}

async fn list_tools(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let server = named(runtime, asked, "argument").await?;
    let listed = server.list(Listed::Tools).await;
    let listed = listed.map_err(|error| thrown(&asked.builtin, error))?;
    let tools = listed.iter().map(|tool| {
        let mut tool = tool.clone();
        tool["_mcp_server"] = json!(server.name());
        tool
    });
    Ok(tools.collect())
}

async fn call(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let server = named(runtime, asked, "first argument").await?;
    let tool = required(asked, 1, "tool name")?;
    let mut call = ServerCall::new(&*tool, arguments(asked, 2)?);
    call.session_id.clone_from(&asked.session_id);
    let session = asked.session_id.as_deref().unwrap_or("program");
    call.traceparent = Some(calling::traceparent(session, &runtime.new_id()));
    let result = server.call(call).await;
    let result = result.map_err(|error| thrown("mcp_call", error))?;
    if result.is_error {
        return Err(Thrown::Plain(result.text()));
    }
    Ok(match &*result.content {
        [] => result.structured.unwrap_or_default(),
        [block] if block["type"] == "text" => block["text"].clone(),
        content => json!(content),
    })
}

async fn info(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let server = named(runtime, asked, "argument").await?;
    if asked.argument(0).is_object() {
        // A server of the project may not have been needed so far.
        let connected = server.connect().await;
        connected.map_err(|error| thrown("mcp_server_info", error))?;
    }
    match server.is_connected() {
        true => Ok(json!({"name": server.name(), "connected": true})),
        false => Err(thrown("mcp_server_info", ServerError::Disconnected)),
    }
}

async fn disconnect(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let server = match asked.argument(0).as_u64() {
        // Disconnecting twice is no mistake.
        Some(number) => runtime.servers.forget_handle(number),
        None => {
            let server = named(runtime, asked, "argument").await?;
            let handle = runtime.servers.handle(Arc::clone(&server));
            runtime.servers.forget_handle(handle)
        }
    };
    if let Some(server) = server {
        server.close().await;
    }
    Ok(Value::Null)
}

async fn read_resource(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let server = named(runtime, asked, "first argument").await?;
    let uri = required(asked, 1, "resource URI")?;
    let contents = server
        .read_resource(&uri, asked.session_id.as_deref())
        .await;
    let contents = contents.map_err(|error| thrown("mcp_read_resource", error))?;
    Ok(match &*contents {
        [] => Value::Null,
        [one] if one["text"].is_string() => one["text"].clone(),
        contents => json!(contents),
    })
}

async fn get_prompt(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let server = named(runtime, asked, "first argument").await?;
    let name = required(asked, 1, "prompt name")?;
    let arguments = arguments(asked, 2)?;
    let prompt = server.get_prompt(&name, arguments, asked.session_id.as_deref());
    prompt
        .await
        .map_err(|error| thrown("mcp_get_prompt", error))
}

async fn complete(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let server = named(runtime, asked, "first argument").await?;
    let argument = required(asked, 2, "argument name")?;
    let value = asked.text(3).unwrap_or_default();
    let completed = server.complete(asked.argument(1).clone(), &argument, value);
    completed
        .await
        .map_err(|error| thrown("mcp_complete", error))
}

async fn ensure_active(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let name = required(asked, 0, "server name")?;
    if runtime.servers.config(&name).is_none() {
        return Err(Thrown::Runtime(unknown(&name).to_string()));
    }
    let server = runtime.acquire_server(&name, asked.session_id.as_deref());
    let server = server
        .await
        .map_err(|error| thrown("mcp_ensure_active", error))?;
    Ok(client(runtime, &server))
}

fn release(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let name = required(asked, 0, "server name")?;
    runtime.release_server(&name, asked.session_id.as_deref());
    Ok(Value::Null)
}

async fn server_card(runtime: &Arc<Runtime>, asked: &Asked) -> Result<Value, Thrown> {
    let given = required(asked, 0, "server name")?;
    let is_source =
        given.contains(['/', '\\']) || given.contains("://") || given.ends_with(".json");
    let source = match is_source {
        true => given,
        false => card_of(runtime, &given)?,
    };
    let is_url = source.contains("://");
    let place = match is_url {
        true => source,
        false => runtime.folder.join(&source).to_string_lossy().into_owned(),
    };
    let checked = match is_url {
        true => runtime.fence.reach(&place),
        false => runtime.fence.read(place.as_ref()),
    };
    checked.map_err(crate::fence::refused)?;
    let port = runtime.servers.port();
    let port = port.map_err(|error| thrown("mcp_server_card", error))?;
    let card = port.card(&place).await;
    card.map_err(|error| thrown("mcp_server_card", error))
}

/// Where a configured server describes itself.
fn card_of(runtime: &Runtime, name: &str) -> Result<String, Thrown> {
    let Some(config) = runtime.servers.config(name) else {
        return Err(Thrown::Plain(format!(
            "mcp_server_card: no MCP server '{name}' registered (check harn.toml) — pass a URL or \
             path directly instead"
        )));
    };
    let missing = || {
        let text = format!("mcp_server_card: server '{name}' has no 'card' field in harn.toml");
        Thrown::Plain(text)
    };
    config.card.clone().ok_or_else(missing)
}
