//! One block of an answer while it grows.

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::messages::input;
use super::{JSON_TOOL, SEARCH_TOOL_PREFIX};
use crate::StreamEvent;
use crate::reply::read_arguments;

/// What a block is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Thinking,
    /// A call, by its number.
    Call(usize),
    /// The answer as JSON, in the dress of a call.
    Json,
    /// The provider's own tool is used.
    ServerUse,
    /// The provider's own tool answered.
    ServerResult,
    /// Known, and of no interest before it is sent back.
    Opaque,
    Unknown,
}

impl Kind {
    /// What `block` is; `next_call` is the number it gets if it is a call.
    pub(super) fn of(block: &Value, next_call: usize) -> Self {
        match block["type"].as_str().unwrap_or_default() {
            "text" => Kind::Text,
            "thinking" => Kind::Thinking,
            "tool_use" if block["name"] == JSON_TOOL => Kind::Json,
            "tool_use" => Kind::Call(next_call),
            "server_tool_use" | "mcp_tool_use" => Kind::ServerUse,
            "redacted_thinking" => Kind::Opaque,
            kind if kind.ends_with("_tool_result") => Kind::ServerResult,
            _ => Kind::Unknown,
        }
    }
}

/// A block that has begun.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: Kind,
    /// As it began, with what is added at the end left out.
    fields: Map<String, Value>,
    text: String,
    thinking: String,
    signature: String,
    /// The text of the input, byte for byte.
    input: String,
    citations: Vec<Value>,
    /// Whether a piece came that we cannot put into it.
    is_torn: bool,
}

/// How a piece of one kind is added.
type Push = fn(&mut Block, String, &mut Vec<StreamEvent>);

impl Block {
    /// Begins a block and gives out what it began with.
    pub(super) fn open(kind: Kind, block: Value, events: &mut Vec<StreamEvent>) -> Self {
        let raw = (kind == Kind::Unknown).then(|| StreamEvent::Raw {
            value: block.clone(),
        });
        events.extend(raw);
        let fields = match block {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        let mut opened = Self {
            kind,
            fields,
            text: String::new(),
            thinking: String::new(),
            signature: String::new(),
            input: String::new(),
            citations: Vec::new(),
            is_torn: false,
        };
        opened.announce(events);
        opened
    }

    fn announce(&mut self, events: &mut Vec<StreamEvent>) {
        match self.kind {
            Kind::Text => {
                let text = self.take_text("text");
                self.push_text(text, events);
            }
            Kind::Thinking => {
                let thinking = self.take_text("thinking");
                self.push_thinking(thinking, events);
                let signature = self.take_text("signature");
                self.push_signature(signature, events);
            }
            Kind::Call(index) => events.push(StreamEvent::ToolCallStart {
                index,
                id: self
                    .fields
                    .get("id")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
                name: self.field("name"),
            }),
            Kind::Json | Kind::ServerUse | Kind::ServerResult | Kind::Opaque | Kind::Unknown => {}
        }
    }

    /// Takes the next piece; one we do not know is given back.
    pub(super) fn delta(
        &mut self,
        mut delta: Value,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), Value> {
        let (field, push): (&str, Push) = match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => ("text", Self::push_text),
            "thinking_delta" => ("thinking", Self::push_thinking),
            "signature_delta" => ("signature", Self::push_signature),
            "input_json_delta" => ("partial_json", Self::push_input),
            "citations_delta" => {
                self.citations.push(delta["citation"].take());
                return Ok(());
            }
            _ => {
                self.is_torn = true;
                return Err(delta);
            }
        };
        match delta[field].take() {
            Value::String(piece) => {
                push(self, piece, events);
                Ok(())
            }
            // A piece without its text says nothing.
            _ => Ok(()),
        }
    }

    fn push_text(&mut self, text: String, events: &mut Vec<StreamEvent>) {
        self.text.push_str(&text);
        if !text.is_empty() && self.kind == Kind::Text {
            events.push(StreamEvent::TextDelta { text });
        }
    }

    fn push_thinking(&mut self, text: String, events: &mut Vec<StreamEvent>) {
        self.thinking.push_str(&text);
        if !text.is_empty() && self.kind == Kind::Thinking {
            events.push(StreamEvent::ThoughtDelta { text });
        }
    }

    fn push_signature(&mut self, signature: String, events: &mut Vec<StreamEvent>) {
        self.signature.push_str(&signature);
        if !signature.is_empty() && self.kind == Kind::Thinking {
            events.push(StreamEvent::ThoughtSignature { signature });
        }
    }

    fn push_input(&mut self, text: String, events: &mut Vec<StreamEvent>) {
        self.input.push_str(&text);
        if text.is_empty() {
            return;
        }
        match self.kind {
            Kind::Call(index) => events.push(StreamEvent::ToolArgsDelta { index, text }),
            Kind::Json => events.push(StreamEvent::TextDelta { text }),
            Kind::Text
            | Kind::Thinking
            | Kind::ServerUse
            | Kind::ServerResult
            | Kind::Opaque
            | Kind::Unknown => {}
        }
    }

    /// No more pieces come. An input that was there from the beginning counts if no pieces of
    /// it came.
    pub(super) fn settle_input(&mut self, events: &mut Vec<StreamEvent>) {
        if !self.input.is_empty() {
            return;
        }
        match self.fields.get("input") {
            Some(Value::Object(fields)) if fields.is_empty() => {}
            Some(Value::Null) | None => {}
            Some(input) => {
                let text = input.to_string();
                self.push_input(text, events);
            }
        }
    }

    /// Whether it is a call that may have been cut off. No text at all may mean that there
    /// are no arguments or that the output cap came first; only what follows the block tells.
    pub(super) fn is_undecided(&self) -> bool {
        match self.kind {
            Kind::Call(_) => serde_json::from_str::<IgnoredAny>(&self.input).is_err(),
            Kind::Json => self.input.is_empty(),
            Kind::Text
            | Kind::Thinking
            | Kind::ServerUse
            | Kind::ServerResult
            | Kind::Opaque
            | Kind::Unknown => false,
        }
    }

    /// Gives out what is left to say, last of all the block as it goes back.
    pub(super) fn close(mut self, searches: &mut Searches, events: &mut Vec<StreamEvent>) {
        match self.kind {
            Kind::Call(index) => events.push(StreamEvent::ToolCallEnd { index }),
            Kind::Json if self.input.is_empty() => self.push_input("{}".to_owned(), events),
            Kind::ServerUse => self.close_server_use(searches, events),
            Kind::ServerResult => self.close_server_result(searches, events),
            Kind::Text | Kind::Thinking | Kind::Json | Kind::Opaque | Kind::Unknown => {}
        }
        // An unknown block with unknown pieces cannot be put together again, and a wrong one
        // would make the provider refuse the whole conversation.
        if self.kind != Kind::Unknown || !self.is_torn {
            events.push(StreamEvent::Kept { block: self.kept() });
        }
    }

    fn close_server_use(&self, searches: &mut Searches, events: &mut Vec<StreamEvent>) {
        let (id, name, input) = (
            self.field("id"),
            self.field("name"),
            read_arguments(&self.input),
        );
        if !name.starts_with(SEARCH_TOOL_PREFIX) {
            events.push(StreamEvent::ServerToolUse { id, name, input });
            return;
        }
        searches.0.push((id.clone(), input.clone()));
        events.push(StreamEvent::ToolSearch {
            id,
            query: input,
            promoted: None,
        });
    }

    fn close_server_result(&self, searches: &Searches, events: &mut Vec<StreamEvent>) {
        let id = self.field("tool_use_id");
        let payload = self.fields.get("content").cloned().unwrap_or_default();
        let is_search = self.field("type") == "tool_search_tool_result";
        let references = payload["tool_references"].as_array();
        if is_search {
            let names = references.into_iter().flatten();
            let names = names.filter_map(|reference| reference["tool_name"].as_str());
            events.push(StreamEvent::ToolSearch {
                query: searches.query(&id),
                id: id.clone(),
                promoted: Some(names.map(str::to_owned).collect()),
            });
        }
        // A search that failed found nothing; the reason is in the payload.
        if !is_search || references.is_none() {
            events.push(StreamEvent::ServerToolResult { id, payload });
        }
    }

    /// The block as the provider must get it back.
    fn kept(self) -> Value {
        if self.kind == Kind::Json {
            // As a call it would want a result.
            return json!({"type": "text", "text": self.input});
        }
        let mut fields = self.fields;
        let texts = [
            ("text", self.text, self.kind == Kind::Text),
            ("thinking", self.thinking, self.kind == Kind::Thinking),
            ("signature", self.signature, self.kind == Kind::Thinking),
        ];
        for (name, text, was_taken) in texts {
            if !text.is_empty() || was_taken && fields.contains_key(name) {
                fields.insert(name.to_owned(), Value::String(text));
            }
        }
        let has_input = matches!(self.kind, Kind::Call(_) | Kind::ServerUse);
        if has_input || !self.input.is_empty() {
            // The model may write any JSON; its provider takes back objects only.
            fields.insert("input".to_owned(), input(&read_arguments(&self.input)));
        }
        if !self.citations.is_empty() {
            fields.insert("citations".to_owned(), Value::Array(self.citations));
        }
        Value::Object(fields)
    }

    fn field(&self, name: &str) -> String {
        let text = self.fields.get(name).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    }

    fn take_text(&mut self, name: &str) -> String {
        match self.fields.get_mut(name).map(Value::take) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        }
    }
}

/// What was looked for among the tools, by the id of the search.
#[derive(Debug, Default)]
pub(super) struct Searches(Vec<(String, Value)>);

impl Searches {
    fn query(&self, id: &str) -> Value {
        let search = self.0.iter().find(|(known, _)| known == id);
        search.map_or(Value::Null, |(_, query)| query.clone())
    }
}
