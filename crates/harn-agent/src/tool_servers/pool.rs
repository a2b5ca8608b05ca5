//! The servers of a program: who uses which, and for how long.
//!
//! There is one connection for each server and session. What a program uses outside of its
//! loops belongs to no session and has a connection of its own. Configured servers are counted:
//! a lazy one starts when it is needed first, and one that nobody needs any more stops after a
//! while.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use harn_events::KnownSecret;
use serde_json::{Value, json};

use super::client::SessionClient;
use super::{Endpoint, ServerConfig, ServerError, ToolServer, ToolServers};
use crate::runtime::Runtime;

/// The servers of a program.
#[derive(Default)]
pub(crate) struct Pool {
    port: Option<Arc<dyn ToolServers>>,
    configured: Vec<ServerConfig>,
    held: Mutex<BTreeMap<Key, Held>>,
    /// What programs have handles of, by number.
    handles: Mutex<BTreeMap<u64, Arc<dyn ToolServer>>>,
    next_handle: AtomicU64,
    /// Whether the servers that are not lazy were started.
    has_started: AtomicBool,
}

/// A session, or the empty name for what is used outside of all; and a server.
type Key = (String, String);

/// A server that somebody uses.
struct Held {
    server: Arc<dyn ToolServer>,
    /// How many need it.
    references: usize,
    /// Goes up whenever somebody needs it, so that an end that was planned before is off.
    uses: u64,
    keep_alive: Duration,
}

fn key(session_id: Option<&str>, name: &str) -> Key {
    (session_id.unwrap_or_default().to_owned(), name.to_owned())
}

impl Pool {
    pub(crate) fn new(port: Option<Arc<dyn ToolServers>>, configured: Vec<ServerConfig>) -> Self {
        Self {
            port,
            configured,
            ..Self::default()
        }
    }

    /// The servers of the project.
    pub(crate) fn configured(&self) -> &[ServerConfig] {
        &self.configured
    }

    /// A server of the project.
    pub(crate) fn config(&self, name: &str) -> Option<&ServerConfig> {
        self.configured.iter().find(|config| config.name == name)
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<Key, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handles(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<dyn ToolServer>>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What makes connections.
    pub(crate) fn port(&self) -> Result<&Arc<dyn ToolServers>, ServerError> {
        self.port.as_ref().ok_or_else(|| {
            ServerError::Unreachable("there is no MCP client in this environment".to_owned())
        })
    }

    /// Gives a program something to name a server by.
    pub(crate) fn handle(&self, server: Arc<dyn ToolServer>) -> u64 {
        let mut handles = self.handles();
        let known = handles
            .iter()
            .find(|(_, known)| Arc::ptr_eq(known, &server));
        if let Some((number, _)) = known {
            return *number;
        }
        let number = self.next_handle.fetch_add(1, Ordering::Relaxed) + 1;
        handles.insert(number, server);
        number
    }

    /// The server that a program names.
    pub(crate) fn of_handle(&self, number: u64) -> Option<Arc<dyn ToolServer>> {
        self.handles().get(&number).cloned()
    }

    /// A program does not need a server any more that it named.
    pub(crate) fn forget_handle(&self, number: u64) -> Option<Arc<dyn ToolServer>> {
        let server = self.handles().remove(&number)?;
        let mut held = self.held();
        held.retain(|_, held| !Arc::ptr_eq(&held.server, &server));
        Some(server)
    }

    /// A server that a program is connected to, by its name. The last counts.
    fn connected(&self, name: &str) -> Option<Arc<dyn ToolServer>> {
        let handles = self.handles();
        let mut servers = handles.values().rev();
        let is_it = |server: &&Arc<dyn ToolServer>| server.name() == name && server.is_connected();
        servers.find(is_it).cloned()
    }

    /// Every configured server: `{name, lazy, active, ref_count, card?}`.
    pub(crate) fn status(&self) -> Vec<Value> {
        let held = self.held();
        let status = self.configured.iter().map(|config| {
            let of_name = held.iter().filter(|((_, name), _)| *name == config.name);
            let of_name: Vec<&Held> = of_name.map(|(_, held)| held).collect();
            let references: usize = of_name.iter().map(|held| held.references).sum();
            let mut status = json!({
                "name": config.name,
                "lazy": config.is_lazy,
                "active": of_name.iter().any(|held| held.server.is_connected()),
                "ref_count": references,
            });
            if let Some(card) = &config.card {
                status["card"] = json!(card);
            }
            status
        });
        status.collect()
    }

    /// Takes a configured server away from its users after their session has ended.
    fn take(&self, key: &Key) -> Option<Held> {
        self.held().remove(key)
    }
}

impl Runtime {
    /// A server that nobody shares. It is not connected yet.
    pub(crate) fn make_server(
        self: &Arc<Self>,
        config: ServerConfig,
        session_id: Option<&str>,
    ) -> Result<Arc<dyn ToolServer>, ServerError> {
        self.check_server(&config)?;
        self.hide_secrets(&config);
        let client = SessionClient::new(self, &config, session_id);
        Ok(self.servers.port()?.server(config, client))
    }

    /// Whether whoever runs the program lets it use that server.
    fn check_server(&self, config: &ServerConfig) -> Result<(), ServerError> {
        let checked = match &config.endpoint {
            Endpoint::Stdio(stdio) => self.fence.run(&stdio.command),
            Endpoint::Http(http) => self.fence.reach(&http.url),
        };
        checked.map_err(ServerError::Forbidden)
    }

    /// From now on no event shows what the server is told in confidence.
    fn hide_secrets(&self, config: &ServerConfig) {
        let policy = self.bus.redaction_policy();
        for secret in config.secrets() {
            let name = format!("secret of server {}", config.name);
            policy.learn(KnownSecret::declared(name, secret.expose()));
        }
    }

    /// Needs a configured server from now on, and connects to it.
    pub(crate) async fn acquire_server(
        self: &Arc<Self>,
        name: &str,
        session_id: Option<&str>,
    ) -> Result<Arc<dyn ToolServer>, ServerError> {
        let server = self.count_server(name, session_id)?;
        match server.connect().await {
            Ok(_) => Ok(server),
            Err(error) => {
                self.release_server(name, session_id);
                Err(error)
            }
        }
    }

    /// Counts one more who needs a server.
    fn count_server(
        self: &Arc<Self>,
        name: &str,
        session_id: Option<&str>,
    ) -> Result<Arc<dyn ToolServer>, ServerError> {
        let key = key(session_id, name);
        if let Some(held) = self.servers.held().get_mut(&key) {
            held.references += 1;
            held.uses += 1;
            return Ok(Arc::clone(&held.server));
        }
        let config = self.servers.config(name).ok_or_else(|| unknown(name))?;
        let keep_alive = Duration::from_millis(config.keep_alive_ms);
        let server = self.make_server(config.clone(), session_id)?;
        let mut held = self.servers.held();
        let held = held.entry(key).or_insert_with(|| Held {
            server,
            references: 0,
            uses: 0,
            keep_alive,
        });
        held.references += 1;
        held.uses += 1;
        Ok(Arc::clone(&held.server))
    }

    /// Does not need a configured server any more. When nobody does, it ends after a while.
    pub(crate) fn release_server(self: &Arc<Self>, name: &str, session_id: Option<&str>) {
        let key = key(session_id, name);
        let (uses, keep_alive) = {
            let mut held = self.servers.held();
            let Some(held) = held.get_mut(&key) else {
                return;
            };
            held.references = held.references.saturating_sub(1);
            if held.references > 0 {
                return;
            }
            (held.uses, held.keep_alive)
        };
        let runtime = Arc::downgrade(self);
        let end_later = async move {
            tokio::time::sleep(keep_alive).await;
            let Some(runtime) = runtime.upgrade() else {
                return;
            };
            let is_unused = |held: &Held| held.references == 0 && held.uses == uses;
            let is_over = runtime.servers.held().get(&key).is_some_and(is_unused);
            if is_over && let Some(held) = runtime.servers.take(&key) {
                held.server.close().await;
            }
        };
        // Where nothing runs in the background, it ends with the program.
        let _it_ends_with_the_program = self.spawn(Box::pin(end_later));
    }

    /// The server that a tool of a session is called at: one of the session, one of the
    /// program, one it is connected to, or a configured one.
    pub(crate) async fn server_for(
        self: &Arc<Self>,
        name: &str,
        session_id: &str,
    ) -> Option<Result<Arc<dyn ToolServer>, ServerError>> {
        for scope in [Some(session_id), None] {
            if let Some(held) = self.servers.held().get(&key(scope, name)) {
                return Some(Ok(Arc::clone(&held.server)));
            }
        }
        if let Some(connected) = self.servers.connected(name) {
            return Some(Ok(connected));
        }
        self.servers.config(name)?;
        self.servers.port.as_ref()?;
        let acquired = self.acquire_server(name, Some(session_id)).await;
        if acquired.is_ok() {
            // It stays for the next call, but nobody insists on it.
            self.release_server(name, Some(session_id));
        }
        Some(acquired)
    }

    /// Puts a server at the disposal of a session, under its name.
    pub(crate) fn bind_server(&self, session_id: &str, server: &Arc<dyn ToolServer>) {
        let held = Held {
            server: Arc::clone(server),
            references: 1,
            uses: 1,
            keep_alive: Duration::ZERO,
        };
        let key = key(Some(session_id), server.name());
        self.servers.held().insert(key, held);
    }

    /// Takes a server away from a session that it was bound to.
    pub(crate) fn unbind_server(&self, session_id: &str, server: &Arc<dyn ToolServer>) {
        let key = key(Some(session_id), server.name());
        let mut held = self.servers.held();
        if held
            .get(&key)
            .is_some_and(|held| Arc::ptr_eq(&held.server, server))
        {
            held.remove(&key);
        }
    }

    /// Starts the configured servers that are not lazy, all at once. What cannot be started is
    /// told and leaves the others alone.
    pub(crate) fn start_servers(self: &Arc<Self>) {
        let pool = &self.servers;
        if pool.port.is_none() || pool.has_started.swap(true, Ordering::AcqRel) {
            return;
        }
        for config in pool.configured.iter().filter(|config| !config.is_lazy) {
            let (runtime, name) = (Arc::downgrade(self), config.name.clone());
            let server = match self.count_server(&name, None) {
                Ok(server) => server,
                Err(error) => {
                    self.warn("mcp", &error.to_string());
                    continue;
                }
            };
            let start = async move {
                if let Err(error) = server.connect().await
                    && let Some(runtime) = runtime.upgrade()
                {
                    runtime.warn("mcp", &format!("mcp server '{name}' is not there: {error}"));
                }
            };
            let _it_starts_when_it_is_used = self.spawn(Box::pin(start));
        }
    }
}

/// There is no such server.
pub(crate) fn unknown(name: &str) -> ServerError {
    ServerError::Unreachable(format!(
        "mcp: no server named '{name}' is registered (check harn.toml)"
    ))
}
