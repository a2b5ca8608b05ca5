//! A model's whole answer, put together from the pieces it came in.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::event::{Stop, StopReason, StreamEvent, Usage};
use crate::object::object;

/// A whole answer in one shape for all providers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reply {
    /// The provider's id of it.
    pub id: Option<String>,
    /// The model that answered, as the provider calls it.
    pub model: Option<String>,
    /// What it said.
    pub text: String,
    /// What it thought, where the provider shows that.
    pub thinking: Option<String>,
    /// A summary of what it thought, where the provider shows only that.
    pub thinking_summary: Option<String>,
    /// Why it would not answer.
    pub refusal: Option<String>,
    /// The calls it wants made, in the order they began. Only whole ones.
    pub tool_calls: Vec<ToolCall>,
    /// Text, thoughts, calls and searches in the order they came, as programs see them.
    pub blocks: Vec<Value>,
    /// The blocks the provider must get back, to the letter.
    pub kept: Vec<Value>,
    /// What it took.
    pub usage: Usage,
    /// Why it ended.
    pub stop: Option<Stop>,
}

/// A call the model wants made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id, or one made here where it has none.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// The arguments. If they were no JSON, `{"__parse_error": …}`, which dispatch refuses.
    pub arguments: Value,
    /// The arguments as the model wrote them.
    pub raw_arguments: String,
}

/// What a text has room for when it begins.
const TEXT_BYTES: usize = 256;

/// Puts an answer together, piece by piece.
#[derive(Debug, Default)]
pub struct Collector {
    reply: Reply,
    /// The block that what comes next may belong to.
    open: Option<OpenBlock>,
    calls: Vec<OpenCall>,
}

/// Text of one kind that may go on.
#[derive(Debug)]
struct OpenBlock {
    kind: BlockKind,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockKind {
    Text,
    Thought,
}

#[derive(Debug)]
struct OpenCall {
    id: Option<String>,
    name: String,
    text: String,
    is_complete: bool,
    /// Where its block goes: the number of blocks before it.
    place: usize,
}

impl Collector {
    /// Takes the next piece.
    pub fn push(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Start { id, model } => {
                self.reply.id = id;
                self.reply.model = model;
            }
            StreamEvent::TextDelta { text } => {
                write(&mut self.reply.text, &text);
                self.append(BlockKind::Text, &text);
            }
            StreamEvent::ThoughtDelta { text } => {
                self.reply.thinking.get_or_insert_default().push_str(&text);
                self.append(BlockKind::Thought, &text);
            }
            StreamEvent::ThoughtSummaryDelta { text } => {
                let summary = &mut self.reply.thinking_summary;
                summary.get_or_insert_default().push_str(&text);
            }
            StreamEvent::Refusal { text } => {
                self.reply.refusal.get_or_insert_default().push_str(&text);
            }
            StreamEvent::ToolCallStart { index, id, name } => self.open(index, id, name),
            StreamEvent::ToolArgsDelta { index, text } => {
                if let Some(call) = self.calls.get_mut(index) {
                    call.text.push_str(&text);
                }
            }
            StreamEvent::ToolCallEnd { index } => {
                if let Some(call) = self.calls.get_mut(index) {
                    call.is_complete = true;
                }
            }
            StreamEvent::ToolSearch {
                id,
                query,
                promoted,
            } => {
                self.close_block();
                let block = search_block(&id, &query, promoted.as_deref());
                self.reply.blocks.push(block);
            }
            StreamEvent::Usage { usage } => self.reply.usage = usage,
            StreamEvent::Kept { block } => self.reply.kept.push(block),
            StreamEvent::End { stop } => self.reply.stop = Some(stop),
            StreamEvent::ThoughtSignature { .. }
            | StreamEvent::ServerToolUse { .. }
            | StreamEvent::ServerToolResult { .. }
            | StreamEvent::Raw { .. } => {}
        }
    }

    /// Whether the answer has said or done something that a second try would repeat.
    pub fn has_content(&self) -> bool {
        !self.reply.blocks.is_empty()
            || self.open.is_some()
            || !self.calls.is_empty()
            || self.reply.refusal.is_some()
    }

    /// The answer so far. Calls whose arguments are not complete are left out: they must
    /// never be made.
    pub fn finish(mut self) -> Reply {
        self.close_block();
        let calls = std::mem::take(&mut self.calls);
        let mut inserted = 0;
        for (index, call) in calls.into_iter().enumerate() {
            if !call.is_complete {
                continue;
            }
            let place = call.place + inserted;
            let call = close(index, call);
            self.reply.blocks.insert(place, call_block(&call));
            inserted += 1;
            self.reply.tool_calls.push(call);
        }
        let ended = matches!(&self.reply.stop, Some(stop) if stop.reason == StopReason::End);
        if ended && !self.reply.tool_calls.is_empty() {
            // Some servers say that they are done and send calls all the same; calls win.
            if let Some(stop) = &mut self.reply.stop {
                stop.reason = StopReason::ToolUse;
            }
        }
        self.reply
    }

    fn open(&mut self, index: usize, id: Option<String>, name: String) {
        debug_assert_eq!(
            index,
            self.calls.len(),
            "adapters number calls as they begin"
        );
        self.close_block();
        self.calls.push(OpenCall {
            id,
            name,
            text: String::new(),
            is_complete: false,
            place: self.reply.blocks.len(),
        });
    }

    /// Adds to the open block if it is of that kind.
    fn append(&mut self, kind: BlockKind, text: &str) {
        if self.open.as_ref().is_none_or(|open| open.kind != kind) {
            self.close_block();
        }
        let open = self.open.get_or_insert_with(|| OpenBlock {
            kind,
            text: String::new(),
        });
        write(&mut open.text, text);
    }

    /// What comes next is something else.
    fn close_block(&mut self) {
        let Some(OpenBlock { kind, text }) = self.open.take() else {
            return;
        };
        let (kind, visibility) = match kind {
            BlockKind::Text => ("output_text", "public"),
            BlockKind::Thought => ("reasoning", "private"),
        };
        let block = object([
            ("type", kind.into()),
            ("text", text.into()),
            ("visibility", visibility.into()),
        ]);
        self.reply.blocks.push(block.into());
    }
}

/// Adds to a text that more will be added to: the first words must not make it grow again and
/// again.
fn write(whole: &mut String, piece: &str) {
    if whole.is_empty() {
        whole.reserve(TEXT_BYTES);
    }
    whole.push_str(piece);
}

fn close(index: usize, call: OpenCall) -> ToolCall {
    ToolCall {
        id: call.id.unwrap_or_else(|| format!("call_{index}")),
        name: call.name,
        arguments: read_arguments(&call.text),
        raw_arguments: call.text,
    }
}

/// The arguments a model wrote. Nothing at all means none.
pub(crate) fn read_arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return json!({});
    }
    serde_json::from_str(text).unwrap_or_else(|error| {
        json!({"__parse_error": format!(
            "Could not parse tool arguments as JSON: {error}. Raw input: {text}"
        )})
    })
}

pub(crate) fn call_block(call: &ToolCall) -> Value {
    let block = object([
        ("type", "tool_call".into()),
        ("id", call.id.as_str().into()),
        ("name", call.name.as_str().into()),
        ("arguments", call.arguments.clone()),
        ("visibility", "internal".into()),
    ]);
    block.into()
}

fn search_block(id: &str, query: &Value, promoted: Option<&[String]>) -> Value {
    match promoted {
        None => json!({
            "type": "tool_search_query", "id": id, "query": query, "visibility": "internal",
        }),
        Some(names) => {
            let references: Vec<Value> = names
                .iter()
                .map(|name| json!({"tool_name": name}))
                .collect();
            json!({
                "type": "tool_search_result",
                "tool_use_id": id,
                "tool_references": references,
                "visibility": "internal",
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> StreamEvent {
        StreamEvent::TextDelta {
            text: text.to_owned(),
        }
    }

    fn collect(events: &[StreamEvent]) -> Reply {
        let mut collector = Collector::default();
        for event in events {
            collector.push(event.clone());
        }
        collector.finish()
    }

    fn call(index: usize, arguments: &str) -> [StreamEvent; 2] {
        [
            StreamEvent::ToolCallStart {
                index,
                id: Some(format!("c{index}")),
                name: "t".to_owned(),
            },
            StreamEvent::ToolArgsDelta {
                index,
                text: arguments.to_owned(),
            },
        ]
    }

    #[test]
    fn pieces_become_blocks_in_the_order_they_came() {
        let [start, arguments] = call(0, "{\"a\":1}");
        let end = StreamEvent::ToolCallEnd { index: 0 };
        let reply = collect(&[text("a"), text("b"), start, arguments, end, text("c")]);
        let kinds: Vec<_> = reply
            .blocks
            .iter()
            .map(|block| block["type"].clone())
            .collect();
        assert_eq!(kinds, ["output_text", "tool_call", "output_text"]);
        assert_eq!(reply.blocks[0]["text"], "ab");
        assert_eq!(reply.text, "abc");
        assert_eq!(reply.tool_calls[0].arguments, json!({"a": 1}));
    }

    #[test]
    fn a_call_that_was_cut_off_is_left_out() {
        let [start, arguments] = call(0, "{\"path\": \"/\"");
        let reply = collect(&[start, arguments]);
        assert_eq!(reply.tool_calls, []);
        assert_eq!(reply.blocks, Vec::<Value>::new());
    }

    #[test]
    fn arguments_that_are_no_json_say_so() {
        let expected = "Could not parse tool arguments as JSON: expected ident at line 1 column 2. Raw input: nope";
        assert_eq!(read_arguments("nope")["__parse_error"], expected);
        assert_eq!(read_arguments(" "), json!({}));
    }
}
