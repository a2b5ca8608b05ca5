//! Where directives begin and end.
//!
//! ```text
//! "a {{- x }}b{{# why #}}{{ raw }}{{{{ endraw }}"
//!   Text "a" · Directive " x " · Text "b" · Raw "{{"
//! ```
//!
//! Every byte is looked at a bounded number of times, whatever the text: a search that
//! fails ends the scan with an error.

use super::directive::first_word;
use super::error::{TemplateError, TemplateErrorKind as Kind};
use super::expression::Reader;
use crate::position::{Position, Span};

/// A place errors can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) offset: u32,
    pub(super) position: Position,
}

/// A part of a template that is not a comment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    pub(super) kind: PieceKind<'a>,
    pub(super) span: Span,
    pub(super) mark: Mark,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum PieceKind<'a> {
    /// Text to copy, trimmed and not empty.
    Text(&'a str),
    /// What stands between `{{ raw }}` and `{{ endraw }}`, trimmed.
    Raw(&'a str),
    /// What stands between braces, without marks to trim.
    Directive(&'a str),
}

/// Goes through a text piece by piece.
pub(super) struct Scanner<'a> {
    text: &'a str,
    /// Everything before was given out.
    at: usize,
    /// Whether the last directive ended in `-}}`.
    trims_start: bool,
    places: Places<'a>,
}

/// `{{ endraw }}`, and whether it trims.
struct EndRaw {
    length: usize,
    trims_before: bool,
    trims_after: bool,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            trims_start: false,
            places: Places::new(text),
        }
    }

    /// The next piece; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Piece<'a>>, TemplateError> {
        while self.at < self.text.len() {
            let piece = match self.rest().starts_with("{{") {
                true => self.directive()?,
                false => self.text_piece(),
            };
            if piece.is_some() {
                return Ok(piece);
            }
        }
        Ok(None)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn piece(&mut self, kind: PieceKind<'a>, start: usize, end: usize) -> Piece<'a> {
        let span = Span::new(start, end);
        let mark = self.places.mark(start);
        Piece { kind, span, mark }
    }

    /// The text up to the next directive; `None` if trimming leaves nothing of it.
    fn text_piece(&mut self) -> Option<Piece<'a>> {
        let length = self.rest().find("{{").unwrap_or(self.rest().len());
        let text = &self.rest()[..length];
        let end = self.at + length;
        let trims_end = self.text[end..].starts_with("{{-");
        let trimmed = trim(text, self.trims_start, trims_end);
        let start = trimmed.start + self.at;
        self.trims_start = false;
        self.at = end;
        let text = &text[trimmed.clone()];
        match text.is_empty() {
            true => None,
            false => Some(self.piece(PieceKind::Text(text), start, start + text.len())),
        }
    }

    /// What begins with the `{{` here; `None` if it is a comment.
    fn directive(&mut self) -> Result<Option<Piece<'a>>, TemplateError> {
        let start = self.at;
        let mark = self.places.mark(start);
        self.at += 2 + usize::from(self.rest().starts_with("{{-"));
        if self.rest().starts_with('#') {
            self.comment().map_err(|kind| kind.at(mark))?;
            return Ok(None);
        }
        let content = self.content().map_err(|kind| kind.at(mark))?;
        let kind = match first_word(content) {
            "raw" => PieceKind::Raw(self.raw(content).map_err(|kind| kind.at(mark))?),
            _ => PieceKind::Directive(content),
        };
        Ok(Some(self.piece(kind, start, self.at)))
    }

    /// Skips a comment from its first `#`.
    fn comment(&mut self) -> Result<(), Kind> {
        self.at += 1;
        loop {
            let hash = self.rest().find('#').ok_or(Kind::UnterminatedComment)?;
            self.at += hash + 1;
            if let Some(length) = end_of_braces(self.rest()) {
                self.trims_start = length > 2;
                self.at += length;
                return Ok(());
            }
        }
    }

    /// What the directive says, from after its `{{`. It is skipped.
    fn content(&mut self) -> Result<&'a str, Kind> {
        let length = content_length(self.rest())?;
        let content = &self.rest()[..length];
        self.at += length + 2;
        let trimmed = content.strip_suffix('-');
        self.trims_start = trimmed.is_some();
        Ok(trimmed.unwrap_or(content))
    }

    /// The text after `{{ raw }}`, up to `{{ endraw }}`, which is skipped.
    fn raw(&mut self, content: &str) -> Result<&'a str, Kind> {
        let mut reader = Reader::new(content);
        reader.eat_word("raw");
        reader.finish()?;
        let start = self.at;
        loop {
            let braces = self.rest().find("{{").ok_or(Kind::UnterminatedRaw)?;
            let end = self.at + braces;
            if let Some(close) = endraw(&self.text[end..]) {
                self.at = end + close.length;
                let text = &self.text[start..end];
                let trimmed = trim(text, self.trims_start, close.trims_before);
                self.trims_start = close.trims_after;
                return Ok(&text[trimmed]);
            }
            self.at = end + 1;
        }
    }
}

/// How long the content of a directive is: up to the first `}}` outside quotes.
fn content_length(text: &str) -> Result<usize, Kind> {
    let bytes = text.as_bytes();
    let mut quote = None;
    let mut at = 0;
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (None, b'}') if bytes.get(at + 1) == Some(&b'}') => return Ok(at),
            (None, byte @ (b'"' | b'\'')) => quote = Some(byte),
            (Some(open), byte) if byte == open => quote = None,
            (Some(_), b'\\') => at += 1,
            _ => {}
        }
        at += 1;
    }
    // Who sees braces at the end of a directive does not look for more of them.
    Err(match quote.is_some() && text.contains("}}") {
        true => Kind::UnterminatedString,
        false => Kind::UnterminatedDirective,
    })
}

/// How long the `}}` or `-}}` is that begins here.
fn end_of_braces(text: &str) -> Option<usize> {
    match text {
        _ if text.starts_with("}}") => Some(2),
        _ if text.starts_with("-}}") => Some(3),
        _ => None,
    }
}

/// The `{{ endraw }}` that begins here.
fn endraw(text: &str) -> Option<EndRaw> {
    let inside = text.strip_prefix("{{")?;
    let trimmed = inside.strip_prefix('-');
    let content = trimmed.unwrap_or(inside).trim_start();
    let rest = content.strip_prefix("endraw")?.trim_start();
    let end = end_of_braces(rest)?;
    Some(EndRaw {
        length: text.len() - rest.len() + end,
        trims_before: trimmed.is_some(),
        trims_after: end > 2,
    })
}

/// What is left of a text between directives: at each end that is trimmed, spaces and tabs
/// and one line break are gone.
fn trim(text: &str, at_start: bool, at_end: bool) -> std::ops::Range<usize> {
    let mut left = text;
    if at_start {
        left = left.trim_start_matches([' ', '\t']);
        let broken = left.strip_prefix("\r\n").or(left.strip_prefix('\n'));
        left = broken.unwrap_or(left);
    }
    let start = text.len() - left.len();
    if at_end {
        left = left.trim_end_matches([' ', '\t']);
        let broken = left.strip_suffix("\r\n").or(left.strip_suffix('\n'));
        left = broken.unwrap_or(left);
    }
    start..start + left.len()
}

/// Lines and columns of places that are asked for in order, so that a long line is gone
/// through only once.
struct Places<'a> {
    text: &'a str,
    offset: usize,
    position: Position,
}

impl<'a> Places<'a> {
    fn new(text: &'a str) -> Self {
        let position = Position { line: 1, column: 1 };
        Self {
            text,
            offset: 0,
            position,
        }
    }

    fn mark(&mut self, offset: usize) -> Mark {
        // A piece asks for its place again after its directive was looked at, never for one
        // before.
        for character in self.text[self.offset..offset].chars() {
            match character {
                '\n' => {
                    self.position.line += 1;
                    self.position.column = 1;
                }
                _ => self.position.column += 1,
            }
        }
        self.offset = offset;
        Mark {
            offset: Span::new(offset, offset).start,
            position: self.position,
        }
    }
}
