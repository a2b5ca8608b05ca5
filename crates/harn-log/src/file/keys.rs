//! Finds records by their headers.
//!
//! An index for a header is built when somebody first asks for it, by reading the
//! topic once, and kept up to date from then on.

use std::collections::HashMap;

use crate::event::LogEvent;
use crate::name::EventId;

/// The first record of each value of the headers somebody has asked for.
#[derive(Default)]
pub(super) struct Keys {
    headers: HashMap<String, HashMap<String, EventId>>,
}

impl Keys {
    /// Whether there is an index for a header.
    pub(super) fn has(&self, header: &str) -> bool {
        self.headers.contains_key(header)
    }

    /// Begins an index. All records there are have to be noted next.
    pub(super) fn begin(&mut self, header: &str) {
        self.headers.insert(header.to_owned(), HashMap::new());
    }

    /// Notes a record, later than all before it.
    pub(super) fn note(&mut self, id: EventId, event: &LogEvent) {
        for (header, values) in &mut self.headers {
            if let Some(value) = event.headers.get(header) {
                values.entry(value.clone()).or_insert(id);
            }
        }
    }

    /// The first record with this value.
    pub(super) fn find(&self, header: &str, value: &str) -> Option<EventId> {
        self.headers.get(header)?.get(value).copied()
    }

    /// Forgets everything, for records may have gone.
    pub(super) fn clear(&mut self) {
        self.headers.clear();
    }
}
