//! Text.

use std::cell::Cell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

use compact_str::CompactString;

use super::hash::{Hashed, seeded};

/// What a cached number is before it is known.
const UNKNOWN: usize = usize::MAX;

/// Immutable text, cheap to copy. Up to 24 bytes are kept beside the count, in one allocation.
#[derive(Clone)]
pub struct Text(Rc<Body>);

#[derive(Clone)]
struct Body {
    /// The hash, or 0 as long as nobody wanted it.
    hash: Cell<u64>,
    /// How many characters there are, or [`UNKNOWN`].
    chars: Cell<usize>,
    text: CompactString,
}

impl Text {
    /// A copy of a text.
    pub fn new(text: &str) -> Self {
        Self::from(CompactString::new(text))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// How many characters it has, counted once.
    pub fn char_count(&self) -> usize {
        let known = self.0.chars.get();
        if known != UNKNOWN {
            return known;
        }
        let count = self.0.text.chars().count();
        self.0.chars.set(count);
        count
    }

    /// Whether every character is one byte, so that positions are offsets.
    pub fn is_single_byte(&self) -> bool {
        self.char_count() == self.0.text.len()
    }

    /// The hash of the text, computed once.
    pub fn hash(&self) -> u64 {
        match self.0.hash.get() {
            0 => {
                let hash = hash_text(&self.0.text);
                self.0.hash.set(hash);
                hash
            }
            known => known,
        }
    }

    /// Whether nobody else has the text.
    pub(crate) fn is_unique(&self) -> bool {
        Rc::strong_count(&self.0) == 1
    }

    /// Whether both are the same text in memory.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Where it is in memory.
    pub fn address(&self) -> usize {
        Rc::as_ptr(&self.0).addr()
    }

    /// Adds to the end, in place if nobody else has it.
    pub fn append(&mut self, more: &str) {
        let body = Rc::make_mut(&mut self.0);
        let known = body.chars.get();
        if known != UNKNOWN {
            let more = match more.len() {
                0..=64 => more.chars().count(),
                _ => UNKNOWN - known, // Counting a long one again is not worth it.
            };
            body.chars.set(known + more);
        }
        body.hash.set(0);
        body.text.push_str(more);
    }

    /// The character at a position.
    pub fn char_at(&self, at: usize) -> Option<Text> {
        if self.is_single_byte() {
            return self.0.text.get(at..at + 1).map(Self::new);
        }
        let mut buffer = [0; 4];
        let char = self.0.text.chars().nth(at)?;
        Some(Self::new(char.encode_utf8(&mut buffer)))
    }

    /// The characters from one position up to another.
    pub fn slice(&self, start: usize, end: usize) -> Text {
        let (start, end) = (self.offset(start), self.offset(end));
        Self::new(self.0.text.get(start..end).unwrap_or_default())
    }

    /// Where the character at a position begins; the end if there are fewer.
    fn offset(&self, at: usize) -> usize {
        let len = self.0.text.len();
        if self.is_single_byte() {
            return at.min(len);
        }
        let mut offsets = self.0.text.char_indices().map(|(offset, _)| offset);
        offsets.nth(at).unwrap_or(len)
    }
}

/// The hash of a text, never 0.
pub(crate) fn hash_text(text: &str) -> u64 {
    let mut hasher = seeded(Hashed::Text);
    hasher.write(text.as_bytes());
    hasher.finish() | 1 << 63
}

impl From<CompactString> for Text {
    fn from(text: CompactString) -> Self {
        Self(Rc::new(Body {
            hash: Cell::new(0),
            chars: Cell::new(UNKNOWN),
            text,
        }))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::from(CompactString::from(text))
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || self.0.text == other.0.text
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    /// By code point, which in UTF-8 is by byte.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(Self::hash(self));
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
