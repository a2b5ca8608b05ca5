//! Questions that the runtime puts to people for somebody who cannot, such as a server of tools.
//!
//! ```text
//! the same of a process that is gone? ─► record ─► `hitl_requested`, the host
//!      whoever answers first: the log, the host ─► record of the end ─► `hitl_resolved`
//! ```
//!
//! They are the same requests that programs make with `ask_user`, and they are found, answered
//! and taken up again in the same way. Nobody is asked where nobody would find the request.

use std::collections::{BTreeMap, HashMap};
use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_core::Stream;
use harn_log::{AnyEventLog, EventLog, EventStream, LogError, LogEvent, Topic};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::request::RequestState;
use super::{
    AskedPerson, NOTICE, Outcome, RESOLVED, RESPONDED, RESUMED, Request, RequestKind, Requests,
    headers, is_gone, notice, this_process,
};
use crate::moment::rfc3339;
use crate::runtime::Runtime;

/// How long people have.
const TIME_MS: i64 = 24 * 60 * 60 * 1000;

/// Who asks where no session does.
const PROGRAM: &str = "harn";

/// Where the log keeps waitpoints. Every request is one.
const WAITPOINTS: &str = "waitpoints";

/// What a runtime knows about asking people.
pub(crate) struct Asking {
    /// What the program is called in its requests; `None`: nobody would find them.
    program: Option<String>,
    /// How often the same was asked, by a digest: a server may ask a lot.
    occurrences: Mutex<HashMap<[u8; 32], usize>>,
    /// Held while a question is written down, so that of two that are the same only one takes
    /// up what a process that is gone has left behind.
    making: tokio::sync::Mutex<()>,
}

/// A question to people.
pub(crate) struct Question<'a> {
    /// What they read.
    pub(crate) prompt: String,
    /// What else there is to know.
    pub(crate) metadata: Value,
    /// The session that waits for the answer.
    pub(crate) session_id: Option<&'a str>,
}

/// What came of a question.
#[derive(Debug, PartialEq)]
pub(crate) enum Reply {
    /// Somebody has answered.
    Given(Value),
    /// Nobody has, in time.
    TimedOut,
    /// Somebody has taken the question away.
    Cancelled,
}

impl Asking {
    pub(crate) fn new(program: Option<String>) -> Self {
        Self {
            program,
            occurrences: Mutex::default(),
            making: tokio::sync::Mutex::default(),
        }
    }

    /// The headers of the record of a question.
    fn headers(&self, question: &Question<'_>, now_ms: i64) -> BTreeMap<String, String> {
        let Question {
            prompt,
            metadata,
            session_id,
        } = question;
        let same = Sha256::digest(format!("{session_id:?} {prompt} {metadata}"));
        let mut occurrences = self
            .occurrences
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let counted = occurrences.entry(same.into()).or_default();
        let program = self.program.clone().unwrap_or_default();
        let mut headers = BTreeMap::from([
            (headers::PROCESS.to_owned(), this_process()),
            (headers::PROGRAM.to_owned(), program),
            (headers::OCCURRENCE.to_owned(), counted.to_string()),
            (headers::DEADLINE.to_owned(), rfc3339(now_ms + TIME_MS)),
        ]);
        if let Some(session_id) = session_id {
            headers.insert(headers::SESSION.to_owned(), (*session_id).to_owned());
        }
        *counted += 1;
        headers
    }
}

impl Runtime {
    /// Whether a question would be found by anybody.
    pub(crate) fn reaches_people(&self) -> bool {
        self.asking.program.is_some() && self.keeper.is_some()
    }

    /// Asks people and waits for what they say. `tell` hears the id of the request.
    ///
    /// # Errors
    /// There is no log that keeps the question, or it does not work.
    ///
    /// # Cancel safety
    /// Dropping the future takes the question back.
    pub(crate) async fn ask_people(
        self: &Arc<Self>,
        question: Question<'_>,
        tell: impl FnOnce(&str),
    ) -> Result<Reply, LogError> {
        let log = self.keeper.as_ref().and_then(|keeper| keeper.log());
        let closed = || LogError::from(std::io::Error::other("the log is not open"));
        let log = log.ok_or_else(closed)?;
        let since = log.latest(&Topic::new(WAITPOINTS)?).await?;
        let mut open = Open::make(self, log, &question).await?;
        tell(open.request.id());
        open.announce().await;
        let reply = open.wait(log, since).await?;
        open.end(log, &reply).await;
        Ok(reply)
    }
}

/// The request that a question is. Nobody knows of it yet.
fn request(runtime: &Runtime, question: &Question<'_>, now_ms: i64) -> Request {
    let kind = RequestKind::Question;
    let headers = runtime.asking.headers(question, now_ms);
    let payload = json!({
        "request_id": format!("hitl_{kind}_{}", runtime.new_id()),
        "request_kind": kind.name(),
        "agent": question.session_id.unwrap_or(PROGRAM),
        "prompt": question.prompt,
        "trace_id": format!("trace_{}", runtime.new_id()),
        "timestamp": rfc3339(now_ms),
        "approvers": [],
        "metadata": question.metadata,
    });
    Request::new(kind, payload, headers)
}

/// The same request of a process that is gone, if there is one.
async fn left_behind(
    log: &AnyEventLog,
    request: &Request,
    now_ms: i64,
) -> Result<Option<Request>, LogError> {
    let mut known = Requests::default();
    known.read(log).await?;
    let mut all = known.all().into_iter();
    let earlier = all.find(|one| is_left_behind(one, request, now_ms));
    Ok(earlier.cloned())
}

/// Whether a process that is gone has asked the same, and nobody has acted on the answer. A
/// session goes on where it was; a program begins anew, so there the first is the first.
fn is_left_behind(earlier: &Request, request: &Request, now_ms: i64) -> bool {
    let names = match request.header(headers::SESSION) {
        Some(_) => &[headers::SESSION][..],
        None => &[headers::SESSION, headers::PROGRAM, headers::OCCURRENCE],
    };
    let asks_the_same = ["prompt", "metadata"]
        .iter()
        .all(|key| earlier.payload[key] == request.payload[key]);
    earlier.kind == request.kind
        && !matches!(earlier.state, RequestState::Over(_))
        && !earlier.is_late(now_ms)
        && names
            .iter()
            .all(|name| earlier.header(name) == request.header(name))
        && asks_the_same
        && earlier.header(headers::PROCESS).is_some_and(is_gone)
}

/// A question that somebody should answer. Dropped before its end, it is taken back.
struct Open<'a> {
    runtime: &'a Arc<Runtime>,
    request: Request,
    session_id: Option<&'a str>,
    /// Whether a process that is gone has asked it.
    is_earlier: bool,
    /// Says in the session what comes of it.
    asked: Option<AskedPerson>,
    /// Whether the host knows of it.
    is_announced: bool,
    is_over: bool,
}

impl<'a> Open<'a> {
    /// Writes a question down, or that somebody waits again for the same one of a process that
    /// is gone. It is there before its record is: nobody knows whether a record that nobody
    /// waits for any more was written, so it has to be taken back as well.
    async fn make(
        runtime: &'a Arc<Runtime>,
        log: &AnyEventLog,
        question: &Question<'a>,
    ) -> Result<Self, LogError> {
        let _alone = runtime.asking.making.lock().await;
        let now_ms = runtime.now_ms();
        let asked = request(runtime, question, now_ms);
        let topic = Topic::new(asked.kind.topic())?;
        let earlier = left_behind(log, &asked, now_ms).await?;
        let is_earlier = earlier.is_some();
        let mut open = Self {
            runtime,
            request: earlier.unwrap_or(asked),
            session_id: question.session_id,
            is_earlier,
            asked: None,
            is_announced: false,
            is_over: false,
        };
        let event_id = log.append_durable(&topic, open.record(now_ms)).await?;
        if !is_earlier {
            open.request.event_id = event_id;
        }
        Ok(open)
    }

    /// What is written down before anybody hears of it.
    fn record(&self, now_ms: i64) -> LogEvent {
        let request = &self.request;
        if self.is_earlier {
            let resumed = json!({"request_id": request.id()});
            return LogEvent::at(RESUMED, resumed, now_ms)
                .with_header(headers::PROCESS, this_process());
        }
        LogEvent::at(request.kind.asked(), request.payload.clone(), now_ms)
            .with_headers(request.headers.clone())
    }

    /// Lets everybody know who may want to.
    async fn announce(&mut self) {
        let (runtime, request) = (self.runtime, &self.request);
        self.asked = match self.session_id {
            None => None,
            Some(id) if self.is_earlier => Some(AskedPerson::ask_again(runtime, id, request).await),
            Some(id) => Some(AskedPerson::ask(runtime, id, request)),
        };
        if let Some(bridge) = &runtime.bridge {
            let redaction = runtime.bus.redaction_policy();
            bridge.notify(NOTICE, notice(request, self.session_id, &redaction));
            self.is_announced = true;
        }
        if let Some(session_id) = self.session_id {
            runtime.settle_session(session_id).await;
        }
    }

    /// Waits for whoever answers first.
    async fn wait(
        &self,
        log: &Arc<AnyEventLog>,
        since: Option<harn_log::EventId>,
    ) -> Result<Reply, LogError> {
        let (request, now_ms) = (&self.request, self.runtime.now_ms());
        let topic = Topic::new(request.kind.topic())?;
        let from = Some(request.event_id);
        let mut responses = Arc::clone(log).subscribe(&topic, from).await?;
        let points = Topic::new(WAITPOINTS)?;
        let mut points = Arc::clone(log).subscribe(&points, since).await?;
        let deadline = request.deadline().map(|at| at.timestamp_millis());
        let left = deadline.unwrap_or(now_ms).saturating_sub(now_ms);
        let left = Duration::from_millis(u64::try_from(left).unwrap_or_default());
        let (late, host) = (tokio::time::sleep(left), self.host_answers());
        tokio::pin!(late, host);
        loop {
            let reply = tokio::select! {
                event = next(&mut responses) => responded(&event?, request.id()),
                event = next(&mut points) => ended(&event?, request.id()),
                () = &mut late => return Ok(Reply::TimedOut),
                answer = &mut host => {
                    let said = LogEvent::at(RESPONDED, answer, self.runtime.now_ms());
                    let reply = responded(&said, request.id());
                    self.write(log, &topic, said).await;
                    reply
                }
            };
            if let Some(reply) = reply {
                return Ok(reply);
            }
        }
    }

    /// What the person of the host says.
    async fn host_answers(&self) -> Value {
        let Some(bridge) = &self.runtime.bridge else {
            return pending().await;
        };
        let mut response = bridge.person_answers(self.request.id()).await;
        if !response.is_object() {
            response = json!({"answer": response});
        }
        response["request_id"] = json!(self.request.id());
        response
    }

    /// Writes down what came of it, and lets everybody know.
    async fn end(mut self, log: &AnyEventLog, reply: &Reply) {
        let now_ms = self.runtime.now_ms();
        let outcome = match reply {
            Reply::Given(_) => {
                let over = self.ended("waitpoint.completed", Value::Null);
                self.write(log, &topic_of(WAITPOINTS), over).await;
                Outcome::Answered
            }
            Reply::TimedOut => {
                let payload = json!({"request_id": self.request.id(), "at": rfc3339(now_ms)});
                let late = LogEvent::at("hitl.timeout", payload, now_ms);
                let topic = topic_of(self.request.kind.topic());
                self.write(log, &topic, late).await;
                Outcome::TimedOut
            }
            // Whoever has taken it away has written that down.
            Reply::Cancelled => Outcome::Cancelled,
        };
        self.is_over = true;
        self.tell_host();
        if let Some(asked) = self.asked.take() {
            asked.resolve(outcome);
        }
        if let Some(session_id) = self.session_id {
            self.runtime.settle_session(session_id).await;
        }
    }

    /// Writes down what was said. It was said all the same if the log does not work: then it is
    /// written when the log does.
    async fn write(&self, log: &AnyEventLog, topic: &Topic, record: LogEvent) {
        if let Err(error) = log.append_durable(topic, record.clone()).await {
            tracing::warn!("what came of a request to people is not written yet: {error}");
            self.write_later(topic, record);
        }
    }

    fn write_later(&self, topic: &Topic, record: LogEvent) {
        if let Some(keeper) = &self.runtime.keeper
            && let Err(error) = keeper.put_event(topic, record)
        {
            tracing::warn!("a request to people stays open: {error}");
        }
    }

    /// The record of the end of its waitpoint.
    fn ended(&self, kind: &str, reason: Value) -> LogEvent {
        let now_ms = self.runtime.now_ms();
        let payload = json!({
            "id": self.request.id(),
            "at": rfc3339(now_ms),
            "by": null,
            "reason": reason,
            "value": null,
            "metadata": null,
        });
        LogEvent::at(kind, payload, now_ms)
    }

    /// The host need not ask anybody any more.
    fn tell_host(&self) {
        if let Some(bridge) = &self.runtime.bridge
            && self.is_announced
        {
            bridge.notify(RESOLVED, json!({"requestId": self.request.id()}));
        }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let over = self.ended("waitpoint.cancelled", json!("nobody waits any more"));
        self.write_later(&topic_of(WAITPOINTS), over);
        self.tell_host();
    }
}

fn topic_of(name: &str) -> Topic {
    Topic::new(name).expect("this is a name of a topic")
}

async fn next(events: &mut EventStream) -> Result<LogEvent, LogError> {
    match poll_fn(|context| Pin::new(&mut *events).poll_next(context)).await {
        Some(event) => event.map(|(_, event)| event),
        // The log is closed; whoever waits is woken by something else.
        None => pending().await,
    }
}

/// What an event of the topic says to a question, if it is an answer.
fn responded(event: &LogEvent, request_id: &str) -> Option<Reply> {
    let is_it = event.kind == RESPONDED && event.payload["request_id"] == request_id;
    is_it.then(|| Reply::Given(event.payload["answer"].clone()))
}

/// What an event about waitpoints says to a question. Who completes one with a value answers:
/// with a response, or with the answer alone.
fn ended(event: &LogEvent, request_id: &str) -> Option<Reply> {
    if event.payload["id"] != request_id {
        return None;
    }
    let value = &event.payload["value"];
    match &*event.kind {
        "waitpoint.cancelled" => Some(Reply::Cancelled),
        "waitpoint.completed" if !value.is_null() => {
            let answer = value.get("answer").unwrap_or(value);
            Some(Reply::Given(answer.clone()))
        }
        _ => None,
    }
}
