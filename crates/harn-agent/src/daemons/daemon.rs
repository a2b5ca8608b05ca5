//! One daemon: its queue, its state, and the mailbox of its loop.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use harn_llm::desk::{Thrown, timestamp};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::config::Config;
use super::files::Folder;
use super::kept::Hold;
use super::queue::Queue;
use super::runtime_error;
use crate::callback::BoxFuture;
use crate::host::Seam;
use crate::loop_result::LoopResult;
use crate::mailbox::{Mail, Mailbox};
use crate::registry::told;

/// How long `daemon_spawn` waits for the first snapshot, and `daemon_stop` for idleness.
const PATIENCE: Duration = Duration::from_millis(500);

/// Under this key the transcript says which event a message was.
const EVENT_SEQ: &str = "daemon_event_seq";

/// A daemon.
pub(super) struct Daemon {
    config: Config,
    folder: Folder,
    state: Mutex<State>,
    /// Told of every change of the state.
    changed: Notify,
    /// Told when the loop should end.
    stopped: Notify,
}

struct State {
    status: Status,
    queue: Queue,
    /// The event in flight, until the loop has taken it.
    mail: Option<Mail>,
    /// Whether the loop has nothing to do.
    is_idle: bool,
    /// Whether no further event is handed over.
    is_stopping: bool,
    /// What the last snapshot says: the state of the loop and when that was.
    last_snapshot: Option<(Value, Value)>,
    error: Option<String>,
    result: Option<Value>,
    /// The folder is the daemon's while its loop runs.
    hold: Option<Hold>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Running,
    Stopped,
    Failed,
}

impl Status {
    fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }
}

/// How the loop of a daemon ended.
pub(super) enum Ended {
    /// Somebody stopped it.
    Stopped,
    /// By itself.
    Done(Box<LoopResult>),
    /// It could not go on.
    Failed(Thrown),
}

impl Daemon {
    pub(super) fn new(config: Config, folder: Folder, hold: Hold) -> Self {
        Self {
            config,
            folder,
            state: Mutex::new(State {
                status: Status::Running,
                queue: Queue::new(),
                mail: None,
                is_idle: false,
                is_stopping: false,
                last_snapshot: None,
                error: None,
                result: None,
                hold: Some(hold),
            }),
            changed: Notify::new(),
            stopped: Notify::new(),
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.config.id
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    pub(super) fn snapshot_path(&self) -> String {
        self.folder.snapshot_path()
    }

    pub(super) fn has_snapshot(&self) -> bool {
        self.folder.has_snapshot()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up the queue that a file has kept. The event that was in flight comes first,
    /// unless the snapshot already knows it.
    pub(super) fn restore_queue(&self, meta: &Value, snapshot: Option<&Value>) {
        let mut queue = Queue::read(meta);
        let seen = snapshot.and_then(last_event);
        if queue
            .in_flight
            .as_ref()
            .is_some_and(|event| Some(event.seq) == seen)
        {
            queue.in_flight = None;
        }
        queue.requeue();
        self.state().queue = queue;
    }

    /// Writes down everything that is needed to take the daemon up again.
    pub(super) fn save_meta(&self) -> Result<(), Thrown> {
        let state = self.state();
        self.write_meta(&state.queue)
    }

    fn write_meta(&self, queue: &Queue) -> Result<(), Thrown> {
        let config = &self.config;
        self.folder.write_meta(&json!({
            "_type": "daemon_meta",
            "id": config.id,
            "name": config.name,
            "prompt": config.prompt,
            "system": config.system,
            "session_id": config.session_id,
            "options": config.options,
            "event_queue_capacity": config.capacity,
            "next_event_seq": queue.next_seq,
            "pending_events": queue.pending_value(),
            "inflight_event": queue.in_flight_value(),
        }))
    }

    /// Accepts an event. It is durable when this returns, and a daemon that idles has it.
    pub(super) fn trigger(&self, payload: &Value, now_ms: i64) -> Result<(), Thrown> {
        let mut state = self.state();
        let id = self.id();
        if state.status != Status::Running || state.is_stopping {
            return runtime_error(format!("daemon_trigger: daemon {id} is not running"));
        }
        let capacity = self.config.capacity;
        if state.queue.len() >= capacity {
            return runtime_error(format!(
                "Daemon queue full: daemon '{id}' reached its event_queue_capacity of {capacity}"
            ));
        }
        let mut queue = state.queue.clone();
        queue.push(payload, timestamp(now_ms));
        self.replace_queue(&mut state, queue)
    }

    /// Takes a changed queue over, and hands out its first event if the loop idles. What cannot
    /// be written down has not happened.
    fn replace_queue(&self, state: &mut State, mut queue: Queue) -> Result<(), Thrown> {
        let may_hand_over = state.is_idle && !state.is_stopping && state.mail.is_none();
        let mail = match may_hand_over {
            true => queue.hand_over().map(|event| Mail {
                text: event.text(),
                metadata: Some(json!({EVENT_SEQ: event.seq})),
            }),
            false => None,
        };
        if queue != state.queue {
            self.write_meta(&queue)?;
        }
        state.queue = queue;
        if mail.is_some() {
            state.mail = mail;
            state.is_idle = false;
        }
        self.changed.notify_waiters();
        Ok(())
    }

    /// Ends the loop, once it idles or after a moment. An event that it was working on is queued
    /// again.
    pub(super) async fn stop(&self) -> Result<(), Thrown> {
        {
            let mut state = self.state();
            if state.status != Status::Running {
                state.status = Status::Stopped;
                return Ok(());
            }
            state.is_stopping = true;
        }
        let idle = self.until(|state| state.is_idle || state.status != Status::Running);
        // It may be busy for long.
        let _ = tokio::time::timeout(PATIENCE, idle).await;
        self.stopped.notify_one();
        self.until(|state| state.status != Status::Running).await;
        let mut state = self.state();
        state.status = Status::Stopped;
        self.write_meta(&state.queue)
    }

    /// Waits until somebody wants the loop to end.
    pub(super) async fn stop_requested(&self) {
        self.stopped.notified().await;
    }

    /// The loop has ended.
    pub(super) fn ended(&self, how: Ended) {
        let mut state = self.state();
        let mut queue = state.queue.clone();
        let was_taken = state.mail.take().is_none();
        match how {
            Ended::Stopped => {
                queue.requeue();
                state.status = Status::Stopped;
            }
            Ended::Done(result) => {
                // Its last snapshot knows the event, unless it never got that far.
                match was_taken {
                    true => queue.in_flight = None,
                    false => queue.requeue(),
                }
                state.result = Some(result.to_value());
                state.status = Status::Stopped;
            }
            Ended::Failed(thrown) => {
                queue.requeue();
                state.error = Some(told(&thrown));
                state.status = Status::Failed;
            }
        }
        // If that fails the file says what it said before, and the event is delivered again.
        let _ = self.write_meta(&queue);
        state.queue = queue;
        state.hold = None;
        drop(state);
        self.changed.notify_waiters();
    }

    /// Waits a moment for the first snapshot.
    pub(super) async fn until_first_snapshot(&self) {
        let first = self.until(|state| {
            let has_begun =
                state.last_snapshot.is_some() && (state.is_idle || state.mail.is_some());
            has_begun || state.status != Status::Running
        });
        // The first turn may take longer.
        let _ = tokio::time::timeout(PATIENCE, first).await;
    }

    async fn until(&self, is_so: impl Fn(&State) -> bool) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // From here on no change is missed.
            changed.as_mut().enable();
            if is_so(&self.state()) {
                return;
            }
            changed.await;
        }
    }

    /// What tells of the daemon.
    pub(super) fn handle(&self) -> Value {
        let state = self.state();
        let mut handle = json!({
            "id": self.config.id,
            "name": self.config.name,
            "status": state.status.word(),
            "session_id": self.config.session_id,
            "persist_path": self.config.root,
            "snapshot_path": self.snapshot_path(),
            "pending_event_count": state.queue.pending.len(),
            "queued_event_count": state.queue.len(),
            "event_queue_capacity": self.config.capacity,
        });
        if let Some(error) = &state.error {
            handle["error"] = json!(error);
        }
        if let Some(result) = &state.result {
            handle["result"] = result.clone();
        }
        if let Some((daemon_state, saved_at)) = &state.last_snapshot {
            handle["daemon_state"] = daemon_state.clone();
            handle["saved_at"] = saved_at.clone();
        }
        if state.queue.in_flight.is_some() {
            handle["inflight_event"] = state.queue.in_flight_value();
        }
        handle
    }

    /// The last snapshot and the queue.
    pub(super) fn snapshot(&self) -> Value {
        let state = self.state();
        let snapshot = state.last_snapshot.as_ref();
        let snapshot = snapshot.and_then(|_| self.folder.read_snapshot());
        let mut snapshot = snapshot.unwrap_or_else(|| unsaved(&self.config));
        snapshot["pending_events"] = state.queue.pending_value();
        snapshot["pending_event_count"] = json!(state.queue.pending.len());
        snapshot["inflight_event"] = state.queue.in_flight_value();
        snapshot["queued_event_count"] = json!(state.queue.len());
        snapshot["event_queue_capacity"] = json!(self.config.capacity);
        snapshot
    }
}

/// The number of the last event that a snapshot knows.
fn last_event(snapshot: &Value) -> Option<u64> {
    let events = snapshot["transcript_events"].as_array()?;
    let mut seqs = events.iter().rev();
    seqs.find_map(|event| event["metadata"][EVENT_SEQ].as_u64())
}

/// What a snapshot would say before there is one.
fn unsaved(config: &Config) -> Value {
    let prompt = json!([{"role": "user", "content": config.prompt}]);
    json!({
        "_type": "daemon_snapshot",
        "saved_at": null,
        "daemon_state": "active",
        "visible_messages": prompt,
        "recorded_messages": prompt,
        "transcript_summary": null,
        "transcript_events": [],
        "total_text": "",
        "last_iteration_text": "",
        "all_tools_used": [],
        "rejected_tools": [],
        "deferred_user_messages": [],
        "total_iterations": 0,
        "idle_backoff_ms": crate::session::IDLE_BACKOFF_MS_FIRST,
        "last_run_exit_code": null,
        "watch_state": {},
    })
}

impl Mailbox for Daemon {
    fn take(&self, seam: Seam) -> Vec<Mail> {
        match seam {
            Seam::Idle => self.state().mail.take().into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// An event is always a message as well, which says more.
    fn take_resume(&self) -> bool {
        false
    }

    fn arrival(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.until(|state| state.mail.is_some()))
    }

    fn saved(&self, snapshot: &Value) {
        let said = (
            snapshot["daemon_state"].clone(),
            snapshot["saved_at"].clone(),
        );
        self.state().last_snapshot = Some(said);
        self.changed.notify_waiters();
    }

    fn idle(&self) -> Result<(), Thrown> {
        let mut state = self.state();
        state.is_idle = true;
        let mut queue = state.queue.clone();
        if state.mail.is_none() {
            // What it was working on is in the snapshot that has just been saved.
            queue.in_flight = None;
        }
        self.replace_queue(&mut state, queue)
    }

    fn awake(&self) {
        self.state().is_idle = false;
    }
}

/// A daemon as the mailbox of its loop.
pub(super) fn mailbox(daemon: &Arc<Daemon>) -> Arc<dyn Mailbox> {
    Arc::clone(daemon) as Arc<dyn Mailbox>
}
