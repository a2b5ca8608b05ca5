//! The servers of tools that a project names in its `harn.toml`.

use std::path::Path;
use std::sync::Arc;

use harn_mcp::{BeforeStart, Servers, Surroundings};
use harn_vm::AgentOptions;
use harn_vm::agent::tool_servers::{Endpoint, ServerConfig};
use harn_vm::llm::catalog::ProjectTrust;

use super::mcp::{self, Logins};
use super::pins::FilePins;
use super::project::base_of;
use super::safety_file;
use crate::environment;

/// Lets programs use servers: those of their project by name, if it is trusted, others by
/// command. Lets skills use the variables that the operator has lent them.
///
/// # Errors
/// What is wrong with a table `[[mcp]]` of `harn.toml`, with a variable about servers, or with
/// the operator's `safety.toml`.
pub(super) fn add_to(
    agents: &mut AgentOptions,
    manifest: Option<&Path>,
    trust: ProjectTrust,
    before_start: Option<BeforeStart>,
    logins: Logins,
) -> Result<(), String> {
    agents.servers = configured(manifest.filter(|_| trust == ProjectTrust::Trusted))?;
    agents.tool_pins = FilePins::of_project(&base_of(manifest)).map(|pins| Arc::new(pins) as _);
    let environment = environment::all();
    agents.skill_variables = safety_file::skill_variables(&environment)?;
    agents.tool_servers = Some(Arc::new(Servers::new(Surroundings {
        web: mcp::web(&environment, logins)?,
        environment,
        before_start,
        ..Surroundings::default()
    })));
    Ok(())
}

/// The tables `[[mcp]]`. Processes work in the folder of the project.
///
/// # Errors
/// One of them is not understood, or two have the same name.
pub(super) fn configured(manifest: Option<&Path>) -> Result<Vec<ServerConfig>, String> {
    let Some(path) = manifest else {
        return Ok(Vec::new());
    };
    let named = |why: String| format!("{}: {why}", path.display());
    let text =
        harn_vm::agent::real_path::read_text(path).map_err(|error| named(error.to_string()))?;
    // What is wrong with the file as a whole is told by whoever reads all of it.
    let tables = text.parse::<toml::Table>().unwrap_or_default();
    let folder = Some(base_of(manifest)).filter(|folder| !folder.as_os_str().is_empty());
    let mut servers: Vec<ServerConfig> = Vec::new();
    let tables = match tables.get("mcp") {
        None => return Ok(servers),
        Some(toml::Value::Array(tables)) => tables,
        Some(_) => return Err(named("servers are written as [[mcp]]".to_owned())),
    };
    for table in tables {
        let table = serde_json::to_value(table).map_err(|error| named(error.to_string()))?;
        let mut server = ServerConfig::read(&table).map_err(named)?;
        if servers.iter().any(|known| known.name == server.name) {
            return Err(named(format!(
                "two MCP servers are called '{}'",
                server.name
            )));
        }
        if let Endpoint::Stdio(stdio) = &mut server.endpoint {
            stdio.folder.clone_from(&folder);
        }
        servers.push(server);
    }
    Ok(servers)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[track_caller]
    fn read(text: &str) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("harn.toml");
        fs::write(&manifest, text).unwrap();
        let servers = configured(Some(&manifest));
        let shown = |why: String| why.rsplit_once("harn.toml: ").unwrap().1.to_owned();
        let servers = servers.map_err(shown)?;
        Ok(servers.into_iter().map(|server| server.name).collect())
    }

    #[test]
    fn every_table_is_a_server() {
        let two = "[[mcp]]\nname = \"a\"\ncommand = \"x\"\nargs = [\"1\"]\nenv = { K = \"v\" }\n\
                   [[mcp]]\nname = \"b\"\ntransport = \"http\"\nurl = \"https://b.test\"\n";
        assert_eq!(read(two).unwrap(), ["a", "b"]);
        assert_eq!(read("[check]\n").unwrap(), Vec::<String>::new());
        assert_eq!(configured(None).unwrap(), []);
    }

    #[test]
    fn mistakes_are_told() {
        let twice = "[[mcp]]\nname = \"a\"\ncommand = \"x\"\n".repeat(2);
        assert_eq!(read(&twice).unwrap_err(), "two MCP servers are called 'a'");
        let single = "[mcp]\nname = \"a\"\n";
        assert_eq!(read(single).unwrap_err(), "servers are written as [[mcp]]");
        let unknown = "[[mcp]]\nname = \"a\"\ncommand = \"x\"\nlayz = true\n";
        let expected = "MCP server 'a': 'layz' is not something a server has";
        assert_eq!(read(unknown).unwrap_err(), expected);
    }
}
