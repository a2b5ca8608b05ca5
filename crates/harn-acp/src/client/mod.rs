//! What we ask of the client, and what the client may tell a program that runs.
//!
//! ```text
//! program, loop ─► EditorHost ─► permission   may this call be made?
//!  (HostBridge)        │       ─► files       what does the editor know of this text?
//!                      │       ─► terminals   run this where a person can see it
//!                      │       ─► people      questions: forms, pages, `_harn/hitl`
//!                      │       ─► bridge      tools, skills and operations of the host
//!                      ▼
//!                    Peers ─► the connections of the session
//!
//! client ─► extension: `_harn/*` ─► inputs, resume, answers of people
//! ```
//!
//! A host is the host of one session. It asks whoever is attached to the session, newest first.
//! A client is asked only for what it said it can do, and where a decision is needed everything
//! that goes wrong is a no: no client, an error, no time left, a connection that closes.
//!
//! What a person types while a loop runs is written down before it is acknowledged, and heard
//! exactly once; see [`inputs`].

mod announced;
mod approval;
mod bridge;
mod extension;
mod files;
mod form;
mod inputs;
mod peers;
mod people;
mod terminals;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use harn_vm::agent::coding::{Terminals, TextFiles};
use harn_vm::agent::events::EventBus;
use harn_vm::agent::log::AnyEventLog;
use harn_vm::agent::people::NOTICE;
use harn_vm::agent::{BoxFuture, Elicits, HostBridge, HostError, HostInput, Seam};
use serde_json::{Value, json};
use tokio::runtime::Handle;

pub(crate) use extension::{Told, handle_extension};
pub(crate) use peers::Peers;

use crate::limits::Refused;
use announced::Announced;
use inputs::Inputs;
use people::PeopleDesk;

/// How long people have to decide when the client is on the network. On standard input and
/// output they sit in front of it, and have all the time they want.
pub(crate) const NETWORK_ANSWER_WITHIN: Duration = Duration::from_secs(600);

/// The folders of a session, as they are now.
type Roots = Arc<Mutex<Vec<PathBuf>>>;

/// What a host knows about its session.
#[derive(Clone)]
pub(crate) struct SessionFacts {
    /// The id of the session, for the client and for the program.
    pub(crate) id: String,
    /// Whether there is no session that the client knows: the program has its own, and the
    /// client hears nothing of what happens in them. What is said is for whichever listens.
    pub(crate) is_bare: bool,
    /// Where it works, and then its additional folders, when it is opened.
    pub(crate) roots: Vec<PathBuf>,
    /// How long a person has to decide; `None`: as long as it takes.
    pub(crate) answer_within: Option<Duration>,
    /// How many questions may wait whether a call may be made.
    pub(crate) permissions_max: usize,
    /// Counts those beyond.
    pub(crate) refused: Refused,
    /// The log that keeps the session. The program has to keep its requests to people there
    /// too, so that answers are found.
    pub(crate) log: Arc<AnyEventLog>,
    /// Where the events of the session go; `None`: only the program knows.
    pub(crate) bus: Option<EventBus>,
    /// Milliseconds since the epoch.
    pub(crate) now: Arc<dyn Fn() -> i64 + Send + Sync>,
}

/// The host of a session's program: an editor at the other end. Where it cannot be asked, the
/// answer is no.
pub(crate) struct EditorHost {
    facts: SessionFacts,
    /// Where the session works, and then its additional folders. Whoever opens it again may
    /// name others.
    roots: Roots,
    peers: Arc<Peers>,
    announced: Arc<Announced>,
    inputs: Inputs,
    people: PeopleDesk,
    /// How many questions wait whether a call may be made.
    permissions: Mutex<usize>,
    /// The sessions whose waiting loop was asked to go on.
    resumes: Mutex<BTreeSet<String>>,
    /// Whether the skills of the host are not what they were when a program asked for them.
    skills_changed: Mutex<bool>,
    /// How often the host has said that they are not.
    skills_version: AtomicU64,
    /// Where to wait for the host, for a thread that is none of ours.
    executor: Option<Handle>,
}

impl EditorHost {
    /// The host of a session. Inputs that an earlier process was given and no loop has heard
    /// are taken up from the log.
    pub(crate) fn new(facts: SessionFacts, peers: Arc<Peers>) -> Arc<Self> {
        let announced = Arc::new(Announced::new(&facts.id, facts.bus.as_ref()));
        Arc::new_cyclic(|host| Self {
            people: PeopleDesk::new(host.clone()),
            inputs: Inputs::new(&facts),
            roots: Arc::new(Mutex::new(facts.roots.clone())),
            facts,
            peers,
            announced,
            permissions: Mutex::default(),
            resumes: Mutex::default(),
            skills_changed: Mutex::default(),
            skills_version: AtomicU64::new(0),
            executor: Handle::try_current().ok(),
        })
    }

    /// From now on the session is kept in these folders.
    pub(crate) fn set_roots(&self, roots: Vec<PathBuf>) {
        *lock(&self.roots) = roots;
    }

    /// Whether an update is about a tool call.
    pub(crate) fn is_about_call(update: &Value) -> bool {
        announced::is_about_call(update)
    }

    /// The client was sent this update. Whoever asks about a tool call waits until the client
    /// knows it.
    pub(crate) fn said(&self, update: &Value) {
        self.announced.note(update);
    }

    /// The client was told everything up to an index, and knows these calls as open: their ids
    /// in events, and on the wire.
    pub(crate) fn told<'a>(
        &self,
        index: Option<u64>,
        open: impl Iterator<Item = (&'a str, &'a str)>,
    ) {
        self.announced.reach(index, open);
    }

    /// The host has other skills now. A loop that runs sees it at its next seam, and the next
    /// turn has them found anew.
    fn note_other_skills(&self) {
        *lock(&self.skills_changed) = true;
        self.skills_version.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether the host has said since that its skills are not what they were.
    pub(crate) fn has_other_skills(&self) -> bool {
        *lock(&self.skills_changed)
    }

    /// Whether a session of the program is the one that the client means.
    fn is_about(&self, session_id: &str) -> bool {
        self.facts.is_bare || session_id == self.facts.id
    }

    fn resumes(&self) -> MutexGuard<'_, BTreeSet<String>> {
        lock(&self.resumes)
    }
}

impl HostBridge for EditorHost {
    fn request<'a>(
        &'a self,
        method: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, HostError>> {
        match method {
            "session/request_permission" => Box::pin(self.ask_permission(parameters)),
            "elicitation/create" => Box::pin(self.elicit(parameters)),
            other => Box::pin(self.ask_bridge(other, parameters)),
        }
    }

    fn notify(&self, method: &str, parameters: Value) {
        match method {
            NOTICE => self.ask_people(parameters),
            people::RESOLVED => self.people.forget(&parameters),
            "elicitation/complete" => self.tell_completion(&parameters),
            "agent/idle" => self.tell_idle(&parameters),
            other => self.tell_bridge(other, parameters),
        }
    }

    fn take_messages(&self, _session_id: &str, _seam: Seam) -> Vec<String> {
        // All that is said here has an identity.
        Vec::new()
    }

    fn take_inputs(
        &self,
        session_id: &str,
        seam: Seam,
        was_said: &dyn Fn(&str) -> bool,
    ) -> Vec<HostInput> {
        match self.is_about(session_id) {
            true => self.inputs.take(seam, was_said),
            false => Vec::new(),
        }
    }

    fn person_answers<'a>(&'a self, request_id: &'a str) -> BoxFuture<'a, Value> {
        Box::pin(self.people.answer(request_id))
    }

    fn take_resume(&self, session_id: &str) -> bool {
        match self.is_about(session_id) {
            true => self.resumes().remove(&self.facts.id),
            false => false,
        }
    }

    fn elicits(&self, _session_id: Option<&str>) -> Elicits {
        Elicits {
            forms: self.peers.find(|client| client.shows_forms).is_some(),
            urls: self.peers.find(|client| client.opens_urls).is_some(),
        }
    }

    fn skills(&self) -> Vec<Value> {
        *lock(&self.skills_changed) = false;
        match &self.executor {
            Some(executor) if self.lends_tools() => executor.block_on(self.list_skills()),
            _ => Vec::new(),
        }
    }

    fn skills_version(&self) -> u64 {
        self.skills_version.load(Ordering::SeqCst)
    }

    fn lends_tools(&self) -> bool {
        self.peers.find(|client| client.bridge.is_some()).is_some()
    }

    fn text_files(&self) -> Option<Arc<dyn TextFiles>> {
        Some(Arc::new(files::EditorFiles {
            session_id: self.facts.id.clone(),
            roots: Arc::clone(&self.roots),
            peers: Arc::clone(&self.peers),
        }))
    }

    fn terminals(&self) -> Option<Arc<dyn Terminals>> {
        Some(Arc::new(terminals::EditorTerminals {
            session_id: self.facts.id.clone(),
            roots: Arc::clone(&self.roots),
            peers: Arc::clone(&self.peers),
            announced: (!self.facts.is_bare).then(|| Arc::clone(&self.announced)),
            executor: self.executor.clone(),
        }))
    }

    fn roots(&self) -> Option<Vec<PathBuf>> {
        Some(lock(&self.roots).clone())
    }
}

impl EditorHost {
    /// A daemon waits. The wire has its words in another style than the runtime.
    fn tell_idle(&self, told: &Value) {
        let told = json!({
            "sessionId": told.get("sessionId").cloned().unwrap_or(json!(self.facts.id)),
            "iteration": told["iteration"],
            "backoffMs": told["backoff_ms"],
        });
        self.tell_bridge("agent/idle", told);
    }
}

/// A lock that nobody can break: what it guards is whole after every line.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
