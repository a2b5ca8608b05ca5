//! The MCP servers that a client lends to a session.
//!
//! They join those of the program under their names, for as long as the session is open. What
//! they are given, variables and headers, is secret.

use std::path::Path;

use harn_vm::agent::tool_servers::{Endpoint, HttpEndpoint, ServerConfig, StdioEndpoint};
use harn_vm::llm::Secret;
use serde_json::{Value, json};

use crate::error::Refusal;

/// Reads `mcpServers`.
///
/// # Errors
/// One is not understood, two have one name, or the program has one of that name.
pub(crate) fn read(given: &Value, own: &[ServerConfig]) -> Result<Vec<ServerConfig>, Refusal> {
    let given = match given {
        Value::Null => &[][..],
        Value::Array(servers) => servers,
        _ => return Err(Refusal::bad_parameters("`mcpServers` has to be a list")),
    };
    let mut servers: Vec<ServerConfig> = Vec::new();
    for (index, server) in given.iter().enumerate() {
        let server = one(server).map_err(|why| {
            let why = format!("entry {index} of `mcpServers` {why}");
            Refusal::bad_parameters(why).with(json!({"server": index}))
        })?;
        let mut known = own.iter().chain(&servers);
        if known.any(|known| known.name == server.name) {
            let why = format!("there is an MCP server `{}` already", server.name);
            return Err(Refusal::bad_parameters(why).with(json!({"server": server.name})));
        }
        servers.push(server);
    }
    Ok(servers)
}

fn one(given: &Value) -> Result<ServerConfig, &'static str> {
    let text = |key: &str| given[key].as_str().map(str::to_owned);
    let name = text("name").filter(|name| !name.is_empty());
    let name = name.ok_or("has no `name`")?;
    let endpoint = match given["type"].as_str() {
        None | Some("stdio") => {
            let command = text("command").ok_or("has no `command`")?;
            if !Path::new(&command).is_absolute() {
                return Err("has a `command` that is no absolute path");
            }
            Endpoint::Stdio(StdioEndpoint {
                command,
                arguments: texts(&given["args"]).ok_or("has `args` that are no texts")?,
                environment: pairs(&given["env"])
                    .ok_or("has an `env` that is no list of names and values")?
                    .into_iter()
                    .collect(),
                folder: None,
            })
        }
        Some("http") => {
            let url = text("url").ok_or("has no `url`")?;
            if !url.starts_with("http://") && !url.starts_with("https://") {
                return Err("has a `url` that is none of HTTP");
            }
            Endpoint::Http(HttpEndpoint {
                url,
                headers: pairs(&given["headers"])
                    .ok_or("has `headers` that are no list of names and values")?,
                ..HttpEndpoint::default()
            })
        }
        Some("sse") => return Err("is of the type `sse`, which is obsolete"),
        Some(_) => return Err("is of a type that is not known"),
    };
    let mut server = ServerConfig::new(name, endpoint);
    server.is_for_every_loop = true;
    Ok(server)
}

fn texts(given: &Value) -> Option<Vec<String>> {
    match given {
        Value::Null => Some(Vec::new()),
        Value::Array(texts) => texts
            .iter()
            .map(|text| Some(text.as_str()?.to_owned()))
            .collect(),
        _ => None,
    }
}

fn pairs(given: &Value) -> Option<Vec<(String, Secret)>> {
    let given = match given {
        Value::Null => return Some(Vec::new()),
        Value::Array(given) => given,
        _ => return None,
    };
    let pairs = given.iter().map(|pair| {
        let (name, value) = (pair["name"].as_str()?, pair["value"].as_str()?);
        Some((name.to_owned(), Secret::new(value)))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(given: Value, expected: &str) {
        let own = [ServerConfig::new(
            "own",
            Endpoint::Http(HttpEndpoint::default()),
        )];
        let refusal = read(&given, &own).unwrap_err();
        assert_eq!((refusal.code, &*refusal.message), (-32602, expected));
    }

    #[test]
    fn servers_of_both_kinds_are_read() {
        let servers = read(
            &json!([
                {"name": "a", "command": "/bin/a", "args": ["-x"],
                 "env": [{"name": "TOKEN", "value": "s3cret"}]},
                {"type": "http", "name": "b", "url": "https://b.example/mcp",
                 "headers": [{"name": "Authorization", "value": "Bearer s3cret"}]},
            ]),
            &[],
        );
        let servers = servers.unwrap();
        assert_eq!(servers.len(), 2);
        assert!(servers.iter().all(|one| one.is_for_every_loop));
        assert!(
            !format!("{servers:?}").contains("s3cret"),
            "they are secrets"
        );
        assert!(read(&Value::Null, &[]).unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_with_a_server_is_named() {
        check_refused(json!({}), "`mcpServers` has to be a list");
        check_refused(json!([{}]), "entry 0 of `mcpServers` has no `name`");
        let relative = json!([{"name": "a", "command": "a"}]);
        let why = "entry 0 of `mcpServers` has a `command` that is no absolute path";
        check_refused(relative, why);
        let sse = json!([{"type": "sse", "name": "a", "url": "http://a"}]);
        let why = "entry 0 of `mcpServers` is of the type `sse`, which is obsolete";
        check_refused(sse, why);
        let env = json!([{"name": "a", "command": "/a", "env": {"A": "s3cret"}}]);
        let why = "entry 0 of `mcpServers` has an `env` that is no list of names and values";
        check_refused(env, why);
    }

    #[test]
    fn a_name_is_given_once() {
        let own = json!([{"name": "own", "command": "/a"}]);
        check_refused(own, "there is an MCP server `own` already");
        let twice = json!([{"name": "a", "command": "/a"}, {"name": "a", "command": "/b"}]);
        check_refused(twice, "there is an MCP server `a` already");
    }
}
