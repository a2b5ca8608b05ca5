//! How single fields travel: what is left out, what a missing key means, and
//! how numbers that JSON cannot hold are written.

use std::borrow::Cow;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

/// A string borrowed from the input where possible. Keys and enum values are
/// looked at once and forgotten, so they need no allocation of their own.
pub(crate) struct Text<'de>(Cow<'de, str>);

impl Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
            fn visit_string<E: Error>(self, text: String) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text)))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// An object that is being written, one field after another.
pub(crate) trait FieldWriter {
    /// What can go wrong.
    type Error;

    /// Writes a field. The name is one of ours, so nothing in it needs escaping.
    fn field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Self::Error>;
}

/// Writes to any serialiser.
pub(crate) struct MapWriter<'a, M>(pub(crate) &'a mut M);

impl<M: SerializeMap> FieldWriter for MapWriter<'_, M> {
    type Error = M::Error;

    fn field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), M::Error> {
        self.0.serialize_entry(name, value)
    }
}

/// Writes JSON text straight into a buffer, for the sink that writes most.
pub(crate) struct LineWriter<'a>(pub(crate) &'a mut Vec<u8>);

impl FieldWriter for LineWriter<'_> {
    type Error = serde_json::Error;

    fn field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), serde_json::Error> {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        self.0.push(b'"');
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        serde_json::to_writer(&mut *self.0, value)
    }
}

/// A value that can be a field of an event.
pub(crate) trait Field: Serialize {
    /// Whether the field is left out where its rule allows it.
    fn is_left_out(&self) -> bool
    where
        Self: Default + PartialEq,
    {
        *self == Self::default()
    }

    /// Writes the field. Overridden for floats, which JSON can hold only when finite.
    fn write<W: FieldWriter>(&self, object: &mut W, name: &'static str) -> Result<(), W::Error> {
        object.field(name, self)
    }
}

impl Field for f64 {
    fn write<W: FieldWriter>(&self, object: &mut W, name: &'static str) -> Result<(), W::Error> {
        object.field(name, &finite(*self))
    }
}

impl Field for Option<f64> {
    fn write<W: FieldWriter>(&self, object: &mut W, name: &'static str) -> Result<(), W::Error> {
        object.field(name, &self.map(finite))
    }
}

macro_rules! plain_fields {
    ($($ty:ty),+ $(,)?) => { $(impl Field for $ty {})+ };
}

plain_fields!(
    bool,
    u64,
    usize,
    String,
    Value,
    Vec<String>,
    Vec<Value>,
    Option<bool>,
    Option<i64>,
    Option<u64>,
    Option<usize>,
    Option<String>,
    Option<crate::ToolKind>,
    Option<crate::ToolExecutor>,
    Option<crate::ToolCallErrorCategory>,
    Option<crate::ToolCallReceipt>,
    Option<crate::MutationSessionRecord>,
    crate::ToolCallStatus,
    crate::WorkerEvent,
    crate::CompositionRunEnvelope,
    crate::CompositionChildCall,
    crate::CompositionChildResult,
    Vec<crate::FsWatchEvent>,
    crate::IterationInfo,
    Box<crate::HandoffArtifact>,
);

impl Field for Option<Value> {
    /// `Some(null)` and `None` are the same on the wire.
    fn is_left_out(&self) -> bool {
        self.as_ref().is_none_or(Value::is_null)
    }
}

/// The nearest number JSON can hold. serde would write `null`, which readers of
/// a number refuse, so one bad measurement would cost the whole record.
pub(crate) fn finite(number: f64) -> f64 {
    if number.is_nan() {
        0.0
    } else {
        number.clamp(f64::MIN, f64::MAX)
    }
}

/// [`finite`] for optional struct fields.
pub(crate) fn finite_option<S: Serializer>(
    number: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    number.map(finite).serialize(serializer)
}
