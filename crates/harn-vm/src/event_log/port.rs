//! Performs the effects of the kind `event_log`.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use harn_agent::WholeLists;
use harn_agent::log::{
    AnyEventLog, DEFAULT_QUEUE_DEPTH, EventId, EventLog, LogError, LogEvent, MemoryEventLog, Topic,
    block_on,
};
use harn_machine::{Answer, EffectId, Outside};
use serde_json::{Value, json};

use super::asked::{Asked, answer};
use super::options::EventLogOptions;
use crate::world::failed;

/// Performs the effects of the kind `event_log`. Nothing is opened before the first one.
pub(crate) struct EventLogPort {
    options: EventLogOptions,
    outside: Outside,
    log: Option<Arc<AnyEventLog>>,
    /// Whether that is the log of the project.
    is_project: bool,
    /// What came of opening the log of the project, if the program's own is in memory.
    keep: Option<Option<Arc<AnyEventLog>>>,
    /// How far events of sessions were read.
    whole_lists: Arc<Mutex<WholeLists>>,
    /// What was begun and has no answer yet. It is polled on the thread of the program.
    tasks: HashMap<EffectId, Task>,
}

struct Task {
    future: Pin<Box<dyn Future<Output = Result<Value, LogError>> + Send>>,
    waker: Waker,
}

impl EventLogPort {
    pub(crate) fn new(options: EventLogOptions, outside: Outside) -> Self {
        Self {
            options,
            outside,
            log: None,
            is_project: false,
            keep: None,
            whole_lists: Arc::default(),
            tasks: HashMap::new(),
        }
    }

    /// Answers at once: the program waits for its log.
    pub(crate) fn perform(&mut self, payload: &str) -> Answer {
        match read(payload) {
            Ok(Asked::Append {
                topic,
                kind,
                payload,
                headers,
                kept: Some(kept),
            }) => {
                let event = LogEvent::new(kind, payload).with_headers(headers);
                let id = block_on(self.logs().append(&topic, event, kept));
                answered(id.map(|id| json!(id)))
            }
            Ok(asked) => {
                let log = self.log();
                answered(block_on(answer(log, Arc::clone(&self.whole_lists), asked)))
            }
            Err(error) => failed(&error),
        }
    }

    /// The logs that requests to people are in.
    pub(crate) fn logs(&mut self) -> Logs {
        let own = self.log();
        if self.is_project {
            return Logs { own, kept: None };
        }
        let keep = self.options.keep.as_ref();
        let kept = self
            .keep
            .get_or_insert_with(|| keep.and_then(|keep| keep()));
        let kept = kept.clone();
        Logs { own, kept }
    }

    /// What the program is called.
    pub(crate) fn program(&self) -> &str {
        &self.options.program
    }

    /// Begins what may take time.
    pub(crate) fn begin(&mut self, id: EffectId, payload: &str) {
        let asked = match read(payload) {
            Ok(asked) => asked,
            Err(error) => return self.outside.complete(id, failed(&error)),
        };
        let log = self.log();
        let future = Box::pin(answer(log, Arc::clone(&self.whole_lists), asked));
        let waker = self.outside.waker(id);
        self.tasks.insert(id, Task { future, waker });
        self.resume(id);
    }

    /// Goes on with something that was begun.
    pub(crate) fn resume(&mut self, id: EffectId) {
        // It may have been given up, or belong to somebody else.
        let Some(mut task) = self.tasks.remove(&id) else {
            return;
        };
        let mut context = Context::from_waker(&task.waker);
        match task.future.as_mut().poll(&mut context) {
            Poll::Ready(outcome) => self.outside.complete(id, answered(outcome)),
            Poll::Pending => {
                self.tasks.insert(id, task);
            }
        }
    }

    /// Gives something up.
    pub(crate) fn cancel(&mut self, id: EffectId) {
        drop(self.tasks.remove(&id));
    }

    fn log(&mut self) -> Arc<AnyEventLog> {
        let open = self.options.open.as_ref();
        let is_project = &mut self.is_project;
        let log = self.log.get_or_insert_with(|| {
            let opened = open.and_then(|open| open());
            *is_project = opened.is_some();
            let in_memory = || AnyEventLog::Memory(MemoryEventLog::new(DEFAULT_QUEUE_DEPTH));
            opened.unwrap_or_else(|| Arc::new(in_memory()))
        });
        Arc::clone(log)
    }
}

/// The logs that requests to people are in.
#[derive(Clone)]
pub(crate) struct Logs {
    /// The one that the program sees.
    pub(crate) own: Arc<AnyEventLog>,
    /// The one that other processes see, if it is another one.
    pub(crate) kept: Option<Arc<AnyEventLog>>,
}

impl Logs {
    /// The one that outlives the program.
    pub(crate) fn lasting(&self) -> &Arc<AnyEventLog> {
        self.kept.as_ref().unwrap_or(&self.own)
    }

    /// Adds an event to both. It would survive a power cut where it has headers of its own:
    /// those are of requests, which are announced when they are kept.
    pub(crate) async fn append(
        &self,
        topic: &str,
        event: LogEvent,
        headers: BTreeMap<String, String>,
    ) -> Result<EventId, LogError> {
        let topic = Topic::new(topic)?;
        let is_urgent = !headers.is_empty();
        let mut copy = event.clone();
        copy.headers.extend(headers);
        let Some(kept) = &self.kept else {
            return add(&self.own, &topic, copy, is_urgent).await;
        };
        let id = self.own.append(&topic, event).await?;
        if let Err(error) = add(kept, &topic, copy, is_urgent).await {
            tracing::warn!("a request to people is not kept: {error}");
        }
        Ok(id)
    }
}

async fn add(
    log: &AnyEventLog,
    topic: &Topic,
    event: LogEvent,
    is_urgent: bool,
) -> Result<EventId, LogError> {
    match is_urgent {
        true => log.append_durable(topic, event).await,
        false => log.append(topic, event).await,
    }
}

fn read(payload: &str) -> io::Result<Asked> {
    serde_json::from_str(payload).map_err(io::Error::other)
}

fn answered(outcome: Result<Value, LogError>) -> Answer {
    match outcome {
        Ok(answer) => Answer::Text(Some(answer.to_string())),
        Err(error) => failed(&io::Error::other(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use harn_machine::inbox;

    use super::*;

    #[track_caller]
    fn check(port: &mut EventLogPort, payload: &str, expected: &str) {
        let answer = port.perform(payload);
        assert_eq!(answer, Answer::Text(Some(expected.to_owned())));
    }

    #[test]
    fn a_program_without_a_configured_log_has_an_empty_one() {
        let (outside, _inbox) = inbox();
        for _ in 0..2 {
            let mut port = EventLogPort::new(EventLogOptions::default(), outside.clone());
            let append = r#"{"do":"append","topic":"t","kind":"k","payload":1,"headers":{}}"#;
            check(&mut port, r#"{"do":"latest","topic":"t"}"#, "null");
            check(&mut port, append, "1");
            check(&mut port, append, "2");
            check(&mut port, r#"{"do":"latest","topic":"t"}"#, "2");
        }
    }

    #[test]
    fn a_configured_log_is_opened_once() {
        let shared = Arc::new(AnyEventLog::Memory(MemoryEventLog::new(1)));
        let opened = Arc::clone(&shared);
        let options = EventLogOptions {
            open: Some(Arc::new(move || Some(Arc::clone(&opened)))),
            ..EventLogOptions::default()
        };
        let (outside, _inbox) = inbox();
        for id in ["1", "2"] {
            let mut port = EventLogPort::new(options.clone(), outside.clone());
            let append = r#"{"do":"append","topic":"t","kind":"k","payload":1,"headers":{}}"#;
            check(&mut port, append, id);
        }
    }

    #[test]
    fn what_is_not_understood_is_a_failure() {
        let (outside, _inbox) = inbox();
        let mut port = EventLogPort::new(EventLogOptions::default(), outside);
        assert!(matches!(port.perform("{"), Answer::Failed(_)));
        let topic = port.perform(r#"{"do":"check","topic":"a b"}"#);
        assert!(matches!(topic, Answer::Failed(_)));
    }
}
