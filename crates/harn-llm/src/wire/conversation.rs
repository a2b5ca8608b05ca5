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
//!
//! Reading never fails: who is unknown counts as the user, a block we do not know stays as it
//! is. Ids of calls are unique afterwards, because servers exist that count from 0 in every
//! answer or give none at all; results follow their calls, by id or else by name and order.

mod blocks;

use std::collections::{HashMap, HashSet};

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

/// The turns that `messages` tell of. A message that says nothing is a turn without parts.
pub fn read<'a>(messages: impl IntoIterator<Item = &'a Value>) -> Vec<Turn> {
    let mut reader = Reader::default();
    for message in messages {
        let mut turn = read_message(message);
        reader.settle_ids(&mut turn);
        reader.push(turn);
    }
    reader.turns
}

fn read_message(message: &Value) -> Turn {
    let word = message["role"].as_str().unwrap_or_default();
    let role = match word {
        "system" | "developer" => Role::System,
        "assistant" | "model" => Role::Assistant,
        _ => Role::User,
    };
    let parts = match word {
        "tool" | "tool_result" | "function" => vec![blocks::result(message)],
        _ => read_parts(message),
    };
    let kept = read_kept(&message["kept"]).filter(|_| role == Role::Assistant);
    Turn { role, parts, kept }
}

fn read_parts(message: &Value) -> Vec<Part> {
    let Some(fields) = message.as_object() else {
        return blocks::content(message);
    };
    let thoughts = ["reasoning_content", "reasoning", "thinking"];
    let thought = thoughts
        .iter()
        .find_map(|key| fields.get(*key).and_then(Value::as_str))
        .filter(|text| !text.is_empty());
    let mut parts: Vec<Part> = thought
        .map(|text| Part::Thought {
            text: text.to_owned(),
            signature: None,
        })
        .into_iter()
        .collect();
    parts.extend(blocks::content(&message["content"]));
    let listed = message["tool_calls"].as_array().into_iter().flatten();
    let listed = listed.map(blocks::call);
    // Some transcripts have a call as a block and in the list. Two in the list are two calls,
    // also if a model has given them one id.
    let is_new = |call: &Part| !parts.iter().any(|part| is_same_call(part, call));
    let listed: Vec<Part> = listed.filter(is_new).collect();
    parts.extend(listed);
    parts
}

fn is_same_call(one: &Part, other: &Part) -> bool {
    match (one, other) {
        (Part::Call { id: one, .. }, Part::Call { id: other, .. }) => {
            !one.is_empty() && one == other
        }
        _ => false,
    }
}

fn read_kept(kept: &Value) -> Option<Kept> {
    let blocks = kept["blocks"].as_array()?;
    if blocks.is_empty() {
        return None;
    }
    Some(Kept {
        wire: kept["wire"].as_str()?.to_owned(),
        blocks: blocks.clone(),
    })
}

/// Puts turns together and calls beside their results.
#[derive(Default)]
struct Reader {
    turns: Vec<Turn>,
    calls: Vec<KnownCall>,
    /// The latest call of each id as it was written.
    latest: HashMap<String, usize>,
    /// The ids given out so far.
    taken: HashSet<String>,
    /// The calls of the last answer that no result was seen for.
    unanswered: Vec<usize>,
}

struct KnownCall {
    /// As it was written; may be empty.
    written: String,
    id: String,
    name: String,
}

impl Reader {
    fn settle_ids(&mut self, turn: &mut Turn) {
        if turn
            .parts
            .iter()
            .any(|part| matches!(part, Part::Call { .. }))
        {
            self.unanswered.clear();
        }
        for part in &mut turn.parts {
            match part {
                Part::Call { id, name, .. } => *id = self.settle_call(std::mem::take(id), name),
                Part::Result { id, name, .. } => self.settle_result(id, name),
                Part::Text(_) | Part::Image { .. } | Part::Thought { .. } | Part::Other(_) => {}
            }
        }
    }

    /// The id a call has from here on: its own unless that is taken or missing.
    fn settle_call(&mut self, written: String, name: &str) -> String {
        let index = self.calls.len();
        let mut id = match written.as_str() {
            "" => format!("call_{index}"),
            written => written.to_owned(),
        };
        while !self.taken.insert(id.clone()) {
            id = format!("{id}_{index}");
        }
        self.unanswered.push(index);
        self.latest.insert(written.clone(), index);
        self.calls.push(KnownCall {
            written,
            id: id.clone(),
            name: name.to_owned(),
        });
        id
    }

    fn settle_result(&mut self, id: &mut String, name: &mut Option<String>) {
        let Some(index) = self.call_of(id, name.as_deref()) else {
            return;
        };
        self.unanswered.retain(|open| *open != index);
        let call = &self.calls[index];
        id.clone_from(&call.id);
        if name.is_none() {
            *name = Some(call.name.clone());
        }
    }

    /// The call that a result with this id and name belongs to.
    fn call_of(&self, id: &str, name: Option<&str>) -> Option<usize> {
        let mut open = self.unanswered.iter().copied();
        if !id.is_empty() {
            return open
                .find(|index| self.calls[*index].written == id)
                .or_else(|| self.latest.get(id).copied());
        }
        let named = |index: &usize| Some(self.calls[*index].name.as_str()) == name;
        open.clone().find(named).or_else(|| open.next())
    }

    /// Adds a turn. Results that follow each other belong into one.
    fn push(&mut self, turn: Turn) {
        match self.turns.last_mut() {
            Some(last) if has_only_results(last) && has_only_results(&turn) => {
                last.parts.extend(turn.parts);
            }
            _ => self.turns.push(turn),
        }
    }
}

fn has_only_results(turn: &Turn) -> bool {
    let is_result = |part: &Part| matches!(part, Part::Result { .. });
    turn.role == Role::User && !turn.parts.is_empty() && turn.parts.iter().all(is_result)
}

#[cfg(test)]
mod tests;
