//! Multi-line text without escapes: `<<TAG`, lines, and a line that starts with `TAG`.

/// The longest tag; longer ones are not meant as tags.
const TAG_BYTES_MAX: usize = 64;

/// What a text that may begin a heredoc is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::grammar) enum Look {
    /// It begins one.
    Yes {
        /// What ends it.
        tag: String,
        /// Bytes up to the first line of the body.
        length: usize,
    },
    /// It is something else.
    No,
    /// Only what follows can tell.
    More,
}

/// Whether a text begins with `<<TAG` or `<<'TAG'` and the end of the line.
pub(in crate::grammar) fn opening(text: &str, ended: bool) -> Look {
    let short = if ended { Look::No } else { Look::More };
    let Some(rest) = text.strip_prefix("<<") else {
        return if "<<".starts_with(text) {
            short
        } else {
            Look::No
        };
    };
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let named = &rest[quote.map_or(0, char::len_utf8)..];
    let end = named
        .bytes()
        .take(TAG_BYTES_MAX + 1)
        .position(|octet| !(octet.is_ascii_alphanumeric() || octet == b'_'));
    let Some(end) = end else {
        return if named.len() > TAG_BYTES_MAX {
            Look::No
        } else {
            short
        };
    };
    let tag = &named[..end];
    if tag.is_empty() || tag.starts_with(|c: char| c.is_ascii_digit()) {
        return Look::No;
    }
    let mut after = &named[end..];
    if let Some(quote) = quote {
        match after.strip_prefix(quote) {
            Some(unquoted) => after = unquoted,
            None => return Look::No,
        }
    }
    let line_end = after.trim_start_matches([' ', '\t', '\r']);
    if line_end.is_empty() {
        return short;
    }
    if !line_end.starts_with('\n') {
        return Look::No;
    }
    Look::Yes {
        tag: tag.to_owned(),
        length: text.len() - line_end.len() + 1,
    }
}

/// A heredoc whose end has not been seen.
#[derive(Clone, Debug)]
pub(in crate::grammar) struct Heredoc {
    tag: String,
    /// Where the body begins.
    begin: usize,
    /// Where the line begins that is looked at.
    line: usize,
    /// How far the end of that line was searched for, once it is known not to end the body.
    sought: Option<usize>,
}

/// What became of a heredoc.
pub(in crate::grammar) enum Ending {
    /// It ended: the body's last byte and the first one after the tag.
    Found { body_end: usize, after: usize },
    /// Not within this text.
    NotYet,
}

impl Heredoc {
    /// One whose body begins there.
    pub(in crate::grammar) fn new(tag: String, begin: usize) -> Self {
        Self {
            tag,
            begin,
            line: begin,
            sought: None,
        }
    }

    /// What ends it.
    pub(in crate::grammar) fn tag(&self) -> &str {
        &self.tag
    }

    /// The body, once its end is known.
    pub(in crate::grammar) fn body<'t>(&self, text: &'t str, body_end: usize) -> &'t str {
        &text[self.begin..body_end.max(self.begin)]
    }

    /// Looks for the line that ends it, from where it stopped looking.
    pub(in crate::grammar) fn advance(&mut self, text: &str, ended: bool) -> Ending {
        loop {
            if let Some(from) = self.sought {
                match text[from..].find('\n') {
                    Some(found) => {
                        self.line = from + found + 1;
                        self.sought = None;
                    }
                    None => {
                        self.sought = Some(text.len());
                        return Ending::NotYet;
                    }
                }
            }
            let line = &text[self.line..];
            let word = line.trim_start_matches([' ', '\t']);
            let word_at = text.len() - word.len();
            match word.strip_prefix(self.tag.as_str()) {
                Some(after) => match after.chars().next() {
                    None if !ended => return Ending::NotYet,
                    Some(next) if next.is_alphanumeric() || next == '_' => {}
                    _ => return self.found(text, word_at + self.tag.len()),
                },
                None if !ended && self.tag.starts_with(word) => return Ending::NotYet,
                None => {}
            }
            self.sought = Some(word_at);
        }
    }

    /// The line break before the tag is not part of the body.
    fn found(&self, text: &str, after: usize) -> Ending {
        let body = &text[self.begin..self.line];
        let body = body.strip_suffix('\n').unwrap_or(body);
        let body = body.strip_suffix('\r').unwrap_or(body);
        Ending::Found {
            body_end: self.begin + body.len(),
            after,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heredoc_begins_with_a_tag_at_the_end_of_its_line() {
        let yes = |tag: &str, length| Look::Yes {
            tag: tag.to_owned(),
            length,
        };
        for (text, ended, expected) in [
            ("<<EOF\nx", true, yes("EOF", 6)),
            ("<<'EOF' \r\nx", true, yes("EOF", 10)),
            ("<<\"EOF\"\n", true, yes("EOF", 8)),
            ("<<EOF x\n", true, Look::No),
            ("<<'EOF\n", true, Look::No),
            ("<<1\n", true, Look::No),
            ("<< EOF\n", true, Look::No),
            ("<", false, Look::More),
            ("<<EO", false, Look::More),
            ("<<EOF", true, Look::No),
            ("<x", false, Look::No),
        ] {
            assert_eq!(opening(text, ended), expected, "{text:?}");
        }
    }
}
