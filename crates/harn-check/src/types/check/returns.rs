//! What is wrong with what functions return.
//!
//! A second look at a body that has already been checked. It sees the parameters with their
//! types, narrowed on the way, but nothing of the local variables.

use harn_syntax::tree::{Block, Expression, ExpressionKind, If, StatementKind};

use crate::types::checker::Checker;
use crate::types::codes;
use crate::types::declarations::each_bound_name;
use crate::types::environment::Variable;
use crate::types::ty::Ty;

impl Checker {
    /// Compares what is returned directly in the block, or in an `if` in it, with the
    /// declared result.
    pub(super) fn check_returns(&mut self, block: &Block, expected: &Ty) {
        self.declare_functions(&block.statements);
        for statement in &block.statements {
            match &statement.kind {
                StatementKind::Return(Some(value)) => self.check_returned(value, expected),
                StatementKind::Expression(Expression {
                    kind: ExpressionKind::If(item),
                    ..
                }) => {
                    self.check_returns_in_branches(item, expected);
                    self.assume_passed(item);
                }
                StatementKind::Guard(guard) => self.assume(&guard.condition, true),
                StatementKind::Binding(_) => each_bound_name(statement, &mut |name| {
                    let local = Variable::dynamic(true);
                    self.environment.declare(name.clone(), local);
                }),
                _ => {}
            }
        }
    }

    fn check_returns_in_branches(&mut self, item: &If, expected: &Ty) {
        self.scoped(|checker| {
            for (condition, block) in &item.branches {
                checker.scoped(|checker| {
                    checker.assume(condition, true);
                    checker.check_returns(block, expected);
                });
                checker.assume(condition, false);
            }
            if let Some(block) = &item.otherwise {
                checker.check_returns(block, expected);
            }
        });
    }

    fn check_returned(&mut self, value: &Expression, expected: &Ty) {
        let actual = self.infer(value);
        if !self.known.compatible(&actual, expected) {
            let message = format!("return type doesn't match: expected {expected}, got {actual}");
            self.error(codes::RETURN_TYPE, value.span, message);
        }
    }
}
