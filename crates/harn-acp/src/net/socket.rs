//! A connection over a web socket: one message a text frame.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use harn_listen::Caller;
use tokio::sync::Notify;
use tokio_tungstenite::tungstenite;

use super::Network;
use super::connection::new_id;
use super::http;
use super::hub::{Hub, Place};
use crate::frames::{End, Gate, Inlet, Outbox, Room, Verdict, drive_into_outbox};

const CLOSE_WITHIN: Duration = Duration::from_secs(1);

/// The codes of RFC 6455 for why a socket is closed.
mod code {
    pub(super) const NORMAL: u16 = 1000;
    pub(super) const GOING_AWAY: u16 = 1001;
    pub(super) const POLICY: u16 = 1008;
    pub(super) const TOO_LARGE: u16 = 1009;
}

/// Opens a web socket, or an event stream if none was asked for.
pub(super) async fn get_or_stream(
    State(hub): State<Arc<Hub>>,
    caller: Option<Extension<Caller>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
    headers: HeaderMap,
) -> Response {
    let caller = caller.map_or_else(Caller::anybody, |caller| caller.0);
    let Ok(upgrade) = upgrade else {
        return http::stream(&hub, &caller, &headers);
    };
    let Some(place) = hub.place(&caller) else {
        return http::too_many("too many connections are open");
    };
    let max = hub.settings.frames.frame_in_bytes_max;
    let upgrade = upgrade.max_message_size(max).max_frame_size(max);
    let mut response = upgrade.on_upgrade(move |socket| run(socket, hub, place, caller));
    if let Ok(id) = HeaderValue::try_from(new_id()) {
        response.headers_mut().insert(http::CONNECTION_ID, id);
    }
    response
}

/// What the parts of one socket share.
struct Shared {
    gate: Gate,
    inlet: Inlet,
    outbox: Outbox,
    settings: Network,
    /// A ping is due.
    ping: Notify,
    /// A pong came.
    pong: Notify,
    /// What to say at the end.
    farewell: Mutex<Farewell>,
}

/// Why a socket is closed, by us or by the client.
#[derive(Clone, Copy)]
struct Farewell {
    code: u16,
    reason: &'static str,
}

impl Default for Farewell {
    fn default() -> Self {
        Self {
            code: code::NORMAL,
            reason: "",
        }
    }
}

impl Farewell {
    fn of(end: End) -> Self {
        match end {
            End::Finished | End::Left => Self::default(),
            End::TooSlow => Self {
                code: code::POLICY,
                reason: "too many messages lie unread",
            },
        }
    }
}

async fn run(socket: WebSocket, hub: Arc<Hub>, place: Place, caller: Caller) {
    let limits = hub.settings.frames;
    let outbox = Outbox::new(limits, Arc::clone(&hub.counters));
    let (channel, driver) = hub.connect(Arc::new(outbox.clone()) as Arc<dyn Room>, &caller);
    let (from_agent, to_agent) = channel.into_parts();
    let shared = Shared {
        gate: Gate::new(limits, Arc::clone(&hub.counters)),
        inlet: Inlet::new(to_agent),
        outbox,
        settings: hub.settings.clone(),
        ping: Notify::new(),
        pong: Notify::new(),
        farewell: Mutex::default(),
    };
    let Shared {
        gate,
        inlet,
        outbox,
        ..
    } = &shared;
    let (sink, stream) = socket.split();
    let reading = async {
        let farewell = tokio::select! {
            farewell = read(stream, &shared) => farewell,
            end = outbox.ended() => Farewell::of(end),
            () = hub.is_stopping() => Farewell { code: code::GOING_AWAY, reason: "" },
            () = heartbeat(&shared) => {
                outbox.end(End::Left);
                Farewell { code: code::POLICY, reason: "no pong came" }
            }
        };
        *lock(&shared.farewell) = farewell;
        outbox.closing();
        inlet.close();
    };
    let driving = drive_into_outbox(from_agent, driver, gate, outbox, inlet);
    tokio::join!(reading, driving, write(sink, &shared));
    drop(place);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn read(mut stream: SplitStream<WebSocket>, shared: &Shared) -> Farewell {
    let Shared {
        gate,
        inlet,
        outbox,
        ..
    } = shared;
    while let Some(message) = stream.next().await {
        match message {
            Ok(Message::Text(text)) => match gate.accept(text.as_bytes()) {
                Verdict::Pass(message) => {
                    inlet.send(message);
                    inlet.ready().await;
                }
                Verdict::Answer(answer) => {
                    outbox.push(answer, false);
                }
                Verdict::Dropped => {}
            },
            Ok(Message::Binary(_)) => {
                outbox.push(gate.refuse_binary(), false);
            }
            Ok(Message::Pong(_)) => shared.pong.notify_one(),
            // Answered by the library.
            Ok(Message::Ping(_)) => {}
            Ok(Message::Close(_)) => break,
            Err(error) if is_too_large(&error) => {
                // What comes next is the middle of the frame, so there is no going on.
                outbox.push(gate.refuse_large(), false);
                return Farewell {
                    code: code::TOO_LARGE,
                    reason: "the frame is too large",
                };
            }
            Err(_) => {
                outbox.end(End::Left);
                break;
            }
        }
    }
    Farewell::default()
}

fn is_too_large(error: &axum::Error) -> bool {
    let source = std::error::Error::source(error);
    let source = source.and_then(|source| source.downcast_ref::<tungstenite::Error>());
    matches!(source, Some(tungstenite::Error::Capacity(_)))
}

/// Resolves when the client did not answer a ping in time.
async fn heartbeat(shared: &Shared) {
    loop {
        tokio::time::sleep(shared.settings.ping_every).await;
        // One that came unasked says nothing about now.
        let stale = shared.pong.notified();
        let _ = futures_util::FutureExt::now_or_never(stale);
        shared.ping.notify_one();
        let pong = tokio::time::timeout(shared.settings.pong_within, shared.pong.notified());
        if pong.await.is_err() {
            return;
        }
    }
}

/// Writes until there is nothing more to write, or nobody to read it; then says why it ends.
async fn write(mut sink: SplitSink<WebSocket, Message>, shared: &Shared) {
    let outbox = &shared.outbox;
    tokio::select! {
        () = write_frames(&mut sink, shared) => {}
        () = outbox.lost() => {}
        () = outbox.last_words() => {}
    }
    let Farewell { code, reason } = *lock(&shared.farewell);
    let frame = CloseFrame {
        code,
        reason: reason.into(),
    };
    let closing = sink.send(Message::Close(Some(frame)));
    // Whoever does not read does not get it.
    let _ = tokio::time::timeout(CLOSE_WITHIN, closing).await;
}

async fn write_frames(sink: &mut SplitSink<WebSocket, Message>, shared: &Shared) {
    loop {
        let message = tokio::select! {
            biased;
            () = shared.ping.notified() => Message::Ping(Vec::new().into()),
            frame = shared.outbox.next() => match frame {
                Some(frame) => Message::Text(frame.into()),
                None => return,
            },
        };
        if sink.send(message).await.is_err() {
            return shared.outbox.end(End::Left);
        }
    }
}
