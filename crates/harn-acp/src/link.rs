//! A client at the other end of the SDK's connection, whatever is served to it.
//!
//! ```text
//! frame ─► SDK ─► Link: attached? initialised? ─► Desk: the methods that are answered
//! client ◄──────── Link: questions, updates ◄──── whoever holds a Peer
//! ```
//!
//! An agent with sessions and the host bridge alone answer different methods, and that is all
//! they differ in: both learn what the client can do from `initialize`, refuse what comes
//! before it, ask and tell the client the same way, and count what nobody knows.
//!
//! The SDK calls a desk for one message at a time, in the order in which they arrive. Whatever
//! takes time goes on in a task, which has the responder.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use agent_client_protocol::{
    Agent, Builder, Client, ConnectTo, ConnectionTo, Dispatch, Error, JsonRpcMessage,
    JsonRpcNotification, RequestCancellation, Responder, UntypedMessage,
    is_incoming_transport_closed,
};
use harn_vm::agent::BoxFuture;
use serde_json::Value;

use crate::error::Refusal;
use crate::frames::{Counters, Room};
use crate::peer::{ClientFacts, Peer, PeerError};

/// The client at the other end of a connection.
pub(crate) struct Link {
    /// Where updates of sessions wait for a client that reads slowly.
    room: Arc<dyn Room>,
    counters: Arc<Counters>,
    /// The SDK's end, known from the first message on.
    client: OnceLock<ConnectionTo<Client>>,
    /// What the client said in `initialize`; nothing before.
    facts: Mutex<Option<Arc<ClientFacts>>>,
}

/// Answers one client.
pub(crate) trait Desk: Send + Sync + 'static {
    /// The client.
    fn link(&self) -> &Arc<Link>;

    /// Answers a request, perhaps later. All but `initialize` come after it.
    fn answer(self: &Arc<Self>, method: String, parameters: Value, responder: Responder);

    /// Takes note of a notification. What is not understood is
    /// [counted](Link::drop_notification) and let go.
    fn hear(self: &Arc<Self>, method: String, parameters: Value);

    /// The client has gone.
    fn close(self: Arc<Self>) -> BoxFuture<'static, ()>;
}

/// The agent that a client talks to, as the SDK knows it.
pub(crate) fn serve_at<D: Desk>(desk: Arc<D>) -> impl ConnectTo<Client> + 'static + use<D> {
    let (asked, closing) = (Arc::clone(&desk), desk);
    Builder::new(Agent)
        .name("harn")
        .on_receive_dispatch(
            async move |message: Dispatch, client| {
                asked.link().attach(client);
                match message {
                    Dispatch::Request(request, responder) => {
                        take_request(&asked, request, responder);
                        Ok(())
                    }
                    Dispatch::Notification(notification) => {
                        take_notification(&asked, notification);
                        Ok(())
                    }
                    Dispatch::Response(result, router) => router.route_with_result(result),
                }
            },
            agent_client_protocol::on_receive_dispatch!(),
        )
        .on_close(async move |_client| {
            closing.close().await;
            Ok(())
        })
}

fn take_request<D: Desk>(desk: &Arc<D>, request: UntypedMessage, responder: Responder) {
    let (method, parameters) = request.into_parts();
    match method == "initialize" || desk.link().is_initialized() {
        true => desk.answer(method, parameters, responder),
        false => respond(responder, Err(Refusal::not_initialized(&method))),
    }
}

fn take_notification<D: Desk>(desk: &Arc<D>, notification: UntypedMessage) {
    let (method, parameters) = notification.into_parts();
    match desk.link().is_initialized() {
        // The SDK has told the responder.
        _ if method == "$/cancel_request" => {}
        true => desk.hear(method, parameters),
        false => desk
            .link()
            .drop_notification(&method, "it comes before `initialize`"),
    }
}

/// Answers a request.
pub(crate) fn respond(responder: Responder, result: Result<Value, Refusal>) {
    let result = result.map_err(Error::from);
    if responder.respond_with_result(result).is_err() {
        tracing::debug!(target: "acp", "nobody waits for an answer any more");
    }
}

/// What comes of some work, or that the client has withdrawn its request; then the work is
/// dropped.
///
/// # Errors
/// What the work is refused with, or that it was withdrawn.
pub(crate) async fn unless_withdrawn<T>(
    cancellation: RequestCancellation,
    work: impl Future<Output = Result<T, Refusal>>,
) -> Result<T, Refusal> {
    tokio::select! {
        result = work => result,
        () = cancellation.cancelled() => Err(Refusal::cancelled()),
    }
}

impl Link {
    pub(crate) fn new(room: Arc<dyn Room>, counters: Arc<Counters>) -> Arc<Self> {
        Arc::new(Self {
            room,
            counters,
            client: OnceLock::new(),
            facts: Mutex::default(),
        })
    }

    fn attach(&self, client: ConnectionTo<Client>) {
        let _known_since_the_first_message = self.client.set(client);
    }

    /// The client has said what it can do.
    pub(crate) fn introduce(&self, facts: ClientFacts) {
        *self.facts() = Some(Arc::new(facts));
    }

    fn is_initialized(&self) -> bool {
        self.facts().is_some()
    }

    fn facts(&self) -> MutexGuard<'_, Option<Arc<ClientFacts>>> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A notification that nobody knows or that makes no sense is never answered, only counted.
    pub(crate) fn drop_notification(&self, method: &str, why: &str) {
        self.counters.notifications_dropped.add();
        tracing::debug!(target: "acp", method, why, "a notification was dropped");
    }
}

impl Peer for Link {
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
        let notice = Notice::new(UntypedMessage {
            method: method.to_owned(),
            params: parameters,
        });
        if let Err(error) = client.send_notification(notice) {
            tracing::debug!(target: "acp", method, code = i32::from(error.code), "not sent");
        }
    }

    fn has_room<'a>(&'a self, session_id: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(async { self.room.reserve(session_id).await.is_ok() })
    }

    fn client(&self) -> Arc<ClientFacts> {
        self.facts().clone().unwrap_or_default()
    }

    fn is_gone(&self) -> bool {
        let client = self.client.get();
        client.is_some_and(|client| client.is_incoming_closed() || client.termination().is_some())
    }
}

/// A notification for the SDK, which asks a message for a copy of itself and then lets go of it.
/// This one gives itself away instead: updates are many.
#[derive(Clone, Debug)]
struct Notice {
    method: String,
    message: Arc<Mutex<Option<UntypedMessage>>>,
}

impl Notice {
    fn new(message: UntypedMessage) -> Self {
        Self {
            method: message.method.clone(),
            message: Arc::new(Mutex::new(Some(message))),
        }
    }
}

impl JsonRpcMessage for Notice {
    fn matches_method(_method: &str) -> bool {
        false // It is only sent.
    }

    fn method(&self) -> &str {
        &self.method
    }

    fn to_untyped_message(&self) -> Result<UntypedMessage, Error> {
        let message = self.message.lock();
        let message = message.unwrap_or_else(PoisonError::into_inner).take();
        message.ok_or_else(Error::internal_error)
    }

    fn parse_message(_method: &str, _params: &Value) -> Result<Self, Error> {
        Err(Error::method_not_found())
    }
}

impl JsonRpcNotification for Notice {}

fn peer_error(error: &Error) -> PeerError {
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
