//! Entries from a pipe: lines, joined as long as an entry is not all there.

use std::io::{self, BufRead};

use super::entry::is_complete;

/// Entries from lines.
pub(super) struct Lines<R> {
    source: R,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source }
    }

    /// The next entry; `None` at the end.
    ///
    /// # Errors
    /// The lines cannot be read, or are no text.
    pub(super) fn next(&mut self) -> io::Result<Option<String>> {
        let mut entry = String::new();
        loop {
            let before = entry.len();
            if self.source.read_line(&mut entry)? == 0 {
                return Ok((before > 0).then_some(entry));
            }
            let is_blank = entry[before..].trim().is_empty();
            let text = entry.strip_suffix('\n').unwrap_or(&entry);
            if is_complete(text) || (is_blank && before > 0) {
                return Ok(Some(entry));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_entries() {
        let text = "1 + 1\n\nfn f() {\n  return 1\n}\nf(\n\n:quit";
        let mut lines = Lines::new(text.as_bytes());
        let mut entries = Vec::new();
        while let Some(entry) = lines.next().unwrap() {
            entries.push(entry);
        }
        assert_eq!(
            entries,
            [
                "1 + 1\n",
                "\n",
                "fn f() {\n  return 1\n}\n",
                "f(\n\n",
                ":quit"
            ]
        );
    }
}
