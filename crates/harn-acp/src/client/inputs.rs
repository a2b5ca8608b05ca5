//! What a person says while a loop runs, and when the model hears it.
//!
//! ```text
//! client ─► written to the log, durably ─► acknowledged with its index
//!                    │
//!                    ▼ at a seam that its mode allows
//!              the loop ─► a message of the session's journal, with the id of the input
//! ```
//!
//! The message in the journal is what makes an input heard, in one record. So nothing is lost
//! and nothing is said twice, wherever the process dies: what the log has and the journal has
//! not is still to be said. The order is that of the log; a mode can only make an input wait.

use std::sync::{Arc, Mutex};

use harn_vm::agent::events::sanitize_topic_component;
use harn_vm::agent::log::{AnyEventLog, EventId, EventLog, LogError, LogEvent, Topic, block_on};
use harn_vm::agent::{HostInput, Principal, Seam};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::{SessionFacts, lock};

/// Start of every topic that holds the inputs of a session.
const TOPIC_PREFIX: &str = "agent_session_inputs.";
/// The record that an input is.
const RECEIVED: &str = "input.received";
/// How many records are read at a time.
const CHUNK_RECORDS: usize = 256;
/// How many inputs may wait for a loop. One that listens takes them within a turn.
const INPUTS_MAX: usize = 1024;

/// When an input is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputMode {
    /// At the next seam; calls that were not begun are not made.
    InterruptImmediate,
    /// After the calls or the answer that the loop is busy with.
    FinishStep,
    /// When the loop would end otherwise.
    WaitForCompletion,
}

impl InputMode {
    const WORDS: [(&'static str, Self); 5] = [
        ("interrupt_immediate", Self::InterruptImmediate),
        ("interrupt", Self::InterruptImmediate),
        ("finish_step", Self::FinishStep),
        ("after_current_operation", Self::FinishStep),
        ("wait_for_completion", Self::WaitForCompletion),
    ];

    /// The mode of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let mut words = Self::WORDS.iter();
        words.find(|(word, _)| *word == name).map(|(_, mode)| *mode)
    }

    fn word(self) -> &'static str {
        match self {
            Self::InterruptImmediate => "interrupt_immediate",
            Self::FinishStep => "finish_step",
            Self::WaitForCompletion => "wait_for_completion",
        }
    }

    fn is_heard_at(self, seam: Seam) -> bool {
        match seam {
            Seam::PreToolDispatch => self == Self::InterruptImmediate,
            Seam::IterationStart | Seam::PostToolDispatch | Seam::IterationEnd => {
                self != Self::WaitForCompletion
            }
            Seam::Idle | Seam::Completion => true,
            // What comes too late for a loop is for the next one.
            Seam::LoopExit => false,
        }
    }
}

/// The inputs of a session that no loop has heard, as far as is known here.
pub(super) struct Inputs {
    log: Arc<AnyEventLog>,
    topic: Option<Topic>,
    now: Arc<dyn Fn() -> i64 + Send + Sync>,
    waiting: Mutex<Vec<Input>>,
    /// Set once what an earlier process was given is among these.
    is_read: OnceCell<()>,
    /// Held while an input is written, so that they wait in the order of the log.
    writing: tokio::sync::Mutex<()>,
}

#[derive(Clone, Debug)]
struct Input {
    id: String,
    index: EventId,
    content: Value,
    mode: InputMode,
    /// Who has sent it; nothing in inputs that are older than this.
    actor: Option<Principal>,
}

/// What became of an input.
pub(super) enum Pushed {
    /// It waits, at this index of the log.
    New(EventId),
    /// It was taken before.
    Known(EventId),
}

/// Why an input was not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum InputError {
    #[error("{INPUTS_MAX} inputs wait already")]
    TooMany,
    #[error("the input cannot be kept: {0}")]
    Log(#[from] LogError),
}

impl Inputs {
    /// The inputs of a session. What an earlier process was given is read when somebody wants
    /// to know; which of it was heard is known to the journal of the session.
    pub(super) fn new(facts: &SessionFacts) -> Self {
        let topic = format!("{TOPIC_PREFIX}{}", sanitize_topic_component(&facts.id));
        Self {
            log: Arc::clone(&facts.log),
            topic: Topic::new(topic).ok(),
            now: Arc::clone(&facts.now),
            waiting: Mutex::default(),
            is_read: OnceCell::new(),
            writing: tokio::sync::Mutex::default(),
        }
    }

    /// Takes up what an earlier process was given.
    async fn read_once(&self) {
        let reading = || async {
            if let Err(error) = self.read().await {
                tracing::warn!("inputs of an earlier process are not known: {error}");
            }
        };
        self.is_read.get_or_init(reading).await;
    }

    async fn read(&self) -> Result<(), LogError> {
        let Some(topic) = &self.topic else {
            return Ok(());
        };
        let mut cursor = None;
        loop {
            let records = self.log.read_range(topic, cursor, CHUNK_RECORDS).await?;
            let count = records.len();
            for (index, event) in records {
                cursor = Some(index);
                lock(&self.waiting).extend(Input::read(index, &event));
            }
            if count < CHUNK_RECORDS {
                return Ok(());
            }
        }
    }

    /// Takes an input. It survives a power cut when this resolves. An input whose id is known was
    /// taken before.
    ///
    /// # Errors
    /// There are too many, or the log does not take it.
    pub(super) async fn push(
        &self,
        id: String,
        content: Value,
        mode: InputMode,
        actor: &Principal,
    ) -> Result<Pushed, InputError> {
        let _one_after_the_other = self.writing.lock().await;
        self.read_once().await;
        {
            let waiting = lock(&self.waiting);
            if let Some(known) = waiting.iter().find(|input| input.id == id) {
                return Ok(Pushed::Known(known.index));
            }
            if waiting.len() >= INPUTS_MAX {
                return Err(InputError::TooMany);
            }
        }
        let payload = json!({"id": id, "content": content, "mode": mode.word(), "actor": actor});
        let event = LogEvent::at(RECEIVED, payload, (self.now)());
        let index = match &self.topic {
            Some(topic) => self.log.append_durable(topic, event).await?,
            None => 0,
        };
        lock(&self.waiting).push(Input {
            id,
            index,
            content,
            mode,
            actor: Some(actor.clone()),
        });
        Ok(Pushed::New(index))
    }

    /// What may be heard at a seam, in order. It stays here until the session has heard it: a
    /// loop that is stopped in between has not.
    pub(super) fn take(&self, seam: Seam, was_said: &dyn Fn(&str) -> bool) -> Vec<HostInput> {
        // On the thread of the program, which waits for its log elsewhere too.
        block_on(self.read_once());
        let mut waiting = lock(&self.waiting);
        waiting.retain(|input| !was_said(&input.id));
        let due = waiting.iter().filter(|input| input.mode.is_heard_at(seam));
        due.map(|input| HostInput {
            content: input.content.clone(),
            id: Some(input.id.clone()),
            mode: Some(input.mode.word()),
            actor: input.actor.clone(),
        })
        .collect()
    }
}

impl Input {
    fn read(index: EventId, event: &LogEvent) -> Option<Self> {
        if event.kind != RECEIVED {
            return None;
        }
        let payload = &event.payload;
        Some(Self {
            id: payload["id"].as_str()?.to_owned(),
            index,
            content: payload["content"].clone(),
            mode: InputMode::named(payload["mode"].as_str()?)?,
            actor: serde_json::from_value(payload["actor"].clone()).ok(),
        })
    }
}
