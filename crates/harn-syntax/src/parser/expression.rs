//! Operators.

use super::{Parse, Parser};
use crate::position::Span;
use crate::token::TokenKind;
use crate::tree::{Binary, BinaryOp, Expression, ExpressionKind, Operand, Range, Ternary, UnaryOp};

/// The level of the loosest operator below `?` and `to`.
const LOOSEST: u8 = 4;

impl Parser<'_> {
    /// A full expression; newlines may stand before it.
    pub(super) fn expression(&mut self) -> Parse<Expression> {
        self.nested(|parser| {
            parser.skip_newlines();
            let from = parser.start();
            let mut left = parser.range()?;
            while let Some((BinaryOp::Pipe, op_span)) = parser.eat_operator(1, 1) {
                let right = parser.range()?;
                left = join(left, BinaryOp::Pipe, op_span, right, parser.since(from));
            }
            Ok(left)
        })
    }

    fn range(&mut self) -> Parse<Expression> {
        let from = self.start();
        let start = self.ternary()?;
        if self.eat(TokenKind::To).is_none() {
            return Ok(start);
        }
        let end = self.ternary()?;
        let exclusive = self.eat(TokenKind::Exclusive);
        Ok(Expression {
            span: self.since(from),
            kind: ExpressionKind::Range(Box::new(Range {
                start,
                end,
                exclusive: exclusive.is_some(),
            })),
        })
    }

    fn ternary(&mut self) -> Parse<Expression> {
        let from = self.start();
        let condition = self.binary(LOOSEST)?;
        if self.eat(TokenKind::Question).is_none() {
            return Ok(condition);
        }
        let then = self.binary(LOOSEST)?;
        self.expect(TokenKind::Colon)?;
        let otherwise = self.binary(LOOSEST)?;
        Ok(Expression {
            span: self.since(from),
            kind: ExpressionKind::Ternary(Box::new(Ternary {
                condition,
                then,
                otherwise,
            })),
        })
    }

    /// Operands and the operators between them that bind at least as tightly as `level`.
    fn binary(&mut self, level: u8) -> Parse<Expression> {
        let from = self.start();
        let mut left = self.unary()?;
        while let Some((op, op_span)) = self.eat_operator(level, u8::MAX) {
            let right = match op {
                BinaryOp::Power => self.nested(|parser| parser.binary(op.level()))?,
                _ => self.binary(op.level() + 1)?,
            };
            left = join(left, op, op_span, right, self.since(from));
        }
        Ok(left)
    }

    pub(super) fn unary(&mut self) -> Parse<Expression> {
        let op = match self.kind() {
            TokenKind::Not => UnaryOp::Not,
            TokenKind::Minus => UnaryOp::Negate,
            _ => return self.postfix(),
        };
        let start = self.take().span;
        let value = self.nested(Self::unary)?;
        Ok(Expression {
            span: self.since(start.start),
            kind: ExpressionKind::Unary(op, Box::new(value)),
        })
    }

    /// Takes the operator that comes next, if its level lies between these two, and the
    /// newlines after it. Most operators may begin a line.
    fn eat_operator(&mut self, least: u8, most: u8) -> Option<(BinaryOp, Span)> {
        let at = self.past_newlines();
        let op = match self.tokens[at].kind {
            TokenKind::Identifier if at == self.at && self.is_not_in() => BinaryOp::NotIn,
            kind => operator(kind)?,
        };
        let may_begin_line = !matches!(op, BinaryOp::Subtract | BinaryOp::In | BinaryOp::NotIn);
        let is_here = at == self.at || may_begin_line;
        if !is_here || !(least..=most).contains(&op.level()) {
            return None;
        }
        self.at = at;
        let mut span = self.take().span;
        if op == BinaryOp::NotIn {
            span = span.to(self.take().span);
        }
        self.skip_newlines();
        Some((op, span))
    }

    fn is_not_in(&self) -> bool {
        self.is_word("not") && self.ahead(1) == TokenKind::In
    }
}

fn operator(kind: TokenKind) -> Option<BinaryOp> {
    Some(match kind {
        TokenKind::Pipe => BinaryOp::Pipe,
        TokenKind::Or => BinaryOp::Or,
        TokenKind::And => BinaryOp::And,
        TokenKind::Equal => BinaryOp::Equal,
        TokenKind::NotEqual => BinaryOp::NotEqual,
        TokenKind::Less => BinaryOp::Less,
        TokenKind::Greater => BinaryOp::Greater,
        TokenKind::LessEqual => BinaryOp::LessEqual,
        TokenKind::GreaterEqual => BinaryOp::GreaterEqual,
        TokenKind::In => BinaryOp::In,
        TokenKind::Plus => BinaryOp::Add,
        TokenKind::Minus => BinaryOp::Subtract,
        TokenKind::Coalesce => BinaryOp::Coalesce,
        TokenKind::Star => BinaryOp::Multiply,
        TokenKind::Slash => BinaryOp::Divide,
        TokenKind::Percent => BinaryOp::Remainder,
        TokenKind::Power => BinaryOp::Power,
        _ => return None,
    })
}

/// Adds an operand. Operators of one level end up in one node. The span of the whole includes
/// parentheses around its first and last operand.
fn join(
    left: Expression,
    op: BinaryOp,
    op_span: Span,
    value: Expression,
    span: Span,
) -> Expression {
    let operand = Operand { op, op_span, value };
    let binary = match left.kind {
        ExpressionKind::Binary(mut binary) if continues(&binary, op) => {
            binary.rest.push(operand);
            binary
        }
        kind => Box::new(Binary {
            first: Expression { kind, ..left },
            rest: vec![operand],
        }),
    };
    Expression {
        kind: ExpressionKind::Binary(binary),
        span,
    }
}

fn continues(binary: &Binary, op: BinaryOp) -> bool {
    op != BinaryOp::Power && binary.rest[0].op.level() == op.level()
}
