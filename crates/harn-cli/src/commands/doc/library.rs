//! What the modules of the standard library say about themselves, read from their source.

use harn_check::modules::{standard_modules, standard_text};
use harn_syntax::tree::{Item, ItemKind, Module, Statement, StatementKind};
use harn_syntax::{Comment, CommentKind, Span, parse};

use super::entry::{Area, Entry};

/// Every module with what it exports.
pub(super) fn modules() -> impl Iterator<Item = Area> {
    standard_modules().filter_map(|name| {
        let text = standard_text(name)?;
        Some(module(&format!("std/{name}"), text))
    })
}

fn module(area: &str, text: &str) -> Area {
    let module = parse(text).module;
    let all_functions = !module.statements.iter().any(is_public_function);
    let items = module.statements.iter().filter_map(|statement| {
        let StatementKind::Item(item) = &statement.kind else {
            return None;
        };
        let declared = Declared::of(item, statement, all_functions)?;
        Some(Entry {
            name: declared.name.to_owned(),
            kind: declared.kind,
            signature: one_line(declared.signature.of(text)),
            doc: doc_above(&module, statement, text),
            area: area.to_owned(),
            import: Some(format!("import {{ {} }} from \"{area}\"", declared.name)),
            effect: None,
            known: true,
            available: declared.is_built,
        })
    });
    let mut entries: Vec<_> = items.collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Area {
        area: area.to_owned(),
        title: title(&module, text),
        entries,
    }
}

/// What the first comment of a file says.
fn title(module: &Module, text: &str) -> String {
    let first = module.comments.first().filter(|one| one.span.start == 0);
    let words = first.map(words_of(text)).unwrap_or_default();
    words.trim_end_matches('.').to_owned()
}

/// What one can get from a module.
struct Declared<'a> {
    name: &'a str,
    kind: &'static str,
    signature: Span,
    /// False for a function without a body, which is declared and not built yet.
    is_built: bool,
}

impl<'a> Declared<'a> {
    /// What an item exports, if it does: `pub` decides, except that aliases and interfaces
    /// are there for everybody, and functions if no other one is public.
    fn of(item: &'a Item, statement: &Statement, all_functions: bool) -> Option<Self> {
        let is_public = item.public.is_some();
        let (name, kind) = match &item.kind {
            ItemKind::Function(one) if is_public || all_functions => (&one.name, "function"),
            ItemKind::Type(one) => (&one.name, "type"),
            ItemKind::Interface(one) => (&one.name, "type"),
            ItemKind::Struct(one) if is_public => (&one.name, "type"),
            ItemKind::Enum(one) if is_public => (&one.name, "type"),
            _ => return None,
        };
        let signature = match &item.kind {
            ItemKind::Function(one) => Span {
                start: one.name.span.start,
                end: one.body.span.start,
            },
            _ => statement.span,
        };
        let is_built = match &item.kind {
            ItemKind::Function(one) => !one.body.statements.is_empty(),
            _ => true,
        };
        Some(Self {
            name: &name.text,
            kind,
            signature,
            is_built,
        })
    }
}

fn is_public_function(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Item(item) => {
            item.public.is_some() && matches!(item.kind, ItemKind::Function(_))
        }
        _ => false,
    }
}

/// The doc comment directly above a declaration.
fn doc_above(module: &Module, statement: &Statement, text: &str) -> String {
    let mut below = statement.span.start;
    let mut parts = Vec::new();
    let above = module.comments.iter().rev();
    for comment in above.filter(|one| one.span.start < statement.span.start) {
        let gap = &text[comment.span.end as usize..below as usize];
        let is_adjacent = gap.trim().is_empty() && gap.matches('\n').count() <= 1;
        let is_doc = matches!(comment.kind, CommentKind::DocLine | CommentKind::DocBlock);
        if !is_adjacent || !is_doc {
            break;
        }
        parts.push(words_of(text)(comment));
        below = comment.span.start;
    }
    parts.reverse();
    parts.join(" ")
}

/// What a comment says, without what makes it one.
fn words_of(text: &str) -> impl Fn(&Comment) -> String {
    |comment| {
        let body = comment.span.of(text).trim_start_matches('/');
        let body = body.trim_end_matches('/').trim_matches('*');
        let lines = body
            .lines()
            .map(|line| line.trim().trim_start_matches("* "));
        one_line(&lines.collect::<Vec<_>>().join(" "))
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
// Things to try.

/** Adds
 * one. */
pub fn add_one(value: int,
  by = 1) -> int {
  return value + by
}

fn hidden() {}

// Not documentation.
pub fn plain() {}

/// A point.
/// In space.
pub struct Point {
  x: int
}
";

    #[test]
    fn a_module_tells_what_it_exports() {
        let area = module("std/try", TEXT);
        assert_eq!(area.title, "Things to try");
        let entries = area.entries.iter();
        let entries: Vec<_> = entries
            .map(|one| {
                (
                    one.name.as_str(),
                    one.kind,
                    one.signature.as_str(),
                    one.doc.as_str(),
                )
            })
            .collect();
        assert_eq!(
            entries,
            [
                (
                    "Point",
                    "type",
                    "pub struct Point { x: int }",
                    "A point. In space."
                ),
                (
                    "add_one",
                    "function",
                    "add_one(value: int, by = 1) -> int",
                    "Adds one."
                ),
                ("plain", "function", "plain()", ""),
            ]
        );
        let import = area.entries[1].import.as_deref();
        assert_eq!(import, Some("import { add_one } from \"std/try\""));
    }

    #[test]
    fn every_module_has_something_to_offer() {
        for area in modules() {
            assert!(!area.entries.is_empty(), "{}", area.area);
            assert!(!area.title.is_empty(), "{}", area.area);
        }
    }
}
