//! The text of a file, with its tokens, lines and comments within easy reach.

use harn_syntax::tree::{Expression, ExpressionKind, Module};
use harn_syntax::{Comment, Span, Token, TokenKind, lex};

/// How tightly a value binds that needs no parentheses anywhere.
pub(super) const TIGHTEST: u8 = 13;

/// The text of a file.
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    /// In order.
    pub(super) comments: &'a [Comment],
    /// In order, the last one is the end.
    pub(super) tokens: Vec<Token>,
    /// For each bracket the index of the one that belongs to it; for other tokens nothing.
    partners: Vec<Option<usize>>,
    /// The byte each line begins at.
    line_starts: Vec<u32>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str, module: &'a Module) -> Self {
        let tokens = lex(text).tokens;
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = breaks.map(|(at, _)| Span::new(at + 1, at + 1).start);
        Self {
            text,
            comments: &module.comments,
            partners: partners(&tokens),
            tokens,
            line_starts: std::iter::once(0).chain(starts).collect(),
        }
    }

    /// The line a byte is on, counted from 0.
    pub(super) fn line(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|start| *start <= offset) - 1
    }

    /// The byte the line of another byte begins at.
    pub(super) fn line_start(&self, offset: u32) -> u32 {
        self.line_starts[self.line(offset)]
    }

    /// The byte after the line of another byte, its break included.
    pub(super) fn line_end(&self, offset: u32) -> u32 {
        let next = self.line_starts.get(self.line(offset) + 1);
        next.copied().unwrap_or_else(|| self.end())
    }

    /// The white space a line begins with.
    pub(super) fn indent(&self, offset: u32) -> &'a str {
        let line = &self.text[self.line_start(offset) as usize..];
        let rest = line.trim_start_matches([' ', '\t']);
        &line[..line.len() - rest.len()]
    }

    /// The byte after the last.
    pub(super) fn end(&self) -> u32 {
        Span::new(self.text.len(), self.text.len()).end
    }

    /// The index of the first token that does not begin before a byte.
    pub(super) fn token_from(&self, offset: u32) -> usize {
        self.tokens
            .partition_point(|token| token.span.start < offset)
    }

    /// The index of the first token of a kind that does not begin before `offset`, if it is
    /// before `limit`.
    pub(super) fn find(&self, kind: TokenKind, offset: u32, limit: u32) -> Option<usize> {
        let from = self.token_from(offset);
        let rest = self.tokens.get(from..)?;
        let inside = rest.iter().take_while(|token| token.span.start < limit);
        let at = inside.into_iter().position(|token| token.kind == kind)?;
        Some(from + at)
    }

    /// The bracket that belongs to another, by index.
    pub(super) fn partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at).copied().flatten()
    }

    /// The comments that lie in a span.
    pub(super) fn comments_in(&self, span: Span) -> &'a [Comment] {
        let place = |offset| {
            let before = |comment: &Comment| comment.span.start < offset;
            self.comments.partition_point(before)
        };
        let (from, to) = (place(span.start), place(span.end));
        &self.comments[from..to.max(from)]
    }

    /// Whether nothing is lost when the text of a span is rewritten.
    pub(super) fn is_free_of_comments(&self, span: Span) -> bool {
        self.comments_in(span).is_empty()
    }

    /// A span with the parentheses that begin or end inside it: an expression leaves out those
    /// around its first and last operand. `None` if they cannot be told, which can happen
    /// inside of strings only.
    pub(super) fn whole(&self, span: Span) -> Option<Span> {
        let from = self.token_from(span.start);
        if self.tokens.get(from)?.span.start != span.start {
            let text = span.of(self.text);
            let is_balanced = text.matches('(').count() == text.matches(')').count();
            return is_balanced.then_some(span);
        }
        let to = self.token_from(span.end);
        let (mut first, mut last) = (from, to);
        for at in from..to {
            if let Some(partner) = self.partner(at) {
                first = first.min(partner);
                last = last.max(partner + 1);
            }
        }
        let end = self.tokens.get(last.checked_sub(1)?)?.span.end;
        Some(Span {
            start: self.tokens[first].span.start,
            end: end.max(span.end),
        })
    }

    /// The text of an expression.
    pub(super) fn expression(&self, expression: &Expression) -> Option<&'a str> {
        Some(self.whole(expression.span)?.of(self.text))
    }

    /// The text of an expression, in parentheses if it binds less tightly than `level`.
    pub(super) fn operand(&self, expression: &Expression, level: u8) -> Option<String> {
        let text = self.expression(expression)?;
        Some(match tightness(expression) < level {
            true => format!("({text})"),
            false => text.to_owned(),
        })
    }

    /// A statement and the semicolon after it, with its lines where it fills them: what is
    /// to be taken away with it.
    pub(super) fn whole_statement(&self, span: Span) -> Span {
        let next = self.tokens.get(self.token_from(span.end));
        let semicolon = next.filter(|token| token.kind == TokenKind::Semicolon);
        self.whole_lines(semicolon.map_or(span, |token| span.to(token.span)))
    }

    /// A span and, where it fills whole lines, those lines with their last break: what is to
    /// be taken away so that no empty line stays behind.
    pub(super) fn whole_lines(&self, span: Span) -> Span {
        let start = self.line_start(span.start);
        let is_first = self.text[start as usize..span.start as usize]
            .trim()
            .is_empty();
        let end = self.line_end(span.end);
        let is_last = self.text[span.end as usize..end as usize].trim().is_empty();
        match is_first && is_last {
            true => Span { start, end },
            false => span,
        }
    }
}

/// How tightly an expression binds, by the levels of the grammar.
fn tightness(expression: &Expression) -> u8 {
    match &expression.kind {
        ExpressionKind::Binary(binary) => binary.rest.first().map_or(1, |one| one.op.level()),
        ExpressionKind::Range(_) => 2,
        ExpressionKind::Ternary(_) => 3,
        ExpressionKind::Unary(..) | ExpressionKind::TryStar(_) => 12,
        _ => TIGHTEST,
    }
}

fn partners(tokens: &[Token]) -> Vec<Option<usize>> {
    let mut partners = vec![None; tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::LeftParenthesis | TokenKind::LeftBracket | TokenKind::LeftBrace => {
                open.push(at);
            }
            TokenKind::RightParenthesis | TokenKind::RightBracket | TokenKind::RightBrace => {
                if let Some(opener) = open.pop() {
                    partners[at] = Some(opener);
                    partners[opener] = Some(at);
                }
            }
            _ => {}
        }
    }
    partners
}
