//! Where servers are made, and where their processes are waited for.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use harn_agent::BoxFuture;
use harn_agent::tool_servers::{ServerClient, ServerConfig, ServerError, ToolServer, ToolServers};
use serde_json::Value;

use crate::http::Web;
use crate::server::Server;
use crate::stdio::{Guardians, Patience};

/// Variables that say nothing about anybody. Processes find them, because most do not work
/// without; everything else is given by whoever describes the server.
const HARMLESS_VARIABLES: [&str; 8] = [
    "PATH", "HOME", "LANG", "LOGNAME", "TERM", "TMPDIR", "USER", "SHELL",
];

/// Called before a process is started.
pub type BeforeStart = Arc<dyn Fn() + Send + Sync>;

/// Where servers run.
#[derive(Clone, Default)]
pub struct Surroundings {
    /// The variables of our environment. Servers find the harmless ones.
    pub environment: BTreeMap<String, String>,
    /// Where processes work that nobody gave a folder; empty: where we do.
    pub folder: PathBuf,
    /// Told before a process is started, if anybody wants to know. Servers lead groups of their
    /// own, which do not hear Ctrl-C: whoever is told listens for it.
    pub before_start: Option<BeforeStart>,
    /// How long processes have to end.
    pub patience: Patience,
    /// What connections over HTTP share.
    pub web: Web,
}

impl Surroundings {
    /// What a process finds of our environment.
    pub(crate) fn harmless(&self) -> impl Iterator<Item = (&String, &String)> {
        let all = self.environment.iter();
        all.filter(|(name, _)| HARMLESS_VARIABLES.contains(&&***name))
    }
}

/// Makes connections to servers of the Model Context Protocol.
#[derive(Clone, Default)]
pub struct Servers {
    surroundings: Arc<Surroundings>,
    guardians: Guardians,
}

impl Servers {
    /// Connections from there.
    pub fn new(surroundings: Surroundings) -> Self {
        Self {
            surroundings: Arc::new(surroundings),
            guardians: Guardians::default(),
        }
    }

    /// Ends every process that is left and waits until all have ended. Dropping the last of
    /// these does the same.
    pub fn finish(&self) {
        self.guardians.join();
    }
}

impl ToolServers for Servers {
    fn server(&self, config: ServerConfig, client: Arc<dyn ServerClient>) -> Arc<dyn ToolServer> {
        let surroundings = Arc::clone(&self.surroundings);
        Arc::new(Server::new(
            config,
            client,
            surroundings,
            self.guardians.clone(),
        ))
    }

    fn card<'a>(&'a self, source: &'a str) -> BoxFuture<'a, Result<Value, ServerError>> {
        let Surroundings { folder, web, .. } = &*self.surroundings;
        Box::pin(crate::http::card(source, folder, web))
    }
}
