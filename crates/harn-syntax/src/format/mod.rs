//! Source text in canonical form.
//!
//! ```text
//! text ──► parse ──► tree ──────────┐
//!    │        └────► comments ──────┤
//!    └────────────► literals ───────┴──► layout ──► printer ──► text
//! ```
//!
//! The tree says what there is, the comments are woven in between by position, and literals
//! are copied from the text. The [`layout`] holds the places where lines may break, and the
//! [`printer`] decides which of them do. Each file here writes one kind of node; what they
//! share is in [`lists`] (things in braces and brackets) and [`comments`].
//!
//! What the formatter writes is read back as the same tree, and formatting it again changes
//! nothing. Two things keep the second promise: a choice that depends on lines of the source
//! (operators and methods) only ever asks for what was written before, and a group on one
//! line has everything in it on one line.

mod comment_text;
mod comments;
mod expression;
mod extent;
mod imports;
mod item;
mod layout;
mod lists;
mod literals;
mod operators;
mod parentheses;
mod printer;
mod statement;
mod types;

use crate::lexer::lex;
use crate::parser::{NESTING_MAX, SyntaxError, parse};
use crate::position::{BYTE_ORDER_MARK, Span};
use crate::token::{Token, TokenKind};
use crate::tree::{Expression, Module, Name};

use comments::{Comments, Gap, Note, Place};
use layout::Layout;
use lists::Element;
use printer::Printer;

/// How a text is formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatOptions {
    /// How many characters a line has at most, where it can be broken.
    pub width: usize,
}

impl Default for FormatOptions {
    fn default() -> Self {
        Self { width: 100 }
    }
}

/// The text in canonical form, or the errors that keep it from being read.
///
/// ```
/// use harn_syntax::{FormatOptions, format};
///
/// let formatted = format("let xs=[1,2,]; log( xs )", &FormatOptions::default());
/// assert_eq!(formatted.as_deref(), Ok("let xs = [1, 2]\n\nlog(xs)\n"));
/// ```
pub fn format(text: &str, options: &FormatOptions) -> Result<String, Vec<SyntaxError>> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let parsed = parse(text);
    if !parsed.errors.is_empty() {
        return Err(parsed.errors);
    }
    let mut printer = Printer::new(String::with_capacity(text.len()), options.width);
    let mut formatter = Formatter::new(text, &parsed.module);
    formatter.shebang();
    formatter.module(&parsed.module, &mut printer);
    let formatted = printer.finish();
    if is_deep(&formatter.tokens) && !parse(&formatted).errors.is_empty() {
        return Ok(text.to_owned());
    }
    Ok(formatted)
}

/// Whether something is nested so deeply that the parentheses we add may be more than the
/// parser accepts. Then the text is better left alone.
fn is_deep(tokens: &[Token]) -> bool {
    let (mut depth, mut deepest) = (0_usize, 0);
    for token in tokens {
        match token.kind {
            TokenKind::LeftParenthesis | TokenKind::LeftBracket | TokenKind::LeftBrace => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            TokenKind::RightParenthesis | TokenKind::RightBracket | TokenKind::RightBrace => {
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    deepest > NESTING_MAX / 8
}

/// What is known while a file is written.
struct Formatter<'a> {
    text: &'a str,
    /// The tokens of the text, for what the tree does not say.
    tokens: Vec<Token>,
    comments: Comments,
    layout: Layout<'a>,
    /// Comments that have to stand above the statement or element that is being written.
    hoisted: Vec<Note>,
    /// The expression at the start of a statement that needs parentheses there.
    guarded: Option<&'a Expression>,
    /// Whether there may be calls with type arguments, which may contain arrows.
    has_generic_calls: bool,
    /// Whether we are in the pattern of a match arm, where a computed key is no key.
    in_pattern: bool,
}

impl<'a> Formatter<'a> {
    fn new(text: &'a str, module: &Module) -> Self {
        let tokens = lex(text).tokens;
        let is_generic_call = |pair: &[Token]| {
            pair[0].kind == TokenKind::Greater && pair[1].kind == TokenKind::LeftParenthesis
        };
        Self {
            text,
            has_generic_calls: tokens.windows(2).any(is_generic_call),
            tokens,
            comments: Comments::new(text, &module.comments),
            layout: Layout::default(),
            hoisted: Vec::new(),
            guarded: None,
            in_pattern: false,
        }
    }

    fn shebang(&mut self) {
        if !self.text.starts_with("#!") {
            return;
        }
        let end = self.text.find('\n').unwrap_or(self.text.len());
        self.layout.text(self.text[..end].trim_end());
        let rest = self.text[end..].trim_start();
        let white_space = &self.text[end..self.text.len() - rest.len()];
        match white_space.bytes().filter(|byte| *byte == b'\n').count() {
            0 | 1 => self.layout.hard_line(),
            _ => self.layout.blank_line(),
        }
    }

    /// Writes the file, item by item, so that only one layout exists at a time.
    fn module(&mut self, module: &'a Module, printer: &mut Printer) {
        let end = Span::new(self.text.len(), self.text.len()).end;
        let imports = imports::leading(&module.statements);
        self.imports(imports, module);
        self.flush(printer);
        let rest = &module.statements[imports.len()..];
        for (at, statement) in rest.iter().enumerate() {
            match at > 0 || !imports.is_empty() {
                true => self.layout.blank_line(),
                false => self.file_comment(Element::start(&statement)),
            }
            self.leading_comments(Element::start(&statement), Place::Item);
            self.entry(&statement);
            let bound = rest.get(at + 1).map_or(end, |next| Element::start(&next));
            self.trailing_comments(statement.span.end, bound);
            self.flush(printer);
        }
        if !module.statements.is_empty() && self.comments.peek_before(end).is_some() {
            self.layout.blank_line();
        }
        self.leading_comments(end, Place::Header);
        self.flush(printer);
    }

    /// Prints what is laid out so far.
    fn flush(&mut self, printer: &mut Printer) {
        printer.print(self.layout.ops());
        self.layout.clear();
    }

    /// Writes a text that cannot be broken. Spaces at its ends are not written where a line
    /// begins or ends.
    fn text(&mut self, text: &'static str) {
        if text.starts_with(' ') {
            self.layout.space();
        }
        self.layout.text(text.trim_ascii());
        if text.ends_with(' ') {
            self.layout.space();
        }
    }

    /// Writes a name, with the comments before it.
    fn name(&mut self, name: &'a Name) {
        self.gap(name.span.start, Gap::Free);
        self.layout.text(name.text.as_str());
    }

    /// Copies from the source, with the comments before it.
    fn source(&mut self, span: Span) {
        self.gap(span.start, Gap::Free);
        self.layout.text(span.of(self.text));
    }

    /// Where the first token of a kind begins at or after `offset`; the end of the text if
    /// there is none.
    fn find(&self, kind: TokenKind, offset: u32) -> u32 {
        let first = self.first_token(offset);
        let found = self.tokens[first..].iter().find(|token| token.kind == kind);
        found
            .or(self.tokens.last())
            .map_or(offset, |token| token.span.start)
    }

    /// Where the first token begins at or after `offset` that is no line break.
    fn next_token(&self, offset: u32) -> u32 {
        let rest = &self.tokens[self.first_token(offset)..];
        let found = rest.iter().find(|token| token.kind != TokenKind::Newline);
        found.map_or(offset, |token| token.span.start)
    }

    fn first_token(&self, offset: u32) -> usize {
        self.tokens
            .partition_point(|token| token.span.start < offset)
    }

    /// Whether there is a line break between two places.
    fn has_line_break(&self, start: u32, end: u32) -> bool {
        start < end && self.text[start as usize..end as usize].contains('\n')
    }
}
