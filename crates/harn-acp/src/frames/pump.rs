//! Moves messages between the SDK's connection and a transport.

use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use agent_client_protocol::{ConnectionDriver, RawJsonRpcMessage, TransportFrame};
use futures_channel::mpsc::{UnboundedReceiver, UnboundedSender};
use futures_util::{FutureExt, StreamExt};

use super::gate::message_of;
use super::{End, Gate, Outbox};

/// Messages that the agent may have before it, until no more are read.
const WAITING_MAX: usize = 1024;
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Where messages of the peer go in. Closing it tells the agent that the peer has left.
pub(crate) struct Inlet(Mutex<Option<UnboundedSender<TransportFrame>>>);

impl Inlet {
    pub(crate) fn new(sender: UnboundedSender<TransportFrame>) -> Self {
        Self(Mutex::new(Some(sender)))
    }

    /// Hands a message to the agent; `false` if it takes none any more.
    pub(crate) fn send(&self, message: RawJsonRpcMessage) -> bool {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sender.as_ref().is_some_and(|sender| {
            sender
                .unbounded_send(TransportFrame::Single(message))
                .is_ok()
        })
    }

    /// Waits while the agent has much to take in. The queue of the SDK has no end and cannot
    /// say when there is room, so this looks again after a moment.
    pub(crate) async fn ready(&self) {
        while self.waiting() > WAITING_MAX {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    fn waiting(&self) -> usize {
        let sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sender.as_ref().map_or(0, UnboundedSender::len)
    }

    /// The peer has left.
    pub(crate) fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Runs the agent's side of a connection to its end, and hands each of its messages to `out`.
/// A panic is an end like any other.
pub(crate) async fn drive(
    mut messages: UnboundedReceiver<TransportFrame>,
    driver: Option<ConnectionDriver>,
    mut out: impl FnMut(RawJsonRpcMessage),
) {
    let mut driver = driver.map(|driver| Box::pin(AssertUnwindSafe(driver).catch_unwind()));
    loop {
        tokio::select! {
            biased;
            message = messages.next() => match message {
                Some(frame) => {
                    if let Some(message) = message_of(frame) {
                        out(message);
                    }
                }
                None => break,
            },
            ended = async { driver.as_mut().expect("polled only while there is one").await },
                if driver.is_some() =>
            {
                report(ended);
                driver = None;
                messages.close();
            }
        }
    }
    if let Some(driver) = driver {
        report(driver.await);
    }
}

fn report(ended: std::thread::Result<Result<(), agent_client_protocol::Error>>) {
    match ended {
        Ok(Ok(())) => {}
        // Its text may quote a frame.
        Ok(Err(error)) => tracing::warn!(code = ?error.code, "a connection ended with an error"),
        Err(_) => tracing::error!("a connection ended with a panic"),
    }
}

/// Runs the agent's side towards one outbox. Whatever ends the agent, each request that it
/// left open gets an answer.
pub(crate) async fn drive_into_outbox(
    messages: UnboundedReceiver<TransportFrame>,
    driver: Option<ConnectionDriver>,
    gate: &Gate,
    outbox: &Outbox,
    inlet: &Inlet,
) {
    let out = |message: RawJsonRpcMessage| {
        if let Some(answer) = gate.send(&message).into_outbox(outbox) {
            inlet.send(answer);
        }
    };
    drive(messages, driver, out).await;
    for answer in gate.answer_the_rest() {
        outbox.push(answer, false);
    }
    outbox.end(End::Finished);
}
