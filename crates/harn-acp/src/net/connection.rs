//! One connection over HTTP: an id that requests name and event streams hang on.

use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::{RawJsonRpcId, RawJsonRpcMessage, RawJsonRpcResponse};
use harn_listen::Caller;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until};

use super::hub::{Hub, Place};
use super::routes::{Routes, session_of};
use super::streams::Streams;
use crate::frames::{End, Gate, Inlet, Room, drive};

/// One connection over HTTP.
pub(super) struct HttpConnection {
    pub(super) id: String,
    pub(super) gate: Gate,
    pub(super) streams: Arc<Streams>,
    caller: Caller,
    inlet: Inlet,
    state: Mutex<State>,
    /// A request came, which shows that the client is there.
    heard: Notify,
    closed: Notify,
}

#[derive(Default)]
struct State {
    routes: Routes,
    /// The answer to this request goes to whoever waits for it here.
    first: Option<(RawJsonRpcId, oneshot::Sender<RawJsonRpcMessage>)>,
    is_closed: bool,
}

impl HttpConnection {
    /// Begins a connection and runs it until it is closed, or nobody uses it.
    pub(super) fn begin(hub: &Arc<Hub>, place: Place, caller: Caller) -> Arc<Self> {
        let settings = &hub.settings;
        let counters = Arc::clone(&hub.counters);
        let streams = Streams::new(settings.frames, Arc::clone(&counters), settings.streams_max);
        let (channel, driver) = hub.connect(Arc::clone(&streams) as Arc<dyn Room>, &caller);
        let (from_agent, to_agent) = channel.into_parts();
        let connection = Arc::new(Self {
            id: new_id(),
            gate: Gate::new(settings.frames, counters),
            streams,
            caller,
            inlet: Inlet::new(to_agent),
            state: Mutex::default(),
            heard: Notify::new(),
            closed: Notify::new(),
        });
        hub.add(&connection);
        let (running, hub) = (Arc::clone(&connection), Arc::clone(hub));
        tokio::spawn(async move {
            let driving = async {
                drive(from_agent, driver, |message| running.say(message)).await;
                for answer in running.gate.answer_the_rest() {
                    running.streams.send(None, answer, false);
                }
                running.close();
            };
            let ending = async {
                tokio::select! {
                    () = running.is_unused(hub.settings.idle) => {}
                    () = running.is_closed() => {}
                    () = hub.is_stopping() => {}
                }
                // The agent hears of it, and may need a while to come to its end.
                hub.remove(&running.id);
                running.streams.closing();
                running.inlet.close();
            };
            tokio::join!(driving, ending);
            running.streams.end(End::Finished);
            drop(place);
        });
        connection
    }

    /// Whether the caller is the one who began it.
    pub(super) fn belongs_to(&self, caller: &Caller) -> bool {
        self.caller.name == caller.name && self.caller.means == caller.means
    }

    /// Hands a message to the agent; `false` if it takes none any more.
    pub(super) fn give(&self, message: RawJsonRpcMessage, is_named: bool) -> bool {
        self.heard.notify_one();
        let route = self.state().routes.note(&message);
        if let Some(route) = route {
            self.streams.asked(&route, is_named);
        }
        self.inlet.send(message)
    }

    /// Hands over the first message, whose answer is waited for.
    pub(super) fn give_first(
        &self,
        message: RawJsonRpcMessage,
    ) -> oneshot::Receiver<RawJsonRpcMessage> {
        let (answer, answered) = oneshot::channel();
        if let RawJsonRpcMessage::Request(request) = &message {
            self.state().first = Some((request.id.clone(), answer));
        }
        self.inlet.send(message);
        answered
    }

    /// The client has left.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.closed.notify_waiters();
    }

    /// Sends what the agent says to where it belongs.
    fn say(&self, message: RawJsonRpcMessage) {
        let sent = self.gate.send(&message);
        if let Some(answer) = sent.answer_to_agent {
            self.inlet.send(answer);
        }
        let is_taken = match (&message, sent.frame) {
            (RawJsonRpcMessage::Response(answer), Some(frame)) => {
                return self.answer(answer, message.clone(), frame);
            }
            (_, Some(frame)) => self
                .streams
                .send(session_of(&message), frame, sent.is_update),
            (_, None) => {
                if sent.is_update {
                    self.streams
                        .for_session(session_of(&message))
                        .give_up_place();
                }
                true
            }
        };
        if !is_taken {
            self.close();
        }
    }

    fn answer(&self, answer: &RawJsonRpcResponse, message: RawJsonRpcMessage, frame: String) {
        let (id, is_good) = match answer {
            RawJsonRpcResponse::Result { id, .. } => (id, true),
            RawJsonRpcResponse::Error { id, .. } => (id, false),
        };
        let mut state = self.state();
        if state.first.as_ref().is_some_and(|(first, _)| first == id)
            && let Some((_, waiting)) = state.first.take()
        {
            // Whoever gave up waiting has closed the connection as well.
            let _ = waiting.send(message);
            return;
        }
        let route = state.routes.take(id);
        drop(state);
        let outbox = self.streams.for_answer(route, is_good);
        outbox.push(frame, false);
        if outbox.is_lost() {
            self.close();
        }
    }

    /// Resolves when there was neither a stream nor a request for that long.
    async fn is_unused(&self, idle: std::time::Duration) {
        let mut readers = self.streams.readers();
        loop {
            if readers.wait_for(|readers| *readers == 0).await.is_err() {
                return;
            }
            let end = Instant::now() + idle;
            tokio::select! {
                () = sleep_until(end) => return,
                () = self.heard.notified() => {}
                _ = readers.wait_for(|readers| *readers > 0) => {}
            }
        }
    }

    async fn is_closed(&self) {
        loop {
            let mut woken = std::pin::pin!(self.closed.notified());
            woken.as_mut().enable();
            if self.state().is_closed {
                return;
            }
            woken.await;
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An id that nobody can guess.
pub(super) fn new_id() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
