//! Most chunks of an answer differ from the one before in their text and in nothing else.
//!
//! ```text
//! {"id":"a1","choices":[{"delta":{"content":" Good"}}],"model":"m"}
//! {"id":"a1","choices":[{"delta":{"content":" day"}}],"model":"m"}
//! └──────────────── before ───────────────┘     └───── after ────┘
//! ```
//!
//! So a chunk that begins and ends as the last one did need not be read again, if what stands
//! between is a string that means itself.

use crate::wire::scan;

/// A chunk that had text and nothing else that means something.
#[derive(Debug, Default)]
pub(super) struct Likeness {
    /// All of it; empty as long as there was none.
    chunk: String,
    /// Where its text begins, and how much comes after that.
    before_bytes: usize,
    after_bytes: usize,
}

impl Likeness {
    /// The text of a chunk that is like the last one.
    pub(super) fn text<'a>(&self, data: &'a str) -> Option<&'a str> {
        if self.chunk.is_empty() {
            return None;
        }
        let (before, rest) = self.chunk.split_at(self.before_bytes);
        let after = &rest[rest.len() - self.after_bytes..];
        let text = data.strip_prefix(before)?.strip_suffix(after)?;
        scan::means_itself(text).then_some(text)
    }

    /// Keeps a chunk to compare others with. `text` is what it says; unless it is a part of
    /// `data` as it stands there, there is nothing to compare with.
    pub(super) fn remember(&mut self, data: &str, text: &str) {
        self.chunk.clear();
        let start = text.as_ptr().addr().checked_sub(data.as_ptr().addr());
        let after = |start| data.len().checked_sub(start)?.checked_sub(text.len());
        let (Some(start), Some(after)) = (start, start.and_then(after)) else {
            return;
        };
        // Nothing at all may seem to be anywhere.
        if !text.is_empty() {
            self.chunk.push_str(data);
            self.before_bytes = start;
            self.after_bytes = after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: &str = r#"{"id":"1","choices":[{"delta":{"content":"day"}}],"model":"day"}"#;

    fn likeness() -> Likeness {
        let mut likeness = Likeness::default();
        let (start, _) = CHUNK.match_indices("day").next().unwrap();
        likeness.remember(CHUNK, &CHUNK[start..start + 3]);
        likeness
    }

    #[test]
    fn a_chunk_that_differs_in_its_text_gives_that() {
        for text in ["night", "", "d", "häßlich 🦀", "}}]}", "day"] {
            let data = CHUNK.replacen("day", text, 1);
            assert_eq!(likeness().text(&data), Some(text));
        }
    }

    #[test]
    fn what_has_to_be_read_is_left_to_whoever_reads() {
        let escaped = [r"\n", r#"\""#, r#"","role":""#, "\n", "\u{1}", "\\"];
        for text in escaped {
            let data = CHUNK.replacen("day", text, 1);
            assert_eq!(likeness().text(&data), None, "{data}");
        }
        for data in [
            &CHUNK[..CHUNK.len() - 1],
            &CHUNK[1..],
            r#"{"id":"2","choices":[{"delta":{"content":"day"}}],"model":"day"}"#,
            r#"{"id":"1","choices":[{"delta":{"content":"day"}}],"model":"night"}"#,
            r#"{"id":"1","choices":[{"delta":{"content":"}}],"model":"day"}"#,
            "",
        ] {
            assert_eq!(likeness().text(data), None, "{data}");
        }
    }

    #[test]
    fn text_that_is_not_part_of_the_chunk_is_not_remembered() {
        for text in ["day".to_owned(), String::new()] {
            let mut likeness = likeness();
            likeness.remember(CHUNK, &text);
            assert_eq!(likeness.text(CHUNK), None);
        }
    }
}
