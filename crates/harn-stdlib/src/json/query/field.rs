//! A field that a query wants of one dict after the other.

use std::cell::RefCell;

use harn_machine::Value;
use harn_machine::value::Text;

/// The name of a field, and where it was found last. Documents repeat dicts with the same keys,
/// and a key that is the same in memory need not be compared.
pub(super) struct Field {
    name: Text,
    /// The name as the document has it, and its place.
    last: RefCell<(Text, usize)>,
}

impl Field {
    pub(super) fn new(name: Text) -> Self {
        Self {
            last: RefCell::new((name.clone(), 0)),
            name,
        }
    }

    /// The field of a dict or a struct.
    #[inline]
    pub(super) fn of<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        match value {
            Value::Dict(dict) => {
                let (name, place) = &mut *self.last.borrow_mut();
                dict.get_near(name, place)
            }
            Value::Struct(value) => value.get(&self.name),
            _ => None,
        }
    }
}
