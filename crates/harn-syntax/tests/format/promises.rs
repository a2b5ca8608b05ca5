//! What must hold of every text that is formatted.

use harn_syntax::tree::{Import, ItemKind, Module, Statement, StatementKind};
use harn_syntax::{FormatOptions, TokenKind, format, lex, parse};

/// Formats a text, and checks that it means the same, has the same comments, ends as it
/// should, and stays as it is when formatted again.
#[track_caller]
pub(crate) fn formatted(source: &str, width: usize) -> String {
    let options = FormatOptions { width };
    let first = format(source, &options).unwrap_or_else(|errors| {
        let messages: Vec<_> = errors.iter().map(|error| &error.message).collect();
        panic!("not a program: {messages:?}\n{source}")
    });
    let second = format(&first, &options).unwrap_or_else(|errors| {
        let messages: Vec<_> = errors.iter().map(|error| &error.message).collect();
        panic!("no program any more: {messages:?}\n{source}\n=>\n{first}")
    });
    assert_eq!(second, first, "formatted twice, it changes\n{source}");
    assert_eq!(
        meaning(&first),
        meaning(source),
        "the tree changed\n{source}\n=>\n{first}"
    );
    assert_eq!(
        comments(&first),
        comments(source),
        "the comments changed\n{source}\n=>\n{first}"
    );
    assert!(
        first.is_empty() || (first.ends_with('\n') && !first.ends_with("\n\n")),
        "one line break at the end\n{first:?}"
    );
    check_line_ends(&first);
    first
}

/// No line ends in white space, except in strings.
#[track_caller]
fn check_line_ends(text: &str) {
    let tokens = lex(text).tokens;
    let strings = tokens.iter().filter(|token| {
        let kind = token.kind;
        kind == TokenKind::String || kind == TokenKind::InterpolatedString
    });
    let spans: Vec<_> = strings.map(|token| token.span.range()).collect();
    for (at, _) in text.match_indices('\n') {
        let is_in_string = spans.iter().any(|span| span.contains(&at));
        let is_clean = !text[..at].ends_with([' ', '\t', '\r']);
        assert!(
            is_in_string || is_clean,
            "white space at the end of a line\n{text}"
        );
    }
}

/// What a program means: its imports in order, and everything else as it is printed. Keys
/// mean the same with and without quotes and brackets.
fn meaning(source: &str) -> (Vec<String>, String) {
    let module = parse(source).module;
    let is_import = |statement: &&Statement| import(statement).is_some();
    let count = module.statements.iter().take_while(is_import).count();
    let (imports, rest) = module.statements.split_at(count);
    let mut imports: Vec<String> = imports.iter().map(import_meaning).collect();
    imports.sort();
    let rest = Module {
        statements: rest.to_vec(),
        comments: Vec::new(),
    };
    (imports, without_quoted_keys(&rest.to_string()))
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

fn import_meaning(statement: &Statement) -> String {
    let StatementKind::Item(item) = &statement.kind else {
        return String::new();
    };
    let is_public = item.public.is_some();
    let names = import(statement).and_then(|import| import.names.as_ref());
    let mut names: Option<Vec<_>> = names.map(|names| names.iter().map(|one| &one.text).collect());
    names.iter_mut().for_each(|names| names.sort());
    let path = import(statement).map(|import| &import.path.text);
    format!("{is_public} {path:?} {names:?}")
}

/// `("a" 1)` and `((computed "a") 1)` as `(a 1)`, and all white space as one space.
fn without_quoted_keys(printed: &str) -> String {
    let words: Vec<_> = printed.split_whitespace().collect();
    let line = words.join(" ");
    let mut out = String::with_capacity(line.len());
    let mut rest = line.as_str();
    while let Some(at) = rest.find('(') {
        out.push_str(&rest[..=at]);
        rest = &rest[at + 1..];
        let inner = match rest.strip_prefix("(computed \"") {
            Some(inner) => Some((inner, "\")")),
            None => rest.strip_prefix('"').map(|inner| (inner, "\"")),
        };
        if let Some((inner, close)) = inner
            && let Some(end) = inner.find('"')
            && inner[end..].starts_with(close)
        {
            out.push_str(&inner[..end]);
            rest = &inner[end + close.len()..];
        }
    }
    out + rest
}

/// The words of all comments, sorted: sorting imports may reorder them, and some move up.
fn comments(source: &str) -> Vec<String> {
    let module = parse(source).module;
    let texts = module
        .comments
        .iter()
        .map(|comment| comment.span.of(source));
    let words = texts.flat_map(|text| text.split(|part: char| !part.is_alphanumeric()));
    let mut words: Vec<_> = words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.sort();
    words
}
