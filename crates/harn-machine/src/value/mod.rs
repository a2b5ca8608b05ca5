//! What a program computes with.
//!
//! ```text
//! Value (16 bytes) ─┬─ nil, bool, int, float, duration, builtin    in the value itself
//!                   └─ text, list, dict, struct, closure, …        one counted reference
//! ```
//!
//! Values are immutable to programs. Inside, a value that nobody else refers to is changed in
//! place, which is why `xs = xs + [x]` in a loop costs what it costs to append. Counts are not
//! atomic: an isolate runs on one thread, and values never leave it.
//!
//! Values can be nested as deeply as memory allows, so nothing here recurses over them:
//! dropping, comparing and showing them all keep a list of what is left to do.

mod bury;
mod bytes;
mod dict;
mod equality;
mod handles;
mod hash;
mod list;
mod number;
mod order;
mod record;
mod set;
mod show;
mod structural;
mod text;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub(crate) use bury::bury;
pub use bytes::Bytes;
pub use dict::Dict;
pub use handles::{Foreign, LostPermit, Permit, PermitHome};
pub use list::List;
pub use number::show_float;
pub use order::order;
pub use record::{Enum, Pair, Range, Shape, Struct, Tag};
pub use set::{Sameness, Set};
pub use structural::structural_key;
pub use text::Text;

use crate::closure::Closure;
use crate::fault::Fault;
use crate::iterate::{Generator, Iter};
use crate::registry::BuiltinId;
use crate::sync::{Channel, Task};

/// A value. The first few kinds hold everything themselves, the others refer to something
/// that is counted; [`Value::is_counted`] relies on that order.
#[derive(Clone, Debug, Default)]
#[repr(u8)]
pub enum Value {
    /// The absence of a value.
    #[default]
    Nil,
    /// Nothing at all: a field that was not given, a function that control has not passed.
    /// Programs never see it.
    Absent,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A span of time in milliseconds.
    Duration(i64),
    /// A function that needs no declaration.
    Builtin(BuiltinId),
    /// Text.
    Text(Text),
    /// Values in order.
    List(List),
    /// Values by name.
    Dict(Dict),
    /// A value of a declared struct.
    Struct(Rc<Struct>),
    /// A variant of an enum.
    Enum(Rc<Enum>),
    /// A function of the program.
    Closure(Rc<Closure>),
    /// Values without duplicates.
    Set(Set),
    /// An interval of ints.
    Range(Rc<Range>),
    /// Two values.
    Pair(Rc<Pair>),
    /// Octets.
    Bytes(Bytes),
    /// Something to draw items from.
    Iter(Rc<Iter>),
    /// A function that pauses, of either kind.
    Generator(Rc<Generator>),
    /// A task that was started.
    Task(Rc<Task>),
    /// A queue between tasks.
    Channel(Rc<Channel>),
    /// A shared int.
    Atomic(Rc<Cell<i64>>),
    /// The right to go on.
    Permit(Rc<Permit>),
    /// Something that only the library that made it understands.
    Foreign(Rc<Foreign>),
    /// An error on its way. Programs never see it.
    Fault(Rc<Fault>),
    /// Where a function of a block is found that may be declared later. Programs never see it.
    Late(Rc<RefCell<Value>>),
}

const _: () = assert!(size_of::<Value>() == 16);

impl Value {
    /// Text.
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::Text(Text::new(text.as_ref()))
    }

    /// A list.
    pub fn list(items: Vec<Value>) -> Self {
        Self::List(List::from(items))
    }

    /// A dict of the given fields; a later one replaces an earlier one.
    pub fn dict<'a>(fields: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let mut dict = Dict::default();
        for (key, value) in fields {
            dict.insert(Text::new(key), value);
        }
        Self::Dict(dict)
    }

    /// Two values.
    pub fn pair(first: Value, second: Value) -> Self {
        Self::Pair(Rc::new(Pair { first, second }))
    }

    /// `Result.Ok(value)`.
    pub fn ok(value: Value) -> Self {
        Self::Enum(Rc::new(Enum::new(Tag::ok(), vec![value])))
    }

    /// `Result.Err(error)`.
    pub fn err(error: Value) -> Self {
        Self::Enum(Rc::new(Enum::new(Tag::err(), vec![error])))
    }

    /// Whether it refers to something that is counted.
    pub fn is_counted(&self) -> bool {
        !matches!(
            self,
            Self::Nil
                | Self::Absent
                | Self::Bool(_)
                | Self::Int(_)
                | Self::Float(_)
                | Self::Duration(_)
                | Self::Builtin(_)
        )
    }

    /// Whether it is `nil`.
    pub fn is_nil(&self) -> bool {
        matches!(self, Self::Nil)
    }

    /// Whether it can be called.
    pub fn is_callable(&self) -> bool {
        matches!(self, Self::Closure(_) | Self::Builtin(_))
    }

    /// Whether a condition holds.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Nil | Self::Absent => false,
            Self::Bool(value) => *value,
            Self::Int(value) | Self::Duration(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::Bytes(bytes) => !bytes.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Dict(dict) => !dict.is_empty(),
            Self::Set(set) => !set.is_empty(),
            _ => true,
        }
    }

    /// What `type_of` calls it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Nil | Self::Absent => "nil",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Duration(_) => "duration",
            Self::Builtin(_) => "builtin",
            Self::Text(_) => "string",
            Self::List(_) => "list",
            Self::Dict(_) => "dict",
            Self::Struct(_) => "struct",
            Self::Enum(_) => "enum",
            Self::Closure(_) => "closure",
            Self::Set(_) => "set",
            Self::Range(_) => "range",
            Self::Pair(_) => "pair",
            Self::Bytes(_) => "bytes",
            Self::Iter(_) => "iter",
            Self::Generator(generator) => generator.type_name(),
            Self::Task(_) => "task_handle",
            Self::Channel(_) => "channel",
            Self::Atomic(_) => "atomic",
            Self::Permit(_) => "sync_permit",
            Self::Foreign(foreign) => foreign.type_name(),
            Self::Fault(_) | Self::Late(_) => "nil",
        }
    }

    /// The payload of `Result.Ok` or `Result.Err`, if it is one.
    pub fn as_result(&self) -> Option<Result<&Value, &Value>> {
        let Self::Enum(value) = self else {
            return None;
        };
        let payload = value.payload.first().unwrap_or(&Self::Nil);
        match (value.tag.name.as_str(), value.tag.variant.as_str()) {
            ("Result", "Ok") => Some(Ok(payload)),
            ("Result", "Err") => Some(Err(payload)),
            _ => None,
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<usize> for Value {
    /// Nothing in memory has more parts than an int can count.
    fn from(value: usize) -> Self {
        Self::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(Text::from(text))
    }
}

impl From<Text> for Value {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

impl From<List> for Value {
    fn from(list: List) -> Self {
        Self::List(list)
    }
}

impl From<Dict> for Value {
    fn from(dict: Dict) -> Self {
        Self::Dict(dict)
    }
}

impl From<Set> for Value {
    fn from(set: Set) -> Self {
        Self::Set(set)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nil, Into::into)
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self::list(items.into_iter().collect())
    }
}

#[cfg(test)]
mod tests;
