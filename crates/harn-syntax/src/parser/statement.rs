//! Statements, blocks, and how to go on after one that cannot be read.

use super::cursor::add;
use super::{Parse, Parser, Stop};
use crate::token::TokenKind;
use crate::tree::{
    Assignment, BinaryOp, Binding, Block, Expression, ExpressionKind, For, Guard, PatternKind,
    Require, Select, SelectArm, Statement, StatementKind, SuffixKind, While,
};

/// Where statements stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the file itself.
    Top,
    /// In the body of a tool.
    Tool,
    /// In any other braces.
    Block,
}

impl Place {
    fn what(self) -> &'static str {
        match self {
            Self::Top => "top-level item",
            Self::Tool => "tool body item",
            Self::Block => "statement",
        }
    }
}

impl Parser<'_> {
    pub(super) fn block(&mut self) -> Parse<Block> {
        let start = self.expect(TokenKind::LeftBrace)?.span.start;
        self.block_after(start, Place::Block)
    }

    /// The rest of a block that began at `start`.
    pub(super) fn block_after(&mut self, start: u32, place: Place) -> Parse<Block> {
        let (declarations, yields) = (self.declarations, self.yields);
        self.nested(|parser| {
            let mut statements = Vec::new();
            parser.statements(&mut statements, place);
            parser.expect(TokenKind::RightBrace)?;
            Ok(Block {
                statements,
                span: parser.since(start),
                declares: parser.declarations > declarations,
                yields: parser.yields > yields,
            })
        })
    }

    /// Reads statements until the block or the file is over.
    pub(super) fn statements(&mut self, statements: &mut Vec<Statement>, place: Place) {
        loop {
            self.skip_newlines();
            match self.kind() {
                TokenKind::End => return,
                TokenKind::RightBrace if place == Place::Top => {
                    self.take();
                    continue;
                }
                TokenKind::RightBrace => return,
                _ => {}
            }
            let read = self.statement(place).and_then(|statement| {
                add(statements, statement);
                self.separator(place.what())
            });
            if let Err(Stop) = read {
                self.recover();
            }
        }
    }

    /// Takes what must stand between two statements. Newlines are left to whoever is next.
    pub(super) fn separator(&mut self, what: &str) -> Parse<()> {
        let is_over = matches!(
            self.kind(),
            TokenKind::Newline | TokenKind::RightBrace | TokenKind::End
        );
        if is_over || self.eat(TokenKind::Semicolon).is_some() || !self.is_on_same_line() {
            return Ok(());
        }
        self.fail(format!("{what} separator (`;` or newline)"))
    }

    /// Skips what cannot be read: past a semicolon, to a line that begins with a word that
    /// begins a statement, or to the end of the block.
    pub(super) fn recover(&mut self) {
        loop {
            match self.kind() {
                TokenKind::End | TokenKind::RightBrace => return,
                TokenKind::Semicolon => {
                    self.take();
                    return;
                }
                TokenKind::Newline => {
                    self.skip_newlines();
                    if begins_statement(self.kind()) {
                        return;
                    }
                }
                _ => {
                    self.take();
                }
            }
        }
    }

    pub(super) fn statement(&mut self, place: Place) -> Parse<Statement> {
        let start = self.start();
        let kind = match self.kind() {
            TokenKind::At => self.attributed(place)?,
            _ if self.is_at_declaration(place) => self.declaration(Vec::new(), place)?,
            TokenKind::If
            | TokenKind::Match
            | TokenKind::Retry
            | TokenKind::Parallel
            | TokenKind::Deadline => StatementKind::Expression(self.primary()?),
            TokenKind::Try if self.ahead(1) != TokenKind::Star => {
                StatementKind::Expression(self.primary()?)
            }
            TokenKind::Let | TokenKind::Var => self.binding()?,
            TokenKind::For => self.for_()?,
            TokenKind::While => self.while_()?,
            TokenKind::Select => self.select()?,
            TokenKind::Guard => self.guard()?,
            TokenKind::Require => self.require()?,
            TokenKind::Mutex | TokenKind::Defer => self.mutex_or_defer()?,
            TokenKind::Return
            | TokenKind::Yield
            | TokenKind::Throw
            | TokenKind::Emit
            | TokenKind::Break
            | TokenKind::Continue => self.leaving()?,
            _ => self.assignment_or_expression()?,
        };
        Ok(Statement {
            kind,
            span: self.since(start),
        })
    }

    fn binding(&mut self) -> Parse<StatementKind> {
        let mutable = self.take().kind == TokenKind::Var;
        let pattern = self.pattern()?;
        let is_name = matches!(pattern.kind, PatternKind::Name(_));
        let ty = match is_name && self.eat(TokenKind::Colon).is_some() {
            true => Some(self.ty()?),
            false => None,
        };
        self.expect(TokenKind::Assign)?;
        let value = self.expression()?;
        Ok(StatementKind::Binding(Box::new(Binding {
            mutable,
            pattern,
            ty,
            value,
        })))
    }

    fn for_(&mut self) -> Parse<StatementKind> {
        self.take();
        let pattern = self.loop_pattern()?;
        self.expect(TokenKind::In)?;
        let source = self.expression()?;
        let body = self.block()?;
        Ok(StatementKind::For(Box::new(For {
            pattern,
            source,
            body,
        })))
    }

    /// A condition that begins with a parenthesis ends where that is closed.
    fn while_(&mut self) -> Parse<StatementKind> {
        self.take();
        let condition = match self.eat(TokenKind::LeftParenthesis) {
            Some(_) => {
                let condition = self.expression()?;
                self.expect(TokenKind::RightParenthesis)?;
                condition
            }
            None => self.expression()?,
        };
        let body = self.block()?;
        Ok(StatementKind::While(Box::new(While { condition, body })))
    }

    fn select(&mut self) -> Parse<StatementKind> {
        self.take();
        self.expect(TokenKind::LeftBrace)?;
        let mut arms = Vec::new();
        loop {
            self.skip_newlines();
            if matches!(self.kind(), TokenKind::RightBrace | TokenKind::End) {
                break;
            }
            arms.push(self.select_arm()?);
        }
        let has = |wanted: fn(&SelectArm) -> bool| arms.iter().any(wanted);
        let has_timeout = has(|arm| matches!(arm, SelectArm::Timeout(..)));
        let has_default = has(|arm| matches!(arm, SelectArm::Default(_)));
        if arms.is_empty() && self.kind() == TokenKind::RightBrace {
            return self.fail("at least one select case");
        }
        if has_timeout && has_default {
            return self.fail("select cannot have both timeout and default");
        }
        self.expect(TokenKind::RightBrace)?;
        Ok(StatementKind::Select(Box::new(Select { arms })))
    }

    fn select_arm(&mut self) -> Parse<SelectArm> {
        let is_receive = self.ahead(1) == TokenKind::From;
        if self.is_word("timeout") && !is_receive {
            self.take();
            let time = self.expression()?;
            return Ok(SelectArm::Timeout(time, self.block()?));
        }
        if self.is_word("default") && !is_receive {
            self.take();
            return Ok(SelectArm::Default(self.block()?));
        }
        let name = self.expect_identifier("select case variable")?;
        self.expect(TokenKind::From)?;
        let channel = self.expression()?;
        Ok(SelectArm::Receive(name, channel, self.block()?))
    }

    fn guard(&mut self) -> Parse<StatementKind> {
        self.take();
        let condition = self.expression()?;
        self.expect(TokenKind::Else)?;
        let otherwise = self.block()?;
        Ok(StatementKind::Guard(Box::new(Guard {
            condition,
            otherwise,
        })))
    }

    fn require(&mut self) -> Parse<StatementKind> {
        self.take();
        let condition = self.expression()?;
        let message = match self.eat(TokenKind::Comma) {
            Some(_) => Some(self.expression()?),
            None => None,
        };
        Ok(StatementKind::Require(Box::new(Require {
            condition,
            message,
        })))
    }

    fn mutex_or_defer(&mut self) -> Parse<StatementKind> {
        match self.take().kind {
            TokenKind::Mutex => Ok(StatementKind::Mutex(self.block()?)),
            _ => Ok(StatementKind::Defer(self.block()?)),
        }
    }

    fn leaving(&mut self) -> Parse<StatementKind> {
        Ok(match self.take().kind {
            TokenKind::Return => StatementKind::Return(self.value_on_line()?),
            TokenKind::Yield => {
                self.yields += 1;
                StatementKind::Yield(self.value_on_line()?)
            }
            TokenKind::Throw => StatementKind::Throw(self.expression()?),
            TokenKind::Emit => StatementKind::Emit(self.expression()?),
            TokenKind::Break => StatementKind::Break,
            _ => StatementKind::Continue,
        })
    }

    /// A value that must begin on this line, if there is one at all.
    fn value_on_line(&mut self) -> Parse<Option<Expression>> {
        let is_over = matches!(
            self.kind(),
            TokenKind::Newline | TokenKind::Semicolon | TokenKind::RightBrace | TokenKind::End
        );
        match is_over || !self.is_on_same_line() {
            true => Ok(None),
            false => self.expression().map(Some),
        }
    }

    fn assignment_or_expression(&mut self) -> Parse<StatementKind> {
        let target = self.expression()?;
        let Some(op) = assignment(self.kind()).filter(|_| is_target(&target)) else {
            return Ok(StatementKind::Expression(target));
        };
        self.take();
        let value = self.expression()?;
        Ok(StatementKind::Assignment(Box::new(Assignment {
            target,
            op,
            value,
        })))
    }
}

/// The operator of an assignment; `Some(None)` for a plain one.
#[expect(
    clippy::option_option,
    reason = "whether it is one, and with which operator"
)]
fn assignment(kind: TokenKind) -> Option<Option<BinaryOp>> {
    Some(match kind {
        TokenKind::Assign => None,
        TokenKind::PlusAssign => Some(BinaryOp::Add),
        TokenKind::MinusAssign => Some(BinaryOp::Subtract),
        TokenKind::StarAssign => Some(BinaryOp::Multiply),
        TokenKind::SlashAssign => Some(BinaryOp::Divide),
        TokenKind::PercentAssign => Some(BinaryOp::Remainder),
        _ => return None,
    })
}

/// Whether something can be assigned to it.
fn is_target(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Name(_) => true,
        ExpressionKind::Postfix(postfix) => matches!(
            postfix.suffixes.last().map(|suffix| &suffix.kind),
            Some(
                SuffixKind::Member {
                    optional: false,
                    ..
                } | SuffixKind::Index {
                    optional: false,
                    ..
                }
            )
        ),
        _ => false,
    }
}

/// Whether a line that begins like this is a statement, so that reading can go on there.
fn begins_statement(kind: TokenKind) -> bool {
    use TokenKind as T;
    let is_continuation = matches!(
        kind,
        T::Catch
            | T::Else
            | T::Exclusive
            | T::Extends
            | T::False
            | T::Finally
            | T::From
            | T::In
            | T::Nil
            | T::To
            | T::True
    );
    (kind.is_word() && !is_continuation) || matches!(kind, T::At | T::End)
}
