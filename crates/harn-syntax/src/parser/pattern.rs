//! What bindings and loops bind.

use super::{Parse, Parser};
use crate::token::TokenKind;
use crate::tree::{DictField, Expression, ListElement, LoopPattern, Name, Pattern, PatternKind};

impl Parser<'_> {
    pub(super) fn pattern(&mut self) -> Parse<Pattern> {
        self.skip_newlines();
        let start = self.start();
        let kind = match self.kind() {
            TokenKind::LeftBrace => self.dict_pattern()?,
            TokenKind::LeftBracket => self.list_pattern()?,
            _ => {
                PatternKind::Name(self.expect_identifier("variable name or destructuring pattern")?)
            }
        };
        Ok(Pattern {
            kind,
            span: self.since(start),
        })
    }

    pub(super) fn loop_pattern(&mut self) -> Parse<LoopPattern> {
        self.skip_newlines();
        if self.eat(TokenKind::LeftParenthesis).is_none() {
            return Ok(LoopPattern::One(self.pattern()?));
        }
        let first = self.expect_identifier("pair pattern element")?;
        self.skip_newlines();
        self.eat(TokenKind::Comma);
        let second = self.expect_identifier("pair pattern element")?;
        self.skip_newlines();
        self.eat(TokenKind::Comma);
        self.expect(TokenKind::RightParenthesis)?;
        Ok(LoopPattern::Pair(first, second))
    }

    fn dict_pattern(&mut self) -> Parse<PatternKind> {
        let (fields, rest) = self.elements(TokenKind::RightBrace, |parser| {
            let field = parser.expect_identifier("field name")?;
            let alias = match parser.eat(TokenKind::Colon) {
                Some(_) => Some(parser.expect_identifier("alias name")?),
                None => None,
            };
            let default = parser.default_value()?;
            Ok(DictField {
                field,
                alias,
                default,
            })
        })?;
        Ok(PatternKind::Dict { fields, rest })
    }

    fn list_pattern(&mut self) -> Parse<PatternKind> {
        let (elements, rest) = self.elements(TokenKind::RightBracket, |parser| {
            let name = parser.expect_identifier("element name")?;
            let default = parser.default_value()?;
            Ok(ListElement { name, default })
        })?;
        Ok(PatternKind::List { elements, rest })
    }

    /// Elements, and what takes the rest of them, which is the last.
    fn elements<T>(
        &mut self,
        closer: TokenKind,
        mut element: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<(Vec<T>, Option<Name>)> {
        self.take();
        let mut elements = Vec::new();
        loop {
            self.skip_newlines();
            let is_over = matches!(self.kind(), TokenKind::End) || self.kind() == closer;
            let rest = match !is_over && self.eat_dots() {
                true => Some(self.expect_identifier("rest variable name")?),
                false => None,
            };
            if is_over || rest.is_some() {
                self.skip_newlines();
                rest.as_ref().and_then(|_| self.eat(TokenKind::Comma));
                self.expect(closer)?;
                return Ok((elements, rest));
            }
            elements.push(element(self)?);
            self.skip_newlines();
            self.eat(TokenKind::Comma);
        }
    }

    /// `= e`, if it is there.
    pub(super) fn default_value(&mut self) -> Parse<Option<Expression>> {
        match self.eat(TokenKind::Assign) {
            Some(_) => Ok(Some(self.expression()?)),
            None => Ok(None),
        }
    }
}
