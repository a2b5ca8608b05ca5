//! What an expression begins with.

use std::borrow::Cow;

use super::statement::Place;
use super::{Parse, Parser, string};
use crate::token::{Token, TokenKind};
use crate::tree::{
    Block, Catch, Closure, ClosureStyle, Deadline, DurationLiteral, Entry, Expression,
    ExpressionKind, If, Key, Match, MatchArm, Name, Parallel, ParallelMode, Retry, Try,
};

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Parse<Expression> {
        if self.kind() == TokenKind::LeftParenthesis {
            self.take();
            let inner = self.expression()?;
            self.expect(TokenKind::RightParenthesis)?;
            return Ok(inner);
        }
        let start = self.start();
        let kind = match self.kind() {
            TokenKind::Identifier => {
                let token = self.take();
                ExpressionKind::Name(self.name(token))
            }
            TokenKind::LeftBracket => {
                self.take();
                ExpressionKind::List(self.sequence(TokenKind::RightBracket, Self::argument)?)
            }
            TokenKind::LeftBrace => self.braces()?,
            TokenKind::Fn => self.fn_closure()?,
            TokenKind::Spawn => {
                self.take();
                ExpressionKind::Spawn(Box::new(self.block()?))
            }
            TokenKind::If => self.if_()?,
            TokenKind::Match => self.match_()?,
            TokenKind::Try => self.try_()?,
            TokenKind::Retry => self.retry()?,
            TokenKind::Parallel => self.parallel()?,
            TokenKind::Deadline => self.deadline()?,
            _ => self.literal()?,
        };
        Ok(Expression {
            kind,
            span: self.since(start),
        })
    }

    fn literal(&mut self) -> Parse<ExpressionKind> {
        let token = self.token();
        let source = token.span.of(self.text);
        let kind = match token.kind {
            TokenKind::Nil => ExpressionKind::Nil,
            TokenKind::True => ExpressionKind::Bool(true),
            TokenKind::False => ExpressionKind::Bool(false),
            TokenKind::Int => match source.parse() {
                Ok(number) => ExpressionKind::Int(number),
                Err(_) => ExpressionKind::Float(source.parse().unwrap_or(f64::INFINITY)),
            },
            TokenKind::Float => ExpressionKind::Float(source.parse().unwrap_or(f64::INFINITY)),
            TokenKind::Duration => ExpressionKind::Duration(match string::milliseconds(source) {
                Some(time) => DurationLiteral::Milliseconds(time),
                None => DurationLiteral::TooLarge,
            }),
            TokenKind::String => ExpressionKind::String(string::text_of(source).into()),
            TokenKind::RawString => ExpressionKind::RawString(string::raw_text_of(source).into()),
            TokenKind::InterpolatedString => ExpressionKind::Interpolated(self.segments(token)),
            _ => return self.no_expression(),
        };
        self.take();
        Ok(kind)
    }

    /// Nothing that begins an expression. What looks like the heredoc of a shell is told so.
    fn no_expression<T>(&mut self) -> Parse<T> {
        let is_heredoc = self.kind() == TokenKind::Less
            && self.ahead(1) == TokenKind::Less
            && self.ahead(2) == TokenKind::Identifier;
        if !is_heredoc {
            return self.fail("expression");
        }
        self.fail_with(
            "an expression — heredocs are only valid inside LLM tool-call argument JSON; for \
             multiline strings in source code use triple-quoted `\"\"\"...\"\"\"`",
            Some(Cow::Borrowed("`<<` heredoc-like syntax")),
            self.token().span,
        )
    }

    /// A dict or a closure.
    fn braces(&mut self) -> Parse<ExpressionKind> {
        let has_arrow = self.braces.has_arrow(self.at);
        self.take();
        self.skip_newlines();
        if !has_arrow || self.kind() == TokenKind::RightBrace {
            return Ok(ExpressionKind::Dict(
                self.sequence(TokenKind::RightBrace, Self::entry)?,
            ));
        }
        let start = self.last_end - 1;
        let yields = self.yields;
        let parameters = self.parameters(TokenKind::Arrow)?;
        let body = self.block_after(start, Place::Block)?;
        self.yields = yields;
        Ok(closure(ClosureStyle::Braces, parameters, body))
    }

    fn fn_closure(&mut self) -> Parse<ExpressionKind> {
        self.take();
        let yields = self.yields;
        self.expect(TokenKind::LeftParenthesis)?;
        let parameters = self.parameters(TokenKind::RightParenthesis)?;
        let body = self.block()?;
        self.yields = yields;
        Ok(closure(ClosureStyle::Fn, parameters, body))
    }

    /// An entry of a dict or a struct literal.
    pub(super) fn entry(&mut self) -> Parse<Entry> {
        if self.eat_dots() {
            return Ok(Entry::Spread(self.expression()?));
        }
        let key = match self.kind() {
            TokenKind::String => {
                let token = self.take();
                Key::String(self.string_name(token))
            }
            TokenKind::LeftBracket => {
                self.take();
                let key = self.expression()?;
                self.expect(TokenKind::RightBracket)?;
                Key::Computed(key)
            }
            _ => Key::Name(self.expect_name("dict key")?),
        };
        self.expect(TokenKind::Colon)?;
        Ok(Entry::Field(key, self.expression()?))
    }

    fn string_name(&self, token: Token) -> Name {
        Name {
            text: string::text_of(token.span.of(self.text)).into(),
            span: token.span,
        }
    }

    fn if_(&mut self) -> Parse<ExpressionKind> {
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            self.expect(TokenKind::If)?;
            let condition = self.expression()?;
            branches.push((condition, self.block()?));
            if !self.continues_with(TokenKind::Else) {
                break;
            }
            self.skip_newlines();
            if self.kind() != TokenKind::If {
                otherwise = Some(self.block()?);
                break;
            }
        }
        Ok(ExpressionKind::If(Box::new(If {
            branches,
            otherwise,
        })))
    }

    /// Takes a word that continues a construct, on this line or a later one.
    fn continues_with(&mut self, kind: TokenKind) -> bool {
        let at = self.past_newlines();
        let is_next = self.tokens[at].kind == kind;
        if is_next {
            self.at = at;
            self.take();
        }
        is_next
    }

    fn match_(&mut self) -> Parse<ExpressionKind> {
        self.take();
        let value = self.expression()?;
        self.expect(TokenKind::LeftBrace)?;
        let mut arms = Vec::new();
        loop {
            self.skip_newlines();
            if matches!(self.kind(), TokenKind::RightBrace | TokenKind::End) {
                self.expect(TokenKind::RightBrace)?;
                return Ok(ExpressionKind::Match(Box::new(Match { value, arms })));
            }
            arms.push(self.arm()?);
        }
    }

    fn arm(&mut self) -> Parse<MatchArm> {
        let start = self.start();
        let mut patterns = vec![self.expression()?];
        while self.eat(TokenKind::Bar).is_some() {
            patterns.push(self.expression()?);
        }
        let guard = match self.eat(TokenKind::If) {
            Some(_) => Some(self.expression()?),
            None => None,
        };
        self.expect(TokenKind::Arrow)?;
        let body = self.block()?;
        Ok(MatchArm {
            patterns,
            guard,
            body,
            span: self.since(start),
        })
    }

    fn try_(&mut self) -> Parse<ExpressionKind> {
        self.take();
        if self.eat(TokenKind::Star).is_some() {
            let value = self.nested(Self::unary)?;
            return Ok(ExpressionKind::TryStar(Box::new(value)));
        }
        let body = self.block()?;
        let catch = match self.continues_with(TokenKind::Catch) {
            true => Some(self.catch()?),
            false => None,
        };
        let finally = match self.continues_with(TokenKind::Finally) {
            true => Some(self.block()?),
            false => None,
        };
        Ok(ExpressionKind::Try(Box::new(Try {
            body,
            catch,
            finally,
        })))
    }

    fn catch(&mut self) -> Parse<Catch> {
        let (mut name, mut ty) = (None, None);
        self.skip_newlines();
        if self.eat(TokenKind::LeftParenthesis).is_some() {
            name = Some(self.expect_identifier("error variable")?);
            if self.eat(TokenKind::Colon).is_some() {
                ty = Some(self.ty()?);
            }
            self.expect(TokenKind::RightParenthesis)?;
        } else if let Some(token) = self.eat(TokenKind::Identifier) {
            name = Some(self.name(token));
        }
        let body = self.block()?;
        Ok(Catch { name, ty, body })
    }

    fn retry(&mut self) -> Parse<ExpressionKind> {
        self.take();
        let count = self.nested(Self::primary)?;
        let body = self.block()?;
        Ok(ExpressionKind::Retry(Box::new(Retry { count, body })))
    }

    fn deadline(&mut self) -> Parse<ExpressionKind> {
        self.take();
        let time = self.nested(Self::primary)?;
        let body = self.block()?;
        Ok(ExpressionKind::Deadline(Box::new(Deadline { time, body })))
    }

    fn parallel(&mut self) -> Parse<ExpressionKind> {
        self.take();
        let mode = self.parallel_mode();
        let source = self.expression()?;
        let max_concurrent = match self.is_word("with") {
            true => self.parallel_options()?,
            false => Vec::new(),
        };
        let start = self.expect(TokenKind::LeftBrace)?.span.start;
        self.skip_newlines();
        let has_variable =
            self.kind() == TokenKind::Identifier && self.ahead(1) == TokenKind::Arrow;
        let variable = match has_variable {
            true => Some(self.expect_identifier("parameter name")?),
            false => None,
        };
        variable.as_ref().and_then(|_| self.eat(TokenKind::Arrow));
        let body = self.block_after(start, Place::Block)?;
        let as_stream = self.as_stream(mode)?;
        Ok(ExpressionKind::Parallel(Box::new(Parallel {
            mode,
            source,
            max_concurrent,
            variable,
            body,
            as_stream,
        })))
    }

    /// `each` and `settle`, unless they are variables, which a brace after them shows.
    fn parallel_mode(&mut self) -> ParallelMode {
        let mode = match () {
            () if self.ahead(1) == TokenKind::LeftBrace => ParallelMode::Count,
            () if self.is_word("each") => ParallelMode::Each,
            () if self.is_word("settle") => ParallelMode::Settle,
            () => ParallelMode::Count,
        };
        if mode != ParallelMode::Count {
            self.take();
        }
        mode
    }

    /// `with { max_concurrent: n }`
    fn parallel_options(&mut self) -> Parse<Vec<Expression>> {
        self.take();
        self.expect(TokenKind::LeftBrace)?;
        self.sequence(TokenKind::RightBrace, |parser| {
            if parser.kind() != TokenKind::Identifier {
                return parser.fail("option name in `parallel ... with { ... }` block");
            }
            if !parser.is_word("max_concurrent") {
                let token = parser.token();
                let name = token.span.of(parser.text).to_owned();
                let expected = format!(
                    "known option (only `max_concurrent` is supported in \
                     `parallel ... with {{ ... }}`; got `{name}`)"
                );
                return parser.fail_with(expected, Some(Cow::Owned(name)), token.span);
            }
            parser.take();
            parser.expect(TokenKind::Colon)?;
            parser.expression()
        })
    }

    fn as_stream(&mut self, mode: ParallelMode) -> Parse<bool> {
        if !self.is_word("as") || !self.is_on_same_line() {
            return Ok(false);
        }
        let at = self.take().span;
        if !self.is_word("stream") {
            return self.fail("`stream` after `parallel each ... as`");
        }
        let span = at.to(self.take().span);
        if mode != ParallelMode::Each {
            return self.fail_with(
                "`as stream` is only valid after `parallel each ... { ... }`",
                Some(Cow::Borrowed("as stream")),
                span,
            );
        }
        Ok(true)
    }
}

fn closure(
    style: ClosureStyle,
    parameters: Vec<crate::tree::Parameter>,
    body: Block,
) -> ExpressionKind {
    ExpressionKind::Closure(Box::new(Closure {
        style,
        parameters,
        body,
    }))
}
