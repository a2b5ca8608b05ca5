//! What a model's answer is made of while it arrives.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One piece of an answer. Every adapter speaks in these; what it cannot say in them it keeps
/// as [`StreamEvent::Raw`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamEvent {
    /// The provider has begun.
    Start {
        /// Its id of the answer.
        id: Option<String>,
        /// The model that answers, as the provider calls it.
        model: Option<String>,
    },
    /// More of the text.
    TextDelta {
        /// The piece.
        text: String,
    },
    /// More of what the model thinks.
    ThoughtDelta {
        /// The piece.
        text: String,
    },
    /// More of the summary of what the model thinks, where providers show only that.
    ThoughtSummaryDelta {
        /// The piece.
        text: String,
    },
    /// The provider's proof that a thought is its own, kept to the letter.
    ThoughtSignature {
        /// The proof.
        signature: String,
    },
    /// A call begins.
    ToolCallStart {
        /// Which call of this answer, from 0 in the order they begin.
        index: usize,
        /// The provider's id; some have none.
        id: Option<String>,
        /// Which tool.
        name: String,
    },
    /// More of a call's arguments, byte for byte as they came.
    ToolArgsDelta {
        /// Which call.
        index: usize,
        /// The piece.
        text: String,
    },
    /// A call's arguments are complete.
    ToolCallEnd {
        /// Which call.
        index: usize,
    },
    /// The provider used a tool of its own.
    ServerToolUse {
        /// Its id of the use.
        id: String,
        /// Which tool.
        name: String,
        /// What it asked.
        input: Value,
    },
    /// What the provider's own tool said.
    ServerToolResult {
        /// The use it belongs to.
        id: String,
        /// What it said, as it came.
        payload: Value,
    },
    /// The provider searched among the deferred tools.
    ToolSearch {
        /// Its id of the search.
        id: String,
        /// What it looked for, as it came.
        query: Value,
        /// The tools it found; `None` while only the question is known.
        promoted: Option<Vec<String>>,
    },
    /// More of a refusal to answer.
    Refusal {
        /// The piece.
        text: String,
    },
    /// What was counted so far. Later ones replace earlier ones.
    Usage {
        /// The counts.
        usage: Usage,
    },
    /// A finished block of the answer exactly as the provider must get it back: signed
    /// thoughts, encrypted reasoning, its own tools' blocks, text and calls, in their order.
    Kept {
        /// The block in the provider's own shape.
        block: Value,
    },
    /// Something we do not know.
    Raw {
        /// As it came.
        value: Value,
    },
    /// The answer is complete.
    End {
        /// Why it ended.
        stop: Stop,
    },
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// In our words.
    pub reason: StopReason,
    /// In the provider's word, where it has one.
    pub word: Option<String>,
}

/// Why answers end, over all providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model had said everything.
    End,
    /// It waits for the results of its calls.
    ToolUse,
    /// The output cap.
    Length,
    /// One of the texts that end an answer.
    StopSequence,
    /// The model refused.
    Refusal,
    /// The provider cut it off.
    ContentFilter,
    /// The provider wants the answer back to go on.
    Pause,
    /// The conversation no longer fits.
    ContextExceeded,
    /// It failed, or the word is one we do not know.
    Error,
}

/// How many tokens an exchange took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Of the question, those read from or written to a cache included.
    pub input: u64,
    /// Of the answer, thoughts included.
    pub output: u64,
    /// Of the question, read from a cache.
    pub cache_read: u64,
    /// Of the question, written to a cache.
    pub cache_write: u64,
    /// Of the answer, thoughts.
    pub reasoning: u64,
    /// The provider's own counts.
    pub provider: Value,
}
