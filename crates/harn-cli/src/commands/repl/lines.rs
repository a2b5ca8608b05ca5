//! Entries from a pipe: lines, joined as long as an entry is not all there.

use std::io;

use super::entry::is_complete;

/// Entries from lines. What is no text is shown as `�`, which no program can contain.
pub(super) struct Lines<R> {
    /// Adds the next line to what it is given, and says how long it is.
    read: R,
}

impl<R: FnMut(&mut Vec<u8>) -> io::Result<usize>> Lines<R> {
    /// Reads from the source only while somebody asks for an entry: a program that is entered
    /// may read from it, too.
    pub(super) fn new(read: R) -> Self {
        Self { read }
    }

    /// The next entry; `None` at the end.
    ///
    /// # Errors
    /// The lines cannot be read.
    pub(super) fn next(&mut self) -> io::Result<Option<String>> {
        let mut entry = String::new();
        loop {
            let mut line = Vec::new();
            if (self.read)(&mut line)? == 0 {
                return Ok((!entry.is_empty()).then_some(entry));
            }
            let is_first = entry.is_empty();
            entry.push_str(&String::from_utf8_lossy(&line));
            let text = entry.strip_suffix('\n').unwrap_or(&entry);
            if is_complete(text) || (line.trim_ascii().is_empty() && !is_first) {
                return Ok(Some(entry));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufRead;

    fn entries(mut text: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(|line: &mut Vec<u8>| text.read_until(b'\n', line));
        std::iter::from_fn(|| lines.next().unwrap()).collect()
    }

    #[test]
    fn lines_become_entries() {
        assert_eq!(
            entries(b"1 + 1\n\nfn f() {\n  return 1\n}\nf(\n\n:quit"),
            [
                "1 + 1\n",
                "\n",
                "fn f() {\n  return 1\n}\n",
                "f(\n\n",
                ":quit"
            ]
        );
    }

    #[test]
    fn what_is_no_text_does_not_end_the_conversation() {
        assert_eq!(entries(b"\xff\n1"), ["\u{fffd}\n", "1"]);
        assert!(entries(b"").is_empty());
    }
}
