//! What a transcript says besides its messages.
//!
//! A loop notes several things about each of its turns, and few of them are ever looked at. So
//! a note stays what it is, and becomes JSON when somebody writes it down or reads it.

use harn_events::ToolCallErrorCategory;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A transcript event that is no message.
#[derive(Clone, Debug)]
pub enum TranscriptEvent {
    /// What a loop has noted.
    Noted(Box<Note>),
    /// What somebody has put together otherwise, or what was read again.
    Given(Value),
}

/// What a loop notes about itself.
#[derive(Clone, Debug)]
pub struct Note {
    /// Its id.
    pub id: String,
    /// What kind of event it is.
    pub kind: &'static str,
    /// Whose it is.
    pub role: &'static str,
    /// Who may see it.
    pub visibility: &'static str,
    /// What it says.
    pub text: String,
    /// What else is known.
    pub about: Option<About>,
}

/// What a note is about; its `metadata`.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum About {
    /// An answer of a model.
    Answer(Box<AboutAnswer>),
    /// A call that is about to run.
    Intent {
        /// Its arguments.
        arguments: Value,
        /// The id that the model gave it.
        tool_use_id: String,
    },
    /// A call that has run.
    Execution {
        /// The tool.
        tool_name: String,
        /// The id that the model gave the call.
        tool_use_id: String,
        /// Whether it was refused.
        rejected: bool,
        /// Why it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_category: Option<ToolCallErrorCategory>,
    },
    /// Anything else.
    Other(Value),
}

/// What is noted about an answer of a model.
#[derive(Clone, Debug, Serialize)]
pub struct AboutAnswer {
    /// Who has answered.
    pub model: String,
    /// What it has read.
    pub input_tokens: u64,
    /// What it has written.
    pub output_tokens: u64,
    /// What it wants to be called.
    pub tool_calls: Vec<AskedCall>,
    /// What it has thought, in short.
    pub thinking_summary: Option<String>,
    /// How it writes calls.
    pub tool_calling_mode: String,
    /// The experiment that the prompt was a part of.
    pub structural_experiment: Option<Value>,
}

/// A call that a model asks for.
#[derive(Clone, Debug, Serialize)]
pub struct AskedCall {
    /// The id that the model gave it.
    pub id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
}

impl AskedCall {
    /// What a model asks for.
    pub fn of(call: &harn_llm::ToolCall) -> Self {
        Self {
            id: call.id.clone(),
            kind: "tool_call",
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        }
    }
}

impl TranscriptEvent {
    /// As programs see it.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Noted(note) => {
                serde_json::to_value(note).expect("notes have nothing that JSON has not")
            }
            Self::Given(event) => event.clone(),
        }
    }
}

impl From<Value> for TranscriptEvent {
    fn from(event: Value) -> Self {
        Self::Given(event)
    }
}

/// Two are the same if everybody who looks sees the same.
impl PartialEq for TranscriptEvent {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Given(one), Self::Given(other)) => one == other,
            _ => self.to_value() == other.to_value(),
        }
    }
}

impl Serialize for TranscriptEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Noted(note) => note.serialize(serializer),
            Self::Given(event) => event.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for TranscriptEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::Given)
    }
}

/// As [`runtime_event`](harn_llm::transcript::runtime_event) writes it.
impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = 6 + usize::from(self.about.is_some());
        let mut event = serializer.serialize_map(Some(fields))?;
        event.serialize_entry("id", &self.id)?;
        event.serialize_entry("kind", self.kind)?;
        event.serialize_entry("role", self.role)?;
        event.serialize_entry("visibility", self.visibility)?;
        event.serialize_entry("text", &self.text)?;
        let block = TextBlock {
            kind: "text",
            text: &self.text,
            visibility: self.visibility,
        };
        event.serialize_entry("blocks", &[block])?;
        if let Some(about) = &self.about {
            event.serialize_entry("metadata", about)?;
        }
        event.end()
    }
}

#[derive(Serialize)]
struct TextBlock<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    text: &'a str,
    visibility: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use harn_llm::transcript::runtime_event;
    use serde_json::json;

    fn note(about: Option<About>) -> TranscriptEvent {
        TranscriptEvent::Noted(Box::new(Note {
            id: "n".to_owned(),
            kind: "k",
            role: "tool",
            visibility: "internal",
            text: "said".to_owned(),
            about,
        }))
    }

    #[test]
    fn a_note_is_written_as_any_event_of_the_runtime() {
        let call = AskedCall::of(&harn_llm::ToolCall {
            id: "c".to_owned(),
            name: "t".to_owned(),
            arguments: json!({"a": 1}),
            ..harn_llm::ToolCall::default()
        });
        let answer = AboutAnswer {
            model: "m".to_owned(),
            input_tokens: 1,
            output_tokens: 2,
            tool_calls: vec![call],
            thinking_summary: None,
            tool_calling_mode: "native".to_owned(),
            structural_experiment: None,
        };
        let rows = [
            (None, None),
            (Some(About::Other(json!({"x": 1}))), Some(json!({"x": 1}))),
            (
                Some(About::Answer(Box::new(answer))),
                Some(json!({
                    "model": "m",
                    "input_tokens": 1,
                    "output_tokens": 2,
                    "tool_calls": [
                        {"id": "c", "type": "tool_call", "name": "t", "arguments": {"a": 1}},
                    ],
                    "thinking_summary": null,
                    "tool_calling_mode": "native",
                    "structural_experiment": null,
                })),
            ),
            (
                Some(About::Intent {
                    arguments: json!({"a": 1}),
                    tool_use_id: "c".to_owned(),
                }),
                Some(json!({"arguments": {"a": 1}, "tool_use_id": "c"})),
            ),
            (
                Some(About::Execution {
                    tool_name: "t".to_owned(),
                    tool_use_id: "c".to_owned(),
                    rejected: false,
                    error_category: None,
                }),
                Some(json!({"tool_name": "t", "tool_use_id": "c", "rejected": false})),
            ),
        ];
        for (about, metadata) in rows {
            let noted = note(about);
            let mut id = || "n".to_owned();
            let expected = runtime_event("k", "tool", "internal", "said", metadata, &mut id);
            assert_eq!(noted.to_value().to_string(), expected.to_string());
            let text = serde_json::to_string(&noted).unwrap();
            let again: TranscriptEvent = serde_json::from_str(&text).unwrap();
            assert_eq!(again, noted);
        }
    }

    #[test]
    fn notes_that_say_something_else_are_others() {
        assert_ne!(note(None), note(Some(About::Other(json!(1)))));
        assert_ne!(note(None), TranscriptEvent::Given(json!({"id": "n"})));
    }
}
