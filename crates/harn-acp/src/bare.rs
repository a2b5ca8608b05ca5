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
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use agent_client_protocol::{ConnectTo, Responder};
use harn_vm::agent::log::AnyEventLog;
use harn_vm::agent::{BoxFuture, HostBridge, Principal};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{oneshot, watch};

use crate::access::STDIO;
use crate::client::{EditorHost, Peers, SessionFacts, Told, handle_extension};
use crate::error::Refusal;
use crate::frames::{Counters, End, Limits, Outbox, serve};
use crate::limits::{Refused, SessionLimits};
use crate::link::{Desk, Link, respond, serve_at, unless_withdrawn};
use crate::peer::{BridgeFacts, ClientFacts, Peer};
use crate::versions;

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

/// The host, which has started us.
fn host_principal() -> Principal {
    Principal::operator(STDIO)
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

/// Times that the SDK is given a chance to hand on what it was given.
const STEPS_OF_THE_SDK: usize = 16;

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
        let counters = Arc::<Counters>::default();
        let outbox = Outbox::new(Limits::default(), Arc::clone(&counters));
        let desk = Arc::new(BareDesk {
            link: Link::new(Arc::new(outbox.clone()), Arc::clone(&counters)),
            outbox,
            counters,
            host: Arc::downgrade(&host),
            phase,
        });
        peers.attach(Arc::clone(&desk.link) as Arc<dyn Peer>);
        let thread = thread::Builder::new().name("harn-bridge".to_owned());
        let thread = thread.spawn(move || {
            runtime.block_on(connect(desk, input, output, ended));
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
        id: format!("run-{}", harn_vm::new_id()),
        is_bare: true,
        roots: options.roots,
        answer_within: None,
        permissions_max: SessionLimits::default().permissions_max,
        refused: Refused::default(),
        log: options.log,
        bus: None,
        now: options.now,
    }
}

async fn connect(
    desk: Arc<BareDesk>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    ended: oneshot::Receiver<()>,
) {
    let (outbox, counters) = (&desk.outbox, Arc::clone(&desk.counters));
    let agent = serve_at(Arc::clone(&desk)).into_channel_and_future();
    let serving = async {
        serve(input, output, agent, outbox, Limits::default(), counters).await;
        desk.phase.send_replace(Phase::Over);
    };
    let ending = async {
        let _the_program_has_ended = ended.await;
        // With its end a program withdraws what it still asks for. That is on its way through
        // the SDK, which would forget it if the connection ended first.
        for _ in 0..STEPS_OF_THE_SDK {
            tokio::task::yield_now().await;
        }
        outbox.end(End::Finished);
        // What was said before is still written.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = serving => {}
        () = ending => {}
    }
}

/// Answers the host of one program.
struct BareDesk {
    link: Arc<Link>,
    outbox: Outbox,
    counters: Arc<Counters>,
    host: Weak<EditorHost>,
    phase: watch::Sender<Phase>,
}

impl Desk for BareDesk {
    fn link(&self) -> &Arc<Link> {
        &self.link
    }

    fn answer(self: &Arc<Self>, method: String, parameters: Value, responder: Responder) {
        if method == "initialize" {
            respond(responder, Ok(self.initialize(&parameters)));
            // The program begins only now: the host is asked nothing before it is answered.
            self.phase.send_replace(Phase::Ready);
            return;
        }
        let Some(told) = Told::named(&method) else {
            return respond(responder, Err(Refusal::unknown_method(&method)));
        };
        let Some(host) = self.host.upgrade() else {
            return respond(responder, Err(Refusal::internal("the program has ended")));
        };
        let cancellation = responder.cancellation();
        tokio::spawn(async move {
            let who = host_principal();
            let work = handle_extension(&host, told, &parameters, &who);
            respond(responder, unless_withdrawn(cancellation, work).await);
        });
    }

    fn hear(self: &Arc<Self>, method: String, parameters: Value) {
        let (Some(told), Some(host)) = (Told::named(&method), self.host.upgrade()) else {
            return self.link.drop_notification(&method, "nobody knows it");
        };
        let link = Arc::clone(&self.link);
        tokio::spawn(async move {
            if let Err(refusal) =
                handle_extension(&host, told, &parameters, &host_principal()).await
            {
                link.drop_notification(&method, &refusal.message);
            }
        });
    }

    fn close(self: Arc<Self>) -> BoxFuture<'static, ()> {
        // The program sees that nobody is there when it asks.
        Box::pin(std::future::ready(()))
    }
}

impl BareDesk {
    fn initialize(&self, parameters: &Value) -> Value {
        let mut facts = ClientFacts::read(parameters);
        // Whoever speaks to us this way lends the bridge; how, it may say.
        facts.bridge.get_or_insert(BridgeFacts {
            version: 1,
            has_legacy_names: false,
        });
        self.link.introduce(facts);
        let version = env!("CARGO_PKG_VERSION");
        json!({
            "protocolVersion": versions::ACP,
            "agentInfo": {"name": "harn", "title": "Harn", "version": version},
            "authMethods": [],
            "agentCapabilities": {"_meta": {"harn": {
                "version": version,
                "bridge": versions::BRIDGE,
                "extensionMethods": Told::canonical().collect::<Vec<_>>(),
            }}},
        })
    }
}
