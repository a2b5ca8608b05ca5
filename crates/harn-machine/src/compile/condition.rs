//! Conditions: comparisons that jump.

use harn_syntax::tree::{Binary, BinaryOp, Expression, ExpressionKind, UnaryOp};

use super::emit::Jump;
use super::expression::small_int;
use super::unit::Compiler;
use crate::code::Op;

impl Compiler<'_> {
    /// Evaluates a condition. The jumps are taken if it holds, or if it does not, as `when`
    /// says; otherwise control goes on.
    pub(super) fn condition(&mut self, expression: &Expression, when: bool) -> Vec<Jump> {
        let at = expression.span.start;
        let mark = self.mark();
        let jumps = match &expression.kind {
            ExpressionKind::Bool(value) => match *value == when {
                true => vec![self.jump(at, Op::Jump, 0)],
                false => Vec::new(),
            },
            ExpressionKind::Unary(UnaryOp::Not, value) => self.condition(value, !when),
            ExpressionKind::Binary(binary) => match binary.rest[0].op {
                BinaryOp::And | BinaryOp::Or => self.logic_condition(binary, when),
                _ => self.comparison(at, binary, when),
            },
            _ => vec![self.truth(expression, when)],
        };
        self.release(mark);
        jumps
    }

    fn truth(&mut self, expression: &Expression, when: bool) -> Jump {
        let value = self.operand(expression);
        let op = match when {
            true => Op::JumpIf,
            false => Op::JumpUnless,
        };
        self.jump(expression.span.start, op, value)
    }

    /// `a && b && c` or `a || b || c`, as jumps.
    pub(super) fn logic_condition(&mut self, binary: &Binary, when: bool) -> Vec<Jump> {
        // For `&&`, the first operand that does not hold decides; for `||`, the first that does.
        let decisive = binary.rest[0].op == BinaryOp::Or;
        let mut operands = vec![&binary.first];
        operands.extend(binary.rest.iter().map(|operand| &operand.value));
        let Some(last) = operands.pop() else {
            return Vec::new();
        };
        let mut decided = Vec::new();
        for operand in operands {
            decided.extend(self.condition(operand, decisive));
        }
        let mut jumps = self.condition(last, when);
        match decisive == when {
            true => jumps.extend(decided),
            false => self.land_all(decided),
        }
        jumps
    }

    fn comparison(&mut self, at: u32, binary: &Binary, when: bool) -> Vec<Jump> {
        let [only] = binary.rest.as_slice() else {
            return vec![self.computed(at, binary, when)];
        };
        if !is_comparison(only.op) {
            return vec![self.computed(at, binary, when)];
        }
        if let Some(number) = small_int(&only.value) {
            let left = self.operand(&binary.first);
            return vec![self.branch(at, jump_with_int(only.op, when), left, number)];
        }
        if let Some(number) = small_int(&binary.first) {
            let right = self.operand(&only.value);
            let op = jump_with_int(mirrored(only.op), when);
            return vec![self.branch(at, op, right, number)];
        }
        let left = self.operand_before(&binary.first, &[&only.value]);
        let right = self.operand(&only.value);
        let jump = match only.op {
            BinaryOp::Greater | BinaryOp::GreaterEqual => {
                self.branch(at, jump_with(mirrored(only.op), when), right, left)
            }
            op => self.branch(at, jump_with(op, when), left, right),
        };
        vec![jump]
    }

    /// An operator whose value is the condition.
    fn computed(&mut self, at: u32, binary: &Binary, when: bool) -> Jump {
        let value = self.temporary();
        self.binary(at, binary, value);
        let op = match when {
            true => Op::JumpIf,
            false => Op::JumpUnless,
        };
        self.jump(at, op, value)
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    matches!(
        op,
        Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual
    )
}

/// The same comparison with its operands the other way round.
fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        other => other,
    }
}

/// The jump that a comparison of two registers makes; neither is greater.
fn jump_with(op: BinaryOp, when: bool) -> Op {
    match (op, when) {
        (BinaryOp::Less, true) => Op::JumpLess,
        (BinaryOp::Less, false) => Op::JumpNotLess,
        (BinaryOp::LessEqual, true) => Op::JumpLessEqual,
        (BinaryOp::LessEqual, false) => Op::JumpNotLessEqual,
        (BinaryOp::NotEqual, true) => Op::JumpNotEqual,
        (BinaryOp::NotEqual, false) => Op::JumpEqual,
        (_, true) => Op::JumpEqual,
        (_, false) => Op::JumpNotEqual,
    }
}

/// The jump that a comparison with a small int makes.
fn jump_with_int(op: BinaryOp, when: bool) -> Op {
    match (op, when) {
        (BinaryOp::Less, true) => Op::JumpLessInt,
        (BinaryOp::Less, false) => Op::JumpNotLessInt,
        (BinaryOp::LessEqual, true) => Op::JumpLessEqualInt,
        (BinaryOp::LessEqual, false) => Op::JumpNotLessEqualInt,
        (BinaryOp::Greater, true) => Op::JumpGreaterInt,
        (BinaryOp::Greater, false) => Op::JumpNotGreaterInt,
        (BinaryOp::GreaterEqual, true) => Op::JumpGreaterEqualInt,
        (BinaryOp::GreaterEqual, false) => Op::JumpNotGreaterEqualInt,
        (BinaryOp::NotEqual, true) => Op::JumpNotEqualInt,
        (BinaryOp::NotEqual, false) => Op::JumpEqualInt,
        (_, true) => Op::JumpEqualInt,
        (_, false) => Op::JumpNotEqualInt,
    }
}
