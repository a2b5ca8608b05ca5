//! Text in lines that fit.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The text in lines of at most so many columns, broken between words where that is possible.
/// Every line of the text has at least one.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut rows = Vec::new();
    for line in text.split('\n') {
        match line.width() <= columns {
            true => rows.push(line.to_owned()),
            false => wrap_line(line, columns, &mut rows),
        }
    }
    rows
}

fn wrap_line(line: &str, columns: usize, rows: &mut Vec<String>) {
    let mut start = 0;
    let mut used = 0;
    // Where the line can be broken, and what was used up to there.
    let mut gap: Option<(usize, usize)> = None;
    for (at, letter) in line.grapheme_indices(true) {
        let width = letter.width();
        if used + width > columns && at > start {
            let (cut, before) = match gap {
                Some((cut, before)) if letter != " " => (cut, before),
                _ => (at, used),
            };
            rows.push(line[start..cut].trim_end().to_owned());
            (start, used, gap) = (cut, used - before, None);
            if letter == " " {
                start = at + 1;
                used = 0;
                continue;
            }
        }
        used += width;
        if letter == " " && line[start..at].trim_start() != "" {
            gap = Some((at + 1, used));
        }
    }
    rows.push(line[start.min(line.len())..].to_owned());
}

/// The text in lines of at most so many columns, broken anywhere, each with the place of its
/// first byte. This is how text is shown that somebody writes: what is typed stays where it is.
pub(super) fn cut(text: &str, columns: usize) -> Vec<(usize, String)> {
    let columns = columns.max(1);
    let mut rows = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        let mut from = 0;
        let mut used = 0;
        for (at, letter) in line.grapheme_indices(true) {
            let width = letter.width();
            if used + width > columns && at > from {
                rows.push((start + from, line[from..at].to_owned()));
                (from, used) = (at, 0);
            }
            used += width;
        }
        rows.push((start + from, line[from..].to_owned()));
        start += line.len() + 1;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, columns: usize, expected: &[&str]) {
        let rows = wrap(text, columns);
        assert_eq!(rows, expected, "{text:?} in {columns}");
        assert!(rows.iter().all(|row| row.width() <= columns.max(2)));
    }

    #[test]
    fn lines_are_broken_between_words() {
        check("one two three", 7, &["one two", "three"]);
        check("one two three", 8, &["one two", "three"]);
        check("a\n\nb", 5, &["a", "", "b"]);
        check("", 5, &[""]);
        check("one  two", 4, &["one", "two"]);
    }

    #[test]
    fn words_that_are_too_long_are_broken_anywhere() {
        check("abcdefgh", 3, &["abc", "def", "gh"]);
        check("ab cdefgh", 4, &["ab", "cdef", "gh"]);
        check("日本語", 4, &["日本", "語"]);
        check("日本", 1, &["日", "本"]);
    }

    #[test]
    fn indentation_stays_with_its_word() {
        check("    let x = 1", 9, &["    let x", "= 1"]);
    }

    #[test]
    fn what_is_typed_stays_where_it_is() {
        let rows = cut("ab cd\n日本", 3);
        let expected = [(0, "ab "), (3, "cd"), (6, "日"), (9, "本")];
        let rows: Vec<_> = rows.iter().map(|(at, row)| (*at, &**row)).collect();
        assert_eq!(rows, expected);
        assert_eq!(cut("", 3), [(0, String::new())]);
        assert_eq!(cut("a\n", 3).len(), 2);
    }
}
