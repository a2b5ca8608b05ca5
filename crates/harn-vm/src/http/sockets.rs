//! Open web sockets, whoever opened them.
//!
//! ```text
//! program ── SendMessage ──► outgoing (bounded) ──► writer ──► ┐
//!                                                  ▲ close     │ connection
//! program ◄─ ReceiveMessage ◄ incoming (bounded) ◄─┴─ reader ◄─┘
//! ```
//!
//! Reading and writing are two tasks, so that a peer that does not read cannot keep us from
//! reading. When a program does not take what arrives, the reader stops and the peer has to
//! wait. Questions whether we are there are answered by the protocol itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use harn_machine::{NetAnswer, NetFailure, NetFailureKind, SocketMessage};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Error;

use super::exchange::Limits;
use super::failure::failure;
use super::message::{from_wire, to_wire};

/// How many messages wait for a program to take them.
const INCOMING_MESSAGES_MAX: usize = 64;

/// How many messages wait to be written, if nobody says.
const OUTGOING_MESSAGES_MAX: usize = 64;

/// How long saying farewell may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// What a socket may do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SocketLimits {
    /// How many messages wait to be written before another fails; `None`: another waits.
    pub(crate) outgoing_max: Option<usize>,
    /// How long nothing may go either way.
    pub(crate) idle: Option<Duration>,
}

/// The open sockets of a program.
#[derive(Default)]
pub(crate) struct Sockets(StdMutex<Table>);

#[derive(Default)]
struct Table {
    sockets: HashMap<u64, Socket>,
    /// How many were opened.
    count: u64,
}

#[derive(Clone)]
struct Socket {
    outgoing: mpsc::Sender<Outgoing>,
    incoming: Arc<Mutex<mpsc::Receiver<Incoming>>>,
    limits: SocketLimits,
    tasks: [AbortHandle; 2],
}

/// A message to be written, and who wants to know that it was.
struct Outgoing {
    message: SocketMessage,
    written: Option<oneshot::Sender<bool>>,
}

type Incoming = Result<SocketMessage, NetFailure>;

/// When something last went either way.
type Activity = Arc<StdMutex<Instant>>;

impl Sockets {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over a socket that is open; gives its number. Must be called by a task.
    pub(crate) fn adopt<S>(&self, stream: WebSocketStream<S>, limits: SocketLimits) -> u64
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sink, stream) = stream.split();
        let places = limits.outgoing_max.unwrap_or(OUTGOING_MESSAGES_MAX);
        let (outgoing, to_write) = mpsc::channel(places.max(1));
        let (arrived, incoming) = mpsc::channel(INCOMING_MESSAGES_MAX);
        let (hang_up, hung_up) = oneshot::channel();
        let activity: Activity = Arc::new(StdMutex::new(Instant::now()));
        let writer = tokio::spawn(write(sink, to_write, hung_up, activity.clone()));
        let reader = tokio::spawn(read(stream, arrived, hang_up, activity, limits.idle));
        let socket = Socket {
            outgoing,
            incoming: Arc::new(Mutex::new(incoming)),
            limits,
            tasks: [writer.abort_handle(), reader.abort_handle()],
        };
        let mut table = self.table();
        table.count += 1;
        let number = table.count;
        table.sockets.insert(number, socket);
        number
    }

    fn socket(&self, number: u64) -> Option<Socket> {
        self.table().sockets.get(&number).cloned()
    }

    /// Sends a message; whether the socket is still open.
    pub(super) async fn send(
        &self,
        number: u64,
        message: SocketMessage,
    ) -> Result<NetAnswer, NetFailure> {
        let Some(socket) = self.socket(number) else {
            return Ok(NetAnswer::Sent(false));
        };
        let sent = match socket.limits.outgoing_max {
            Some(places) => socket.queue(message, places)?,
            None => socket.write(message).await,
        };
        Ok(NetAnswer::Sent(sent))
    }

    /// The next message.
    pub(super) async fn receive(
        &self,
        number: u64,
        limits: &Limits,
    ) -> Result<NetAnswer, NetFailure> {
        let Some(socket) = self.socket(number) else {
            return Ok(NetAnswer::Message(None));
        };
        let next = async { socket.incoming.lock().await.recv().await };
        match limits.wait(next).await {
            Err(_) => Ok(NetAnswer::Nothing),
            Ok(None) => Ok(NetAnswer::Message(None)),
            Ok(Some(message)) => message.map(|message| NetAnswer::Message(Some(message))),
        }
    }

    /// Says farewell and closes a socket.
    pub(super) async fn close(&self, number: u64) -> Result<NetAnswer, NetFailure> {
        let socket = self.table().sockets.remove(&number);
        if let Some(socket) = socket {
            let farewell = socket.write(SocketMessage::Close(None));
            let _peer_may_not_listen = timeout(FAREWELL, farewell).await;
            socket.tasks.iter().for_each(AbortHandle::abort);
        }
        Ok(NetAnswer::Sent(true))
    }
}

impl Socket {
    /// Leaves a message to be written, if there is room.
    fn queue(&self, message: SocketMessage, places: usize) -> Result<bool, NetFailure> {
        let full = || failure(NetFailureKind::Full, "send buffer full");
        if places == 0 {
            return Err(full());
        }
        let outgoing = Outgoing {
            message,
            written: None,
        };
        match self.outgoing.try_send(outgoing) {
            Ok(()) => Ok(true),
            Err(mpsc::error::TrySendError::Full(_)) => Err(full()),
            Err(mpsc::error::TrySendError::Closed(_)) => Ok(false),
        }
    }

    /// Waits until a message is written.
    async fn write(&self, message: SocketMessage) -> bool {
        let (written, was_written) = oneshot::channel();
        let outgoing = Outgoing {
            message,
            written: Some(written),
        };
        self.outgoing.send(outgoing).await.is_ok() && was_written.await.unwrap_or(false)
    }
}

/// Writes what is to be written until the socket is closed.
async fn write<S>(
    mut sink: SplitSink<WebSocketStream<S>, tokio_tungstenite::tungstenite::Message>,
    mut to_write: mpsc::Receiver<Outgoing>,
    mut hung_up: oneshot::Receiver<SocketMessage>,
    activity: Activity,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        let Outgoing { message, written } = tokio::select! {
            biased;
            farewell = &mut hung_up => {
                if let Ok(farewell) = farewell {
                    let _peer_may_be_gone = timeout(FAREWELL, sink.send(to_wire(farewell))).await;
                }
                return;
            }
            outgoing = to_write.recv() => match outgoing {
                Some(outgoing) => outgoing,
                None => return,
            },
        };
        let is_last = matches!(message, SocketMessage::Close(_));
        let sent = sink.send(to_wire(message)).await.is_ok();
        note(&activity);
        if let Some(written) = written {
            let _nobody_may_wait = written.send(sent);
        }
        if is_last || !sent {
            return;
        }
    }
}

/// Reads what arrives until the socket is closed, and lets the writer say why if we close it.
async fn read<S>(
    mut stream: SplitStream<WebSocketStream<S>>,
    arrived: mpsc::Sender<Incoming>,
    hang_up: oneshot::Sender<SocketMessage>,
    activity: Activity,
    idle: Option<Duration>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        // Nothing is read that nobody has room for.
        let Ok(place) = arrived.reserve().await else {
            return;
        };
        let Ok(message) = within(idle, &activity, stream.next()).await else {
            let farewell = SocketMessage::Close(Some((1001, "idle timeout".to_owned())));
            let _writer_may_be_gone = hang_up.send(farewell);
            return;
        };
        note(&activity);
        match message {
            Some(Ok(message)) => match from_wire(message) {
                None => {}
                Some(message) => {
                    let is_last = matches!(message, SocketMessage::Close(_));
                    place.send(Ok(message));
                    if is_last {
                        // The protocol has answered already; this sends what it said.
                        let _peer_may_be_gone = timeout(FAREWELL, stream.next()).await;
                        return;
                    }
                }
            },
            Some(Err(Error::Capacity(error))) => {
                place.send(Err(failure(NetFailureKind::Message, error.to_string())));
                let farewell = SocketMessage::Close(Some((1009, "message too big".to_owned())));
                let _writer_may_be_gone = hang_up.send(farewell);
                return;
            }
            Some(Err(_)) | None => return,
        }
    }
}

/// Waits for something as long as the socket is not idle.
async fn within<T>(
    idle: Option<Duration>,
    activity: &Activity,
    work: impl Future<Output = T>,
) -> Result<T, ()> {
    let Some(idle) = idle else {
        return Ok(work.await);
    };
    tokio::pin!(work);
    loop {
        let last = *activity.lock().unwrap_or_else(PoisonError::into_inner);
        let until = last + idle;
        if let Ok(done) = tokio::time::timeout_at(until, &mut work).await {
            return Ok(done);
        }
        // What was written meanwhile counts too.
        if *activity.lock().unwrap_or_else(PoisonError::into_inner) == last {
            return Err(());
        }
    }
}

fn note(activity: &Activity) {
    *activity.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
}
