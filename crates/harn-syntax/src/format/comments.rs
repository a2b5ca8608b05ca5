//! Where comments go.
//!
//! Comments are handed out in source order: whoever writes a token first asks for the
//! comments before it. So none can be lost or written twice, and what remains to decide is
//! how a comment stands between its neighbours:
//!
//! ```text
//! // leading: on lines of its own above a statement or an element
//! value, // trailing: behind it, on its line
//! a /* gap: between two tokens */ + b
//! {
//!   // dangling: before a closer
//! }
//! ```
//!
//! A comment that ends its line cannot stand where the grammar forbids a line break, as
//! after `return`. It got there because parentheses around it went away. Such a comment is
//! hoisted: it moves above the statement or element it stands in.

use std::borrow::Cow;

use crate::lexer::{Comment, CommentKind};
use crate::position::Span;
use crate::token::TokenKind;

use super::Formatter;
use super::comment_text::{self, Unit};

/// The comments of a file that are not written yet.
pub(super) struct Comments {
    notes: Vec<Note>,
    next: usize,
}

/// A comment and what is around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    pub(super) kind: CommentKind,
    pub(super) span: Span,
    /// Whether nothing precedes it on its line.
    pub(super) begins_line: bool,
    /// Whether nothing follows it on its line.
    ends_line: bool,
    /// Whether nothing but comments precedes it on its line.
    pub(super) own_line: bool,
    /// Whether something other than comments follows it on its line.
    pub(super) followed: bool,
    /// Whether it has several lines.
    pub(super) multi_line: bool,
}

impl Note {
    /// Whether nothing can follow it on its last line, or it has several.
    pub(super) fn needs_line(self) -> bool {
        matches!(self.kind, CommentKind::Line | CommentKind::DocLine) || self.multi_line
    }

    /// Whether it stands directly before something on its line, and may stay there.
    fn introduces(self) -> bool {
        self.followed && self.kind == CommentKind::Block && !self.multi_line
    }
}

impl Comments {
    pub(super) fn new(text: &str, comments: &[Comment]) -> Self {
        let mut notes: Vec<Note> = Vec::with_capacity(comments.len());
        for comment in comments {
            let before = text[..comment.span.start as usize].trim_end_matches([' ', '\t', '\r']);
            let begins_line = before.is_empty() || before.ends_with('\n');
            let own_line = match notes.last() {
                Some(last) if last.span.end as usize == before.len() => last.own_line,
                _ => begins_line,
            };
            notes.push(Note {
                kind: comment.kind,
                span: comment.span,
                begins_line,
                ends_line: false,
                own_line,
                followed: false,
                multi_line: comment.span.of(text).contains('\n'),
            });
        }
        let mut next: Option<Note> = None;
        for note in notes.iter_mut().rev() {
            let after = text[note.span.end as usize..].trim_start_matches([' ', '\t', '\r']);
            let end = text.len() - after.len();
            note.ends_line = after.is_empty() || after.starts_with('\n');
            note.followed = match next {
                Some(next) if next.span.start as usize == end => next.followed,
                _ => !note.ends_line,
            };
            next = Some(*note);
        }
        Self { notes, next: 0 }
    }

    /// The next comment, if it begins before `offset`.
    pub(super) fn peek_before(&self, offset: u32) -> Option<Note> {
        let note = self.notes.get(self.next).copied();
        note.filter(|note| note.span.start < offset)
    }

    pub(super) fn take_before(&mut self, offset: u32) -> Option<Note> {
        let note = self.peek_before(offset);
        self.next += usize::from(note.is_some());
        note
    }

    /// All comments before `offset` that are not written yet.
    fn take_all_before(&mut self, offset: u32) -> Vec<Note> {
        std::iter::from_fn(|| self.take_before(offset)).collect()
    }

    /// Those before `offset`, which stay where they are.
    pub(super) fn all_before(&self, offset: u32) -> &[Note] {
        let rest = &self.notes[self.next..];
        let count = rest.partition_point(|note| note.span.start < offset);
        &rest[..count]
    }
}

/// Whether a line may break before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    Free,
    Glued,
}

/// Where leading comments stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// At the head of the file. Blank lines between comments are kept.
    Header,
    /// Above a top-level item. Blank lines between comments are kept, but doc comments stand
    /// directly above.
    Item,
    /// Above an import. There are no blank lines at all.
    Import,
    /// First in braces or brackets.
    First,
    /// Between statements or elements.
    Between,
    /// Before a closer.
    Last,
    /// Before a closer and nothing else.
    Only,
}

impl Place {
    fn keeps_blank_lines(self) -> bool {
        matches!(self, Self::Header | Self::Item)
    }
}

impl<'a> Formatter<'a> {
    /// Writes the comments before the token at `offset`. Says whether a line was broken.
    pub(super) fn gap(&mut self, offset: u32, gap: Gap) -> bool {
        let mut is_broken = false;
        while let Some(note) = self.comments.take_before(offset) {
            if gap == Gap::Glued && note.needs_line() {
                self.hoisted.push(note);
            } else if note.needs_line() || (note.begins_line && gap == Gap::Free) {
                self.stand_alone(note);
                is_broken = true;
            } else {
                self.layout.space();
                self.comment(note);
                self.layout.space();
            }
        }
        is_broken
    }

    /// A comment that ends a line or begins one: behind what precedes it or on another line.
    fn stand_alone(&mut self, note: Note) {
        if note.begins_line {
            self.layout.hard_line();
            self.comment(note);
        } else {
            self.trailing_comment(note);
        }
        match note.needs_line() || note.ends_line {
            true => self.layout.hard_line(),
            false => self.layout.space(),
        }
    }

    fn trailing_comment(&mut self, note: Note) {
        if note.multi_line {
            self.layout.space();
            return self.comment(note);
        }
        let text = note.span.of(self.text).trim_end();
        self.layout.trailing(text);
    }

    /// A comment as it is, whatever is around it.
    fn comment(&mut self, note: Note) {
        let text = note.span.of(self.text).trim_end();
        if !note.multi_line {
            return self.layout.text(text);
        }
        self.comment_lines(&comment_text::block_lines(text));
    }

    fn comment_lines(&mut self, lines: &[Cow<'a, str>]) {
        for (at, line) in lines.iter().enumerate() {
            if at > 0 {
                self.layout.hard_line();
            }
            self.layout.text(line.clone());
        }
    }

    /// Writes comments behind an opener, on its line. What follows begins before `bound`.
    pub(super) fn opener_comments(&mut self, bound: u32) {
        while let Some(note) = self.comments.peek_before(bound) {
            if note.own_line || note.introduces() {
                break;
            }
            self.comments.take_before(bound);
            self.trailing_comment(note);
            self.layout.hard_line();
            if note.needs_line() {
                break;
            }
        }
    }

    /// Writes the comments behind what ends at `end`, on its line. What follows begins at
    /// `bound`.
    pub(super) fn trailing_comments(&mut self, end: u32, bound: u32) {
        while let Some(note) = self.comments.peek_before(bound) {
            if note.own_line || self.belongs_to_next(note, end) {
                break;
            }
            self.comments.take_before(bound);
            self.layout.force_break();
            self.trailing_comment(note);
            if note.needs_line() {
                self.layout.hard_line();
                break;
            }
        }
    }

    /// Whether a comment after what ends at `end` is about what comes next: if that has
    /// begun already, or follows on the same line after a comma or semicolon.
    fn belongs_to_next(&self, note: Note, end: u32) -> bool {
        let before = self.tokens[..self.first_token(note.span.start)].last();
        match before
            .filter(|token| token.span.start >= end)
            .map(|token| token.kind)
        {
            None => false,
            Some(TokenKind::Comma | TokenKind::Semicolon) => note.introduces(),
            Some(
                TokenKind::RightParenthesis
                | TokenKind::RightBracket
                | TokenKind::RightBrace
                | TokenKind::Greater
                | TokenKind::Question,
            ) => false,
            Some(_) => true,
        }
    }

    /// Writes the comments before `offset` on lines of their own.
    pub(super) fn leading_comments(&mut self, offset: u32, place: Place) {
        let notes = self.comments.take_all_before(offset);
        let mut previous: Option<(Unit<'a>, Note)> = None;
        let mut rest = &notes[..];
        while let Some(first) = rest.first().copied() {
            let (unit, length) = comment_text::unit(self.text, rest);
            let last = rest[length - 1];
            rest = &rest[length..];
            if self.is_apart(previous.as_ref(), &unit, first, place) {
                self.layout.blank_line();
            } else if previous.is_none() || first.begins_line {
                self.layout.hard_line();
            }
            self.unit(&unit);
            previous = Some((unit, last));
        }
        let Some((unit, last)) = previous else {
            return;
        };
        let is_at_end = matches!(place, Place::Last | Place::Only | Place::Import);
        let keeps_blank = match place {
            Place::Header => true,
            Place::Item => !unit.is_doc(),
            _ => false,
        };
        let blank = keeps_blank && self.has_blank_line_after(last.span.end);
        if !is_at_end && (blank || unit.is_bar()) {
            self.layout.blank_line();
        }
    }

    /// Whether a blank line precedes a comment.
    fn is_apart(
        &self,
        previous: Option<&(Unit<'a>, Note)>,
        unit: &Unit<'a>,
        first: Note,
        place: Place,
    ) -> bool {
        match previous {
            _ if place == Place::Import => false,
            None => unit.is_bar() && !matches!(place, Place::First | Place::Only),
            Some((previous, _)) if previous.is_bar() || unit.is_bar() => true,
            Some((_, last)) => {
                let between = &self.text[last.span.end as usize..first.span.start as usize];
                place.keeps_blank_lines() && has_blank_line(between)
            }
        }
    }

    pub(super) fn has_blank_line_after(&self, offset: u32) -> bool {
        let rest = &self.text[offset as usize..];
        let length = rest.len() - rest.trim_start().len();
        has_blank_line(&rest[..length])
    }

    fn unit(&mut self, unit: &Unit<'a>) {
        match unit {
            Unit::Plain(note) if !note.needs_line() && !note.ends_line => {
                self.comment(*note);
                return self.layout.space();
            }
            Unit::Plain(note) => self.comment(*note),
            Unit::Doc(lines) => self.doc_comment(lines),
            Unit::Lines(lines) => self.comment_lines(lines),
            Unit::Bar => self.layout.bar(),
            Unit::Banner(lines) => {
                self.layout.bar();
                self.layout.hard_line();
                self.comment_lines(lines);
                self.layout.hard_line();
                self.layout.bar();
            }
        }
        self.layout.hard_line();
    }

    fn doc_comment(&mut self, lines: &[Cow<'a, str>]) {
        match lines {
            [] => self.layout.text("/** */"),
            [line] => self.layout.text(format!("/** {line} */")),
            lines => {
                self.layout.text("/**");
                for line in lines {
                    self.layout.hard_line();
                    let line = format!(" * {line}");
                    self.layout.text(line.trim_end().to_owned());
                }
                self.layout.hard_line();
                self.layout.text(" */");
            }
        }
    }

    /// Keeps the comments before `offset` that nobody wrote for the line above.
    pub(super) fn hoist_before(&mut self, offset: u32) {
        let notes = self.comments.take_all_before(offset);
        self.hoisted.extend(notes);
    }

    /// Writes comments that were hoisted.
    pub(super) fn hoisted_comments(&mut self, notes: Vec<Note>) {
        for note in notes {
            self.layout.hard_line();
            self.comment(note);
            self.layout.hard_line();
        }
    }
}

/// Whether white space contains an empty line.
fn has_blank_line(white_space: &str) -> bool {
    white_space.bytes().filter(|byte| *byte == b'\n').count() > 1
}
