//! The output of a command: its start and its end, however long it is.

use std::collections::VecDeque;

/// The first bytes and the last ones of an output.
#[derive(Debug)]
pub(super) struct Capture {
    /// How many bytes each of the two parts may have.
    half_bytes_max: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// How many bytes were between them and are gone.
    lost_bytes: u64,
}

impl Capture {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            half_bytes_max: bytes_max / 2,
            head: Vec::new(),
            tail: VecDeque::new(),
            lost_bytes: 0,
        }
    }

    pub(super) fn push(&mut self, output: &[u8]) {
        let room = self.half_bytes_max - self.head.len();
        let (first, rest) = output.split_at(output.len().min(room));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let too_many = self.tail.len().saturating_sub(self.half_bytes_max);
        self.tail.drain(..too_many);
        self.lost_bytes += too_many as u64;
    }

    /// The output as text, with a note where some is left out.
    pub(super) fn text(self) -> String {
        let (mut head, tail) = (self.head, Vec::from(self.tail));
        if self.lost_bytes == 0 {
            head.extend(tail);
            return String::from_utf8_lossy(&head).into_owned();
        }
        // A character that was cut is no damage of the output.
        let end = match std::str::from_utf8(&head) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => head.len(),
        };
        let is_start = |byte: &u8| *byte & 0xC0 != 0x80;
        let start = tail.iter().take(4).position(is_start).unwrap_or(0);
        let lost_bytes = self.lost_bytes + (head.len() - end + start) as u64;
        format!(
            "{}\n[... {lost_bytes} bytes of output not shown ...]\n{}",
            String::from_utf8_lossy(&head[..end]),
            String::from_utf8_lossy(&tail[start..])
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes_max: usize, outputs: &[&str], expected: &str) {
        let mut capture = Capture::new(bytes_max);
        outputs
            .iter()
            .for_each(|output| capture.push(output.as_bytes()));
        assert_eq!(capture.text(), expected);
    }

    #[test]
    fn the_start_and_the_end_are_kept() {
        check(10, &[], "");
        check(10, &["12345", "67890"], "1234567890");
        check(
            10,
            &["1234567890a"],
            "12345\n[... 1 bytes of output not shown ...]\n7890a",
        );
        check(
            4,
            &["a", "b", "c", "d", "e", "f"],
            "ab\n[... 2 bytes of output not shown ...]\nef",
        );
        check(0, &["abc"], "\n[... 3 bytes of output not shown ...]\n");
    }

    #[test]
    fn characters_are_not_cut() {
        check(
            6,
            &["aaü", "…", "üaa"],
            "aa\n[... 7 bytes of output not shown ...]\naa",
        );
        let mut capture = Capture::new(10);
        capture.push(b"a\xff");
        assert_eq!(capture.text(), "a\u{fffd}");
    }

    #[test]
    fn a_long_output_needs_little_memory() {
        let mut capture = Capture::new(100);
        for _ in 0..10_000 {
            capture.push(&[b'x'; 1000]);
        }
        assert!(capture.tail.capacity() < 10_000);
        assert!(capture.text().contains("[... 9999900 bytes"));
    }
}
