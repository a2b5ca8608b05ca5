//! A session and its journal.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harn_events::{AgentEvent, Completeness, EventBus, LogFailure, sanitize_topic_component};
use harn_llm::transcript::message_event;
use harn_log::{Draft, Headers, LogError, Topic};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::change::Change;
use super::journal_reader::LoggedSession;
use super::proof::{self, JournalCheck, Prover};
use super::state::SessionState;
use super::transcript_event::TranscriptEvent;
use crate::keeper::{Keeper, SessionClaim, session_headers};

/// Start of every topic that holds the journal of a session.
pub const JOURNAL_TOPIC_PREFIX: &str = "agent_sessions.";

/// A session: its state, and the journal that the state follows from.
pub struct Session {
    id: String,
    bus: EventBus,
    inner: Mutex<Inner>,
    /// Where the journal is kept.
    kept: Option<Kept>,
}

/// Where the journal of a session is kept.
struct Kept {
    /// Nobody else writes it as long as this one may.
    claim: SessionClaim,
    topic: Topic,
    headers: Headers,
}

impl Kept {
    /// `None`: no topic can have such a name, so nothing is kept.
    fn of(id: &str, claim: SessionClaim) -> Option<Self> {
        Some(Self {
            claim,
            topic: Topic::new(journal_topic(id)).ok()?,
            headers: session_headers(id),
        })
    }

    fn keeper(&self) -> &Keeper {
        self.claim.keeper()
    }

    /// The place after the last record: indexes never repeat, also across processes. A log that
    /// cannot be read takes no records either, so its answer does not matter.
    fn first_free(&self, session_id: &str) -> Place {
        let latest = self.keeper().latest_of(self.topic.as_str(), session_id);
        let Some(latest) = latest.ok().flatten() else {
            return self.beginning(session_id);
        };
        let index = latest.payload["index"].as_u64();
        let code = latest.payload[proof::FIELD].as_str();
        let key = self.keeper().proofs().map(|proofs| proofs.key);
        Place {
            index: index.map_or(0, |index| index + 1),
            prover: key.map(|key| Prover::after(key, session_id, code)),
        }
    }

    /// The place of the first record.
    fn beginning(&self, session_id: &str) -> Place {
        let key = self.keeper().proofs().map(|proofs| proofs.key);
        Place {
            index: 0,
            prover: key.map(|key| Prover::beginning(key, session_id)),
        }
    }
}

/// Where the next record of a journal goes.
#[derive(Default)]
struct Place {
    index: u64,
    /// Makes its code, where there is a key.
    prover: Option<Prover>,
}

impl Place {
    /// A record with this code was put there.
    fn take(&mut self, code: Option<&str>) {
        self.index += 1;
        if let (Some(prover), Some(code)) = (&mut self.prover, code) {
            prover.take(code);
        }
    }
}

/// Why a session does not go on.
#[derive(Debug, thiserror::Error)]
pub enum CannotResume {
    /// Its log cannot be read.
    #[error(transparent)]
    Log(#[from] LogFailure),
    /// Its journal is not what was written.
    #[error(
        "session '{session_id}' was changed by somebody else at record {record}; 'harn sessions \
         show {session_id} --at {}' shows what came before, --accept-changed goes on",
        record.saturating_sub(1)
    )]
    Changed {
        /// The session.
        session_id: String,
        /// The first record that was changed, counted from 0.
        record: u64,
    },
}

struct Inner {
    state: SessionState,
    next: Place,
    /// How many events were emitted.
    events: u64,
    /// Records that the keeper did not take.
    dropped: u64,
}

/// The journal of a session cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("session '{session_id}' cannot be recorded in the event log {log}: {cause}")]
pub struct JournalFailure {
    /// The session.
    pub session_id: String,
    /// The log.
    pub log: String,
    /// What is wrong with it.
    #[source]
    pub cause: LogFailure,
}

/// The log was in trouble for so long that records found no room to wait in.
#[derive(Debug, thiserror::Error)]
#[error("{0} records were lost")]
struct RecordsLost(u64);

/// A record of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalRecord {
    /// Its index. Indexes have no gaps and never repeat.
    pub index: u64,
    /// How many events this process had emitted in the session before it.
    pub events_before: u64,
    /// What changed.
    #[serde(flatten)]
    pub change: Change,
}

impl JournalRecord {
    /// Reads the payload of a record.
    ///
    /// # Errors
    /// It is none, or one of a later version.
    pub fn decode(payload: &[u8]) -> serde_json::Result<Self> {
        /// What is beside the change. Read apart from it, because a decoder that reads both at once
        /// keeps everything until it is known which change it is.
        #[derive(Deserialize)]
        struct Place {
            index: u64,
            events_before: u64,
        }
        let place: Place = serde_json::from_slice(payload)?;
        Ok(Self {
            index: place.index,
            events_before: place.events_before,
            change: serde_json::from_slice(payload)?,
        })
    }
}

/// A [`JournalRecord`] that is written and not kept.
#[derive(Serialize)]
struct NewRecord<'a> {
    index: u64,
    events_before: u64,
    #[serde(flatten)]
    change: &'a Change,
}

impl Session {
    /// A session with nothing in it. Its journal is kept where it was claimed.
    pub fn open(id: &str, bus: &EventBus, claim: Option<SessionClaim>) -> Arc<Self> {
        let kept = claim.and_then(|claim| Kept::of(id, claim));
        let next = kept.as_ref().map(|kept| kept.first_free(id));
        Self::beginning(id, bus, kept, next.unwrap_or_default())
    }

    /// The same with an id that nobody had before: there is no journal to go on with, so nobody
    /// looks for one.
    pub fn open_new(id: &str, bus: &EventBus, claim: Option<SessionClaim>) -> Arc<Self> {
        let kept = claim.and_then(|claim| Kept::of(id, claim));
        let next = kept.as_ref().map(|kept| kept.beginning(id));
        Self::beginning(id, bus, kept, next.unwrap_or_default())
    }

    fn beginning(id: &str, bus: &EventBus, kept: Option<Kept>, next: Place) -> Arc<Self> {
        let session = Self::starting(id, bus, kept, SessionState::default(), next);
        session.record(Change::Opened);
        session
    }

    /// A session that goes on where its journal ends. Without a journal it is a new one.
    ///
    /// # Errors
    /// The log cannot be read, or somebody without the key has changed the journal. Nothing was
    /// changed: what was said is not to be lost for that.
    pub fn resume(
        id: &str,
        bus: &EventBus,
        claim: Option<SessionClaim>,
    ) -> Result<Arc<Self>, CannotResume> {
        let kept = claim.and_then(|claim| Kept::of(id, claim));
        let Some(kept) = kept else {
            return Ok(Self::beginning(id, bus, None, Place::default()));
        };
        let proofs = kept.keeper().proofs();
        let mut check = proofs.map(|proofs| JournalCheck::new(proofs.key, id));
        let logged = kept.keeper().session_in(&kept.topic, id, |text| {
            if let Some(check) = &mut check {
                check.read(text);
            }
        })?;
        let Some(LoggedSession { state, last_index }) = logged else {
            let next = kept.beginning(id);
            return Ok(Self::beginning(id, bus, Some(kept), next));
        };
        let changed_at = check.as_ref().and_then(JournalCheck::changed_at);
        if let Some(record) = changed_at.filter(|_| !proofs.is_some_and(|one| one.accept_changed)) {
            return Err(CannotResume::Changed {
                session_id: id.to_owned(),
                record,
            });
        }
        let next = Place {
            index: last_index + 1,
            prover: check.map(JournalCheck::into_prover),
        };
        let session = Self::starting(id, bus, Some(kept), state, next);
        if changed_at.is_some() {
            session.record(Change::Accepted);
        }
        session.record(Change::Resumed);
        Ok(session)
    }

    fn starting(
        id: &str,
        bus: &EventBus,
        kept: Option<Kept>,
        state: SessionState,
        next: Place,
    ) -> Arc<Self> {
        Arc::new(Self {
            id: id.to_owned(),
            bus: bus.clone(),
            inner: Mutex::new(Inner {
                state,
                next,
                events: 0,
                dropped: 0,
            }),
            kept,
        })
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Applies a change and writes it down.
    pub fn record(&self, change: Change) {
        self.write(&mut self.inner(), change);
    }

    /// Looks at the state and decides what changes, while nobody else can change anything.
    pub fn decide<T>(&self, look: impl FnOnce(&SessionState) -> (Option<Change>, T)) -> T {
        let mut inner = self.inner();
        let (change, answer) = look(&inner.state);
        if let Some(change) = change {
            self.write(&mut inner, change);
        }
        answer
    }

    fn write(&self, inner: &mut Inner, change: Change) {
        if let Some(kept) = &self.kept {
            let draft = self.draft(kept, inner, &change);
            // A record that was not taken has no place, so that there are no gaps.
            match draft.map(|(draft, code)| kept.keeper().put(draft).map(|()| code)) {
                Ok(Ok(code)) => inner.next.take(code.as_deref()),
                _ => inner.dropped += 1,
            }
        }
        inner.state.apply(change);
    }

    /// What is written of a change, and the code in it if it has one.
    fn draft(
        &self,
        kept: &Kept,
        inner: &Inner,
        change: &Change,
    ) -> Result<(Draft, Option<String>), LogError> {
        let draft = self.draft_without_code(kept, inner, change)?;
        let Some(prover) = &inner.next.prover else {
            return Ok((draft, None));
        };
        let code = prover.code_of(draft.payload_json());
        Ok((draft.with_last_field(proof::FIELD, &code), Some(code)))
    }

    /// All of a change but its secrets. Nearly none has any, so they are looked for in what was
    /// written.
    fn draft_without_code(
        &self,
        kept: &Kept,
        inner: &Inner,
        change: &Change,
    ) -> Result<Draft, LogError> {
        // The clock of the events, so that the two can be put in order.
        let (kind, at) = (change.name(), self.bus.now_ms());
        let record = NewRecord {
            index: inner.next.index,
            events_before: inner.events,
            change,
        };
        let draft = Draft::encode(&kept.topic, kind, &kept.headers, at, &record)?;
        debug_assert!(
            draft
                .payload_json()
                .contains(&format!(r#""change":"{kind}""#)),
            "its name is how it is written"
        );
        let redaction = self.bus.redaction_policy();
        if !redaction.might_match(draft.payload_json()) {
            return Ok(draft);
        }
        let mut payload = serde_json::to_value(&record)?;
        redaction.redact_value(&mut payload, Completeness::Whole);
        Draft::encode(&kept.topic, kind, &kept.headers, at, &payload)
    }

    /// Looks at the state. Not to be kept waiting: whoever changes the session waits.
    pub fn read<T>(&self, look: impl FnOnce(&SessionState) -> T) -> T {
        look(&self.inner().state)
    }

    /// Tells the readers of the session what happened, its closures at their next chance.
    pub fn emit(&self, event: &AgentEvent) {
        self.inner().events += 1;
        self.bus.emit(event);
    }

    /// Tells the readers of the session what happened and waits for its closures.
    pub async fn emit_and_await(&self, event: &AgentEvent) {
        self.inner().events += 1;
        self.bus.emit_and_await(event).await;
    }

    /// Resolves when everything recorded and emitted so far would survive a power cut.
    ///
    /// # Errors
    /// The log does not take it. What was recorded is tried again with the next record.
    pub async fn sync(&self) -> Result<(), JournalFailure> {
        let Some(kept) = &self.kept else {
            return Ok(());
        };
        let failed = |cause| JournalFailure {
            session_id: self.id.clone(),
            log: kept.keeper().log_name(),
            cause,
        };
        kept.keeper().sync().await.map_err(failed)?;
        match self.dropped_records() {
            0 => Ok(()),
            dropped => Err(failed(RecordsLost(dropped).into())),
        }
    }

    /// The same where nothing is decided by it: that it could not be written ends no run, and is
    /// told where the log's health is told.
    pub async fn barrier(&self) {
        if let Err(error) = self.sync().await {
            let session_id = &*self.id;
            tracing::debug!(target: "agent.journal", session_id, %error, "a barrier failed");
        }
    }

    /// Resolves when everything recorded and emitted so far would survive the death of this
    /// process.
    pub async fn hand_over(&self) {
        if let Some(kept) = &self.kept
            && let Err(error) = kept.keeper().hand_over().await
        {
            let session_id = &*self.id;
            tracing::debug!(target: "agent.journal", session_id, %error, "nothing is handed over");
        }
    }

    /// What was recorded and emitted so far becomes durable soon, while the run goes on. The
    /// next barrier covers it.
    pub fn sync_soon(&self) {
        if let Some(kept) = &self.kept {
            kept.keeper().sync_soon();
        }
    }

    /// Records that were not kept because the log does not take any.
    pub fn dropped_records(&self) -> u64 {
        self.inner().dropped
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The topic that holds the journal of a session.
pub fn journal_topic(session_id: &str) -> String {
    format!(
        "{JOURNAL_TOPIC_PREFIX}{}",
        sanitize_topic_component(session_id)
    )
}

impl Session {
    /// The transcript, as programs see it.
    pub fn transcript(&self, new_id: &mut dyn FnMut() -> String) -> Value {
        self.read(|state| state.transcript(&self.id, new_id))
    }
}

impl SessionState {
    /// The transcript, as programs see it.
    pub fn transcript(&self, id: &str, new_id: &mut dyn FnMut() -> String) -> Value {
        let state = self.transcript_state.as_deref().unwrap_or("active");
        let messages = self.shown_messages();
        let mut events: Vec<Value> = messages
            .iter()
            .map(|message| message_event(message, new_id))
            .collect();
        events.extend(self.events.iter().map(TranscriptEvent::to_value));
        let none = Vec::new();
        let mut transcript = harn_llm::transcript::transcript(none, events, state, new_id);
        transcript["id"] = json!(id);
        transcript["messages"] = json!(messages);
        transcript["assets"] = json!(self.assets);
        if let Some(summary) = &self.summary {
            transcript["summary"] = json!(summary);
        }
        if let Some(metadata) = &self.metadata {
            transcript["metadata"] = metadata.clone();
        }
        if self.transcript_state.is_none()
            && let Some(fields) = transcript.as_object_mut()
        {
            fields.remove("state");
        }
        transcript
    }
}

#[cfg(test)]
mod tests {
    use harn_log::{AnyEventLog, MemoryEventLog, block_on};

    use super::*;
    use crate::session::session_records;

    #[test]
    fn a_new_record_is_written_as_one_that_is_kept() {
        let message = json!({"role": "user", "content": "hi"});
        for change in [Change::Opened, Change::MessageAdded { message }] {
            let record = JournalRecord {
                index: 3,
                events_before: 8,
                change,
            };
            let new = NewRecord {
                index: record.index,
                events_before: record.events_before,
                change: &record.change,
            };
            let new = serde_json::to_value(new).unwrap();
            assert_eq!(new, serde_json::to_value(&record).unwrap());
            let payload = serde_json::to_vec(&new).unwrap();
            assert_eq!(JournalRecord::decode(&payload).unwrap(), record);
        }
    }

    #[test]
    fn secrets_are_known_to_the_session_and_not_to_its_journal() {
        let log = Arc::new(AnyEventLog::Memory(MemoryEventLog::new(16)));
        let keeper = Keeper::new(Arc::clone(&log));
        let bus = EventBus::new(harn_events::BusConfig::default());
        let session = Session::open_new("s", &bus, keeper.claim_new("s").unwrap());
        let message = json!({
            "role": "user", "content": "Authorization: Bearer q7Zr2PLm9XwK4tVb",
            "headers": {"api key": "q7Zr2PLm9X", "accept": "text/html"},
        });
        session.record(Change::MessageAdded {
            message: message.clone(),
        });
        block_on(session.barrier());
        let stored = block_on(session_records(&*log, "s")).unwrap();
        let Change::MessageAdded { message: kept } = &stored[1].change else {
            panic!("{:?}", stored[1]);
        };
        let hidden = json!({"api key": "[redacted]", "accept": "text/html"});
        assert_eq!(kept["headers"], hidden);
        assert!(!kept.to_string().contains("q7Zr2PLm9X"), "{kept}");
        session.read(|state| assert_eq!(state.shown_messages()[0]["content"], message["content"]));
    }
}
