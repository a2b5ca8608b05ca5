//! What a call shows to people, besides the text that the model reads.
//!
//! A tool shows things while it runs or when it is done; they stand beside its text in the last
//! event of the call, so that whoever reads the journal later sees the same.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Bytes of text that one change of a file may have to be shown. A larger one is not shown:
/// journals keep what is shown for ever.
const EDIT_BYTES_MAX: usize = 256 * 1024;

/// Something that a call shows to people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Shown {
    /// A file has another content.
    Edit {
        /// The file, from the root on.
        path: String,
        /// What it said before; `None`: there was no such file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old_text: Option<String>,
        /// What it says now.
        new_text: String,
    },
    /// A command runs, or has run, in a terminal of the host.
    Terminal {
        /// The terminal, by the host's name for it.
        terminal_id: String,
    },
    /// Content in the shape that tool servers have for it.
    Block {
        /// The block, as it came.
        block: Value,
    },
}

impl Shown {
    /// Where a result has what is shown.
    pub const KEY: &'static str = "shown";

    /// Whether it is small enough to be kept.
    fn is_kept(&self) -> bool {
        match self {
            Self::Edit {
                old_text, new_text, ..
            } => old_text.as_ref().map_or(0, String::len) + new_text.len() <= EDIT_BYTES_MAX,
            Self::Terminal { .. } | Self::Block { .. } => true,
        }
    }
}

/// Takes what a call shows.
#[derive(Debug, Default)]
pub struct Showing {
    shown: Mutex<Vec<Shown>>,
}

impl Showing {
    /// Shows something.
    pub fn show(&self, shown: Shown) {
        if shown.is_kept() {
            self.lock().push(shown);
        }
    }

    /// What was shown so far.
    pub fn all(&self) -> Vec<Shown> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Shown>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_is_too_large_is_not_shown() {
        let showing = Showing::default();
        let edit = |bytes: usize| Shown::Edit {
            path: "/f".to_owned(),
            old_text: Some("x".repeat(bytes)),
            new_text: "y".to_owned(),
        };
        showing.show(edit(EDIT_BYTES_MAX));
        showing.show(edit(EDIT_BYTES_MAX - 1));
        assert_eq!(showing.all(), [edit(EDIT_BYTES_MAX - 1)]);
    }
}
