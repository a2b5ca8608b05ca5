//! What has a value.
//!
//! ```text
//! evaluate(e, d)   the value goes to register d
//! effect(e)        the value is of no interest
//! operand(e)       the value is somewhere: a variable is used where it is
//! ```
//!
//! `d` may be written before the whole expression is evaluated, if it is a temporary or a
//! variable that is just being bound. A variable that is assigned must keep its value until
//! then: see `assignment`.

use harn_syntax::tree::{DurationLiteral, Expression, ExpressionKind, UnaryOp};

use super::body::ConstantKey;
use super::search::may_assign;
use super::unit::Compiler;
use crate::code::Op;

impl Compiler<'_> {
    /// Evaluates an expression into a register.
    pub(super) fn evaluate(&mut self, expression: &Expression, d: u16) {
        let mark = self.mark();
        let at = expression.span.start;
        match &expression.kind {
            ExpressionKind::Nil => self.load_nil(at, d),
            ExpressionKind::Bool(true) => self.op(at, Op::LoadTrue, d, 0, 0),
            ExpressionKind::Bool(false) => self.op(at, Op::LoadFalse, d, 0, 0),
            ExpressionKind::Int(number) => self.load_int(at, d, *number),
            ExpressionKind::Float(number) => {
                self.load_constant(at, d, ConstantKey::Float(number.to_bits()));
            }
            ExpressionKind::Duration(DurationLiteral::Milliseconds(time)) => {
                self.load_constant(at, d, ConstantKey::Duration(*time));
            }
            ExpressionKind::Duration(DurationLiteral::TooLarge) => {
                self.fail("duration literal is too large");
            }
            ExpressionKind::String(text) | ExpressionKind::RawString(text) => {
                self.load_text(at, d, text);
            }
            ExpressionKind::Interpolated(segments) => self.interpolated(at, segments, d),
            ExpressionKind::Name(name) => self.read(name, d),
            ExpressionKind::List(elements) => self.list(at, elements, d),
            ExpressionKind::Dict(entries) => self.dict(at, entries, d),
            ExpressionKind::Struct(literal) => self.struct_literal(at, literal, d),
            ExpressionKind::Closure(closure) => self.closure(closure, d),
            ExpressionKind::Call(call) => self.call(at, call, d),
            ExpressionKind::Postfix(postfix) => self.postfix(at, postfix, d),
            ExpressionKind::Unary(op, value) => self.unary(at, *op, value, d),
            ExpressionKind::Binary(binary) => self.binary(at, binary, d),
            ExpressionKind::Range(range) => self.range(at, range, d),
            ExpressionKind::Ternary(ternary) => self.ternary(ternary, d),
            ExpressionKind::TryStar(value) => self.evaluate(value, d),
            ExpressionKind::Parallel(parallel) => self.parallel(at, parallel, d),
            ExpressionKind::Spawn(body) => self.spawn(at, body, d),
            ExpressionKind::If(_)
            | ExpressionKind::Match(_)
            | ExpressionKind::Try(_)
            | ExpressionKind::Retry(_)
            | ExpressionKind::Deadline(_) => self.block_expression(expression, Some(d)),
        }
        self.release(mark);
    }

    /// The expressions that hold blocks. Their value may be of no interest.
    pub(super) fn block_expression(&mut self, expression: &Expression, d: Option<u16>) {
        let mark = self.mark();
        let at = expression.span.start;
        match &expression.kind {
            ExpressionKind::If(item) => self.if_blocks(item, d),
            ExpressionKind::Match(item) => self.match_arms(at, item, d),
            ExpressionKind::Try(item) => self.try_blocks(at, item, d),
            ExpressionKind::Retry(item) => self.retry(at, item, d),
            ExpressionKind::Deadline(item) => self.deadline(at, item, d),
            ExpressionKind::TryStar(value) => match d {
                Some(d) => self.evaluate(value, d),
                None => self.effect(value),
            },
            _ => {
                let d = d.unwrap_or_else(|| self.temporary());
                self.evaluate(expression, d);
            }
        }
        self.release(mark);
    }

    /// Evaluates an expression for what it does.
    pub(super) fn effect(&mut self, expression: &Expression) {
        self.block_expression(expression, None);
    }

    /// Evaluates an expression to wherever its value is at hand.
    pub(super) fn operand(&mut self, expression: &Expression) -> u16 {
        if let ExpressionKind::Name(name) = &expression.kind
            && let Some(register) = self.register_of(name)
        {
            return register;
        }
        let d = self.temporary();
        self.evaluate(expression, d);
        d
    }

    /// The same for the first of several operands: if a later one may change a variable, its
    /// value is kept.
    pub(super) fn operand_before(&mut self, expression: &Expression, later: &[&Expression]) -> u16 {
        let register = self.operand(expression);
        if self.is_temporary(register) || !later.iter().any(|one| may_assign(one)) {
            return register;
        }
        let kept = self.temporary();
        self.copy(expression.span.start, kept, register);
        kept
    }

    fn unary(&mut self, at: u32, op: UnaryOp, value: &Expression, d: u16) {
        if let (UnaryOp::Negate, ExpressionKind::Int(number)) = (op, &value.kind) {
            self.load_int(at, d, number.wrapping_neg());
            return;
        }
        let operand = self.operand(value);
        match op {
            UnaryOp::Not => self.op(at, Op::Not, d, operand, 0),
            UnaryOp::Negate => self.op(at, Op::Negate, d, operand, 0),
        }
    }

    fn range(&mut self, at: u32, range: &harn_syntax::tree::Range, d: u16) {
        let start = self.operand_before(&range.start, &[&range.end]);
        let end = self.operand(&range.end);
        self.op_n(at, Op::NewRange, u8::from(range.exclusive), d, start, end);
    }

    fn ternary(&mut self, ternary: &harn_syntax::tree::Ternary, d: u16) {
        let otherwise = self.condition(&ternary.condition, false);
        self.evaluate(&ternary.then, d);
        let end = self.jump(ternary.then.span.start, Op::Jump, 0);
        self.land_all(otherwise);
        self.evaluate(&ternary.otherwise, d);
        self.land(end);
    }
}

/// The int that an expression is, if it is written as one.
pub(super) fn int_literal(expression: &Expression) -> Option<i64> {
    match &expression.kind {
        ExpressionKind::Int(number) => Some(*number),
        ExpressionKind::Unary(UnaryOp::Negate, value) => match &value.kind {
            ExpressionKind::Int(number) => Some(number.wrapping_neg()),
            _ => None,
        },
        _ => None,
    }
}

/// The int that an expression is, if it fits into an operand.
pub(super) fn small_int(expression: &Expression) -> Option<u16> {
    let number = int_literal(expression)?;
    i16::try_from(number).ok().map(|number| number as u16)
}
