//! Finds records by their headers.
//!
//! An index for a header is built when somebody first asks for it, by reading the
//! topic once, and kept up to date from then on.

use std::collections::HashMap;

use crate::name::EventId;

/// Headers by which records of one topic can be found at the same time.
const HEADERS_MAX: usize = 16;

/// The records that can be found by the headers somebody has asked for.
#[derive(Default)]
pub(super) struct Keys {
    headers: HashMap<String, Index>,
}

/// The first record of each value of a header.
#[derive(Default)]
pub(super) struct Index {
    values: HashMap<String, EventId>,
}

impl Index {
    /// Notes a record with this value, if it has one, later than all before it.
    pub(super) fn note(&mut self, id: EventId, value: Option<&String>) {
        if let Some(value) = value {
            self.values.entry(value.clone()).or_insert(id);
        }
    }
}

impl Keys {
    /// Whether there is an index for a header.
    pub(super) fn has(&self, header: &str) -> bool {
        self.headers.contains_key(header)
    }

    /// Adds an index of all records there are.
    pub(super) fn add(&mut self, header: &str, index: Index) {
        if self.headers.len() == HEADERS_MAX {
            self.headers.clear(); // Those that are used come back.
        }
        self.headers.insert(header.to_owned(), index);
    }

    /// Notes a record with these values of headers, later than all before it.
    pub(super) fn note<'a>(&mut self, id: EventId, value_of: impl Fn(&str) -> Option<&'a String>) {
        for (header, index) in &mut self.headers {
            index.note(id, value_of(header));
        }
    }

    /// The first record with this value.
    pub(super) fn find(&self, header: &str, value: &str) -> Option<EventId> {
        self.headers.get(header)?.values.get(value).copied()
    }

    /// Forgets everything, for records may have gone.
    pub(super) fn clear(&mut self) {
        self.headers.clear();
    }
}
