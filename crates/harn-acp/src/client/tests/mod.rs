//! A client that does what a test wants, and one module per thing that it is asked for.

mod approval;
mod bridge;
mod extension;
mod files;
mod form;
mod inputs;
mod peers;
mod people;
mod terminals;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harn_vm::agent::events::{BusConfig, EventBus};
use harn_vm::agent::log::{AnyEventLog, MemoryEventLog};
use harn_vm::agent::{BoxFuture, Principal};
use serde_json::{Value, json};

use super::{EditorHost, Peers, SessionFacts, lock};
use crate::limits::Refused;
use crate::peer::{ClientFacts, Peer, PeerError};

/// The time at which everything happens: the first second of 2026.
pub(super) const NOW: i64 = 1_767_225_600_000;

/// What a client does about a request.
pub(super) enum Reply {
    /// It answers.
    Ok(Value),
    /// It answers with an error of that code.
    Err(i64),
    /// It goes.
    Gone,
    /// It does not answer.
    Never,
}

type Script = Box<dyn FnMut(&str, &Value) -> Reply + Send>;

/// A client that does what a test wants.
pub(super) struct FakePeer {
    facts: Arc<ClientFacts>,
    script: Mutex<Script>,
    asked: Mutex<Vec<(String, Value)>>,
    told: Mutex<Vec<(String, Value)>>,
    withdrawn: Mutex<Vec<String>>,
    is_gone: AtomicBool,
}

impl FakePeer {
    pub(super) fn new(
        can: Value,
        script: impl FnMut(&str, &Value) -> Reply + Send + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            facts: Arc::new(ClientFacts::read(&json!({"clientCapabilities": can}))),
            script: Mutex::new(Box::new(script)),
            asked: Mutex::default(),
            told: Mutex::default(),
            withdrawn: Mutex::default(),
            is_gone: AtomicBool::new(false),
        })
    }

    /// The methods that were asked, in order.
    pub(super) fn methods(&self) -> Vec<String> {
        let asked = lock(&self.asked);
        asked.iter().map(|(method, _)| method.clone()).collect()
    }

    /// What it was asked last.
    pub(super) fn last(&self) -> Value {
        let asked = lock(&self.asked);
        asked.last().expect("it was asked something").1.clone()
    }

    /// What it was told, in order.
    pub(super) fn told(&self) -> Vec<(String, Value)> {
        lock(&self.told).clone()
    }

    /// The methods whose question was taken back.
    pub(super) fn withdrawn(&self) -> Vec<String> {
        lock(&self.withdrawn).clone()
    }
}

/// Notes that nobody waits any more for an answer that has not come.
struct Asked<'a> {
    peer: &'a FakePeer,
    method: &'a str,
    is_answered: bool,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            lock(&self.peer.withdrawn).push(self.method.to_owned());
        }
    }
}

impl Peer for FakePeer {
    fn request<'a>(
        &'a self,
        method: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, PeerError>> {
        Box::pin(async move {
            let mut asked = Asked {
                peer: self,
                method,
                is_answered: false,
            };
            lock(&self.asked).push((method.to_owned(), parameters.clone()));
            let reply = lock(&self.script)(method, &parameters);
            // An answer never comes at once.
            tokio::task::yield_now().await;
            let answer = match reply {
                Reply::Ok(answer) => Ok(answer),
                Reply::Err(code) => Err(PeerError {
                    code,
                    message: format!("error {code}"),
                    data: None,
                    is_gone: false,
                }),
                Reply::Gone => {
                    self.is_gone.store(true, Ordering::Relaxed);
                    Err(PeerError::gone())
                }
                Reply::Never => std::future::pending().await,
            };
            asked.is_answered = true;
            answer
        })
    }

    fn notify(&self, method: &str, parameters: Value) {
        lock(&self.told).push((method.to_owned(), parameters));
    }

    fn client(&self) -> Arc<ClientFacts> {
        Arc::clone(&self.facts)
    }

    fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }
}

pub(super) fn facts(roots: Vec<PathBuf>) -> SessionFacts {
    let log = Arc::new(AnyEventLog::Memory(MemoryEventLog::new(64)));
    SessionFacts {
        id: "s".to_owned(),
        is_bare: false,
        roots,
        answer_within: None,
        permissions_max: 2,
        refused: Refused::default(),
        log,
        bus: Some(EventBus::new(BusConfig::default())),
        now: Arc::new(|| NOW),
    }
}

/// Who tells the host something.
pub(super) fn operator() -> Principal {
    Principal::operator("stdio")
}

/// A host with a client at the other end.
pub(super) async fn host(peer: &Arc<FakePeer>) -> Arc<EditorHost> {
    host_with(peer, facts(Vec::new())).await
}

pub(super) async fn host_with(peer: &Arc<FakePeer>, facts: SessionFacts) -> Arc<EditorHost> {
    let peers = Peers::new(Duration::ZERO);
    peers.attach(Arc::clone(peer) as Arc<dyn Peer>);
    EditorHost::new(facts, peers)
}

/// Lets everything happen that can happen without anybody's doing.
pub(super) async fn settle() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

/// A client that lends the bridge.
pub(super) fn bridge() -> Value {
    json!({"_meta": {"harn": {"bridge": {"version": 1}}}})
}
