//! Operators between values.

use harn_syntax::tree::{Binary, BinaryOp, Expression, Operand};

use super::expression::small_int;
use super::unit::Compiler;
use crate::code::Op;

impl Compiler<'_> {
    /// Operators of one level, from left to right.
    pub(super) fn binary(&mut self, at: u32, binary: &Binary, d: u16) {
        match binary.rest[0].op {
            BinaryOp::Pipe => self.pipe(at, binary, d),
            BinaryOp::And | BinaryOp::Or => self.logic(at, binary, d),
            BinaryOp::Coalesce => self.coalesce(at, binary, d),
            _ => self.operations(at, binary, d),
        }
    }

    fn operations(&mut self, at: u32, binary: &Binary, d: u16) {
        let later: Vec<&Expression> = binary.rest.iter().map(|operand| &operand.value).collect();
        let (last, before) = match binary.rest.split_last() {
            Some(parts) => parts,
            None => return self.evaluate(&binary.first, d),
        };
        let mut left = self.operand_before(&binary.first, &later);
        if !before.is_empty() {
            let mark = self.mark();
            let partial = self.intermediate(d);
            let inner = self.mark().max(mark);
            for operand in before {
                self.operation(at, operand, partial, left);
                self.release(inner);
                left = partial;
            }
        }
        self.operation(at, last, d, left);
    }

    /// One operator, whose left operand is evaluated.
    fn operation(&mut self, at: u32, operand: &Operand, d: u16, left: u16) {
        if let Some((op, number)) = self.with_small_int(operand.op, &operand.value) {
            self.op(at, op, d, left, number);
            return;
        }
        let right = self.operand(&operand.value);
        let (op, is_swapped) = match operand.op {
            BinaryOp::Greater => (Op::Less, true),
            BinaryOp::GreaterEqual => (Op::LessEqual, true),
            other => (plain(other), false),
        };
        match is_swapped {
            true => self.op(at, op, d, right, left),
            false => self.op(at, op, d, left, right),
        }
    }

    /// The instruction for an operator and its right operand, if that is a small int.
    pub(super) fn with_small_int(&self, op: BinaryOp, value: &Expression) -> Option<(Op, u16)> {
        Some((with_int(op)?, small_int(value)?))
    }

    /// `a && b` as a value: true or false.
    fn logic(&mut self, at: u32, binary: &Binary, d: u16) {
        let jumps = self.logic_condition(binary, false);
        self.op(at, Op::LoadTrue, d, 0, 0);
        let end = self.jump(at, Op::Jump, 0);
        self.land_all(jumps);
        self.op(at, Op::LoadFalse, d, 0, 0);
        self.land(end);
    }

    fn coalesce(&mut self, at: u32, binary: &Binary, d: u16) {
        let mut ends = Vec::new();
        self.evaluate(&binary.first, d);
        for operand in &binary.rest {
            ends.push(self.jump(at, Op::JumpUnlessNil, d));
            self.evaluate(&operand.value, d);
        }
        self.land_all(ends);
    }
}

/// The instruction of an operator whose right operand is a small int.
fn with_int(op: BinaryOp) -> Option<Op> {
    Some(match op {
        BinaryOp::Add => Op::AddInt,
        BinaryOp::Subtract => Op::SubtractInt,
        BinaryOp::Multiply => Op::MultiplyInt,
        BinaryOp::Divide => Op::DivideInt,
        BinaryOp::Remainder => Op::RemainderInt,
        _ => return None,
    })
}

/// The instruction of an operator. Those that jump are not asked for.
pub(super) fn plain(op: BinaryOp) -> Op {
    match op {
        BinaryOp::Add => Op::Add,
        BinaryOp::Subtract => Op::Subtract,
        BinaryOp::Multiply => Op::Multiply,
        BinaryOp::Divide => Op::Divide,
        BinaryOp::Remainder => Op::Remainder,
        BinaryOp::Power => Op::Power,
        BinaryOp::NotEqual => Op::NotEqual,
        BinaryOp::Less | BinaryOp::Greater => Op::Less,
        BinaryOp::LessEqual | BinaryOp::GreaterEqual => Op::LessEqual,
        BinaryOp::In => Op::In,
        BinaryOp::NotIn => Op::NotIn,
        BinaryOp::Equal | BinaryOp::Pipe | BinaryOp::Or | BinaryOp::And | BinaryOp::Coalesce => {
            Op::Equal
        }
    }
}
