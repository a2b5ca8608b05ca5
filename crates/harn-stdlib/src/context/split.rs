//! Cuts a text into pieces where people would: between paragraphs, else between lines, else
//! between characters.

use super::tokens;

/// A text, or its pieces if it has more than `threshold` tokens. With no threshold it stays
/// whole.
pub(super) fn split(text: &str, threshold: usize) -> Vec<String> {
    let whole = i64::try_from(threshold).unwrap_or(i64::MAX);
    if threshold == 0 || tokens(text) <= whole {
        return vec![text.to_owned()];
    }
    let limit = threshold.saturating_mul(4);
    let mut pieces = Pieces::new("\n\n", limit);
    for paragraph in paragraphs(text) {
        if paragraph.len() <= limit {
            pieces.add(&paragraph);
            continue;
        }
        let mut lines = Pieces::new("\n", limit);
        for line in paragraph.lines() {
            for part in parts(line, limit) {
                lines.add(part);
            }
        }
        pieces.add_apart(lines.finish());
    }
    pieces.finish()
}

/// The runs of lines between blank lines.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = vec![Vec::new()];
    for line in text.lines() {
        match line.trim().is_empty() {
            true => paragraphs.push(Vec::new()),
            false => {
                let last = paragraphs.last_mut();
                last.expect("there is always one").push(line);
            }
        }
    }
    paragraphs.retain(|lines| !lines.is_empty());
    paragraphs.iter().map(|lines| lines.join("\n")).collect()
}

/// A line in parts of at most so many octets.
fn parts(line: &str, limit: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = line;
    while rest.len() > limit {
        let mut at = rest.floor_char_boundary(limit);
        if at == 0 {
            // A single character may be longer than the limit.
            at = rest.ceil_char_boundary(1);
        }
        let (part, left) = rest.split_at(at);
        parts.push(part);
        rest = left;
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

/// Pieces in the making: what fits is joined.
struct Pieces {
    joint: &'static str,
    limit: usize,
    done: Vec<String>,
    open: String,
}

impl Pieces {
    fn new(joint: &'static str, limit: usize) -> Self {
        Self {
            joint,
            limit,
            done: Vec::new(),
            open: String::new(),
        }
    }

    fn add(&mut self, text: &str) {
        if self.open.is_empty() {
            self.open.push_str(text);
        } else if self.open.len() + self.joint.len() + text.len() <= self.limit {
            self.open.push_str(self.joint);
            self.open.push_str(text);
        } else {
            let full = std::mem::replace(&mut self.open, text.to_owned());
            self.done.push(full);
        }
    }

    /// Adds pieces that nothing is joined to.
    fn add_apart(&mut self, pieces: Vec<String>) {
        self.close();
        self.done.extend(pieces);
    }

    fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        if !open.is_empty() {
            self.done.push(open);
        }
    }

    fn finish(mut self) -> Vec<String> {
        self.close();
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, threshold: usize, expected: &[&str]) {
        assert_eq!(split(text, threshold), expected);
    }

    #[test]
    fn a_short_text_stays_whole() {
        check("a\n\n\nb", 2, &["a\n\n\nb"]);
        check(&"a".repeat(100), 0, &[&"a".repeat(100)]);
    }

    #[test]
    fn paragraphs_are_joined_while_they_fit() {
        check("aa\n\nbb\n\ncc", 2, &["aa\n\nbb", "cc"]);
        check("aa\n \n\n\nbb\n\ncccc\n", 2, &["aa\n\nbb", "cccc"]);
    }

    #[test]
    fn long_paragraphs_are_cut_at_lines_and_long_lines_anywhere() {
        check("aaaa\nbbbb\ncc", 1, &["aaaa", "bbbb", "cc"]);
        check("abcdefghij", 1, &["abcd", "efgh", "ij"]);
        check("äöüäö", 1, &["äö", "üä", "ö"]);
        check("😀😀", 1, &["😀", "😀"]);
        check("a\n\nbbbbb\n\nc", 1, &["a", "bbbb", "b", "c"]);
    }
}
