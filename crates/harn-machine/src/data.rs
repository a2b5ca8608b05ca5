//! Values that can leave an isolate.

use std::collections::BTreeMap;

use crate::fault::{Failure, Fault};
use crate::value::{Bytes, Dict, Text, Value};

/// How deep data may be nested.
const DEPTH_MAX: usize = 512;

/// A value without anything that belongs to an isolate: it can be sent to another thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Data {
    /// The absence of a value.
    #[default]
    Nil,
    /// An argument that is not given, so that its parameter has its default.
    Missing,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A span of time in milliseconds.
    Duration(i64),
    /// Text.
    Text(String),
    /// Octets.
    Bytes(Vec<u8>),
    /// Values in order.
    List(Vec<Data>),
    /// Values by name.
    Dict(BTreeMap<String, Data>),
}

impl Data {
    /// The data that a value consists of. Structs become dicts, sets and pairs lists, variants
    /// their text; what only means something inside the isolate cannot leave it.
    pub fn of(value: &Value) -> Result<Self, Failure> {
        Self::of_nested(value, DEPTH_MAX)
    }

    fn of_nested(value: &Value, depth: usize) -> Result<Self, Failure> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(Fault::runtime(
                "a value is nested too deeply to leave its program",
            ));
        };
        let all = |values: &[Value]| -> Result<Self, Failure> {
            let values = values.iter().map(|value| Self::of_nested(value, depth));
            values.collect::<Result<_, _>>().map(Self::List)
        };
        let fields = |fields: &mut dyn Iterator<Item = (&Text, &Value)>| -> Result<Self, Failure> {
            let fields = fields.map(|(key, value)| {
                let value = Self::of_nested(value, depth)?;
                Ok((key.to_string(), value))
            });
            fields.collect::<Result<_, _>>().map(Self::Dict)
        };
        Ok(match value {
            Value::Nil | Value::Absent => Self::Nil,
            Value::Bool(value) => Self::Bool(*value),
            Value::Int(value) => Self::Int(*value),
            Value::Float(value) => Self::Float(*value),
            Value::Duration(value) => Self::Duration(*value),
            Value::Text(text) => Self::Text(text.to_string()),
            Value::Bytes(bytes) => Self::Bytes(bytes.to_vec()),
            Value::Enum(_) | Value::Range(_) => Self::Text(value.show()),
            Value::List(items) => return all(items),
            Value::Set(set) => return all(set.items()),
            Value::Pair(pair) => return all(&[pair.first.clone(), pair.second.clone()]),
            Value::Dict(dict) => return fields(&mut dict.iter()),
            Value::Struct(body) => return fields(&mut body.fields()),
            other => {
                let kind = other.type_name();
                return Err(Fault::type_error(format!(
                    "a {kind} cannot leave its program"
                )));
            }
        })
    }
}

impl From<Data> for Value {
    fn from(data: Data) -> Self {
        match data {
            Data::Nil => Self::Nil,
            Data::Missing => Self::Absent,
            Data::Bool(value) => Self::Bool(value),
            Data::Int(value) => Self::Int(value),
            Data::Float(value) => Self::Float(value),
            Data::Duration(value) => Self::Duration(value),
            Data::Text(text) => Self::from(text),
            Data::Bytes(bytes) => Self::Bytes(Bytes::from(bytes)),
            Data::List(items) => items.into_iter().map(Value::from).collect(),
            Data::Dict(fields) => {
                let fields = fields.into_iter();
                let fields = fields.map(|(key, value)| (Text::from(key), Value::from(value)));
                Self::Dict(fields.collect::<Dict>())
            }
        }
    }
}
