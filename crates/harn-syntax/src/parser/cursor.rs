//! Going through the tokens.

use std::borrow::Cow;

use smol_str::SmolStr;

use super::error::{Failure, describe};
use super::{NESTING_MAX, Parse, Parser, Stop};
use crate::position::Span;
use crate::token::{Token, TokenKind};
use crate::tree::Name;

impl Parser<'_> {
    pub(super) fn token(&self) -> Token {
        self.tokens[self.at]
    }

    pub(super) fn kind(&self) -> TokenKind {
        #[cfg(test)]
        self.looks.set(self.looks.get() + 1);
        self.tokens[self.at].kind
    }

    /// The kind of the token so many tokens on; the end beyond the last one.
    pub(super) fn ahead(&self, count: usize) -> TokenKind {
        let token = self.tokens.get(self.at + count);
        token.map_or(TokenKind::End, |token| token.kind)
    }

    /// The index of the next token that is no newline.
    pub(super) fn past_newlines(&self) -> usize {
        let mut at = self.at;
        while self.tokens[at].kind == TokenKind::Newline {
            at += 1;
        }
        at
    }

    pub(super) fn skip_newlines(&mut self) {
        self.at = self.past_newlines();
    }

    pub(super) fn start(&self) -> u32 {
        self.token().span.start
    }

    /// From there to the last token that was taken.
    pub(super) fn since(&self, start: u32) -> Span {
        Span {
            start,
            end: self.last_end.max(start),
        }
    }

    /// Takes the next token, which is not the end.
    pub(super) fn take(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        self.last_end = token.span.end;
        token
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        let token = self.token();
        token.kind == TokenKind::Identifier && token.span.of(self.text) == word
    }

    /// Takes a token of this kind if it is the next.
    pub(super) fn eat(&mut self, kind: TokenKind) -> Option<Token> {
        (self.kind() == kind).then(|| self.take())
    }

    /// Whether the next token stands on the line where the last one ended. Newlines are
    /// tokens, but a comment may hide some.
    pub(super) fn is_on_same_line(&self) -> bool {
        let between = &self.text[self.last_end as usize..self.start().max(self.last_end) as usize];
        let mut breaks = between.match_indices('\n');
        breaks.all(|(at, _)| between[..at].trim_end_matches('\r').ends_with('\\'))
    }

    /// Takes a token that must be there, on this line or a later one.
    pub(super) fn expect(&mut self, kind: TokenKind) -> Parse<Token> {
        self.skip_newlines();
        match self.eat(kind) {
            Some(token) => Ok(token),
            None => self.fail(kind.text().unwrap_or("token")),
        }
    }

    pub(super) fn expect_identifier(&mut self, expected: &'static str) -> Parse<Name> {
        self.skip_newlines();
        match self.eat(TokenKind::Identifier) {
            Some(token) => Ok(self.name(token)),
            None => self.fail_at_name(expected),
        }
    }

    /// A name in a place where most reserved words are names, too.
    pub(super) fn expect_name(&mut self, expected: &'static str) -> Parse<Name> {
        self.skip_newlines();
        if self.kind().is_name() {
            let token = self.take();
            return Ok(self.name(token));
        }
        self.fail_at_name(expected)
    }

    pub(super) fn name(&self, token: Token) -> Name {
        Name {
            text: SmolStr::new(token.span.of(self.text)),
            span: token.span,
        }
    }

    /// Takes the dots before what is spread or takes the rest.
    pub(super) fn eat_dots(&mut self) -> bool {
        let is_spread = self.is_at_dots();
        if is_spread {
            (0..3).for_each(|_| {
                self.take();
            });
        }
        is_spread
    }

    pub(super) fn is_at_dots(&self) -> bool {
        (0..3).all(|count| self.ahead(count) == TokenKind::Dot)
    }

    /// Takes items until the closer, which is taken as well. Commas separate them, if there
    /// are any.
    pub(super) fn sequence<T>(
        &mut self,
        closer: TokenKind,
        mut item: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let mut items = Vec::new();
        loop {
            self.skip_newlines();
            if matches!(self.kind(), TokenKind::End) || self.kind() == closer {
                self.expect(closer)?;
                return Ok(items);
            }
            add(&mut items, item(self)?);
            self.skip_newlines();
            self.eat(TokenKind::Comma);
        }
    }

    /// Reads something one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.nesting == NESTING_MAX {
            return self.fail(format!("at most {NESTING_MAX} levels of nesting"));
        }
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    /// Something else than the next token was expected.
    pub(super) fn fail<T>(&mut self, expected: impl Into<Cow<'static, str>>) -> Parse<T> {
        let found = describe(self.token(), self.text);
        self.fail_with(expected, found, self.token().span)
    }

    /// Likewise, where a name was expected: a reserved word is said to be one.
    pub(super) fn fail_at_name<T>(&mut self, expected: &'static str) -> Parse<T> {
        let token = self.token();
        let word = token.kind.text().filter(|_| token.kind.is_word());
        let found = match word {
            Some(word) => Some(Cow::Owned(format!("'{word}' (reserved keyword)"))),
            None => describe(token, self.text),
        };
        self.fail_with(expected, found, token.span)
    }

    pub(super) fn fail_with<T>(
        &mut self,
        expected: impl Into<Cow<'static, str>>,
        found: Option<Cow<'static, str>>,
        span: Span,
    ) -> Parse<T> {
        self.failures.push(Failure {
            expected: expected.into(),
            found,
            span,
        });
        Err(Stop)
    }
}

/// Adds to a list that is probably short. Most lists in a program have one or two elements,
/// and a tree with much room in it is slow to walk.
pub(super) fn add<T>(items: &mut Vec<T>, item: T) {
    if items.len() == items.capacity() {
        items.reserve_exact(items.len().max(1));
    }
    items.push(item);
}
