//! The host bridge alone: a program, and a host at the other end of a pair of byte streams.
//!
//! ```text
//! host ─► lines ─► initialize, `_harn/*` ─► EditorHost ◄── the program
//! ```
//!
//! For hosts that want programs without the sessions of ACP. A host says what it can do in
//! `initialize`, as every client does; then the program begins. It is asked for permission and
//! for what it lends, it answers questions and speaks to loops. There is nothing to prompt and
//! nothing to load, and no updates: the program does what it does, and ends.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::thread;
use std::time::Duration;

use agent_client_protocol::{
    Agent, Builder, Client, ConnectTo, ConnectionTo, Dispatch, Responder, UntypedMessage,
    is_incoming_transport_closed,
};
use harn_vm::agent::log::AnyEventLog;
use harn_vm::agent::{BoxFuture, HostBridge};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{oneshot, watch};

use crate::client::{EditorHost, Peers, SessionFacts, Told, handle_extension};
use crate::error::Refusal;
use crate::frames::{Counters, End, Limits, Outbox, serve};
use crate::peer::{ClientFacts, Peer, PeerError};

/// How a bridge is made.
pub struct BridgeOptions {
    /// Keeps what people say while loops run. The program keeps its requests to people there.
    pub log: Arc<AnyEventLog>,
    /// The folders that tools on files are kept in.
    pub roots: Vec<PathBuf>,
    /// Milliseconds since the epoch.
    pub now: Arc<dyn Fn() -> i64 + Send + Sync>,
}

/// A host at the other end of a pair of byte streams, served by a thread of its own.
pub struct Bridge {
    host: Arc<EditorHost>,
    phase: watch::Receiver<Phase>,
    /// Closed when the program has ended.
    ending: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The host has not said what it can do.
    New,
    /// The program may begin.
    Ready,
    /// Nobody is there any more.
    Over,
}

impl Bridge {
    /// Begins to serve a host.
    ///
    /// # Errors
    /// There can be no thread.
    pub fn start(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        options: BridgeOptions,
    ) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("harn-bridge")
            .enable_all()
            .build()?;
        let (phase, seen) = watch::channel(Phase::New);
        let (ending, ended) = oneshot::channel();
        let peers = Peers::new(Duration::ZERO);
        let entered = runtime.enter();
        let host = EditorHost::new(facts(options), Arc::clone(&peers));
        drop(entered);
        let peer = Arc::new(BarePeer {
            client: OnceLock::new(),
            facts: Mutex::default(),
            host: Arc::downgrade(&host),
            phase,
        });
        peers.attach(Arc::clone(&peer) as Arc<dyn Peer>);
        let thread = thread::Builder::new().name("harn-bridge".to_owned());
        let thread = thread.spawn(move || {
            runtime.block_on(connect(peer, input, output, ended));
            // Somebody may still wait for input, which nobody can stop.
            runtime.shutdown_background();
        })?;
        Ok(Self {
            host,
            phase: seen,
            ending: Some(ending),
            thread: Some(thread),
        })
    }

    /// Waits until the host has said what it can do; `false`: it has gone before.
    pub fn wait(&self) -> bool {
        let mut phase = self.phase.clone();
        let waited = harn_vm::agent::log::block_on(phase.wait_for(|phase| *phase != Phase::New));
        waited.is_ok_and(|phase| *phase == Phase::Ready)
    }

    /// The host, for the program.
    pub fn host(&self) -> Arc<dyn HostBridge> {
        Arc::clone(&self.host) as Arc<dyn HostBridge>
    }
}

impl Drop for Bridge {
    /// What the host was told reaches it before the connection is closed.
    fn drop(&mut self) {
        drop(self.ending.take());
        if let Some(thread) = self.thread.take() {
            let _a_panic_was_reported_there = thread.join();
        }
    }
}

fn facts(options: BridgeOptions) -> SessionFacts {
    SessionFacts {
        id: "run".to_owned(),
        is_bare: true,
        roots: options.roots,
        answer_within: None,
        log: options.log,
        bus: None,
        now: options.now,
    }
}

async fn connect(
    peer: Arc<BarePeer>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    ended: oneshot::Receiver<()>,
) {
    let (limits, counters) = (Limits::default(), Arc::<Counters>::default());
    let outbox = Outbox::new(limits, Arc::clone(&counters));
    let asked = Arc::clone(&peer);
    let agent = Builder::new(Agent).name("harn").on_receive_dispatch(
        async move |message: Dispatch, client| {
            asked.attach(client);
            match message {
                Dispatch::Request(request, responder) => {
                    asked.answer(request, responder);
                    Ok(())
                }
                Dispatch::Notification(notification) => {
                    asked.hear(notification);
                    Ok(())
                }
                Dispatch::Response(result, router) => router.route_with_result(result),
            }
        },
        agent_client_protocol::on_receive_dispatch!(),
    );
    let agent = agent.into_channel_and_future();
    let serving = async {
        serve(input, output, agent, &outbox, limits, counters).await;
        peer.phase.send_replace(Phase::Over);
    };
    let ending = async {
        let _the_program_has_ended = ended.await;
        outbox.end(End::Finished);
        // What was said before is still written.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = serving => {}
        () = ending => {}
    }
}

/// The host, as whoever asks it sees it.
struct BarePeer {
    /// The SDK's end, known from the first message on.
    client: OnceLock<ConnectionTo<Client>>,
    facts: Mutex<Option<Arc<ClientFacts>>>,
    host: Weak<EditorHost>,
    phase: watch::Sender<Phase>,
}

impl BarePeer {
    fn attach(&self, client: ConnectionTo<Client>) {
        let _known_since_the_first_message = self.client.set(client);
    }

    fn facts(&self) -> std::sync::MutexGuard<'_, Option<Arc<ClientFacts>>> {
        let facts = self.facts.lock();
        facts.unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn answer(self: &Arc<Self>, request: UntypedMessage, responder: Responder) {
        let (method, parameters) = request.into_parts();
        if method == "initialize" {
            return respond(responder, Ok(self.initialize(&parameters)));
        }
        if self.facts().is_none() {
            return respond(responder, Err(Refusal::not_initialized(&method)));
        }
        let Some(told) = Told::named(&method) else {
            return respond(responder, Err(Refusal::unknown_method(&method)));
        };
        let Some(host) = self.host.upgrade() else {
            return respond(responder, Err(Refusal::internal("the program has ended")));
        };
        tokio::spawn(async move {
            respond(responder, handle_extension(&host, told, &parameters).await);
        });
    }

    fn hear(&self, notification: UntypedMessage) {
        let (method, parameters) = notification.into_parts();
        let (Some(told), Some(host)) = (Told::named(&method), self.host.upgrade()) else {
            return;
        };
        tokio::spawn(async move {
            if let Err(refusal) = handle_extension(&host, told, &parameters).await {
                tracing::debug!(target: "acp", method, %refusal, "a notification makes no sense");
            }
        });
    }

    fn initialize(&self, parameters: &Value) -> Value {
        let mut facts = ClientFacts::read(parameters);
        // Whoever speaks to us this way lends the bridge; how, it may say.
        facts.bridge.get_or_insert(crate::peer::BridgeFacts {
            version: 1,
            has_legacy_names: false,
        });
        *self.facts() = Some(Arc::new(facts));
        self.phase.send_replace(Phase::Ready);
        let version = env!("CARGO_PKG_VERSION");
        json!({
            "protocolVersion": 1,
            "agentInfo": {"name": "harn", "title": "Harn", "version": version},
            "authMethods": [],
            "agentCapabilities": {"_meta": {"harn": {
                "version": version,
                "bridge": 1,
                "extensionMethods": Told::canonical().collect::<Vec<_>>(),
            }}},
        })
    }
}

fn respond(responder: Responder, result: Result<Value, Refusal>) {
    let result = result.map_err(agent_client_protocol::Error::from);
    if responder.respond_with_result(result).is_err() {
        tracing::debug!(target: "acp", "nobody waits for an answer any more");
    }
}

impl Peer for BarePeer {
    fn request<'a>(
        &'a self,
        method: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, PeerError>> {
        Box::pin(async move {
            let client = self.client.get().ok_or_else(PeerError::gone)?;
            let message = UntypedMessage::new(method, parameters);
            let message = message.map_err(|error| peer_error(&error))?;
            let answer = client.send_request(message).block_task().await;
            answer.map_err(|error| peer_error(&error))
        })
    }

    fn notify(&self, method: &str, parameters: Value) {
        let Some(client) = self.client.get() else {
            return;
        };
        let sent = UntypedMessage::new(method, parameters)
            .and_then(|message| client.send_notification(message));
        if sent.is_err() {
            tracing::debug!(target: "acp", method, "not sent");
        }
    }

    fn client(&self) -> Arc<ClientFacts> {
        self.facts().clone().unwrap_or_default()
    }

    fn is_gone(&self) -> bool {
        let client = self.client.get();
        client.is_some_and(|client| client.is_incoming_closed() || client.termination().is_some())
    }
}

fn peer_error(error: &agent_client_protocol::Error) -> PeerError {
    if is_incoming_transport_closed(error) {
        return PeerError::gone();
    }
    PeerError {
        code: i64::from(i32::from(error.code)),
        message: error.message.clone(),
        data: error.data.clone(),
        is_gone: false,
    }
}
