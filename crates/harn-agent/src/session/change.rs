//! Everything that can change about a session.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::content::Content;
use super::stored_reply::StoredReply;
use super::transcript_event::TranscriptEvent;
use super::untold::UntoldCall;
use crate::ledger::TaskLedger;
use crate::policy::SessionGrant;

/// One change of a session: what its journal consists of.
///
/// A change says what happened, with everything that is needed to apply it again: no clock, no
/// chance and no other session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// The session begins with nothing in it. What was recorded before belongs to an earlier
    /// session of the same name.
    Opened,
    /// Another run of a program goes on with the session. Nothing about it changes; a loop that
    /// had not ended never will.
    Resumed,
    /// A person goes on with a journal that was changed by somebody without the key of this
    /// machine. The code of this record proves all that was there when it was accepted.
    Accepted,
    /// Its content is that of a transcript.
    Restored {
        /// The transcript. What was ever said is among it as `recorded_messages`, where that is
        /// more than what the model sees.
        transcript: Value,
    },
    /// It begins with what was said in another session. Nothing else of that session comes
    /// along: no skills, no permissions, no turns to undo.
    Forked {
        /// What was said.
        content: Box<Content>,
    },
    /// It is the child of another session, or of none.
    Linked {
        /// The parent.
        parent_id: Option<String>,
        /// How many of the parent's transcript events it has, if that was decided.
        branched_at_event_index: Option<u64>,
    },
    /// It has one more child.
    ChildAdded {
        /// The child.
        id: String,
    },
    /// A child has another parent now.
    ChildRemoved {
        /// The child.
        id: String,
    },
    /// Nothing was said yet.
    Reset,
    /// Somebody put a message in. Transcript events other than messages are dropped.
    Injected {
        /// The message.
        message: Value,
    },
    /// The last turn is undone: nothing was said since its loop began.
    RolledBack,
    /// A turn that was undone is done again.
    Redone,
    /// Only the last messages stay. Transcript events other than messages are dropped.
    Trimmed {
        /// How many.
        keep_last: usize,
    },
    /// A message was said.
    MessageAdded {
        /// The message.
        message: Value,
    },
    /// A message stands before all others.
    Prepended {
        /// The message.
        message: Value,
    },
    /// The last message is taken back.
    MessageWithdrawn,
    /// Something else to be read in the transcript happened.
    EventAdded {
        /// The transcript event.
        event: TranscriptEvent,
    },
    /// A summary stands for messages.
    Compacted {
        /// Where among the visible messages the summary stands.
        keep_first: usize,
        /// The first visible message that stays after it.
        split: usize,
        /// The first and the last of the recorded messages that it stands for.
        replaced: (usize, usize),
        /// The message that holds the summary.
        message: Value,
    },
    /// What the transcript says in short, on top of what it said before.
    SummaryAdded {
        /// What comes on top.
        more: String,
    },
    /// What the transcript says in short.
    SummarySet {
        /// The summary.
        summary: Option<String>,
    },
    /// `active`, `paused`, …
    TranscriptStateSet {
        /// The state.
        state: String,
    },
    /// Something large belongs to the transcript.
    AssetAdded {
        /// The asset.
        asset: Value,
    },
    /// The skills that are active.
    SkillsSet {
        /// Their names.
        names: Vec<String>,
    },
    /// Something that parts of the runtime keep in the session, each under a name of its own.
    Kept {
        /// The name.
        name: String,
        /// What is kept; null forgets it.
        value: Value,
    },
    /// A loop begins.
    RunStarted {
        /// The ledger it works on.
        ledger: TaskLedger,
        /// Iterations that an earlier process has made of it.
        resumed_iterations: usize,
    },
    /// What a daemon was when it was saved.
    RunRestored {
        /// Its state.
        run: Box<super::RunState>,
    },
    /// A model is about to be asked.
    IterationStarted {
        /// Its number in this loop, from 0.
        iteration: usize,
    },
    /// A model has answered.
    Answered {
        /// Its text, where the answer itself is not here: earlier versions kept no more of it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// What it read.
        input_tokens: u64,
        /// What it wrote.
        output_tokens: u64,
        /// What that cost.
        cost_usd: f64,
        /// The whole answer, if it is that of a turn. An answer that was asked for again only
        /// counts here; it was [heard](Change::Heard).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<Box<StoredReply>>,
    },
    /// A model has answered something else than a turn: for a judge, for a summary, or so that it
    /// was asked again. What follows from it is recorded by who has asked.
    Heard {
        /// The iteration in which it was asked, from 0.
        iteration: usize,
        /// Who has asked: `judge`, `summary`, `structure_retry`, `continuation`.
        place: String,
        /// How many this place had heard before in this iteration.
        count: u64,
        /// The whole answer.
        reply: Box<StoredReply>,
    },
    /// What the answer says to people.
    TurnRead {
        /// Its prose.
        last_text: String,
    },
    /// Calls came as text although there is a channel for them.
    FellBack {
        /// Whether they were made.
        accepted: bool,
    },
    /// A call has its id. Earlier versions wrote this and gave no id twice in a session; nothing
    /// follows from it any more.
    CallNamed {
        /// The id.
        id: String,
    },
    /// Something that may become a call was seen in a text that is arriving. They are counted, so
    /// that no two of a session have one id.
    CandidateSpotted,
    /// A turn has calls. None of them has begun.
    CallsListed {
        /// The calls, in order.
        calls: Vec<UntoldCall>,
    },
    /// A call of such a turn has its answer without having run.
    CallAnswered {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// What the model is told.
        text: String,
    },
    /// A call is about to run.
    CallStarted {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// The arguments.
        arguments: Value,
    },
    /// A call has run, or was refused when it had begun.
    CallFinished {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// How it went.
        outcome: CallOutcome,
        /// What the model is told.
        text: String,
    },
    /// The model used something that is no tool of the registry, and it went well.
    PseudoToolUsed {
        /// What.
        name: String,
    },
    /// The model used something that is no tool of the registry, and it failed.
    PseudoToolFailed {
        /// What.
        name: String,
    },
    /// The model asked for what a skill says, and got it.
    SkillLoaded {
        /// The skill.
        id: String,
    },
    /// A call was refused before it began.
    CallRefused {
        /// The tool.
        name: String,
    },
    /// A result was seen, which may be the same as last time.
    ResultSeen {
        /// What was called, with what.
        key: String,
        /// What came of it, as a hash.
        result: String,
    },
    /// The status with which the last `run` ended.
    ExitCodeSeen {
        /// The status.
        code: i64,
    },
    /// A turn with calls is over.
    ToolTurnEnded {
        /// How many calls it had.
        calls: usize,
    },
    /// So many turns in a row had no calls.
    TextOnlyTurns {
        /// How many.
        count: usize,
    },
    /// The task ledger is another.
    LedgerSet {
        /// The ledger.
        ledger: TaskLedger,
    },
    /// Completion was refused because the ledger has open entries.
    LedgerRejected,
    /// Options for the next call only.
    NextOptionsSet {
        /// The options.
        options: Option<Map<String, Value>>,
    },
    /// A tool may be called with certain arguments for as long as the session lives.
    Granted {
        /// The grant.
        grant: SessionGrant,
    },
    /// Permissions that were granted are not any more.
    GrantsDropped,
    /// A user message arrived too late to be answered.
    Deferred {
        /// The message.
        message: String,
    },
    /// A tool that was held back is on offer now, and others are not any more.
    Promoted {
        /// The tools on offer beyond the usual ones, oldest first.
        names: Vec<String>,
    },
    /// A guard or a judge of the loop has decided something.
    ControlsSet {
        /// All that was decided so far.
        controls: Box<super::ControlState>,
    },
    /// A daemon waits, works, or has ended.
    DaemonSet {
        /// Its state.
        state: String,
        /// How long it waits next time.
        backoff_ms: u64,
    },
    /// When the watched files were last changed.
    Watched {
        /// By path.
        stamps: Map<String, Value>,
    },
    /// The loop has ended.
    RunEnded {
        /// How.
        status: String,
    },
}

impl Change {
    /// Its name in the journal.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Resumed => "resumed",
            Self::Accepted => "accepted",
            Self::Restored { .. } => "restored",
            Self::Forked { .. } => "forked",
            Self::Linked { .. } => "linked",
            Self::ChildAdded { .. } => "child_added",
            Self::ChildRemoved { .. } => "child_removed",
            Self::Reset => "reset",
            Self::Injected { .. } => "injected",
            Self::RolledBack => "rolled_back",
            Self::Redone => "redone",
            Self::Trimmed { .. } => "trimmed",
            Self::MessageAdded { .. } => "message_added",
            Self::Prepended { .. } => "prepended",
            Self::MessageWithdrawn => "message_withdrawn",
            Self::EventAdded { .. } => "event_added",
            Self::Compacted { .. } => "compacted",
            Self::SummaryAdded { .. } => "summary_added",
            Self::SummarySet { .. } => "summary_set",
            Self::TranscriptStateSet { .. } => "transcript_state_set",
            Self::AssetAdded { .. } => "asset_added",
            Self::SkillsSet { .. } => "skills_set",
            Self::Kept { .. } => "kept",
            Self::RunStarted { .. } => "run_started",
            Self::RunRestored { .. } => "run_restored",
            Self::IterationStarted { .. } => "iteration_started",
            Self::Answered { .. } => "answered",
            Self::Heard { .. } => "heard",
            Self::TurnRead { .. } => "turn_read",
            Self::FellBack { .. } => "fell_back",
            Self::CallNamed { .. } => "call_named",
            Self::CandidateSpotted => "candidate_spotted",
            Self::CallsListed { .. } => "calls_listed",
            Self::CallAnswered { .. } => "call_answered",
            Self::CallStarted { .. } => "call_started",
            Self::CallFinished { .. } => "call_finished",
            Self::PseudoToolUsed { .. } => "pseudo_tool_used",
            Self::PseudoToolFailed { .. } => "pseudo_tool_failed",
            Self::SkillLoaded { .. } => "skill_loaded",
            Self::CallRefused { .. } => "call_refused",
            Self::ResultSeen { .. } => "result_seen",
            Self::ExitCodeSeen { .. } => "exit_code_seen",
            Self::ToolTurnEnded { .. } => "tool_turn_ended",
            Self::TextOnlyTurns { .. } => "text_only_turns",
            Self::LedgerSet { .. } => "ledger_set",
            Self::LedgerRejected => "ledger_rejected",
            Self::NextOptionsSet { .. } => "next_options_set",
            Self::Granted { .. } => "granted",
            Self::GrantsDropped => "grants_dropped",
            Self::Deferred { .. } => "deferred",
            Self::Promoted { .. } => "promoted",
            Self::ControlsSet { .. } => "controls_set",
            Self::DaemonSet { .. } => "daemon_set",
            Self::Watched { .. } => "watched",
            Self::RunEnded { .. } => "run_ended",
        }
    }
}

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// Well.
    Ok,
    /// It failed.
    Error,
    /// It may not be made.
    Rejected,
}

impl CallOutcome {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Rejected => "rejected",
        }
    }
}
