//! The form an event has on disk, and the forms a reader may meet.
//!
//! A stored record is one flat object: the envelope keys, then the event's own
//! keys, so that a plain text filter on `type` works.
//!
//! ```text
//! {"index":0,"emitted_at_ms":…,"frame_depth":null,"execution_id":null,"type":"plan","session_id":…}
//!  └──────────────────────── envelope ────────────────────────────┘ └──────── event ────────…
//! ```

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::compat::Adaptation;
use crate::decode::{self, DecodeError, Mode};
use crate::event::AgentEvent;
use crate::raw::RawObject;
use crate::redact::RedactionPolicy;
use crate::wire::{FieldWriter, MapWriter};

/// An event with its place in the session's durable order.
#[derive(Clone, Debug, PartialEq)]
pub struct Record<E> {
    /// Position in the session, dense from 0.
    pub index: u64,
    /// When the event was emitted, in milliseconds since the Unix epoch. Never
    /// decreases within a session.
    pub emitted_at_ms: i64,
    /// Interpreter call depth at emission, `None` when there was none.
    pub frame_depth: Option<u32>,
    /// Execution scope, when the writer had one.
    pub execution_id: Option<String>,
    /// The event itself; its keys stand beside the ones above.
    pub event: E,
}

/// A record as today's writer makes it.
pub type PersistedAgentEvent = Record<AgentEvent>;

/// A record as a reader finds it, whoever wrote it.
pub type StoredRecord = Record<RecordedEvent>;

impl<E: FlatEvent> Serialize for Record<E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        write_envelope(
            &mut MapWriter(&mut map),
            self.index,
            self.emitted_at_ms,
            self.frame_depth,
            self.execution_id.as_deref(),
        )?;
        self.event.write_into(&mut map)?;
        map.end()
    }
}

/// An event whose keys can stand beside those of an envelope.
pub trait FlatEvent {
    /// Writes the keys into an object that is already open.
    fn write_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

impl FlatEvent for AgentEvent {
    fn write_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.write_fields(&mut MapWriter(map))
    }
}

impl FlatEvent for RecordedEvent {
    fn write_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::Known(event) => event.write_into(map),
            Self::Adapted(adapted) => adapted.original.write_fields(map),
            Self::Opaque(opaque) => opaque.raw.write_fields(map),
        }
    }
}

impl<'de> Deserialize<'de> for PersistedAgentEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut object = Map::deserialize(deserializer)?;
        let mut take = |key: &'static str| object.remove(key).filter(|value| !value.is_null());
        fn read<T: serde::de::DeserializeOwned, E: serde::de::Error>(
            key: &'static str,
            value: Option<Value>,
        ) -> Result<T, E> {
            let value = value.ok_or_else(|| E::missing_field(key))?;
            serde_json::from_value(value).map_err(|error| E::custom(format!("{key}: {error}")))
        }
        let index = read("index", take("index"))?;
        let emitted_at_ms = read("emitted_at_ms", take("emitted_at_ms"))?;
        let frame_depth = take("frame_depth")
            .map(|v| read("frame_depth", Some(v)))
            .transpose()?;
        let execution_id = take("execution_id")
            .map(|v| read("execution_id", Some(v)))
            .transpose()?;
        let event = decode::event_from_object(object).map_err(D::Error::custom)?;
        Ok(Self {
            index,
            emitted_at_ms,
            frame_depth,
            execution_id,
            event,
        })
    }
}

/// Writes the envelope keys into an object that is already open.
pub(crate) fn write_envelope<W: FieldWriter>(
    object: &mut W,
    index: u64,
    emitted_at_ms: i64,
    frame_depth: Option<u32>,
    execution_id: Option<&str>,
) -> Result<(), W::Error> {
    object.field("index", &index)?;
    object.field("emitted_at_ms", &emitted_at_ms)?;
    object.field("frame_depth", &frame_depth)?;
    object.field("execution_id", &execution_id)
}

/// The envelope keys of a record, as far as they are there.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Envelope {
    pub(crate) index: Option<u64>,
    pub(crate) emitted_at_ms: Option<i64>,
    pub(crate) frame_depth: Option<u32>,
    pub(crate) execution_id: Option<String>,
}

impl Envelope {
    /// Reserved for the envelope: no event may have a field of these names.
    pub(crate) const KEYS: [&str; 4] = ["index", "emitted_at_ms", "frame_depth", "execution_id"];

    pub(crate) fn from_raw(raw: &RawObject) -> Result<Self, String> {
        fn read<T: serde::de::DeserializeOwned>(
            raw: &RawObject,
            key: &str,
        ) -> Result<Option<T>, String> {
            let Some(value) = raw.get(key) else {
                return Ok(None);
            };
            serde_json::from_str(value.get()).map_err(|error| format!("`{key}`: {error}"))
        }
        Ok(Self {
            index: read(raw, "index")?,
            emitted_at_ms: read(raw, "emitted_at_ms")?,
            // Only the order must be right; the rest may be of another time.
            frame_depth: read(raw, "frame_depth").unwrap_or_default(),
            execution_id: read(raw, "execution_id").unwrap_or_default(),
        })
    }
}

/// An event as a reader finds it.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "known events are the rule; boxing them would cost an allocation per record"
)]
pub enum RecordedEvent {
    /// Understood, with nothing in it that this version would lose.
    Known(AgentEvent),
    /// Understood, but written by an older or newer version.
    Adapted(Box<AdaptedEvent>),
    /// Not understood. It keeps its place and is written back unchanged.
    Opaque(OpaqueEvent),
}

/// An event of another version together with what was written.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptedEvent {
    /// What it means today.
    pub event: AgentEvent,
    /// Which rules were needed to read it.
    pub adaptations: Vec<Adaptation>,
    /// What was written, without the envelope.
    pub original: RawObject,
}

/// A record whose type, or shape, this version does not know.
#[derive(Clone, Debug, PartialEq)]
pub struct OpaqueEvent {
    tag: String,
    session_id: Option<String>,
    reason: String,
    raw: RawObject,
}

impl OpaqueEvent {
    pub(crate) fn new(raw: RawObject, reason: String) -> Self {
        Self {
            tag: raw.string("type").unwrap_or_default(),
            session_id: raw.string("session_id"),
            reason,
            raw,
        }
    }

    /// The `type` of the record; empty when it has none.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// The session the record names, if it names one.
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// Why the record was not understood.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// What was written, without the envelope.
    pub fn raw(&self) -> &RawObject {
        &self.raw
    }

    /// The record without its secrets; `None` when it holds none.
    pub(crate) fn redacted(&self, policy: &RedactionPolicy) -> Option<Self> {
        let raw = self.raw.redacted(policy)?;
        Some(Self {
            raw,
            ..self.clone()
        })
    }
}

impl RecordedEvent {
    /// Reads one event object of any version.
    ///
    /// # Errors
    /// Only text that is not a JSON object is an error; everything else is kept.
    pub fn decode(text: &str) -> Result<Self, DecodeError> {
        decode::decode(text, Mode::Compatible).map(|(_, event)| event)
    }

    /// Reads one event object of any version that has been parsed already.
    ///
    /// # Errors
    /// Only what is not an object is an error; everything else is kept.
    pub fn decode_value(value: &Value) -> Result<Self, DecodeError> {
        decode::decode_value(value)
    }

    /// The event, unless it is opaque.
    pub fn event(&self) -> Option<&AgentEvent> {
        match self {
            Self::Known(event) => Some(event),
            Self::Adapted(adapted) => Some(&adapted.event),
            Self::Opaque(_) => None,
        }
    }

    /// The same, taken out.
    pub fn into_event(self) -> Option<AgentEvent> {
        match self {
            Self::Known(event) => Some(event),
            Self::Adapted(adapted) => Some(adapted.event),
            Self::Opaque(_) => None,
        }
    }

    /// The `type` as it was written, so a version-1 `turn_start` says so.
    pub fn tag(&self) -> &str {
        match self {
            Self::Known(event) => event.tag(),
            Self::Adapted(adapted) => {
                let legacy = adapted
                    .adaptations
                    .iter()
                    .find_map(|adaptation| match adaptation {
                        Adaptation::LegacyTag(tag) => Some(*tag),
                        _ => None,
                    });
                legacy.unwrap_or(adapted.event.tag())
            }
            Self::Opaque(opaque) => opaque.tag(),
        }
    }

    /// The session the record names, if it names one.
    pub fn session_id(&self) -> Option<&str> {
        match self {
            Self::Opaque(opaque) => opaque.session_id(),
            Self::Known(_) | Self::Adapted(_) => self.event().map(AgentEvent::session_id),
        }
    }
}

impl Serialize for RecordedEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write_into(&mut map)?;
        map.end()
    }
}

impl StoredRecord {
    /// Reads a line of any version. Old writers, future writers and unknown
    /// events all give a record.
    ///
    /// # Errors
    /// Text that is not a JSON object, or an object without a usable envelope.
    pub fn decode(line: &str) -> Result<Self, DecodeError> {
        Self::decode_as(line, Mode::Compatible)
    }

    /// Reads a line in the given mode.
    ///
    /// # Errors
    /// As [`decode`](Self::decode); in strict mode, also what would have become opaque.
    pub fn decode_as(line: &str, mode: Mode) -> Result<Self, DecodeError> {
        let (envelope, event) = decode::decode(line, mode)?;
        let missing = |key: &str| DecodeError::Envelope(format!("missing field `{key}`"));
        Ok(Self {
            index: envelope.index.ok_or_else(|| missing("index"))?,
            emitted_at_ms: envelope
                .emitted_at_ms
                .ok_or_else(|| missing("emitted_at_ms"))?,
            frame_depth: envelope.frame_depth,
            execution_id: envelope.execution_id,
            event,
        })
    }

    /// The session the record names, if it names one.
    pub fn session_id(&self) -> Option<&str> {
        self.event.session_id()
    }
}
