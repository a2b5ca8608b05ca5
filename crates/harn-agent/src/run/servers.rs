//! The servers of a loop, and the tools that come and go with them.
//!
//! Servers are connected when the loop begins, all at once; one that does not come up is told
//! and leaves the others alone. The tools that models know change between two model calls and
//! never during one.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harn_events::AgentEvent;
use harn_llm::Category;
use harn_llm::desk::{Question, Thrown};
use harn_log::join;
use serde_json::{Map, Value, json};

use super::dispatch::load_skill;
use super::search::Searched;
use super::start::settle_channel;
use super::{Run, contract, tool_changes};
use crate::registry::ToolRegistry;
use crate::runtime::Runtime;
use crate::tool_servers::{
    Listed, ServerConfig, ServerError, ToolServer, Withheld, offer, skeleton,
};

/// The servers of a loop.
pub(super) struct RunServers {
    runtime: Arc<Runtime>,
    session_id: String,
    wanted: Vec<Wanted>,
    bound: Mutex<Vec<Bound>>,
    /// The tools of the program itself.
    own: ToolRegistry,
    /// For which versions of which servers the tools were listed last.
    seen: Vec<(String, u64)>,
    /// The tools that are withheld, by the names that models know.
    withheld: BTreeSet<String>,
    /// The changes that a person was asked about: each is asked about once in a loop.
    settled: Vec<(String, Vec<Withheld>)>,
}

/// A server that a loop asks for.
enum Wanted {
    /// One that is described in its options.
    Described(Box<ServerConfig>),
    /// One of the project or of the host.
    Named(String),
}

impl Wanted {
    fn name(&self) -> &str {
        match self {
            Self::Described(config) => &config.name,
            Self::Named(name) => name,
        }
    }
}

/// A server that a loop has.
struct Bound {
    server: Arc<dyn ToolServer>,
    hold: Hold,
}

/// Who needs it.
enum Hold {
    /// The loop, which has started it.
    Loop,
    /// The loop, among others.
    Shared,
    /// A skill, among others.
    Skill(String),
}

impl RunServers {
    pub(super) fn new(
        runtime: &Arc<Runtime>,
        session_id: &str,
        options: &Map<String, Value>,
        own: ToolRegistry,
    ) -> Result<Self, Thrown> {
        let mut wanted = read(options.get("mcp_servers"))?;
        let for_all = runtime.servers.configured().iter();
        for config in for_all.filter(|config| config.is_for_every_loop) {
            if !wanted.iter().any(|known| known.name() == config.name) {
                wanted.push(Wanted::Named(config.name.clone()));
            }
        }
        Ok(Self {
            runtime: Arc::clone(runtime),
            session_id: session_id.to_owned(),
            wanted,
            bound: Mutex::default(),
            own,
            seen: Vec::new(),
            withheld: BTreeSet::new(),
            settled: Vec::new(),
        })
    }

    /// Whether the loop asks for any.
    pub(super) fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Whether a tool is not offered because it is not the approved one any more.
    pub(super) fn withholds(&self, name: &str) -> bool {
        self.withheld.contains(name)
    }

    fn bound(&self) -> MutexGuard<'_, Vec<Bound>> {
        self.bound.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of servers: gives those that only the loop had, for whoever can wait until they
    /// have ended.
    fn let_go(&self, of: impl Fn(&Hold) -> bool) -> Vec<Arc<dyn ToolServer>> {
        let mut bound = self.bound();
        let (gone, kept) = std::mem::take(&mut *bound)
            .into_iter()
            .partition(|bound| of(&bound.hold));
        *bound = kept;
        drop(bound);
        let gone: Vec<Bound> = gone;
        let mut own = Vec::new();
        for Bound { server, hold } in gone {
            match hold {
                Hold::Loop => {
                    self.runtime.unbind_server(&self.session_id, &server);
                    own.push(server);
                }
                Hold::Shared | Hold::Skill(_) => {
                    let name = server.name();
                    self.runtime.release_server(name, Some(&self.session_id));
                }
            }
        }
        own
    }

    /// The loop is over: its servers end before it does.
    pub(super) async fn close(&self) {
        let own = self.let_go(|_| true);
        let closing = own.iter().map(|server| server.close()).collect();
        join(closing).await;
    }
}

/// A loop that is dropped lets go of its servers as well.
impl Drop for RunServers {
    fn drop(&mut self) {
        for server in self.let_go(|_| true) {
            let closing = async move { server.close().await };
            let _it_ends_with_the_program = self.runtime.spawn(Box::pin(closing));
        }
    }
}

/// Reads the option `mcp_servers`.
fn read(option: Option<&Value>) -> Result<Vec<Wanted>, Thrown> {
    let wrong = |problem: String| Thrown::Plain(format!("agent_loop: mcp_servers: {problem}"));
    let entries = match option {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(entries)) => entries,
        Some(_) => return Err(wrong("expected a list of servers".to_owned())),
    };
    let mut wanted: Vec<Wanted> = Vec::new();
    for entry in entries {
        let one = match entry {
            Value::String(name) => Wanted::Named(name.clone()),
            entry => Wanted::Described(Box::new(ServerConfig::read(entry).map_err(wrong)?)),
        };
        if wanted.iter().any(|known| known.name() == one.name()) {
            return Err(wrong(format!("two servers are called '{}'", one.name())));
        }
        wanted.push(one);
    }
    Ok(wanted)
}

/// Connects to the servers that the loop asks for.
pub(super) async fn connect(run: &Run<'_>) -> Result<(), Thrown> {
    run.runtime.start_servers();
    if run.servers.is_empty() {
        return Ok(());
    }
    let allowed = run.ambient.check_builtin("mcp_connect", None);
    allowed.map_err(|text| Thrown::Categorised(Category::ToolRejected, text))?;
    let wanted = run.servers.wanted.iter();
    let connecting = wanted
        .map(|wanted| Box::pin(bind(run, wanted)) as _)
        .collect();
    let bound = join(connecting).await;
    for (wanted, bound) in run.servers.wanted.iter().zip(bound) {
        match bound {
            Ok(bound) => run.servers.bound().push(bound),
            Err(error) => tell_failure(run, wanted.name(), &error).await,
        }
    }
    Ok(())
}

async fn bind(run: &Run<'_>, wanted: &Wanted) -> Result<Bound, ServerError> {
    let (runtime, session_id) = (run.runtime, run.session.id());
    match wanted {
        Wanted::Described(config) => {
            let server = runtime.make_server(ServerConfig::clone(config), Some(session_id))?;
            server.connect().await?;
            runtime.bind_server(session_id, &server);
            let hold = Hold::Loop;
            Ok(Bound { server, hold })
        }
        Wanted::Named(name) => {
            let server = runtime.acquire_server(name, Some(session_id)).await?;
            let hold = Hold::Shared;
            Ok(Bound { server, hold })
        }
    }
}

/// Says that a server is not there; the loop goes on without it.
async fn tell_failure(run: &Run<'_>, server: &str, error: &ServerError) {
    let text = format!("mcp server '{server}' is not there: {error}");
    run.runtime.warn("mcp", &text);
    run.emit(AgentEvent::McpNotification {
        session_id: run.id(),
        server: server.to_owned(),
        method: "harn/connect_failed".to_owned(),
        direction: "notification".to_owned(),
        params: json!({"error": error.to_string(), "category": error.category().word()}),
    })
    .await;
}

/// A skill needs a server.
pub(super) async fn bind_for_skill(
    run: &Run<'_>,
    skill: &str,
    name: &str,
) -> Result<(), ServerError> {
    let session_id = Some(run.session.id());
    let server = run.runtime.acquire_server(name, session_id).await?;
    let hold = Hold::Skill(skill.to_owned());
    run.servers.bound().push(Bound { server, hold });
    Ok(())
}

/// A skill does not need its servers any more.
pub(super) fn release_of_skill(run: &Run<'_>, skill: &str) {
    let is_its = |hold: &Hold| matches!(hold, Hold::Skill(id) if id == skill);
    let _none_is_of_the_loop_alone = run.servers.let_go(is_its);
}

/// Lists the tools of the servers again, if any of them may have changed.
pub(super) async fn renew(run: &mut Run<'_>) -> Result<(), Thrown> {
    let servers = {
        let bound = run.servers.bound();
        let mut servers: Vec<Arc<dyn ToolServer>> = Vec::new();
        for one in bound.iter() {
            if !servers.iter().any(|known| Arc::ptr_eq(known, &one.server)) {
                servers.push(Arc::clone(&one.server));
            }
        }
        servers
    };
    let now = |server: &Arc<dyn ToolServer>| (server.name().to_owned(), server.catalogue_version());
    let seen: Vec<(String, u64)> = servers.iter().map(now).collect();
    if seen == run.servers.seen {
        return Ok(());
    }
    let listing = servers
        .iter()
        .map(|server| server.list(Listed::Tools))
        .collect();
    let listed = join(listing).await;
    let mut tools = run.servers.own.clone();
    run.servers.withheld.clear();
    for ((server, listed), (_, version)) in servers.iter().zip(listed).zip(&seen) {
        match listed {
            Ok(listed) => {
                let offered = approved(run, server, *version, &listed).await;
                add(run, &mut tools, server.name(), &offered);
            }
            Err(error) => tell_failure(run, server.name(), &error).await,
        }
    }
    run.servers.seen = seen;
    offer_anew(run, tools)
}

/// The tools of a list that are as they were approved, and those that a person approves now.
async fn approved(
    run: &mut Run<'_>,
    server: &Arc<dyn ToolServer>,
    version: u64,
    listed: &[Value],
) -> Vec<Value> {
    let judged = run.runtime.approved_tools.judge(&**server, version, listed);
    if let Some(warning) = &judged.warning {
        run.runtime.warn("mcp", warning);
    }
    let mut offered = judged.offered;
    if judged.withheld.is_empty() {
        return offered;
    }
    let change = (server.name().to_owned(), judged.withheld);
    if !run.servers.settled.contains(&change) {
        let now_approved = tool_changes::settle(run, server, &change.1).await;
        if !now_approved.is_empty() {
            offered.extend(now_approved);
            return offered;
        }
        run.servers.settled.push(change.clone());
    }
    let (name, withheld) = change;
    let names = withheld
        .iter()
        .map(|one| offer::shown_name(&name, &one.tool));
    run.servers.withheld.extend(names);
    offered
}

fn add(run: &Run<'_>, tools: &mut ToolRegistry, server: &str, listed: &[Value]) {
    let warn = |text: &str| run.runtime.warn("mcp", text);
    for entry in offer::entries(server, listed, &warn) {
        let look = skeleton(&entry.name);
        let taken = tools
            .iter()
            .map(|known| &known.name)
            .find(|name| skeleton(name) == look)
            .cloned();
        match taken {
            None => tools.push(entry),
            Some(taken) => warn(&format!(
                "the tool '{}' of mcp server '{server}' is left out: there is one called '{taken}'",
                entry.name
            )),
        }
    }
}

/// From the next model call on, these are the tools.
pub(super) fn offer_anew(run: &mut Run<'_>, tools: ToolRegistry) -> Result<(), Thrown> {
    let mut options = Map::clone(&run.call_options);
    options.insert("tools".to_owned(), tools.to_value());
    let mut call = run.runtime.desk.prepare(&Question {
        prompt: String::new(),
        system: None,
        options: options.clone(),
        replies: None,
    })?;
    if !run.skills.options.registry.is_empty() {
        let style = run.runtime.desk.style(&call.provider);
        load_skill::offer(&mut call, style);
    }
    call.tool_format.clone_from(&run.call.tool_format);
    call.transcript.clone_from(&run.call.transcript);
    settle_channel(&mut call, run.mode, &run.options);
    call.request.messages.clear();
    call.request.system = None;
    run.call = call;
    run.call_options = Arc::new(options);
    run.tools = tools;
    run.search = Searched::default();
    run.contract = contract::Cache::default();
    Ok(())
}
