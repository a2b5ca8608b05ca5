//! What literals stand for.
//!
//! A string is first cut into pieces of text and interpolations, then a triple-quoted one is
//! dedented, then each interpolation is read as an expression of its own.

use std::borrow::Cow;
use std::mem;

use smol_str::SmolStr;

use super::braces::Braces;
use super::{Parser, Stop};
use crate::lexer::lex_part;
use crate::position::Span;
use crate::token::Token;
use crate::tree::Segment;

/// A part of a string.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(Cow<'a, str>),
    /// The source between `${` and `}`.
    Interpolation(Span),
}

/// What a string without interpolations stands for.
pub(crate) fn text_of(source: &str) -> Cow<'_, str> {
    if let Some(plain) = source
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        && !plain.contains(['\\', '"', '\n'])
    {
        return Cow::Borrowed(plain);
    }
    let pieces = pieces(source, 0).into_iter();
    let texts = pieces.map(|piece| match piece {
        Piece::Text(text) => text,
        Piece::Interpolation(_) => Cow::Borrowed(""),
    });
    Cow::Owned(texts.collect())
}

/// What a raw string stands for: what is between its quotes.
pub(super) fn raw_text_of(source: &str) -> &str {
    let inner = source.strip_prefix("r\"").unwrap_or(source);
    inner.strip_suffix('"').unwrap_or(inner)
}

/// How long a duration is; `None` if that is more than an int can say.
pub(super) fn milliseconds(source: &str) -> Option<i64> {
    let digits = source.trim_end_matches(|character: char| !character.is_ascii_digit());
    let unit: i64 = match &source[digits.len()..] {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => 604_800_000,
    };
    digits.parse::<i64>().ok()?.checked_mul(unit)
}

fn pieces(source: &str, base: u32) -> Vec<Piece<'_>> {
    let is_triple = source.len() >= 6 && source.starts_with("\"\"\"");
    let quotes = if is_triple { 3 } else { 1 };
    let inner = &source[quotes..source.len() - quotes];
    let base = base as usize + quotes;
    match is_triple {
        true => dedent(cut(inner, base, Cow::Borrowed, |_| false)),
        false => cut(inner, base, unescape, |before| {
            let slashes = before.len() - before.trim_end_matches('\\').len();
            slashes % 2 == 1
        }),
    }
}

/// Cuts a string where its interpolations are. `is_escaped` looks at what stands before a `$`.
fn cut<'a>(
    inner: &'a str,
    base: usize,
    text: impl Fn(&'a str) -> Cow<'a, str>,
    is_escaped: impl Fn(&str) -> bool,
) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = inner[at..].find("${") {
        let dollar = at + found;
        at = dollar + 2;
        if is_escaped(&inner[from..dollar]) {
            continue;
        }
        let length = interpolation_length(&inner[at..]);
        if from < dollar {
            pieces.push(Piece::Text(text(&inner[from..dollar])));
        }
        let source = Span::new(base + at, base + at + length);
        pieces.push(Piece::Interpolation(source));
        at = (at + length + 1).min(inner.len());
        from = at;
    }
    if from < inner.len() {
        pieces.push(Piece::Text(text(&inner[from..])));
    }
    pieces
}

/// How much stands before the brace that ends an interpolation. Only braces count.
fn interpolation_length(rest: &str) -> usize {
    let mut depth = 1;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        result.push_str(&rest[..at]);
        let escaped = rest[at + 1..].chars().next();
        match escaped {
            Some('n') => result.push('\n'),
            Some('t') => result.push('\t'),
            Some(same @ ('\\' | '"' | '$')) => result.push(same),
            other => {
                result.push('\\');
                result.extend(other);
            }
        }
        rest = &rest[at + 1 + escaped.map_or(0, char::len_utf8)..];
    }
    result.push_str(rest);
    Cow::Owned(result)
}

/// Takes the common indentation away from a triple-quoted string.
fn dedent(pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    let mut lines = into_lines(pieces);
    if lines.len() > 1 && matches!(lines[0].as_slice(), []) {
        lines.remove(0);
    }
    let indents = lines.iter().filter_map(|line| indent(line));
    let Some(indent) = indents.min() else {
        return join(lines);
    };
    if indent > 0 {
        lines.iter_mut().for_each(|line| cut_indent(line, indent));
    }
    let last_is_empty = lines.last().is_some_and(Vec::is_empty);
    if lines.len() > 1 && last_is_empty {
        lines.pop();
    }
    join(lines)
}

/// The lines of a string, without their line feeds. An empty line has no pieces.
fn into_lines(pieces: Vec<Piece<'_>>) -> Vec<Vec<Piece<'_>>> {
    let mut lines = vec![Vec::new()];
    for piece in pieces {
        let Piece::Text(text) = piece else {
            lines.last_mut().expect("there is a line").push(piece);
            continue;
        };
        for (at, part) in text.split('\n').enumerate() {
            if at > 0 {
                lines.push(Vec::new());
            }
            if !part.is_empty() {
                let line = lines.last_mut().expect("there is a line");
                line.push(Piece::Text(Cow::Owned(part.to_owned())));
            }
        }
    }
    // A carriage return before the first line feed belongs to the line break.
    if matches!(lines[0].as_slice(), [Piece::Text(text)] if text == "\r") && lines.len() > 1 {
        lines[0].clear();
    }
    lines
}

const BLANKS: [char; 2] = [' ', '\t'];

/// How far a line is indented; `None` if there is nothing on it.
fn indent(line: &[Piece]) -> Option<usize> {
    let Piece::Text(first) = line.first()? else {
        return Some(0);
    };
    let is_blank = line.len() == 1 && first.trim().is_empty();
    (!is_blank).then(|| first.len() - first.trim_start_matches(BLANKS).len())
}

fn cut_indent(line: &mut Vec<Piece>, width: usize) {
    if indent(line).is_none() {
        return line.clear();
    }
    if let Some(Piece::Text(first)) = line.first_mut() {
        let width = width.min(first.len());
        first.to_mut().drain(..width);
    }
}

fn join(lines: Vec<Vec<Piece<'_>>>) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    for (at, line) in lines.into_iter().enumerate() {
        let line_feed = (at > 0).then_some(Piece::Text(Cow::Borrowed("\n")));
        for piece in line_feed.into_iter().chain(line) {
            match (pieces.last_mut(), piece) {
                (_, Piece::Text(text)) if text.is_empty() => {}
                (Some(Piece::Text(before)), Piece::Text(text)) => before.to_mut().push_str(&text),
                (_, piece) => pieces.push(piece),
            }
        }
    }
    pieces
}

impl Parser<'_> {
    /// The pieces of a string with interpolations.
    pub(super) fn segments(&mut self, token: Token) -> Vec<Segment> {
        let pieces = pieces(token.span.of(self.text), token.span.start).into_iter();
        let segments = pieces.filter_map(|piece| match piece {
            Piece::Text(text) => Some(Segment::Text(text.into())),
            Piece::Interpolation(source) => self.interpolation(source),
        });
        segments.collect()
    }

    /// Reads an interpolation as a program of its own. What does not lex is left out, what
    /// does not parse stands for itself; neither is an error.
    fn interpolation(&mut self, source: Span) -> Option<Segment> {
        let lexed = lex_part(self.text, source);
        if !lexed.errors.is_empty() {
            return None;
        }
        let braces = Braces::find(&lexed.tokens);
        let outer = (
            mem::replace(&mut self.tokens, lexed.tokens),
            mem::replace(&mut self.braces, braces),
            self.at,
            self.last_end,
            self.failures.len(),
        );
        (self.at, self.last_end) = (0, source.start);
        let expression = self.expression();
        let failures;
        (self.tokens, self.braces, self.at, self.last_end, failures) = outer;
        // A block goes on after an error, so an expression alone does not mean that all is well.
        let is_whole = self.failures.len() == failures;
        self.failures.truncate(failures);
        Some(match expression {
            Ok(expression) if is_whole => Segment::Expression(expression),
            Ok(_) | Err(Stop) => Segment::Text(SmolStr::new(source.of(self.text))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        assert_eq!(text_of(source), expected, "{source}");
    }

    /// 1.5: the escapes, and everything that is none.
    #[test]
    fn escapes_of_plain_strings() {
        check(r#""a\nb\tc\\d\"e\$f""#, "a\nb\tc\\d\"e$f");
        check(r#""\q\r\0\u{41}\é""#, r"\q\r\0\u{41}\é");
        check(r#""\${x} $ $5 \\""#, "${x} $ $5 \\");
        check(r#""""#, "");
    }

    /// 1.5: the example, then each rule.
    #[test]
    fn triple_quoted_strings_are_dedented() {
        check("\"\"\"\n    alpha\n      beta\n    \"\"\"", "alpha\n  beta");
        check("\"\"\"\n  a\n  b\"\"\"", "a\nb");
        check("\"\"\"a\n  b\n\"\"\"", "a\n  b");
        check("\"\"\"  a\n    b\"\"\"", "a\n  b");
        check("\"\"\"\n  a\n\n   \n  b\n\"\"\"", "a\n\n\nb");
        check("\"\"\"\n\ta\n\t\tb\n\"\"\"", "a\n\tb");
        check("\"\"\"\n  a\n\n  \"\"\"", "a\n");
        check("\"\"\"\r\n  a\r\n  b\"\"\"", "a\r\nb");
    }

    #[test]
    fn without_an_indent_blank_lines_stay() {
        check("\"\"\"\na\n  \nb\n  \"\"\"", "a\n  \nb\n  ");
        check("\"\"\"\na\n\"\"\"", "a");
    }

    #[test]
    fn triple_quoted_strings_without_content_keep_their_text() {
        check("\"\"\"\"\"\"", "");
        check("\"\"\"\n\"\"\"", "");
        check("\"\"\"  \"\"\"", "  ");
        check("\"\"\"\n\n  \"\"\"", "\n  ");
        check("\"\"\"a\"b\\n\"\"\"", "a\"b\\n");
    }

    #[test]
    fn durations_are_whole_milliseconds() {
        let cases = [
            ("250ms", Some(250)),
            ("2s", Some(2000)),
            ("3m", Some(180_000)),
            ("1h", Some(3_600_000)),
            ("1d", Some(86_400_000)),
            ("1w", Some(604_800_000)),
            ("9223372036854775807ms", Some(i64::MAX)),
            ("9223372036854775807s", None),
            ("99999999999999999999ms", None),
        ];
        for (source, expected) in cases {
            assert_eq!(milliseconds(source), expected, "{source}");
        }
    }
}
