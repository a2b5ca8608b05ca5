//! What may pass between a peer and the SDK's connection.
//!
//! The gate knows which requests are open in either direction. So it can refuse a second
//! request with an id that is in use, drop answers to questions nobody asked, say "too many"
//! before anything piles up, and, when the agent is gone, answer what it left open.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::{
    Error, RawJsonRpcId, RawJsonRpcMessage, RawJsonRpcParams, RawJsonRpcResponse, TransportFrame,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::envelope::{self, Envelope, Fault, Id, Refusal, WireError};
use super::{Counters, Limits, Outbox};

/// The gate of one connection.
pub(crate) struct Gate {
    limits: Limits,
    counters: Arc<Counters>,
    open: Mutex<Open>,
}

/// What becomes of a frame of the peer.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// It is a message for the agent.
    Pass(RawJsonRpcMessage),
    /// It is not for the agent, and the peer gets this frame for it.
    Answer(String),
    /// It was counted and dropped.
    Dropped,
}

#[derive(Default)]
struct Open {
    /// Requests of the peer that the agent has not answered.
    of_peer: HashSet<RawJsonRpcId>,
    /// Requests of the agent that the peer has not answered.
    of_agent: HashSet<RawJsonRpcId>,
    /// Frames that were no JSON, since the last one that was.
    unparsable_in_a_row: u32,
}

/// A notification as it is written.
#[derive(Serialize)]
struct Notice<'a> {
    jsonrpc: &'static str,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawJsonRpcParams>,
}

/// A message as it is written. The SDK copies a message before it writes it; most are
/// notifications, and need not be copied.
fn text_of(message: &RawJsonRpcMessage) -> serde_json::Result<String> {
    match message {
        RawJsonRpcMessage::Notification(notification) => serde_json::to_string(&Notice {
            jsonrpc: "2.0",
            method: &notification.method,
            params: notification.params.as_ref(),
        }),
        message => serde_json::to_string(message),
    }
}

/// How long a peer that is refused for overload should wait.
const RETRY_AFTER_MS: u64 = 1000;

impl Gate {
    pub(crate) fn new(limits: Limits, counters: Arc<Counters>) -> Self {
        Self {
            limits,
            counters,
            open: Mutex::default(),
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Judges a frame of the peer.
    pub(crate) fn accept(&self, frame: &[u8]) -> Verdict {
        let read = envelope::read(frame, self.limits.depth_max);
        self.note_parsing(&read);
        match read {
            Ok(Envelope::Request { id, method, params }) => self.accept_request(id, method, params),
            Ok(Envelope::Notification { method, params }) => {
                self.counters.accepted.add();
                pass(RawJsonRpcMessage::notification(method, params))
            }
            Ok(Envelope::Response { id, outcome }) => self.accept_response(id, outcome),
            Err(refusal) => self.refuse(refusal),
        }
    }

    /// What to say of a frame that was too large to be read.
    pub(crate) fn refuse_large(&self) -> String {
        self.counters.too_large.add();
        let limit = self.limits.frame_in_bytes_max;
        let message = format!("the frame is larger than {limit} bytes");
        let data = json!({"limitBytes": limit});
        envelope::error_answer(None, envelope::INVALID_REQUEST, &message, Some(data))
    }

    /// What to say of a frame of bytes where text is due.
    pub(crate) fn refuse_binary(&self) -> String {
        self.counters.invalid.add();
        let message = "messages are text frames, not binary ones";
        envelope::error_answer(None, envelope::INVALID_REQUEST, message, None)
    }

    /// Frames that were no JSON, one after the other.
    pub(crate) fn unparsable_in_a_row(&self) -> u32 {
        self.open().unparsable_in_a_row
    }

    /// Whether the agent waits for an answer of the peer.
    #[cfg(test)]
    pub(crate) fn awaits_peer(&self) -> bool {
        !self.open().of_agent.is_empty()
    }

    /// Puts what the agent says into words for the peer.
    ///
    /// A frame that is too large is not sent. Instead of an answer the peer gets an error; an
    /// agent that asked too large a question is answered itself, by what is returned beside.
    pub(crate) fn send(&self, message: &RawJsonRpcMessage) -> Sent {
        let text = text_of(message).unwrap_or_default();
        let fits = !text.is_empty() && text.len() <= self.limits.frame_out_bytes_max;
        if !fits {
            self.counters.unsendable.add();
        }
        let mut open = self.open();
        match message {
            RawJsonRpcMessage::Request(request) if fits => {
                open.of_agent.insert(request.id.clone());
                Sent::frame(text)
            }
            RawJsonRpcMessage::Request(request) => Sent {
                frame: None,
                is_update: false,
                answer_to_agent: Some(RawJsonRpcMessage::response(
                    request.id.clone(),
                    Err(self.too_large_to_send()),
                )),
            },
            RawJsonRpcMessage::Notification(_) => Sent {
                frame: fits.then_some(text),
                is_update: true,
                answer_to_agent: None,
            },
            RawJsonRpcMessage::Response(response) => {
                let (RawJsonRpcResponse::Result { id, .. } | RawJsonRpcResponse::Error { id, .. }) =
                    response;
                open.of_peer.remove(id);
                if fits {
                    return Sent::frame(text);
                }
                let error = RawJsonRpcMessage::response(id.clone(), Err(self.too_large_to_send()));
                Sent::frame(serde_json::to_string(&error).unwrap_or_default())
            }
        }
    }

    /// A request that was accepted will not be handed on after all.
    pub(crate) fn forget(&self, request: &RawJsonRpcMessage) {
        if let RawJsonRpcMessage::Request(request) = request {
            self.open().of_peer.remove(&request.id);
        }
    }

    /// The agent is gone: answers every request that it left open.
    pub(crate) fn answer_the_rest(&self) -> Vec<String> {
        let left: Vec<_> = self.open().of_peer.drain().collect();
        let answer = |id| {
            let error = Error::internal_error().data(json!({"reason": "the agent has ended"}));
            serde_json::to_string(&RawJsonRpcMessage::response(id, Err(error))).unwrap_or_default()
        };
        left.into_iter().map(answer).collect()
    }

    fn accept_request(&self, id: Id, method: String, params: Value) -> Verdict {
        let mut open = self.open();
        if open.of_peer.len() >= self.limits.requests_max {
            self.counters.overload.add();
            let data = json!({"retryAfterMs": RETRY_AFTER_MS});
            let message = "too many requests are open on this connection";
            return Verdict::Answer(envelope::error_answer(
                Some(&id),
                envelope::INTERNAL_ERROR,
                message,
                Some(data),
            ));
        }
        if !open.of_peer.insert(raw_id(&id)) {
            self.counters.invalid.add();
            let message = "a request with this `id` is still open";
            return Verdict::Answer(envelope::error_answer(
                Some(&id),
                envelope::INVALID_REQUEST,
                message,
                None,
            ));
        }
        self.counters.accepted.add();
        pass(RawJsonRpcMessage::request(method, params, raw_id(&id)))
    }

    fn accept_response(&self, id: Id, outcome: Result<Value, WireError>) -> Verdict {
        let id = raw_id(&id);
        if !self.open().of_agent.remove(&id) {
            self.counters.answers_dropped.add();
            return Verdict::Dropped;
        }
        self.counters.accepted.add();
        let outcome = outcome.map_err(|error| {
            let raised = Error::new(error.code, error.message);
            match error.data {
                Some(data) => raised.data(data),
                None => raised,
            }
        });
        Verdict::Pass(RawJsonRpcMessage::response(id, outcome))
    }

    fn refuse(&self, refusal: Refusal) -> Verdict {
        match refusal {
            Refusal::BrokenNotification => self.counters.notifications_dropped.add(),
            Refusal::BrokenResponse => self.counters.answers_dropped.add(),
            Refusal::Answer { id, fault } => {
                self.count(fault);
                let answer =
                    envelope::error_answer(id.as_ref(), fault.code(), fault.message(), None);
                return Verdict::Answer(answer);
            }
        }
        Verdict::Dropped
    }

    fn count(&self, fault: Fault) {
        match fault {
            Fault::NotUtf8 | Fault::NotJson => self.counters.unparsable.add(),
            Fault::TooDeep => self.counters.too_deep.add(),
            _ => self.counters.invalid.add(),
        }
    }

    fn note_parsing(&self, read: &Result<Envelope, Refusal>) {
        let is_unparsable = matches!(
            read,
            Err(Refusal::Answer { fault, .. }) if fault.code() == envelope::PARSE_ERROR
        );
        let mut open = self.open();
        open.unparsable_in_a_row = if is_unparsable {
            open.unparsable_in_a_row.saturating_add(1)
        } else {
            0
        };
    }

    fn too_large_to_send(&self) -> Error {
        let limit = self.limits.frame_out_bytes_max;
        Error::internal_error().data(json!({
            "reason": "the message is too large to send",
            "limitBytes": limit,
        }))
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What to do with a message of the agent.
pub(crate) struct Sent {
    /// The frame for the peer, if there is one.
    pub(crate) frame: Option<String>,
    /// Whether somebody asked for room before saying it.
    pub(crate) is_update: bool,
    /// What the agent is told instead.
    pub(crate) answer_to_agent: Option<RawJsonRpcMessage>,
}

impl Sent {
    fn frame(frame: String) -> Self {
        Self {
            frame: Some(frame),
            is_update: false,
            answer_to_agent: None,
        }
    }

    /// Puts the frame into the outbox.
    pub(crate) fn into_outbox(self, outbox: &Outbox) -> Option<RawJsonRpcMessage> {
        match self.frame {
            Some(frame) => {
                outbox.push(frame, self.is_update);
            }
            None if self.is_update => outbox.give_up_place(),
            None => {}
        }
        self.answer_to_agent
    }
}

/// The message inside a frame of the SDK, which never makes a malformed one itself.
pub(crate) fn message_of(frame: TransportFrame) -> Option<RawJsonRpcMessage> {
    match frame {
        TransportFrame::Single(message) => Some(message),
        _ => None,
    }
}

fn pass(message: Result<RawJsonRpcMessage, Error>) -> Verdict {
    Verdict::Pass(message.expect("parameters were checked to be an object, a list or nothing"))
}

fn raw_id(id: &Id) -> RawJsonRpcId {
    match id {
        Id::Number(number) => RawJsonRpcId::Number(*number),
        Id::Text(text) => RawJsonRpcId::Str(text.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_is_written_as_the_sdk_writes_it() {
        for params in [Value::Null, json!([1]), json!({"b": {"c": 1}, "a": "\n"})] {
            let message = RawJsonRpcMessage::notification("session/update".to_owned(), params);
            let message = message.unwrap();
            let ours = text_of(&message).unwrap();
            assert_eq!(ours, serde_json::to_string(&message).unwrap());
        }
    }
}
