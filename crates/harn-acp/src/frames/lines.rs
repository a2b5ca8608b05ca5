//! Cuts a stream of bytes into lines, and keeps no more of one than a frame may have.

/// Finds lines in what arrives in pieces.
pub(crate) struct Lines {
    /// What has arrived of a line whose end is not here yet. Never longer than `max`.
    begun: Vec<u8>,
    /// Bytes that a line may have, without its end.
    max: usize,
    /// Whether the rest of the current line is thrown away, because it is too long.
    is_skipping: bool,
}

/// A line, or what is left to say of one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A line without its end. May be empty.
    Whole(&'a [u8]),
    /// A line that is too long; said once, as soon as it is known.
    TooLong,
}

/// What is kept of the buffer between lines, so that one large frame does not cost its memory for ever.
const KEPT_BYTES_MAX: usize = 64 * 1024;

impl Lines {
    /// Lines of up to `max` bytes.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            begun: Vec::new(),
            max,
            is_skipping: false,
        }
    }

    /// Takes what arrived, and hands each line that ends in it to `each`.
    pub(crate) fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (piece, rest) = (&bytes[..end], &bytes[end + 1..]);
            self.end_line(piece, &mut each);
            bytes = rest;
        }
        self.keep(bytes, &mut each);
    }

    /// The input is at its end. What has begun is a line too, if it is anything.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if !self.begun.is_empty() {
            self.end_line(&[], &mut each);
        }
    }

    fn end_line(&mut self, piece: &[u8], each: &mut impl FnMut(Line<'_>)) {
        if self.is_skipping {
            self.is_skipping = false;
        } else if self.begun.len() + piece.len() > self.max {
            each(Line::TooLong);
        } else if self.begun.is_empty() {
            each(Line::Whole(piece));
        } else {
            self.begun.extend_from_slice(piece);
            each(Line::Whole(&self.begun));
        }
        self.begun.clear();
        self.begun.shrink_to(KEPT_BYTES_MAX);
    }

    fn keep(&mut self, piece: &[u8], each: &mut impl FnMut(Line<'_>)) {
        if self.is_skipping {
            return;
        }
        if self.begun.len() + piece.len() > self.max {
            self.is_skipping = true;
            self.begun = Vec::new();
            each(Line::TooLong);
        } else {
            self.begun.extend_from_slice(piece);
        }
    }

    /// Bytes that are held of an unfinished line.
    #[allow(
        dead_code,
        reason = "tests and the fuzz target hold it against the limit"
    )]
    pub(crate) fn held_bytes(&self) -> usize {
        self.begun.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of `text` when it comes in chunks of `size`; `!` for one that is too long.
    fn lines(text: &str, max: usize, size: usize) -> Vec<String> {
        let mut lines = Lines::new(max);
        let mut seen = Vec::new();
        let mut note = |line: Line<'_>| {
            seen.push(match line {
                Line::Whole(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
                Line::TooLong => "!".to_owned(),
            });
        };
        for chunk in text.as_bytes().chunks(size) {
            lines.push(chunk, &mut note);
            assert!(lines.held_bytes() <= max);
        }
        lines.finish(&mut note);
        seen
    }

    #[track_caller]
    fn check(text: &str, max: usize, expected: &[&str]) {
        for size in 1..=text.len().max(1) {
            assert_eq!(lines(text, max, size), expected, "in chunks of {size}");
        }
    }

    #[test]
    fn lines_are_the_same_however_they_arrive() {
        check("a\nbc\n\nd\n", 10, &["a", "bc", "", "d"]);
    }

    #[test]
    fn the_last_line_needs_no_end() {
        check("a\nbc", 10, &["a", "bc"]);
        check("", 10, &[]);
    }

    #[test]
    fn a_line_that_is_too_long_is_reported_once_and_the_next_one_is_read() {
        check("abcd\nabcde\nab\n", 4, &["abcd", "!", "ab"]);
        check("abcdefghijklmnop", 4, &["!"]);
        check("abcdefgh\nabcdefgh\nx", 4, &["!", "!", "x"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_not_kept() {
        let mut lines = Lines::new(1000);
        let mut reports = 0;
        for _ in 0..10_000 {
            lines.push(&[b'x'; 500], |_| reports += 1);
            assert!(lines.begun.capacity() <= 2048, "{}", lines.begun.capacity());
        }
        assert_eq!(reports, 1);
    }
}
