//! The catalogue of events as data.
//!
//! `catalogue/events.json` says what every event looks like. The enum is checked
//! against it, the reference page of the book is written from it, and
//! `harn events types` prints it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Everything that can happen, and the types it is described with.
#[derive(Debug, Deserialize)]
pub struct Catalogue {
    /// All kinds of events, in declaration order.
    pub variants: Vec<Event>,
    /// In the order of their names.
    pub types: BTreeMap<String, Type>,
    /// Tags of older versions.
    pub legacy_tags: BTreeMap<String, LegacyTag>,
    /// Tags that later versions use; they must not mean anything else.
    pub reserved_tags: Vec<String>,
}

/// One kind of event.
#[derive(Debug, Deserialize)]
pub struct Event {
    /// The value of its `type` key.
    #[serde(rename = "type")]
    pub tag: String,
    /// The name of its variant.
    #[serde(default)]
    pub rust_name: String,
    /// The subsystem it belongs to.
    pub group: String,
    /// The version that brought it.
    pub since: Since,
    /// Whether hosts may emit it.
    pub host: HostRight,
    /// What a host calls it, where hosts may emit it.
    #[serde(default)]
    pub host_types: Vec<String>,
    /// What it says.
    pub meaning: String,
    /// Who is meant to say it; [`emitter`](Self::emitter) tells whether that is built.
    pub emitted_by: String,
    /// Who says it in this version.
    pub emitter: Emitter,
    /// When.
    pub emitted_when: String,
    /// What it comes after and is paired with.
    pub ordering: String,
    /// Its keys.
    pub fields: Vec<Field>,
    /// Remarks.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The tag it had before.
    pub renamed_from: Option<String>,
}

/// Who emits an event in this version. The tests that cause events hold this against what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Emitter {
    /// The runtime or its library, as [`Event::emitted_by`] says.
    Runtime,
    /// Programs and hosts, as [`Event::emitted_by`] says.
    Programs,
    /// Programs and hosts, through the host door. What [`Event::emitted_by`] names is not built.
    ProgramsSoFar,
    /// What [`Event::emitted_by`] names is not built, and the host door refuses the event.
    Nobody,
}

impl Event {
    /// Who emits it in this version, and where that is not built yet, who will.
    pub fn emitted_today(&self) -> String {
        let specified = &self.emitted_by;
        match self.emitter {
            Emitter::Runtime | Emitter::Programs => specified.clone(),
            Emitter::ProgramsSoFar => format!(
                "in this version only programs that publish it, with `agent_emit_event`. \
                 Specified and not built: {specified}"
            ),
            Emitter::Nobody => {
                format!("nobody in this version. Specified and not built: {specified}")
            }
        }
    }
}

/// Whether a host may emit an event, and how.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HostRight {
    /// Never.
    No,
    /// Under its own name, with its own fields.
    Direct,
    /// Under names of its own, which the runtime turns into the event.
    Special,
}

/// One key of an event or of a type.
#[derive(Debug, Deserialize)]
pub struct Field {
    /// The key.
    pub name: String,
    /// Its JSON type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The Rust type; fields of types have none.
    pub rust: Option<String>,
    /// Must be present when read.
    pub required: bool,
    /// When the key is left out on write; `None` means never.
    pub skip_if: Option<String>,
    /// What an absent key means, unless it is required.
    #[serde(default)]
    pub default: Value,
    /// What an absent required key means to a reader of old records.
    pub compat_default: Option<Value>,
    /// Fields of types have none; they are as old as their type.
    pub since: Option<Since>,
    /// What it means.
    pub doc: String,
}

/// A type that fields refer to.
#[derive(Debug, Deserialize)]
pub struct Type {
    /// What it means.
    pub doc: String,
    /// How a choice is written; structs are plain objects.
    pub encoding: Option<String>,
    /// Its keys.
    #[serde(default)]
    pub fields: Vec<Field>,
    /// Its values, if it is a choice.
    #[serde(default)]
    pub values: Vec<Choice>,
    /// What a reader does with a value it does not know.
    pub on_unknown: Option<String>,
    /// A remark.
    pub note: Option<String>,
}

/// One value of a type that is a choice.
#[derive(Debug, Deserialize)]
pub struct Choice {
    /// The string on the wire.
    pub value: String,
    /// The version that brought it.
    pub since: Since,
    /// Its keys.
    #[serde(default)]
    pub fields: Vec<Field>,
    /// What it means.
    pub doc: String,
}

/// The name an event had in an older version.
#[derive(Debug, Deserialize)]
pub struct LegacyTag {
    /// The tag it has now.
    pub maps_to: String,
    /// Old key to new key.
    #[serde(default)]
    pub rename: BTreeMap<String, String>,
}

/// The version that brought something: a number, or a word such as `later`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Since {
    /// A published version.
    Version(u32),
    /// Not a published version.
    Word(String),
}

impl fmt::Display for Since {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(number) => write!(out, "{number}"),
            Self::Word(word) => out.write_str(word),
        }
    }
}

impl Catalogue {
    /// The catalogue this crate was built with.
    pub fn builtin() -> Self {
        let text = include_str!("../catalogue/events.json");
        Self::parse(text).expect("the catalogue is part of the program and tested")
    }

    /// Reads a catalogue.
    ///
    /// # Errors
    /// Text that is not a catalogue, with the place where it stops being one.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The groups in the order in which the catalogue first names them.
    pub fn groups(&self) -> Vec<(&str, Vec<&Event>)> {
        let mut groups: Vec<(&str, Vec<&Event>)> = Vec::new();
        for event in &self.variants {
            match groups.iter_mut().find(|(name, _)| *name == event.group) {
                Some((_, events)) => events.push(event),
                None => groups.push((&event.group, vec![event])),
            }
        }
        groups
    }
}
