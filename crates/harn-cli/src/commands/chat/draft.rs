//! What somebody is writing: a text of one or more lines with a cursor in it.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};
use unicode_width::UnicodeWidthStr;

use super::wrap::cut;

/// How many earlier prompts can be brought back.
const HISTORY_MAX: usize = 200;

/// Longer texts are cut when they are pasted.
const BYTES_MAX: usize = 1 << 20;

/// What somebody is writing.
#[derive(Debug, Default)]
pub(super) struct Draft {
    text: String,
    /// Where the next letter goes, in bytes.
    cursor: usize,
    /// What was sent before, the oldest first.
    history: Vec<String>,
    /// Which of these is shown, and what was being written before.
    recalled: Option<(usize, String)>,
}

/// A direction in which the cursor moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
}

impl Draft {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Writes at the cursor. Lines of a text that is pasted stay lines; whatever else a
    /// terminal would obey is left out.
    pub(super) fn insert(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let is_fine = |character: &char| !character.is_control() || *character == '\n';
        let text: String = text.replace('\t', "    ").chars().filter(is_fine).collect();
        let mut room = BYTES_MAX.saturating_sub(self.text.len()).min(text.len());
        while !text.is_char_boundary(room) {
            room -= 1;
        }
        self.text.insert_str(self.cursor, &text[..room]);
        self.cursor += room;
    }

    /// Moves the cursor.
    pub(super) fn go(&mut self, to: To) {
        self.cursor = self.place(to);
    }

    /// Removes everything between the cursor and where it would go.
    pub(super) fn remove(&mut self, to: To) {
        let place = self.place(to);
        let (start, end) = (self.cursor.min(place), self.cursor.max(place));
        self.text.replace_range(start..end, "");
        self.cursor = start;
    }

    /// Throws everything away and gives it.
    pub(super) fn take(&mut self) -> String {
        self.cursor = 0;
        self.recalled = None;
        std::mem::take(&mut self.text)
    }

    /// Writes something else.
    pub(super) fn set(&mut self, text: String) {
        self.cursor = text.len();
        self.text = text;
    }

    /// Remembers what was sent.
    pub(super) fn remember(&mut self, text: &str) {
        if self.history.last().is_none_or(|last| last != text) {
            self.history.push(text.to_owned());
        }
        if self.history.len() > HISTORY_MAX {
            self.history.remove(0);
        }
    }

    /// A line up, or to what was sent before.
    pub(super) fn up(&mut self, columns: usize) {
        if !self.go_rows(columns, -1) {
            self.recall_earlier();
        }
    }

    /// A line down, or back to what was sent later.
    pub(super) fn down(&mut self, columns: usize) {
        if !self.go_rows(columns, 1) {
            self.recall_later();
        }
    }

    /// The rows it is shown in, and where the cursor is: its row and its column.
    pub(super) fn rows(&self, columns: usize) -> (Vec<String>, (usize, usize)) {
        let rows = cut(&self.text, columns);
        let (row, column) = self.cursor_in(&rows, columns);
        let mut rows: Vec<String> = rows.into_iter().map(|(_, row)| row).collect();
        if row == rows.len() {
            rows.push(String::new());
        }
        (rows, (row, column))
    }

    fn cursor_in(&self, rows: &[(usize, String)], columns: usize) -> (usize, usize) {
        let row = rows.iter().rposition(|(start, _)| *start <= self.cursor);
        let row = row.unwrap_or(0);
        let (start, text) = &rows[row];
        let column = text[..(self.cursor - start).min(text.len())].width();
        match column < columns {
            true => (row, column),
            // Behind a full row the next letter comes first in the row below.
            false => (row + 1, 0),
        }
    }

    fn go_rows(&mut self, columns: usize, by: isize) -> bool {
        let rows = cut(&self.text, columns);
        let (row, column) = self.cursor_in(&rows, columns);
        let Some(next) = row.checked_add_signed(by).and_then(|row| rows.get(row)) else {
            return false;
        };
        let (start, text) = next;
        let mut used = 0;
        let letters = text.grapheme_indices(true);
        let mut letters = letters.skip_while(|(_, letter)| {
            used += letter.width();
            used <= column
        });
        self.cursor = start + letters.next().map_or(text.len(), |(at, _)| at);
        true
    }

    fn recall_earlier(&mut self) {
        let at = match &self.recalled {
            None => self.history.len(),
            Some((at, _)) => *at,
        };
        let Some(earlier) = at.checked_sub(1) else {
            return;
        };
        let text = self.history[earlier].clone();
        let before = match self.recalled.take() {
            None => self.text.clone(),
            Some((_, before)) => before,
        };
        self.recalled = Some((earlier, before));
        self.set(text);
    }

    fn recall_later(&mut self) {
        let Some((at, before)) = self.recalled.take() else {
            return;
        };
        match self.history.get(at + 1).cloned() {
            Some(text) => {
                self.recalled = Some((at + 1, before));
                self.set(text);
            }
            None => self.set(before),
        }
    }

    fn place(&self, to: To) -> usize {
        let mut letter = GraphemeCursor::new(self.cursor, self.text.len(), true);
        let (before, after) = self.text.split_at(self.cursor);
        match to {
            To::Left => {
                let place = letter.prev_boundary(&self.text, 0);
                place.ok().flatten().unwrap_or(0)
            }
            To::Right => {
                let place = letter.next_boundary(&self.text, 0);
                place.ok().flatten().unwrap_or(self.text.len())
            }
            To::WordLeft => {
                let word = before.trim_end();
                word.rfind(char::is_whitespace).map_or(0, |at| {
                    at + word[at..].chars().next().map_or(0, char::len_utf8)
                })
            }
            To::WordRight => {
                let word = after.trim_start();
                let skipped = after.len() - word.len();
                let end = word.find(char::is_whitespace).unwrap_or(word.len());
                self.cursor + skipped + end
            }
            To::LineStart => before.rfind('\n').map_or(0, |at| at + 1),
            To::LineEnd => self.cursor + after.find('\n').unwrap_or(after.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(text: &str) -> Draft {
        let mut draft = Draft::default();
        draft.insert(text);
        draft
    }

    #[test]
    fn what_is_pasted_keeps_its_lines_and_loses_its_controls() {
        let draft = draft("a\r\nb\rc\td\u{1b}[31me");
        assert_eq!(draft.text(), "a\nb\nc    d[31me");
    }

    #[test]
    fn the_cursor_moves_by_letters_words_and_lines() {
        let mut one = draft("ab cd\ne\u{301}f");
        one.go(To::Left);
        one.go(To::Left);
        one.insert("x");
        assert_eq!(one.text(), "ab cd\nxe\u{301}f");
        one.go(To::LineStart);
        one.remove(To::Left);
        assert_eq!(one.text(), "ab cdxe\u{301}f");
        one.remove(To::WordLeft);
        assert_eq!(one.text(), "ab xe\u{301}f");
        one.remove(To::LineEnd);
        one.go(To::WordLeft);
        one.go(To::WordRight);
        one.insert("!");
        assert_eq!(one.text(), "ab! ");
        one.remove(To::LineStart);
        one.remove(To::Right);
        one.remove(To::Right);
        assert_eq!(one.text(), "");
    }

    #[test]
    fn rows_know_where_the_cursor_is() {
        let mut one = draft("abcd");
        let (rows, cursor) = one.rows(4);
        assert_eq!((rows, cursor), (vec!["abcd".into(), String::new()], (1, 0)));
        one.go(To::Left);
        assert_eq!(one.rows(4).1, (0, 3));
        let one = draft("ab\n");
        assert_eq!(one.rows(4).1, (1, 0));
        let one = draft("日本");
        assert_eq!(one.rows(3).1, (1, 2));
    }

    #[test]
    fn up_goes_through_the_lines_and_then_through_what_was_sent() {
        let mut one = Draft::default();
        one.remember("first");
        one.remember("second");
        one.insert("a\nbc");
        one.up(10);
        assert_eq!(one.rows(10).1, (0, 1));
        one.up(10);
        assert_eq!(one.text(), "second");
        one.up(10);
        one.up(10);
        assert_eq!(one.text(), "first");
        one.down(10);
        one.down(10);
        assert_eq!(one.text(), "a\nbc");
        one.down(10);
        assert_eq!(one.text(), "a\nbc");
    }

    #[test]
    fn what_is_too_long_is_cut() {
        let one = draft(&"ä".repeat(BYTES_MAX));
        assert!(one.text().len() <= BYTES_MAX);
    }
}
