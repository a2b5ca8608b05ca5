//! Rust source with everything that is not code painted over.
//!
//! A rule that searches text would stumble over its own examples: comments that
//! explain what is forbidden, strings in tests that plant it. Blanks of the same
//! length take their place, so line numbers stay true.

/// What is left of a source file without comments, strings and characters.
pub(super) struct RustCode {
    text: String,
}

/// A word of the code: a name, a keyword or a number.
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    /// Counted from one.
    pub(super) line: usize,
    /// The code in front of it.
    pub(super) before: &'a str,
    /// The code behind it.
    pub(super) after: &'a str,
}

impl RustCode {
    pub(super) fn of(source: &str) -> Self {
        let mut painter = Painter {
            rest: source,
            text: String::with_capacity(source.len()),
        };
        painter.paint();
        Self { text: painter.text }
    }

    /// All words in order.
    pub(super) fn words(&self) -> impl Iterator<Item = Word<'_>> {
        words(&self.text)
    }
}

/// All words of a piece of code, which must be free of comments and strings.
pub(super) fn words(code: &str) -> impl Iterator<Item = Word<'_>> {
    let mut at = 0;
    let mut line = 1;
    std::iter::from_fn(move || {
        let start = at + code[at..].find(is_word)?;
        let length = code[start..].find(|c| !is_word(c));
        let end = length.map_or(code.len(), |length| start + length);
        line += code[at..start].matches('\n').count();
        at = end;
        Some(Word {
            text: &code[start..end],
            line,
            before: &code[..start],
            after: &code[end..],
        })
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Walks the source once, keeping code and painting over the rest.
struct Painter<'a> {
    rest: &'a str,
    text: String,
}

impl Painter<'_> {
    fn paint(&mut self) {
        while let Some(c) = self.rest.chars().next() {
            match c {
                '/' if self.rest.starts_with("//") => self.blank(line_comment(self.rest)),
                '/' if self.rest.starts_with("/*") => self.blank(block_comment(self.rest)),
                '"' => self.blank(quoted(self.rest, '"')),
                '\'' => match character(self.rest) {
                    Some(length) => self.blank(length),
                    None => self.keep(1),
                },
                _ if is_word(c) => self.word(),
                _ => self.keep(c.len_utf8()),
            }
        }
    }

    /// A word may turn out to be the prefix of a literal, as in `br#"…"#`.
    fn word(&mut self) {
        let length = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let (word, behind) = self.rest.split_at(length);
        let literal = match word {
            "r" | "br" | "cr" => raw_string(behind),
            "b" | "c" if behind.starts_with('"') => Some(quoted(behind, '"')),
            "b" if behind.starts_with('\'') => Some(quoted(behind, '\'')),
            _ => None,
        };
        match literal {
            Some(literal) => self.blank(length + literal),
            None => self.keep(length),
        }
    }

    fn keep(&mut self, length: usize) {
        let (kept, rest) = self.rest.split_at(length);
        self.text += kept;
        self.rest = rest;
    }

    fn blank(&mut self, length: usize) {
        let (painted, rest) = self.rest.split_at(length);
        let blank = |c| if c == '\n' { '\n' } else { ' ' };
        self.text.extend(painted.chars().map(blank));
        self.rest = rest;
    }
}

fn line_comment(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

/// Block comments nest.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// A literal with escapes, from its opening quote to its closing one.
fn quoted(rest: &str, quote: char) -> usize {
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => drop(characters.next()),
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// What follows the `r`: hashes, a quote, anything, a quote, as many hashes.
/// `None` for a raw identifier such as `r#type`.
fn raw_string(rest: &str) -> Option<usize> {
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let body = rest[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = body.find(&close).map(|at| hashes + 1 + at + close.len());
    Some(end.unwrap_or(rest.len()))
}

/// `'x'` and `'\n'` are characters, `'static` is a lifetime.
fn character(rest: &str) -> Option<usize> {
    let mut characters = rest.char_indices().skip(1);
    let (_, first) = characters.next()?;
    if first == '\\' {
        return Some(quoted(rest, '\''));
    }
    let (at, second) = characters.next()?;
    (second == '\'').then_some(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let painted = RustCode::of(source).text;
        let words: Vec<&str> = painted.split_whitespace().collect();
        assert_eq!(words.join(" "), expected);
        assert_eq!(painted.lines().count(), source.lines().count());
    }

    #[test]
    fn comments_are_painted_over() {
        check("a // b\nc", "a c");
        check("/// b\nc", "c");
        check("a /* b /* c */ d */ e", "a e");
        check("a /* never closed", "a");
    }

    #[test]
    fn strings_are_painted_over() {
        check(r#"a("b \" c") d"#, "a( ) d");
        check(r##"a(r#"b " c"#) d"##, "a( ) d");
        check(r#"b"x" c"y" br"z\" end"#, "end");
        check("\"// no comment\" a", "a");
        check("\"ä\" a", "a");
    }

    #[test]
    fn characters_are_painted_over_and_lifetimes_are_not() {
        check(r"'a' '\'' '\n' '\u{1F600}' 'ä' b'\'' end", "end");
        check("&'static str", "&'static str");
        check(
            "fn f<'a>(x: &'a str) -> char { '\"' }",
            "fn f<'a>(x: &'a str) -> char { }",
        );
    }

    #[test]
    fn raw_identifiers_are_code() {
        check("r#type + br", "r#type + br");
    }

    #[test]
    fn words_know_their_line_and_surroundings() {
        let code = RustCode::of("let a =\n  dbg!(\"x\", b);");
        let word = code.words().find(|word| word.text == "dbg").unwrap();
        assert_eq!(word.line, 2);
        assert_eq!(word.before, "let a =\n  ");
        assert!(word.after.starts_with("!("));
    }
}
