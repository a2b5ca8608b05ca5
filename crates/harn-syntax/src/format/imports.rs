//! The imports at the head of a file, which are sorted.

use crate::lexer::CommentKind;
use crate::token::TokenKind;
use crate::tree::{Import, ItemKind, Module, Name, Statement, StatementKind};

use super::Formatter;
use super::comments::Place;
use super::layout::{Op, Rule};
use super::lists::{Brackets, Element};

/// The imports that a file begins with.
pub(super) fn leading(statements: &[Statement]) -> &[Statement] {
    let count = statements.iter().take_while(|one| import(one).is_some());
    &statements[..count.count()]
}

fn import(statement: &Statement) -> Option<&Import> {
    let StatementKind::Item(item) = &statement.kind else {
        return None;
    };
    match &item.kind {
        ItemKind::Import(import) => Some(import),
        _ => None,
    }
}

/// What imports are sorted by: the standard library comes first, then paths, then whole
/// modules before names.
fn order(import: &Import) -> (bool, &str, bool) {
    let path = import.path.text.as_str();
    (!path.starts_with("std/"), path, import.names.is_some())
}

impl<'a> Formatter<'a> {
    /// Writes the leading imports in order, each with its comments.
    pub(super) fn imports(&mut self, imports: &'a [Statement], module: &'a Module) {
        let Some(first) = imports.first() else {
            return;
        };
        self.header_comments(first.span.start);
        let end = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        let mut sorted: Vec<(_, Vec<Op<'a>>)> = Vec::with_capacity(imports.len());
        for (at, statement) in imports.iter().enumerate() {
            let start = self.layout.here();
            self.leading_comments(statement.span.start, Place::Import);
            self.entry(&statement);
            let next = module.statements.get(at + 1);
            let bound = next.map_or(end, |next| Element::start(&next));
            self.trailing_comments(statement.span.end, bound);
            self.layout.hard_line();
            sorted.push((import(statement).map(order), self.layout.split_off(start)));
        }
        sorted.sort_by(|left, right| left.0.cmp(&right.0));
        for (_, written) in sorted {
            self.layout.append(written);
        }
    }

    /// Comments about the file rather than its first import: those with a blank line below
    /// them, and documentation, which an import has none of.
    fn header_comments(&mut self, first: u32) {
        let notes = self.comments.all_before(first);
        let is_doc = |kind| matches!(kind, CommentKind::DocLine | CommentKind::DocBlock);
        let is_header = notes
            .iter()
            .rposition(|note| is_doc(note.kind) || self.has_blank_line_after(note.span.end));
        let Some(last) = is_header else {
            return;
        };
        let bound = notes.get(last + 1).map_or(first, |note| note.span.start);
        self.leading_comments(bound, Place::Header);
    }

    /// A first `/** … */` with a blank line below it is about the file. Directly above the
    /// first item it would document that.
    pub(super) fn file_comment(&mut self, first: u32) {
        let [note, rest @ ..] = self.comments.all_before(first) else {
            return;
        };
        if note.kind == CommentKind::DocBlock && self.has_blank_line_after(note.span.end) {
            let bound = rest.first().map_or(first, |next| next.span.start);
            self.leading_comments(bound, Place::Header);
        }
    }

    /// `import { a, b } from "m"`
    pub(super) fn import(&mut self, import: &'a Import) {
        self.text("import ");
        if let Some(names) = &import.names {
            self.import_names(names, import.path.span.start);
            self.text(" from ");
        }
        self.source(import.path.span);
    }

    /// Names in order, each with the comments around it.
    fn import_names(&mut self, names: &'a [Name], path: u32) {
        let mut written = Vec::with_capacity(names.len());
        let last = names.last().map_or(path, |last| last.span.end);
        let close = self.find(TokenKind::RightBrace, last).min(path);
        if names.is_empty() {
            return self.empty_sequence(Brackets::PADDED, close);
        }
        let group = self.layout.open();
        self.text("{");
        self.layout.indent();
        self.opener_comments(names.first().map_or(close, |first| first.span.start));
        for (at, name) in names.iter().enumerate() {
            let start = self.layout.here();
            self.layout.line();
            self.element_comments(name.span.start, Place::Import);
            self.entry(&name);
            let comma = self.layout.here();
            let bound = names
                .get(at + 1)
                .map_or(close, |next| Element::start(&next));
            self.trailing_comments(name.span.end, bound);
            let after = self.layout.split_off(comma);
            written.push((&name.text, self.layout.split_off(start), after));
        }
        written.sort_by_key(|(name, ..)| *name);
        let count = written.len();
        for (at, (_, before, after)) in written.into_iter().enumerate() {
            self.layout.append(before);
            match at + 1 < count {
                true => self.text(","),
                false => self.layout.trailing_comma(),
            }
            self.layout.append(after);
        }
        self.element_comments(close, Place::Last);
        self.layout.dedent();
        self.layout.line();
        self.text("}");
        self.layout.close(group, Rule::Whole);
    }
}
