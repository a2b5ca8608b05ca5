//! Questions of programs to people, which the event log carries.
//!
//! `ask_user` and its like write a request to the log and wait for the record of a response, so
//! whoever reads and writes the same log can answer. We do while a turn runs.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};

use futures_core::Stream;
use harn_log::{AnyEventLog, EventLog, EventStream, LogError, LogEvent, Topic, block_on};
use serde_json::Value;
use tokio::sync::oneshot;

use super::asked::{Asked, Request, RequestKind};
use super::shared::{Shared, State};

/// The record that a response is.
const RESPONDED: &str = "hitl.response_received";

/// Who answers. The program may want to know.
pub(super) struct People {
    log: Arc<AnyEventLog>,
    name: String,
    /// Closed when nobody is to look for requests any more.
    leaving: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for People {
    /// Leaves nobody behind who has the log open.
    fn drop(&mut self) {
        drop(self.leaving.take());
        if let Some(thread) = self.thread.take() {
            let _a_panic_was_reported_there = thread.join();
        }
    }
}

impl People {
    /// Begins to look for requests.
    ///
    /// # Errors
    /// The log cannot be read, or there can be no thread.
    pub(super) fn new(
        log: Arc<AnyEventLog>,
        name: Option<String>,
        shared: Shared,
    ) -> Result<Self, LogError> {
        let mut topics = Vec::new();
        for kind in RequestKind::ALL {
            let topic = Topic::new(kind.topic())?;
            let latest = block_on(log.latest(&topic))?;
            let stream = block_on(Arc::clone(&log).subscribe(&topic, latest))?;
            topics.push((kind, stream));
        }
        let (leaving, left) = oneshot::channel();
        let thread = thread::Builder::new().name("harn-people".to_owned());
        let thread = thread.spawn(move || block_on(watch(topics, left, shared)))?;
        Ok(Self {
            log,
            name: name.unwrap_or_else(|| "user".to_owned()),
            leaving: Some(leaving),
            thread: Some(thread),
        })
    }

    /// Answers a request with a text.
    ///
    /// # Errors
    /// The log does not take it.
    pub(super) fn answer(&self, request: &Request, text: &str) -> Result<(), LogError> {
        self.respond(request, request.answer(text, &self.name))
    }

    /// Agrees to a request, or does not.
    ///
    /// # Errors
    /// The log does not take it.
    pub(super) fn decide(&self, request: &Request, agreed: bool) -> Result<(), LogError> {
        self.respond(request, request.decide(agreed, &self.name))
    }

    fn respond(&self, request: &Request, payload: Value) -> Result<(), LogError> {
        let topic = Topic::new(request.kind.topic())?;
        let response = LogEvent {
            headers: BTreeMap::new(),
            ..LogEvent::new(RESPONDED, payload)
        };
        block_on(self.log.append(&topic, response))?;
        Ok(())
    }
}

async fn watch(
    mut topics: Vec<(RequestKind, EventStream)>,
    mut left: oneshot::Receiver<()>,
    shared: Shared,
) {
    while let Some((kind, event)) = poll_fn(|cx| poll_next(&mut topics, &mut left, cx)).await {
        shared.change(|state| see(state, kind, &event));
    }
}

/// The next record of any topic; nothing once no topic can be read, or nobody wants to.
fn poll_next(
    topics: &mut Vec<(RequestKind, EventStream)>,
    left: &mut oneshot::Receiver<()>,
    cx: &mut Context<'_>,
) -> Poll<Option<(RequestKind, LogEvent)>> {
    if Pin::new(left).poll(cx).is_ready() {
        return Poll::Ready(None);
    }
    let mut at = 0;
    while let Some((kind, stream)) = topics.get_mut(at) {
        match Pin::new(stream).poll_next(cx) {
            Poll::Ready(Some(Ok((_, event)))) => return Poll::Ready(Some((*kind, event))),
            Poll::Ready(_) => drop(topics.remove(at)),
            Poll::Pending => at += 1,
        }
    }
    match topics.is_empty() {
        true => Poll::Ready(None),
        false => Poll::Pending,
    }
}

/// A request is shown while a turn runs, and until somebody has answered.
fn see(state: &mut State, kind: RequestKind, event: &LogEvent) {
    if event.kind == kind.asked() {
        if let Some(request) = Request::read(kind, &event.payload)
            && state.view.turn().is_some()
        {
            state.asked.push_back(Asked::Request(request));
        }
        return;
    }
    let id = event.payload["request_id"].as_str();
    state.asked.retain(|asked| match asked {
        Asked::Request(request) => Some(&*request.id) != id,
        Asked::Permission(_) => true,
    });
}
