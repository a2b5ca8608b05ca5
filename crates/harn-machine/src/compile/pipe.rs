//! `value |> function`

use harn_syntax::tree::{
    Argument, Binary, BinaryOp, Expression, ExpressionKind, Name, Operand, SuffixKind,
};

use super::unit::Compiler;
use crate::code::Op;

impl Compiler<'_> {
    /// Pipes a value through functions and expressions.
    pub(super) fn pipe(&mut self, at: u32, binary: &Binary, d: u16) {
        let Some((last, before)) = binary.rest.split_last() else {
            return self.evaluate(&binary.first, d);
        };
        let value = self.pipe_through(at, &binary.first, before);
        self.pipe_into(at, value, last, d);
    }

    /// `return value |> function`: the frame is given up if that can be called.
    /// Afterwards control does not go on.
    pub(super) fn tail_pipe(&mut self, at: u32, binary: &Binary) {
        let mark = self.mark();
        let Some((last, before)) = binary.rest.split_last() else {
            return;
        };
        let result = self.temporary();
        let value = self.pipe_through(at, &binary.first, before);
        if placeholder(&last.value).is_some() {
            self.pipe_into(at, value, last, result);
        } else {
            // The arguments come last, so what is called has to be below them.
            let callee = self.temporary();
            let window = self.temporary();
            self.copy(at, window, value);
            self.evaluate(&last.value, callee);
            let other = self.jump(at, Op::JumpUnlessCallable, callee);
            self.op_n(at, Op::TailCall, 1, 0, window, callee);
            self.land(other);
            self.op(at, Op::Pipe, result, window, callee);
        }
        self.op(at, Op::Return, result, 0, 0);
        self.release(mark);
    }

    fn pipe_through(&mut self, at: u32, first: &Expression, operands: &[Operand]) -> u16 {
        let later: Vec<&Expression> = operands.iter().map(|operand| &operand.value).collect();
        let mut value = self.operand_before(first, &later);
        if operands.is_empty() {
            return value;
        }
        let result = self.temporary();
        for operand in operands {
            let mark = self.mark();
            self.pipe_into(at, value, operand, result);
            self.release(mark);
            value = result;
        }
        value
    }

    fn pipe_into(&mut self, at: u32, value: u16, operand: &Operand, d: u16) {
        match placeholder(&operand.value) {
            Some(name) => {
                if let Some(register) = self.register_of(name) {
                    self.copy(at, register, value);
                }
                self.evaluate(&operand.value, d);
            }
            None => {
                let callee = self.operand(&operand.value);
                self.op(at, Op::Pipe, d, value, callee);
            }
        }
    }
}

/// The first `_` in what a value is piped into: the resolver gives all of them one slot. They
/// are not looked for inside closures, dicts, strings and other constructs.
fn placeholder(expression: &Expression) -> Option<&Name> {
    match &expression.kind {
        ExpressionKind::Name(name) => name.is_discard().then_some(name),
        ExpressionKind::Call(call) => in_arguments(&call.arguments),
        ExpressionKind::List(elements) => in_arguments(elements),
        ExpressionKind::Unary(_, value) => placeholder(value),
        ExpressionKind::Binary(binary) if binary.rest[0].op != BinaryOp::Pipe => {
            let rest = binary.rest.iter().map(|operand| &operand.value);
            std::iter::once(&binary.first)
                .chain(rest)
                .find_map(placeholder)
        }
        ExpressionKind::Postfix(postfix) => placeholder(&postfix.base).or_else(|| {
            let mut suffixes = postfix.suffixes.iter();
            suffixes.find_map(|suffix| match &suffix.kind {
                SuffixKind::Method { arguments, .. } => in_arguments(arguments),
                SuffixKind::Index { index, .. } => placeholder(index),
                SuffixKind::Member { .. } | SuffixKind::Slice { .. } | SuffixKind::Try => None,
            })
        }),
        _ => None,
    }
}

fn in_arguments(arguments: &[Argument]) -> Option<&Name> {
    let mut values = arguments.iter().map(Argument::expression);
    values.find_map(placeholder)
}
