//! Places in a text.

use std::fmt;
use std::ops::Range;

/// A range of bytes in a text. Texts are smaller than 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// The bytes from `start` up to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        let narrow = |at| u32::try_from(at).expect("a text is smaller than 4 GiB");
        Self {
            start: narrow(start),
            end: narrow(end),
        }
    }

    /// From the beginning of this one to the end of `last`.
    #[must_use]
    pub fn to(self, last: Self) -> Self {
        Self {
            start: self.start,
            end: last.end,
        }
    }

    /// As a range of indexes.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// What it covers of a text.
    pub fn of(self, text: &str) -> &str {
        &text[self.range()]
    }
}

/// A place as people see it: both counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The character in the line.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// What some editors begin a file with. It is not part of the first line.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Where the lines of a text begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// The lines of a text.
    pub fn new(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = breaks.map(|(at, _)| Span::new(at + 1, at + 1).start);
        let first = match text.starts_with(BYTE_ORDER_MARK) {
            true => BYTE_ORDER_MARK.len_utf8() as u32,
            false => 0,
        };
        Self {
            starts: std::iter::once(first).chain(starts).collect(),
        }
    }

    /// The place of a byte of the same text.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset);
        let line = line.saturating_sub(1);
        let start = self.starts[line];
        let before = &text[start as usize..offset.max(start) as usize];
        let narrow = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Position {
            line: narrow(line + 1),
            column: narrow(before.chars().count() + 1),
        }
    }

    /// A line of the same text, counted from 1, without its line break; empty beyond
    /// the last one.
    pub fn line<'a>(&self, text: &'a str, line: u32) -> &'a str {
        let at = (line as usize).saturating_sub(1);
        let Some(start) = self.starts.get(at) else {
            return "";
        };
        let end = self
            .starts
            .get(at + 1)
            .map_or(text.len(), |end| *end as usize);
        text[*start as usize..end].trim_end_matches(['\n', '\r'])
    }

    /// How many lines there are.
    pub fn line_count(&self) -> usize {
        self.starts.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let text = "aé😀b\n\nx";
        let lines = LineIndex::new(text);
        let at = |needle: &str| {
            let offset = text.find(needle).unwrap();
            lines
                .position(text, Span::new(offset, offset).start)
                .to_string()
        };
        assert_eq!(at("a"), "1:1");
        assert_eq!(at("b"), "1:4");
        assert_eq!(at("x"), "3:1");
        assert_eq!(
            lines
                .position(text, Span::new(text.len(), text.len()).start)
                .to_string(),
            "3:2"
        );
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        let text = "\u{feff}a\nb";
        let lines = LineIndex::new(text);
        assert_eq!(lines.position(text, 0).to_string(), "1:1");
        assert_eq!(lines.position(text, 3).to_string(), "1:1");
        assert_eq!(lines.position(text, 4).to_string(), "1:2");
        assert_eq!(lines.position(text, 5).to_string(), "2:1");
        assert_eq!(lines.line(text, 1), "a");
    }

    #[test]
    fn lines_come_without_their_breaks() {
        let text = "one\r\ntwo\n";
        let lines = LineIndex::new(text);
        assert_eq!(lines.line(text, 1), "one");
        assert_eq!(lines.line(text, 2), "two");
        assert_eq!(lines.line(text, 3), "");
        assert_eq!(lines.line(text, 9), "");
        assert_eq!(lines.line_count(), 3);
    }
}
