//! What comments say, in canonical form.

use std::borrow::Cow;

use crate::lexer::CommentKind;

use super::comments::Note;

/// How many dashes make a bar, at least.
pub(super) const BAR_DASHES_MIN: usize = 3;

/// Comments that are written together.
#[derive(Debug)]
pub(super) enum Unit<'a> {
    /// Any comment.
    Plain(Note),
    /// What is documented.
    Doc(Vec<Cow<'a, str>>),
    /// Lines that are kept.
    Lines(Vec<Cow<'a, str>>),
    /// `// ----`
    Bar,
    /// A title between two bars.
    Banner(Vec<Cow<'a, str>>),
}

impl Unit<'_> {
    pub(super) fn is_doc(&self) -> bool {
        matches!(self, Self::Doc(_))
    }

    /// Whether blank lines stand above and below.
    pub(super) fn is_bar(&self) -> bool {
        matches!(self, Self::Bar | Self::Banner(_))
    }
}

/// The unit that some comments begin with, and how many of them it consists of.
pub(super) fn unit<'a>(text: &'a str, notes: &[Note]) -> (Unit<'a>, usize) {
    let first = notes[0];
    let source = first.span.of(text);
    match first.kind {
        CommentKind::DocBlock => (Unit::Doc(doc_block_lines(source)), 1),
        CommentKind::DocLine => doc_run(text, notes),
        CommentKind::Line if first.own_line => match bar(source) {
            Some(Bar::Plain) => banner(text, notes),
            Some(Bar::Titled(title)) => (Unit::Banner(vec![format!("// {title}").into()]), 1),
            None => (Unit::Plain(first), 1),
        },
        CommentKind::Line | CommentKind::Block => (Unit::Plain(first), 1),
    }
}

enum Bar<'a> {
    Plain,
    Titled(&'a str),
}

/// Whether a line comment is a bar.
fn bar(source: &str) -> Option<Bar<'_>> {
    let line = source.trim_start_matches('/').trim();
    let without_start = line.trim_start_matches('-');
    let dashes_before = line.len() - without_start.len();
    let dashes_after = without_start.len() - without_start.trim_end_matches('-').len();
    match line.trim_matches(['-', ' ', '\t']) {
        "" if dashes_before >= BAR_DASHES_MIN => Some(Bar::Plain),
        title if dashes_before.min(dashes_after) >= BAR_DASHES_MIN => Some(Bar::Titled(title)),
        _ => None,
    }
}

/// A bar, or a bar with lines of title up to the next bar.
fn banner<'a>(text: &'a str, notes: &[Note]) -> (Unit<'a>, usize) {
    let mut lines = Vec::new();
    for (at, pair) in notes.windows(2).enumerate() {
        let source = pair[1].span.of(text);
        if pair[1].kind != CommentKind::Line || !are_adjacent(text, pair) {
            break;
        }
        match bar(source) {
            Some(Bar::Plain) if !lines.is_empty() => return (Unit::Banner(lines), at + 2),
            Some(_) => break,
            None => lines.push(source.trim_end().into()),
        }
    }
    (Unit::Bar, 1)
}

/// Whether the second comment is on the line after the first.
fn are_adjacent(text: &str, pair: &[Note]) -> bool {
    let between = &text[pair[0].span.end as usize..pair[1].span.start as usize];
    between.bytes().filter(|byte| *byte == b'\n').count() == 1
}

/// Lines of `///`. They become a block unless that would end in the middle of them.
fn doc_run<'a>(text: &'a str, notes: &[Note]) -> (Unit<'a>, usize) {
    let belongs = |pair: &[Note]| pair[1].kind == CommentKind::DocLine && are_adjacent(text, pair);
    let length = 1 + notes.windows(2).take_while(|pair| belongs(pair)).count();
    let sources = notes[..length].iter().map(|note| note.span.of(text));
    let lines: Vec<_> = sources
        .map(|source| {
            let line = source.trim_start_matches('/');
            Cow::from(line.strip_prefix(' ').unwrap_or(line).trim_end())
        })
        .collect();
    if lines
        .iter()
        .any(|line| line.contains("*/") || line.contains("/*"))
    {
        let sources = notes[..length].iter().map(|note| note.span.of(text));
        let lines = sources.map(|source| source.trim_end().into()).collect();
        return (Unit::Lines(lines), length);
    }
    (Unit::Doc(trimmed(lines)), length)
}

/// What a `/** … */` says.
fn doc_block_lines(source: &str) -> Vec<Cow<'_, str>> {
    let inner = source
        .strip_prefix("/**")
        .and_then(|source| source.strip_suffix("*/"))
        .unwrap_or(source);
    let mut lines: Vec<Cow<'_, str>> = inner.split('\n').map(doc_block_line).collect();
    if let Some(first) = lines.first_mut() {
        *first = inner.split('\n').next().unwrap_or("").trim().into();
    }
    trimmed(lines)
}

/// A line without the star that begins it. A star before a slash ends a comment inside.
fn doc_block_line(line: &str) -> Cow<'_, str> {
    let line = line.trim();
    match line.strip_prefix('*') {
        Some(rest) if !rest.starts_with('/') => rest.strip_prefix(' ').unwrap_or(rest).into(),
        _ => line.into(),
    }
}

/// Lines without the empty ones at either end. A single line is not indented.
fn trimmed(mut lines: Vec<Cow<'_, str>>) -> Vec<Cow<'_, str>> {
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let empty = lines.iter().take_while(|line| line.is_empty()).count();
    lines.drain(..empty);
    match &lines[..] {
        [line] => vec![line.trim().to_owned().into()],
        _ => lines,
    }
}

/// The lines of a block comment. With a star before each they are lined up below the first;
/// otherwise they are one text that is kept.
pub(super) fn block_lines(source: &str) -> Vec<Cow<'_, str>> {
    let mut lines = source.split('\n').map(str::trim_end);
    let first = lines.next().unwrap_or("");
    if lines.clone().all(|line| line.trim_start().starts_with('*')) {
        let rest = lines.map(|line| format!(" {}", line.trim_start()).into());
        return std::iter::once(first.into()).chain(rest).collect();
    }
    let whole = std::iter::once(first).chain(lines).collect::<Vec<_>>();
    vec![whole.join("\n").into()]
}
