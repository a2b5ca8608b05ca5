//! Sessions: one journal each, and what follows from it.
//!
//! ```text
//! record(change) ─► SessionState::apply ─► what everybody reads
//!        │
//!        └────────► keeper ─► topic `agent_sessions.<id>` ─► read again: the same fold
//! ```
//!
//! Nothing about a session changes but through [`Session::record`]. The events that readers
//! see go through the same session, in the same order: a record notes how many of them came
//! before it.

mod change;
mod content;
mod controls;
pub mod conversation;
mod journal;
mod journal_reader;
pub mod kept;
mod open_turn;
mod proof;
mod scratchpad;
mod state;
mod store;
mod stored_reply;
mod transcript_event;
mod turns;
mod untold;

pub use change::{CallOutcome, Change};
pub use content::Content;
pub use controls::ControlState;
pub use journal::{
    CannotResume, JOURNAL_TOPIC_PREFIX, JournalFailure, JournalRecord, Session, journal_topic,
};
pub(crate) use journal_reader::{LoggedSession, logged_session};
pub use journal_reader::{check_journal, load_session, session_records};
pub(crate) use open_turn::{INTERRUPTED, NOT_MADE, missing_results};
pub use proof::{JournalCheck, JournalKey};
pub use scratchpad::{SCRATCHPAD_SCHEMA, Scratchpad};
pub(crate) use state::IDLE_BACKOFF_MS_FIRST;
pub use state::{RunState, SessionState};
pub use store::{CannotOpen, SESSIONS_MAX, SessionStore};
pub use stored_reply::{StoredReply, StoredToolCall, StoredUsage};
pub use transcript_event::{About, AboutAnswer, AskedCall, Note, TranscriptEvent};
pub use turns::Turns;
pub use untold::UntoldCall;
