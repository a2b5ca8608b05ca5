//! One text in memory per name.

use hashbrown::HashMap;
use smol_str::SmolStr;

use crate::value::Text;

/// The constant texts of an isolate, each of them once, so that two of them are the same if
/// they are at the same address.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    texts: HashMap<SmolStr, Text>,
    method_tables: u32,
}

impl Interner {
    /// The text.
    pub(crate) fn text(&mut self, text: &str) -> Text {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        let new = Text::new(text);
        // Whoever compares keys wants the hash sooner or later.
        Text::hash(&new);
        self.texts.insert(SmolStr::new(text), new.clone());
        new
    }

    /// The number of a new table of methods. Those of files are numbered from the other end.
    pub(crate) fn new_method_table(&mut self) -> u32 {
        self.method_tables += 1;
        u32::MAX - self.method_tables
    }

    /// `key` and `value`, the fields of what a loop over a dict gives.
    pub(crate) fn entry_names(&mut self) -> [Text; 2] {
        [self.text("key"), self.text("value")]
    }
}
