//! Sinks and closures that remember what they saw, or do as they are told.

use std::borrow::Cow;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harn_events::{
    AgentEvent, AgentEventSink, AgentEventSubscriber, DurableSinks, EmissionFrame, EventGap,
    OpaqueEvent, SubscriberCall, SubscriberError, SubscriberFuture, SubscriberOutcome,
};
use serde_json::Value;

use super::samples::text_of;

/// Notes by several readers in the order they were made.
#[derive(Clone, Default)]
pub(crate) struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    pub(crate) fn note(&self, note: impl Into<String>) {
        self.lock().push(note.into());
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.lock().clone()
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    #[track_caller]
    pub(crate) fn check(&self, expected: &[&str]) {
        assert_eq!(self.notes(), expected);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a sink was given, with its circumstances.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) event: AgentEvent,
    pub(crate) sequence: u64,
    pub(crate) emitted_at_ms: i64,
    pub(crate) frame_depth: Option<u32>,
}

/// A sink that keeps everything.
#[derive(Default)]
pub(crate) struct Recording {
    frames: Mutex<Vec<Frame>>,
    opaque: Mutex<Vec<OpaqueEvent>>,
    gaps: Mutex<Vec<u64>>,
    /// Events and gaps in the order they came.
    story: Diary,
}

impl Recording {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn frames(&self) -> Vec<Frame> {
        self.frames.lock().expect("recording never panics").clone()
    }

    pub(crate) fn events(&self) -> Vec<AgentEvent> {
        self.frames().into_iter().map(|frame| frame.event).collect()
    }

    /// The events as live readers would serialise them.
    pub(crate) fn json(&self) -> Vec<Value> {
        let json = |event| serde_json::to_value(event).expect("events are plain JSON");
        self.events().into_iter().map(json).collect()
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        self.events().iter().map(text_of).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.frames.lock().expect("recording never panics").len()
    }

    pub(crate) fn opaque_tags(&self) -> Vec<String> {
        let opaque = self.opaque.lock().expect("recording never panics");
        opaque.iter().map(|event| event.tag().to_owned()).collect()
    }

    pub(crate) fn gaps(&self) -> Vec<u64> {
        self.gaps.lock().expect("recording never panics").clone()
    }

    /// Messages by their text and gaps as `-3`, in the order they came.
    pub(crate) fn story(&self) -> Vec<String> {
        self.story.notes()
    }

    #[track_caller]
    pub(crate) fn check(&self, expected: &[&str]) {
        assert_eq!(self.texts(), expected);
    }
}

impl AgentEventSink for Recording {
    fn handle_event(&self, _event: &AgentEvent) {
        panic!("the bus hands out whole frames");
    }

    fn handle_frame(&self, frame: &EmissionFrame<'_>) {
        self.story.note(text_of(frame.event));
        self.frames
            .lock()
            .expect("recording never panics")
            .push(Frame {
                event: frame.event.clone(),
                sequence: frame.sequence,
                emitted_at_ms: frame.emitted_at_ms,
                frame_depth: frame.frame_depth,
            });
    }

    fn handle_opaque(&self, event: &OpaqueEvent, _emitted_at_ms: i64) {
        self.opaque
            .lock()
            .expect("recording never panics")
            .push(event.clone());
    }

    fn handle_gap(&self, gap: &EventGap) {
        self.story.note(format!("-{}", gap.dropped_events));
        self.gaps
            .lock()
            .expect("recording never panics")
            .push(gap.dropped_events);
    }
}

struct Acting<F>(F);

impl<F: Fn(&AgentEvent) + Send + Sync> AgentEventSink for Acting<F> {
    fn handle_event(&self, event: &AgentEvent) {
        (self.0)(event);
    }
}

/// A sink that does this with each event.
pub(crate) fn sink(
    action: impl Fn(&AgentEvent) + Send + Sync + 'static,
) -> Arc<dyn AgentEventSink> {
    Arc::new(Acting(action))
}

/// A sink that notes `name:text` for each event.
pub(crate) fn telling_sink(name: &str, diary: &Diary) -> Arc<dyn AgentEventSink> {
    let (name, diary) = (name.to_owned(), diary.clone());
    sink(move |event| diary.note(format!("{name}:{}", text_of(event))))
}

struct Closure<F> {
    name: &'static str,
    action: F,
}

impl<F, R> AgentEventSubscriber for Closure<F>
where
    F: Fn(AgentEvent) -> R + Send + Sync,
    R: Future<Output = Result<SubscriberOutcome, SubscriberError>> + Send + 'static,
{
    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.name)
    }

    fn on_event<'a>(&'a self, call: SubscriberCall<'a>) -> SubscriberFuture<'a> {
        Box::pin((self.action)(call.event.clone()))
    }
}

/// A closure that does this with each event and may fail.
pub(crate) fn subscriber<F, R>(name: &'static str, action: F) -> Arc<dyn AgentEventSubscriber>
where
    F: Fn(AgentEvent) -> R + Send + Sync + 'static,
    R: Future<Output = Result<SubscriberOutcome, SubscriberError>> + Send + 'static,
{
    Arc::new(Closure { name, action })
}

/// A closure that does this with each event.
pub(crate) fn listener(
    action: impl Fn(AgentEvent) + Send + Sync + 'static,
) -> Arc<dyn AgentEventSubscriber> {
    subscriber("listener", move |event| {
        action(event);
        async { Ok(SubscriberOutcome::Ran) }
    })
}

/// A closure that notes `name:text` for each event.
pub(crate) fn telling_subscriber(name: &str, diary: &Diary) -> Arc<dyn AgentEventSubscriber> {
    let (name, diary) = (name.to_owned(), diary.clone());
    listener(move |event| diary.note(format!("{name}:{}", text_of(&event))))
}

/// Gives every session the same durable sink.
pub(crate) struct DurableFactory(pub(crate) Arc<dyn AgentEventSink>);

impl DurableSinks for DurableFactory {
    fn open(
        &self,
        _session_id: &str,
        _redaction: &harn_events::RedactionPolicy,
    ) -> io::Result<Arc<dyn AgentEventSink>> {
        Ok(Arc::clone(&self.0))
    }
}
