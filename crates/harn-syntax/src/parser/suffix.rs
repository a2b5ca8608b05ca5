//! What follows a value.

use super::{Parse, Parser};
use crate::position::Span;
use crate::token::TokenKind;
use crate::tree::{
    Argument, Call, Expression, ExpressionKind, Name, Postfix, StructLiteral, Suffix, SuffixKind,
};

impl Parser<'_> {
    pub(super) fn postfix(&mut self) -> Parse<Expression> {
        let from = self.tokens[self.past_newlines()].span.start;
        let mut value = self.primary()?;
        loop {
            value = match self.kind() {
                TokenKind::LeftParenthesis if is_callable(&value) && self.is_on_same_line() => {
                    self.call(value)?
                }
                TokenKind::Less if self.is_on_same_line() => match self.generic_call(value)? {
                    (value, true) => value,
                    (value, false) => return Ok(value),
                },
                TokenKind::LeftBrace if self.is_struct_literal(&value) => {
                    self.struct_literal(value)?
                }
                _ => match self.suffix()? {
                    Some(suffix) => attach(value, suffix, from),
                    None => return Ok(value),
                },
            };
        }
    }

    /// A member, an index or a question mark, if one is next.
    fn suffix(&mut self) -> Parse<Option<Suffix>> {
        let at = self.past_newlines();
        let kind = match self.tokens[at].kind {
            TokenKind::Dot | TokenKind::OptionalDot => {
                let here = std::mem::replace(&mut self.at, at);
                if self.ahead(1) == TokenKind::Dot {
                    self.at = here;
                    return Ok(None);
                }
                return self.member().map(Some);
            }
            _ if at != self.at => return Ok(None),
            kind => kind,
        };
        match kind {
            TokenKind::LeftBracket if self.is_on_same_line() => self.subscript(false).map(Some),
            TokenKind::Question => self.question(),
            _ => Ok(None),
        }
    }

    /// `.name`, `.name(a)`
    fn member(&mut self) -> Parse<Suffix> {
        let dot = self.take();
        let optional = dot.kind == TokenKind::OptionalDot;
        let name = self.expect_name("member name")?;
        let is_call = self.kind() == TokenKind::LeftParenthesis && self.is_on_same_line();
        let kind = match is_call {
            true => SuffixKind::Method {
                name,
                optional,
                arguments: self.arguments()?,
            },
            false => SuffixKind::Member { name, optional },
        };
        Ok(Suffix {
            kind,
            span: self.since(dot.span.start),
        })
    }

    /// A `?` begins a ternary, an optional index, or asks for the value of a result.
    fn question(&mut self) -> Parse<Option<Suffix>> {
        match self.ahead(1) {
            TokenKind::LeftBracket => {
                let start = self.take().span.start;
                let mut suffix = self.subscript(true)?;
                suffix.span.start = start;
                Ok(Some(suffix))
            }
            next if begins_branch(next) => Ok(None),
            _ => Ok(Some(Suffix {
                kind: SuffixKind::Try,
                span: self.take().span,
            })),
        }
    }

    /// `[i]`, `[a:b]`
    fn subscript(&mut self, optional: bool) -> Parse<Suffix> {
        let start = self.take().span.start;
        self.skip_newlines();
        let first = match self.kind() {
            TokenKind::Colon if !optional => None,
            _ => Some(self.expression()?),
        };
        self.skip_newlines();
        let kind = match first {
            Some(index) if optional || self.kind() != TokenKind::Colon => {
                SuffixKind::Index { index, optional }
            }
            start => {
                self.expect(TokenKind::Colon)?;
                self.skip_newlines();
                let end = match self.kind() {
                    TokenKind::RightBracket => None,
                    _ => Some(self.expression()?),
                };
                SuffixKind::Slice { start, end }
            }
        };
        self.expect(TokenKind::RightBracket)?;
        Ok(Suffix {
            kind,
            span: self.since(start),
        })
    }

    /// `(a, ...b)`
    pub(super) fn arguments(&mut self) -> Parse<Vec<Argument>> {
        self.expect(TokenKind::LeftParenthesis)?;
        self.sequence(TokenKind::RightParenthesis, Self::argument)
    }

    pub(super) fn argument(&mut self) -> Parse<Argument> {
        match self.eat_dots() {
            true => Ok(Argument::Spread(self.expression()?)),
            false => Ok(Argument::One(self.expression()?)),
        }
    }

    /// Calls a name or a member. Parentheses around it leave no trace.
    fn call(&mut self, callee: Expression) -> Parse<Expression> {
        let arguments = self.arguments()?;
        let span = self.since(callee.span.start);
        let kind = match callee.kind {
            ExpressionKind::Name(name) => call(name, Vec::new(), arguments),
            ExpressionKind::Postfix(mut postfix) => {
                if let Some(suffix) = postfix.suffixes.last_mut()
                    && let SuffixKind::Member { name, optional } = &suffix.kind
                {
                    suffix.span.end = span.end;
                    suffix.kind = SuffixKind::Method {
                        name: name.clone(),
                        optional: *optional,
                        arguments,
                    };
                }
                ExpressionKind::Postfix(postfix)
            }
            kind => kind,
        };
        Ok(Expression { kind, span })
    }

    /// `name<T>(a)`, if that is what it is: otherwise the `<` compares, and the value is
    /// given back as it was.
    fn generic_call(&mut self, value: Expression) -> Parse<(Expression, bool)> {
        let ExpressionKind::Name(name) = &value.kind else {
            return Ok((value, false));
        };
        let (at, last_end, failures) = (self.at, self.last_end, self.failures.len());
        let types = self.type_arguments();
        let is_call = self.kind() == TokenKind::LeftParenthesis && self.is_on_same_line();
        match types {
            Ok(types) if is_call => {
                let kind = call(name.clone(), types, self.arguments()?);
                let span = self.since(value.span.start);
                Ok((Expression { kind, span }, true))
            }
            _ => {
                (self.at, self.last_end) = (at, last_end);
                self.failures.truncate(failures);
                Ok((value, false))
            }
        }
    }

    /// `Name {` followed by a brace, or by a key with its colon.
    fn is_struct_literal(&self, value: &Expression) -> bool {
        let ExpressionKind::Name(name) = &value.kind else {
            return false;
        };
        if !name.text.starts_with(char::is_uppercase) || !self.is_on_same_line() {
            return false;
        }
        let mut count = 1;
        while self.ahead(count) == TokenKind::Newline {
            count += 1;
        }
        match self.ahead(count) {
            TokenKind::RightBrace => true,
            TokenKind::Identifier | TokenKind::String => self.ahead(count + 1) == TokenKind::Colon,
            _ => false,
        }
    }

    fn struct_literal(&mut self, value: Expression) -> Parse<Expression> {
        let ExpressionKind::Name(name) = value.kind else {
            unreachable!("only a name begins a struct literal");
        };
        self.take();
        let entries = self.sequence(TokenKind::RightBrace, Self::entry)?;
        Ok(Expression {
            kind: ExpressionKind::Struct(Box::new(StructLiteral { name, entries })),
            span: self.since(value.span.start),
        })
    }
}

fn call(
    name: Name,
    type_arguments: Vec<crate::tree::Type>,
    arguments: Vec<Argument>,
) -> ExpressionKind {
    ExpressionKind::Call(Box::new(Call {
        name,
        type_arguments,
        arguments,
    }))
}

/// Only names and members can be called; the result of a call, for one, cannot.
fn is_callable(value: &Expression) -> bool {
    match &value.kind {
        ExpressionKind::Name(_) => true,
        ExpressionKind::Postfix(postfix) => {
            let last = postfix.suffixes.last().map(|suffix| &suffix.kind);
            matches!(last, Some(SuffixKind::Member { .. }))
        }
        _ => false,
    }
}

/// The span of the whole includes parentheses around the value, which begin at `start`.
fn attach(value: Expression, suffix: Suffix, start: u32) -> Expression {
    let span = Span {
        start,
        end: suffix.span.end,
    };
    let postfix = match value.kind {
        ExpressionKind::Postfix(mut postfix) => {
            postfix.suffixes.push(suffix);
            postfix
        }
        kind => Box::new(Postfix {
            base: Expression { kind, ..value },
            suffixes: vec![suffix],
        }),
    };
    Expression {
        kind: ExpressionKind::Postfix(postfix),
        span,
    }
}

/// What makes the `?` before it a ternary.
fn begins_branch(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Identifier
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::String
            | TokenKind::InterpolatedString
            | TokenKind::True
            | TokenKind::False
            | TokenKind::Nil
            | TokenKind::LeftParenthesis
            | TokenKind::LeftBrace
            | TokenKind::Not
            | TokenKind::Minus
            | TokenKind::Fn
    )
}
