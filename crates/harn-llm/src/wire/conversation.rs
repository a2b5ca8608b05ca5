//! Reads the messages of a transcript, whatever shape they are in.
//!
//! A transcript keeps messages as JSON in the shape of the provider that was asked, and
//! programs write their own. Encoders want one shape; this makes it:
//!
//! | written | read as |
//! |---|---|
//! | `{role, content: "text"}` | one text part |
//! | `{role, content: [blocks]}` | a part per block: `text`, `image`, `tool_use`, `tool_result`, `thinking`, … |
//! | `{role: "assistant", tool_calls: [{id, function: {name, arguments}}]}` | a call per entry; arguments as text or object |
//! | `{role: "tool", tool_call_id \| tool_name, content}` | a result in a user turn |
//! | `{role: "tool_result", tool_use_id, content}` | a result in a user turn |
//!
//! Results that follow each other belong into one turn. An assistant message may carry
//! `kept: {wire, blocks}`: what its provider must get back to the letter. The encoder of the
//! same wire sends those blocks; another wire's encoder sends the parts.

use serde_json::Value;

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Whose.
    pub role: Role,
    /// What it is made of, in order.
    pub parts: Vec<Part>,
    /// What the provider of `Kept::wire` must get back instead of the parts.
    pub kept: Option<Kept>,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Instructions in the middle of a conversation.
    System,
    /// The user, and the results of calls.
    User,
    /// The model.
    Assistant,
}

/// Blocks that one wire must get back to the letter.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// Which wire, by [`Wire::name`](super::Wire::name).
    pub wire: String,
    /// The blocks in order.
    pub blocks: Vec<Value>,
}

/// A part of a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// A picture.
    Image {
        /// Where it is.
        source: Source,
        /// How closely to look: `low`, `high` or `auto`.
        detail: Option<String>,
    },
    /// A call the model made.
    Call {
        /// Its id.
        id: String,
        /// Which tool.
        name: String,
        /// The arguments.
        arguments: Value,
    },
    /// What a call gave.
    Result {
        /// Which call.
        id: String,
        /// Which tool, if the message said so or an earlier call of this conversation did.
        name: Option<String>,
        /// What it gave.
        content: Vec<Part>,
        /// Whether it failed.
        is_error: bool,
    },
    /// What the model thought.
    Thought {
        /// The text.
        text: String,
        /// The provider's proof.
        signature: Option<String>,
    },
    /// A block we do not know; encoders of the wire it came from pass it on.
    Other(Value),
}

/// Where the bytes of a picture are.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Somewhere else.
    Url(String),
    /// Here, in base 64.
    Base64 {
        /// The text.
        data: String,
        /// What it is.
        media_type: String,
    },
}
