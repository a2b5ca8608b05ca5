//! The pad that belongs to a session.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::journal::Session;
use super::kept;

/// What a pad calls its shape.
pub const SCRATCHPAD_SCHEMA: &str = "harn.agent_scratchpad.v1";

/// The lists of a pad.
const LISTS: [&str; 4] = ["goals", "open_items", "facts", "refs"];

/// The pad of a session. Its version grows with every change, also when it is cleared, so that
/// whoever has seen a version notices what happened since.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scratchpad {
    /// How often it was changed.
    pub version: u64,
    /// What is on it; nothing after it was cleared.
    pub pad: Option<Value>,
}

impl Scratchpad {
    /// A pad with all of its lists; else the name of what should be a list.
    pub fn complete(mut pad: Map<String, Value>) -> Result<Value, &'static str> {
        for name in LISTS {
            let list = pad.entry(name).or_insert_with(|| json!([]));
            if list.is_null() {
                *list = json!([]);
            }
            if !list.is_array() {
                return Err(name);
            }
        }
        pad.insert("schema".to_owned(), json!(SCRATCHPAD_SCHEMA));
        Ok(Value::Object(pad))
    }

    fn of(kept: Option<&Value>) -> Self {
        let kept = kept.and_then(|kept| serde_json::from_value(kept.clone()).ok());
        kept.unwrap_or_default()
    }
}

impl Session {
    /// The pad.
    pub fn scratchpad(&self) -> Scratchpad {
        Scratchpad::of(self.kept(kept::SCRATCHPAD).as_ref())
    }

    /// Writes on the pad, or clears it; gives it as it is now. If `expected` is a version and
    /// not that of the pad, nothing is written, and the pad comes back as an error.
    pub fn set_scratchpad(
        &self,
        pad: Option<Value>,
        expected: Option<u64>,
    ) -> Result<Scratchpad, Scratchpad> {
        self.keep_next(kept::SCRATCHPAD, |before| {
            let before = Scratchpad::of(before);
            if expected.is_some_and(|expected| expected != before.version) {
                return (None, Err(before));
            }
            let version = before.version + 1;
            let now = Scratchpad { version, pad };
            (Some(json!(now)), Ok(now))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pad_has_all_of_its_lists() {
        let given = json!({"goals": ["ship"], "refs": null, "mood": "fine"});
        let pad = Scratchpad::complete(given.as_object().unwrap().clone());
        let expected = json!({
            "schema": "harn.agent_scratchpad.v1", "goals": ["ship"], "open_items": [],
            "facts": [], "refs": [], "mood": "fine",
        });
        assert_eq!(pad, Ok(expected));
        let given = json!({"facts": "none"});
        let pad = Scratchpad::complete(given.as_object().unwrap().clone());
        assert_eq!(pad, Err("facts"));
    }
}
