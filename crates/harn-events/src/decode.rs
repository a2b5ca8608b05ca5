//! From text to events.
//!
//! ```text
//!              today's writer            anything else
//! line ──► one streaming pass ──ok──► Known
//!               │ anything odd
//!               ▼
//!          raw object ──► compat rules ──ok──► Adapted (keeps the original)
//!                              │ not understood
//!                              ▼
//!                           Opaque (keeps the original)
//! ```
//!
//! The streaming pass relies on our writer putting `type` before the fields of
//! the event; it allocates nothing that does not end up in the event. Whatever
//! it cannot take, including old and future shapes, goes the slow way, where
//! being right matters more than being quick.

use serde::de::value::MapDeserializer;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::compat::{self, Adaptation};
use crate::event::{AgentEvent, read_variant};
use crate::raw::RawObject;
use crate::record::{AdaptedEvent, Envelope, OpaqueEvent, RecordedEvent};
use crate::shape;
use crate::wire::Text;

/// Why a record could not be read at all.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The text is not a JSON object.
    #[error("not a JSON object: {0}")]
    NotAnObject(#[source] serde_json::Error),
    /// An envelope key is missing or has the wrong type.
    #[error("bad envelope: {0}")]
    Envelope(String),
    /// Strict mode met a record it would otherwise keep as opaque.
    #[error("cannot decode a `{tag}` event: {reason}")]
    Strict {
        /// `type` of the record, empty when it has none.
        tag: String,
        /// What the decoder said.
        reason: String,
    },
}

/// How to treat what is not understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Read all published versions and keep the rest as opaque.
    #[default]
    Compatible,
    /// For tests: no version-1 defaults, and an opaque record is an error.
    Strict,
}

/// Reads a bare event, or a record whose envelope is returned beside it.
pub(crate) fn decode(text: &str, mode: Mode) -> Result<(Envelope, RecordedEvent), DecodeError> {
    let mut slot = None;
    if let Ok(envelope) = read_quickly(text, &mut slot)
        && let Some(event) = slot
    {
        return Ok((envelope, RecordedEvent::Known(event)));
    }
    read_carefully(text, mode)
}

/// Reads a bare event that has been parsed already.
pub(crate) fn decode_value(value: &Value) -> Result<RecordedEvent, DecodeError> {
    match value.as_object().and_then(read_plain_object) {
        Some(event) => Ok(RecordedEvent::Known(event)),
        None => decode(&value.to_string(), Mode::Compatible).map(|(_, event)| event),
    }
}

/// The event of an object of today. Anything else sends the caller down the slow path.
fn read_plain_object(object: &Map<String, Value>) -> Option<AgentEvent> {
    let tag = object.get("type")?.as_str()?;
    if Envelope::KEYS.iter().any(|key| object.contains_key(*key)) {
        return None;
    }
    let (event, unknown_keys) = read_fields(tag, object).ok()?;
    let is_plain = unknown_keys == 0 && !compat::needs_a_second_look(&event);
    is_plain.then_some(event)
}

/// Decodes an object that has been parsed already, applying the compatibility rules.
pub(crate) fn event_from_object(mut object: Map<String, Value>) -> Result<AgentEvent, String> {
    compat::adapt(&mut object);
    read_object(object).map(|(event, _)| event)
}

/// The object's event and the number of keys nobody knew.
pub(crate) fn read_object(mut object: Map<String, Value>) -> Result<(AgentEvent, u32), String> {
    object.retain(|key, _| !Envelope::KEYS.contains(&key.as_str()));
    match object.get("type") {
        Some(Value::String(tag)) => read_fields(tag, &object),
        Some(_) => Err("`type` is not a string".to_owned()),
        None => Err("missing field `type`".to_owned()),
    }
}

/// The event called `tag` with the fields of this object, and the number of keys nobody
/// knew. All that reads parsed objects comes through here, because the code of all
/// variants is made once for each way to read.
fn read_fields(tag: &str, object: &Map<String, Value>) -> Result<(AgentEvent, u32), String> {
    let fields = object.iter().map(|(key, value)| (key.as_str(), value));
    let fields = fields.filter(|(key, _)| *key != "type");
    let entries = MapDeserializer::<_, serde_json::Error>::new(fields);
    let mut slot = None;
    let mut fields = Fields::new(entries, &mut slot);
    let outcome = read_variant(tag, &mut fields);
    let unknown_keys = fields.unknown_keys;
    match (outcome, slot) {
        (Some(Ok(())), Some(event)) => Ok((event, unknown_keys)),
        (Some(Err(error)), _) => Err(error.to_string()),
        _ => Err(format!("unknown event type `{tag}`")),
    }
}

/// Leaves the event in `slot`. Events are large, and handing one up through four
/// levels of results would copy it each time.
fn read_quickly(text: &str, slot: &mut Option<AgentEvent>) -> Result<Envelope, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let envelope = deserializer.deserialize_map(QuickVisitor { slot })?;
    deserializer.end()?;
    Ok(envelope)
}

struct QuickVisitor<'a> {
    slot: &'a mut Option<AgentEvent>,
}

impl<'de> Visitor<'de> for QuickVisitor<'_> {
    type Value = Envelope;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an event object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Fields::new(map, self.slot);
        // Anything but the plainest record is an error here: it only sends the
        // caller down the slow path, where it is looked at properly.
        let Some(key) = fields.next_key()? else {
            return Err(A::Error::missing_field("type"));
        };
        if &*key != "type" {
            return Err(A::Error::custom("`type` does not come first"));
        }
        let tag: Text<'de> = fields.value()?;
        read_variant(&tag, &mut fields).ok_or_else(|| A::Error::custom("unknown event type"))??;
        let is_plain = |event: &AgentEvent| !compat::needs_a_second_look(event);
        if fields.unknown_keys > 0 || !fields.slot.as_ref().is_some_and(is_plain) {
            return Err(A::Error::custom("the original must be kept"));
        }
        Ok(fields.envelope)
    }
}

fn read_carefully(text: &str, mode: Mode) -> Result<(Envelope, RecordedEvent), DecodeError> {
    let raw: RawObject = serde_json::from_str(text).map_err(DecodeError::NotAnObject)?;
    let envelope = Envelope::from_raw(&raw).map_err(DecodeError::Envelope)?;
    let raw = raw.without(&Envelope::KEYS);
    match interpret(&raw, mode) {
        Ok((event, adaptations)) if adaptations.is_empty() => {
            Ok((envelope, RecordedEvent::Known(event)))
        }
        Ok((event, adaptations)) => {
            let adapted = AdaptedEvent {
                event,
                adaptations,
                original: raw,
            };
            Ok((envelope, RecordedEvent::Adapted(Box::new(adapted))))
        }
        Err(reason) if mode == Mode::Strict => Err(DecodeError::Strict {
            tag: raw.string("type").unwrap_or_default(),
            reason,
        }),
        Err(reason) => Ok((
            envelope,
            RecordedEvent::Opaque(OpaqueEvent::new(raw, reason)),
        )),
    }
}

fn interpret(raw: &RawObject, mode: Mode) -> Result<(AgentEvent, Vec<Adaptation>), String> {
    let mut object = raw.to_object().map_err(|error| error.to_string())?;
    let mut adaptations = match mode {
        Mode::Compatible => compat::adapt(&mut object),
        Mode::Strict => compat::adapt_legacy_tags(&mut object).into_iter().collect(),
    };
    let (event, unknown_keys) = read_object(object.clone())?;
    if unknown_keys > 0 {
        adaptations.push(Adaptation::UnknownKeys(unknown_keys));
    }
    if adaptations.is_empty()
        && compat::has_nested_records(&event)
        && serde_json::to_value(&event).ok() != Some(Value::Object(object))
    {
        adaptations.push(Adaptation::NestedKeys);
    }
    Ok((event, adaptations))
}

/// The part of an object that is still to be read. Envelope keys are taken out
/// on the way, wherever they stand.
pub(crate) struct Fields<'a, A> {
    map: A,
    /// Where the event goes when all of it has been read.
    pub(crate) slot: &'a mut Option<AgentEvent>,
    pub(crate) envelope: Envelope,
    pub(crate) unknown_keys: u32,
}

impl<'a, 'de, A: MapAccess<'de>> Fields<'a, A> {
    pub(crate) fn new(map: A, slot: &'a mut Option<AgentEvent>) -> Self {
        Self {
            map,
            slot,
            envelope: Envelope::default(),
            unknown_keys: 0,
        }
    }

    /// The next key that is not part of the envelope.
    pub(crate) fn next_key(&mut self) -> Result<Option<Text<'de>>, A::Error> {
        while let Some(key) = self.map.next_key::<Text<'de>>()? {
            match &*key {
                "index" => self.envelope.index = Some(self.map.next_value()?),
                "emitted_at_ms" => self.envelope.emitted_at_ms = Some(self.map.next_value()?),
                "frame_depth" => self.envelope.frame_depth = self.map.next_value()?,
                "execution_id" => self.envelope.execution_id = self.map.next_value()?,
                _ => return Ok(Some(key)),
            }
        }
        Ok(None)
    }

    pub(crate) fn value<T: Deserialize<'de>>(&mut self) -> Result<T, A::Error> {
        self.map.next_value()
    }

    /// Steps over the value of a key that this version does not know.
    pub(crate) fn skip_unknown(&mut self) -> Result<(), A::Error> {
        self.unknown_keys += 1;
        self.map.next_value::<IgnoredAny>().map(|_| ())
    }
}

/// Keys of a payload that no field of the variant `tag` takes.
pub(crate) fn unknown_keys(tag: &str, object: &Map<String, Value>) -> Vec<String> {
    let Some(variant) = shape::variant(tag) else {
        return Vec::new();
    };
    let known = |key: &str| key == "type" || variant.fields.iter().any(|field| field.name == key);
    object.keys().filter(|key| !known(key)).cloned().collect()
}
