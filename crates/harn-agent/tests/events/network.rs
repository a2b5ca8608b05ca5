//! A network that says what the test wrote down.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use harn_agent::llm::transport::{Body, HttpAnswer, Later, TimeLimits, Transport};
use harn_agent::llm::wire::HttpRequest;
use harn_agent::llm::{Category, Error};
use serde_json::Value;

/// How long each piece takes: long enough for what grows to be told again.
const PACE_MS: u64 = 50;

/// An answer in pieces. One that is a category breaks the connection in that way.
type Answer = Vec<Result<String, Category>>;

/// Answers in the order they are asked for.
pub(crate) struct Network {
    answers: Mutex<VecDeque<Answer>>,
    /// Whether it says nothing at all.
    is_silent: AtomicBool,
    clock: Arc<AtomicU64>,
}

impl Network {
    pub(crate) fn new(clock: &Arc<AtomicU64>) -> Arc<Self> {
        Arc::new(Self {
            answers: Mutex::default(),
            is_silent: AtomicBool::new(false),
            clock: Arc::clone(clock),
        })
    }

    /// One answer of server-sent events, each a piece of its own.
    pub(crate) fn say(&self, events: &[Value]) {
        let pieces = events.iter().map(|event| Ok(format!("data: {event}\n\n")));
        let pieces = pieces.chain([Ok("data: [DONE]\n\n".to_owned())]);
        self.answers.lock().unwrap().push_back(pieces.collect());
    }

    /// The same, and then the connection breaks for good.
    pub(crate) fn break_after(&self, events: &[Value]) {
        self.fail_after(events, Category::Auth);
    }

    /// The same, and then the connection breaks in a way that is worth another try.
    pub(crate) fn drop_after(&self, events: &[Value]) {
        self.fail_after(events, Category::TransientNetwork);
    }

    /// From now on it says nothing.
    pub(crate) fn fall_silent(&self) {
        self.is_silent.store(true, Ordering::Relaxed);
    }

    fn fail_after(&self, events: &[Value], category: Category) {
        let pieces = events.iter().map(|event| Ok(format!("data: {event}\n\n")));
        let pieces = pieces.chain([Err(category)]).collect();
        self.answers.lock().unwrap().push_back(pieces);
    }
}

impl Transport for Network {
    fn send<'a>(
        &'a self,
        _: &'a HttpRequest,
        _: &'a TimeLimits,
    ) -> Later<'a, Result<HttpAnswer, Error>> {
        if self.is_silent.load(Ordering::Relaxed) {
            return Box::pin(std::future::pending());
        }
        let pieces = self.answers.lock().unwrap().pop_front();
        let clock = Arc::clone(&self.clock);
        Box::pin(async move {
            let pieces = pieces.expect("the script goes on");
            let kind = ("content-type".to_owned(), "text/event-stream".to_owned());
            Ok(HttpAnswer {
                status: 200,
                headers: vec![kind],
                body: Box::new(Pieces(pieces.into(), clock)),
            })
        })
    }
}

struct Pieces(VecDeque<Result<String, Category>>, Arc<AtomicU64>);

impl Body for Pieces {
    fn chunk(&mut self) -> Later<'_, Result<Option<Bytes>, Error>> {
        let piece = self.0.pop_front();
        self.1.fetch_add(PACE_MS, Ordering::Relaxed);
        Box::pin(async move {
            match piece {
                None => Ok(None),
                Some(Ok(text)) => Ok(Some(Bytes::from(text))),
                Some(Err(category)) => Err(Error::new(category, "the line is dead")),
            }
        })
    }
}
