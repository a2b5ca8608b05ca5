//! The lines that a search has found, with those around them.

use std::collections::VecDeque;

use regex::bytes::Regex;

/// How much of a long line is shown.
const LINE_BYTES_MAX: usize = 500;

/// The lines that were found so far.
pub(super) struct Found {
    /// `path:number:text`, with `-` for the lines around, and `--` where lines are left out.
    pub(super) text: String,
    /// How many lines matched, up to the first that is too many.
    pub(super) matches: usize,
    pub(super) matches_max: usize,
    /// How many lines are shown before and after each one.
    context: usize,
    text_bytes_max: usize,
    is_full: bool,
}

impl Found {
    pub(super) fn new(context: usize, matches_max: usize, text_bytes_max: usize) -> Self {
        Self {
            text: String::new(),
            matches: 0,
            matches_max,
            context,
            text_bytes_max,
            is_full: false,
        }
    }

    /// Whether there is a match that is not shown.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Takes the lines of a file that match.
    pub(super) fn look_into(&mut self, path: &str, content: &[u8], regex: &Regex) {
        let content = content.strip_suffix(b"\n").unwrap_or(content);
        let mut before = VecDeque::new();
        let mut last_shown = None;
        let mut left_after = 0;
        for (number, line) in (1..).zip(content.split(|byte| *byte == b'\n')) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let Some(place) = regex.find(line) else {
                if left_after > 0 {
                    left_after -= 1;
                    last_shown = Some(number);
                    self.push(path, number, '-', line, 0);
                } else {
                    before.push_back(line);
                    before.drain(..before.len().saturating_sub(self.context));
                }
                continue;
            };
            if self.matches == self.matches_max || self.text.len() > self.text_bytes_max {
                self.is_full = true;
                return;
            }
            self.matches += 1;
            let first: usize = number - before.len();
            let follows = last_shown.is_some_and(|last| first == last + 1);
            if self.context > 0 && !follows && !self.text.is_empty() {
                self.text += "\n--";
            }
            for (number, line) in (first..).zip(before.drain(..)) {
                self.push(path, number, '-', line, 0);
            }
            self.push(path, number, ':', line, place.start());
            last_shown = Some(number);
            left_after = self.context;
        }
    }

    fn push(&mut self, path: &str, number: usize, mark: char, line: &[u8], at: usize) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text += &format!("{path}{mark}{number}{mark}{}", shown(line, at));
    }
}

/// A line, or the part of a long one around a match.
fn shown(line: &[u8], at: usize) -> String {
    if line.len() <= LINE_BYTES_MAX {
        return String::from_utf8_lossy(line).into_owned();
    }
    let start = at.saturating_sub(LINE_BYTES_MAX / 4);
    let start = start.min(line.len() - LINE_BYTES_MAX);
    let end = start + LINE_BYTES_MAX;
    let starts_a_character = |at: usize| line.get(at).is_none_or(|byte| byte & 0xC0 != 0x80);
    let start = (start..end)
        .find(|at| starts_a_character(*at))
        .unwrap_or(start);
    let end = (start..=end)
        .rfind(|at| starts_a_character(*at))
        .unwrap_or(end);
    let mut text = String::from_utf8_lossy(&line[start..end]).into_owned();
    if start > 0 {
        text.insert(0, '…');
    }
    if end < line.len() {
        text.push('…');
    }
    text
}
