//! Things in a row: comma sequences and the bodies of braces.

use super::Formatter;
use super::comments::{Gap, Place};
use super::layout::Rule;

/// Something that stands in a row with others.
pub(super) trait Element<'a> {
    /// Where it begins, or the first of its tokens we know.
    fn start(&self) -> u32;
    /// Where it ends, or the last of its tokens we know.
    fn end(&self) -> u32;
    /// Writes it.
    fn write(&self, formatter: &mut Formatter<'a>);
}

/// What surrounds a comma sequence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brackets {
    open: &'static str,
    close: &'static str,
    /// Whether there are spaces inside them on one line.
    is_padded: bool,
}

impl Brackets {
    pub(super) const ROUND: Self = Self::tight("(", ")");
    pub(super) const SQUARE: Self = Self::tight("[", "]");
    pub(super) const CURLY: Self = Self::tight("{", "}");
    pub(super) const ANGLE: Self = Self::tight("<", ">");
    pub(super) const PADDED: Self = Self {
        is_padded: true,
        ..Self::CURLY
    };

    const fn tight(open: &'static str, close: &'static str) -> Self {
        Self {
            open,
            close,
            is_padded: false,
        }
    }
}

/// How a body is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    /// Where its closing brace is.
    pub(super) close: u32,
    /// What closes it if there is nothing in it.
    pub(super) empty: &'static str,
    /// What follows each of its entries.
    pub(super) separator: &'static str,
    /// Whether it may stand on one line, if the group around it fits.
    pub(super) is_inline: bool,
}

impl Body {
    /// A body of statements or members whose closing brace ends at `end`.
    pub(super) fn block(end: u32) -> Self {
        Self {
            close: end.saturating_sub(1),
            empty: "}",
            separator: "",
            is_inline: false,
        }
    }

    /// A body of fields, each with a comma.
    pub(super) fn fields(end: u32) -> Self {
        Self {
            separator: ",",
            ..Self::block(end)
        }
    }
}

impl<'a> Formatter<'a> {
    /// A comma sequence whose closer is at `close`: on one line, or each element on its own.
    pub(super) fn sequence<E: Element<'a>>(
        &mut self,
        brackets: Brackets,
        elements: impl Iterator<Item = E>,
        close: u32,
    ) {
        let mut elements = elements.peekable();
        let Some(first) = elements.peek() else {
            return self.empty_sequence(brackets, close);
        };
        let group = self.layout.open();
        self.text(brackets.open);
        self.layout.indent();
        self.opener_comments(first.start());
        let mut place = Place::First;
        while let Some(element) = elements.next() {
            self.sequence_line(place == Place::Between || brackets.is_padded);
            self.element_comments(element.start(), place);
            self.entry(&element);
            match elements.peek() {
                Some(_) => self.text(","),
                None => self.layout.trailing_comma(),
            }
            let bound = elements.peek().map_or(close, Element::start);
            self.trailing_comments(element.end(), bound);
            place = Place::Between;
        }
        self.element_comments(close, Place::Last);
        self.layout.dedent();
        self.sequence_line(brackets.is_padded);
        self.text(brackets.close);
        self.layout.close(group, Rule::Whole);
    }

    fn sequence_line(&mut self, is_padded: bool) {
        match is_padded {
            true => self.layout.line(),
            false => self.layout.soft_line(),
        }
    }

    /// A comment in a sequence puts each element on its own line.
    pub(super) fn element_comments(&mut self, offset: u32, place: Place) {
        if self.comments.peek_before(offset).is_some() {
            self.layout.force_break();
            self.leading_comments(offset, place);
        }
    }

    pub(super) fn empty_sequence(&mut self, brackets: Brackets, close: u32) {
        self.text(brackets.open);
        let notes = self.comments.all_before(close);
        if notes.iter().all(|note| !note.needs_line()) {
            self.gap(close, Gap::Glued);
        } else {
            self.layout.indent();
            self.opener_comments(close);
            self.leading_comments(close, Place::Only);
            self.layout.dedent();
            self.layout.hard_line();
        }
        self.text(brackets.close);
    }

    /// What follows an opening brace, up to the closing one: each entry on its own line.
    pub(super) fn body<E: Element<'a>>(&mut self, body: Body, entries: impl Iterator<Item = E>) {
        let mut entries = entries.peekable();
        let has_comments = self.comments.peek_before(body.close).is_some();
        if entries.peek().is_none() && !has_comments {
            return self.text(body.empty);
        }
        self.layout.indent();
        let first = entries.peek().map_or(body.close, Element::start);
        self.opener_comments(first);
        self.body_line(body);
        let mut place = Place::First;
        while let Some(entry) = entries.next() {
            self.leading_comments(entry.start(), place);
            self.entry(&entry);
            self.text(body.separator);
            let bound = entries.peek().map_or(body.close, Element::start);
            self.trailing_comments(entry.end(), bound);
            if entries.peek().is_some() {
                self.layout.hard_line();
            }
            place = Place::Between;
        }
        let is_only = place == Place::First;
        let place = if is_only { Place::Only } else { Place::Last };
        self.leading_comments(body.close, place);
        self.layout.dedent();
        self.body_line(body);
        self.text("}");
    }

    fn body_line(&mut self, body: Body) {
        match body.is_inline {
            true => self.layout.line(),
            false => self.layout.hard_line(),
        }
    }

    /// An entry or element, below the comments that found no place in it.
    pub(super) fn entry<E: Element<'a>>(&mut self, entry: &E) {
        let outer = std::mem::take(&mut self.hoisted);
        let start = self.layout.here();
        entry.write(self);
        // One comment before parentheses that went away can stand behind the entry.
        let is_trailing = match self.comments.all_before(entry.end()) {
            [note] => !note.own_line,
            _ => false,
        };
        if !is_trailing {
            self.hoist_before(entry.end());
        }
        let hoisted = std::mem::replace(&mut self.hoisted, outer);
        if !hoisted.is_empty() {
            let written = self.layout.split_off(start);
            self.hoisted_comments(hoisted);
            self.layout.append(written);
        }
    }
}
