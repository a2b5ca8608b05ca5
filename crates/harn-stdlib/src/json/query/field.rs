//! A field that a query wants of one dict after the other.

use std::cell::{Cell, OnceCell};

use harn_machine::Value;
use harn_machine::value::{Dict, Text};

/// The most entries that are looked through one by one.
const FEW: usize = 8;

/// The name of a field, and where it was found last. Documents repeat dicts with the same keys,
/// and a key that is the same in memory need not be compared.
pub(super) struct Field {
    name: Text,
    /// The name as the document has it.
    seen: OnceCell<Text>,
    place: Cell<usize>,
}

impl Field {
    pub(super) fn new(name: Text) -> Self {
        Self {
            name,
            seen: OnceCell::new(),
            place: Cell::new(0),
        }
    }

    /// The field of a dict or a struct.
    pub(super) fn of<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        match value {
            Value::Dict(dict) => self.of_dict(dict),
            Value::Struct(value) => value.get(&self.name),
            _ => None,
        }
    }

    fn of_dict<'a>(&self, dict: &'a Dict) -> Option<&'a Value> {
        if let Some((key, value)) = dict.entry(self.place.get())
            && self.seen.get().is_some_and(|seen| seen.is_same(key))
        {
            return Some(value);
        }
        if dict.len() > FEW {
            return dict.get_text(&self.name);
        }
        let mut entries = dict.iter().enumerate();
        let (place, (key, value)) = entries.find(|(_, (key, _))| **key == self.name)?;
        self.place.set(place);
        self.seen.get_or_init(|| key.clone());
        Some(value)
    }
}
