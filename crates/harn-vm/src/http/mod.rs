//! The network, as programs reach it through HTTP and web sockets.
//!
//! ```text
//! begin(effect) ─► task on the thread of the network ─► Outside::complete(answer)
//! cancel(effect) ─► the task is dropped, and with it its connection
//! ```
//!
//! Nothing here decides where a request may go or whether it goes again: one effect is one
//! request, and what comes back is data.

mod clients;
mod connect;
mod exchange;
mod failure;
mod fetch;
mod message;
mod pin;
mod save;
mod sockets;
mod streams;
mod tls;
mod tunnel;

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::Arc;

use harn_machine::{
    Answer, EffectId, HttpRequest, NetAnswer, NetFailure, NetFailureKind, NetRequest, Outside,
};
use reqwest::Client;
use tokio::task::AbortHandle;

use crate::models::TokioHandle;
use clients::Clients;
use exchange::{Limits, exchange};
use failure::{answer, failure};
use streams::{Streams, open};

pub(crate) use connect::config as socket_config;
pub(crate) use fetch::fetch_text;
pub(crate) use save::Destination;
pub(crate) use sockets::{SocketLimits, Sockets};

/// How many tasks are remembered before those that are over are looked for.
const TASKS_MIN: usize = 64;

/// What a task does.
type Work = Pin<Box<dyn Future<Output = Result<NetAnswer, NetFailure>> + Send>>;

/// Why there is nothing to do for a task.
enum Undone {
    Failed(NetFailure),
    /// It takes no time.
    AtOnce(NetRequest),
}

impl From<NetFailure> for Undone {
    fn from(failure: NetFailure) -> Self {
        Self::Failed(failure)
    }
}

/// Performs the effects that concern the network.
pub(crate) struct NetPort {
    outside: Outside,
    clients: Clients,
    streams: Arc<Streams>,
    sockets: Arc<Sockets>,
    /// What is under way, so that it can be given up. Some of it may be over.
    tasks: HashMap<EffectId, AbortHandle>,
    /// How many may be remembered until it is worth to look which are over.
    tasks_max: usize,
}

impl NetPort {
    pub(crate) fn new(outside: Outside) -> Self {
        Self {
            outside,
            clients: Clients::default(),
            streams: Arc::default(),
            sockets: Arc::default(),
            tasks: HashMap::new(),
            tasks_max: TASKS_MIN,
        }
    }

    /// The open sockets, for whoever opens some in another way.
    pub(crate) fn sockets(&self) -> Arc<Sockets> {
        Arc::clone(&self.sockets)
    }

    /// Answers at once.
    pub(crate) fn perform(
        &mut self,
        request: &NetRequest,
        tokio: &TokioHandle,
        environment: &BTreeMap<String, String>,
    ) -> NetAnswer {
        match request {
            NetRequest::OpenLater(request) => answer(self.open_later(request, tokio, environment)),
            NetRequest::Close(stream) => {
                self.streams.close(*stream);
                NetAnswer::Piece(None)
            }
            NetRequest::EndSession(session) => {
                self.clients.end_session(*session);
                NetAnswer::Piece(None)
            }
            NetRequest::CloseSocket(socket) => {
                let (sockets, socket) = (self.sockets.clone(), *socket);
                let closing = async move {
                    let _nobody_waits = sockets.close(socket).await;
                };
                tokio.spawn(closing);
                NetAnswer::Sent(true)
            }
            _ => NetAnswer::Failed(failure(
                NetFailureKind::Impossible,
                "this takes time and must be begun",
            )),
        }
    }

    fn open_later(
        &mut self,
        request: &HttpRequest,
        tokio: &TokioHandle,
        environment: &BTreeMap<String, String>,
    ) -> Result<NetAnswer, NetFailure> {
        let client = self.client(request, environment)?;
        let (stream, mut reserved) = self.streams.reserve();
        let opening = open(client, request.clone());
        let connecting = tokio.spawn(async move {
            *reserved = Some(opening.await);
        });
        if let Some(connecting) = connecting {
            self.streams.is_connected_by(stream, connecting);
        }
        Ok(NetAnswer::Opened {
            stream,
            head: Default::default(),
        })
    }

    /// Begins what takes time.
    pub(crate) fn begin(
        &mut self,
        id: EffectId,
        request: NetRequest,
        tokio: &TokioHandle,
        environment: &BTreeMap<String, String>,
    ) {
        match self.work(request, environment) {
            Ok(work) => self.spawn(id, tokio, work),
            Err(Undone::Failed(failure)) => self.complete(id, NetAnswer::Failed(failure)),
            Err(Undone::AtOnce(request)) => {
                let answer = self.perform(&request, tokio, environment);
                self.complete(id, answer);
            }
        }
    }

    /// Saves the rest of a stream where its path was found to lead.
    pub(crate) fn save(
        &mut self,
        id: EffectId,
        stream: u64,
        destination: Destination,
        tokio: &TokioHandle,
    ) {
        let streams = self.streams.clone();
        let saving = async move { streams.save(stream, destination).await };
        self.spawn(id, tokio, Box::pin(saving));
    }

    /// What is to be done for a request.
    fn work(
        &mut self,
        request: NetRequest,
        environment: &BTreeMap<String, String>,
    ) -> Result<Work, Undone> {
        let (streams, sockets) = (self.streams.clone(), self.sockets.clone());
        Ok(match request {
            NetRequest::Exchange(request) => {
                let client = self.client(&request, environment)?;
                Box::pin(exchange(client, *request))
            }
            NetRequest::Open(request) => {
                let client = self.client(&request, environment)?;
                Box::pin(async move { Ok(streams.add(open(client, *request).await?)) })
            }
            NetRequest::Head { stream, timeout_ms } => {
                let limits = Limits::new(timeout_ms, None);
                Box::pin(async move { streams.head(stream, &limits).await })
            }
            NetRequest::Read {
                stream,
                bytes_max,
                timeout_ms,
            } => {
                let limits = Limits::new(timeout_ms, None);
                Box::pin(async move { streams.read(stream, bytes_max, &limits).await })
            }
            NetRequest::Save { stream, path } => {
                let destination = Destination::Path(path);
                Box::pin(async move { streams.save(stream, destination).await })
            }
            NetRequest::ConnectSocket(request) => Box::pin(connect::connect(sockets, *request)),
            NetRequest::SendMessage { socket, message } => {
                Box::pin(async move { sockets.send(socket, message).await })
            }
            NetRequest::ReceiveMessage { socket, timeout_ms } => {
                let limits = Limits::new(timeout_ms, None);
                Box::pin(async move { sockets.receive(socket, &limits).await })
            }
            NetRequest::CloseSocket(socket) => Box::pin(async move { sockets.close(socket).await }),
            request @ (NetRequest::OpenLater(_)
            | NetRequest::Close(_)
            | NetRequest::EndSession(_)) => return Err(Undone::AtOnce(request)),
        })
    }

    fn client(
        &mut self,
        request: &HttpRequest,
        environment: &BTreeMap<String, String>,
    ) -> Result<Client, NetFailure> {
        self.clients.of(&request.route, &request.url, environment)
    }

    /// Gives something up.
    pub(crate) fn cancel(&mut self, id: EffectId) {
        if let Some(task) = self.tasks.remove(&id) {
            task.abort();
        }
    }

    fn complete(&self, id: EffectId, answer: NetAnswer) {
        self.outside.complete(id, Answer::Net(answer));
    }

    fn spawn(&mut self, id: EffectId, tokio: &TokioHandle, work: Work) {
        if self.tasks.len() >= self.tasks_max {
            self.tasks.retain(|_, task| !task.is_finished());
            self.tasks_max = TASKS_MIN.max(2 * self.tasks.len());
        }
        let outside = self.outside.clone();
        let task = tokio.spawn(async move {
            let done = answer(work.await);
            outside.complete(id, Answer::Net(done));
        });
        if let Some(task) = task {
            self.tasks.insert(id, task);
        }
    }
}
