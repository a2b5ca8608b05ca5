//! The server that a command is about.

use std::sync::Arc;

use harn_mcp::{Servers, Surroundings};
use harn_vm::agent::BoxFuture;
use harn_vm::agent::tool_servers::{
    Capabilities, ServerClient, ServerConfig, ServerNotice, ServerRequest, ToolServer, ToolServers,
};
use harn_vm::llm::catalog::ProjectTrust;
use serde_json::{Value, json};

use super::super::project::manifest_here;
use super::super::tool_servers::configured;
use super::super::trust;
use super::Failed;
use super::web::{Logins, web};
use crate::environment;

/// A server, and how it is reached.
pub(super) struct Target {
    pub(super) config: ServerConfig,
    pub(super) surroundings: Surroundings,
    pub(super) servers: Servers,
}

impl Target {
    /// The server of `harn.toml` with this name, or that at this URL.
    ///
    /// # Errors
    /// There is none, or the project that names it is not trusted.
    pub(super) fn find(name: &str, logins: Logins) -> Result<Self, Failed> {
        if !is_url(name) && trust::of_project_here() == ProjectTrust::Untrusted {
            return Err(Failed(format!(
                "this project is not trusted yet, so its server `{name}` is not used; \
                 'harn trust' shows it"
            )));
        }
        Self::of(find(name)?, logins)
    }

    /// All servers of `harn.toml`.
    pub(super) fn all(logins: Logins) -> Result<Vec<Self>, Failed> {
        let configs = configured(manifest_here().as_deref())?.into_iter();
        configs.map(|config| Self::of(config, logins)).collect()
    }

    fn of(config: ServerConfig, logins: Logins) -> Result<Self, Failed> {
        let environment = environment::all();
        let surroundings = Surroundings {
            web: web(&environment, logins)?,
            environment,
            ..Surroundings::default()
        };
        Ok(Self {
            config,
            servers: Servers::new(surroundings.clone()),
            surroundings,
        })
    }

    /// A connection to be.
    pub(super) fn server(&self) -> Arc<dyn ToolServer> {
        self.servers.server(self.config.clone(), Arc::new(Nobody))
    }
}

fn find(name: &str) -> Result<ServerConfig, Failed> {
    if is_url(name) {
        let described = json!({"name": "server", "transport": "http", "url": name});
        return Ok(ServerConfig::read(&described)?);
    }
    let mut all = configured(manifest_here().as_deref())?;
    let Some(at) = all.iter().position(|config| config.name == name) else {
        let names: Vec<String> = all.into_iter().map(|config| config.name).collect();
        return Err(Failed(match names.is_empty() {
            true => format!("no server is called `{name}`: harn.toml has no table [[mcp]]"),
            false => format!(
                "no server is called `{name}`; there are {}",
                names.join(", ")
            ),
        }));
    };
    Ok(all.swap_remove(at))
}

fn is_url(name: &str) -> bool {
    name.contains("://")
}

/// Somebody who has nothing to say to servers.
struct Nobody;

impl ServerClient for Nobody {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn notice(&self, _: ServerNotice) {}

    fn catalogue_changed(&self, _: Option<&str>) {}

    fn auth_required(&self, _: &str, _: Option<&str>, _: Option<&str>) {}

    fn answer<'a>(
        &'a self,
        _: ServerRequest,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async { Err("nobody is there to answer".to_owned()) })
    }

    fn warn(&self, _: &str) {}
}
