//! The types of blocks and of what consists of them.
//!
//! A block is looked at from outside: nothing is known about the names bound in it.

use harn_syntax::tree::{
    Block, Expression, ExpressionKind, If, Statement, StatementKind, SuffixKind,
};

use super::either;
use crate::types::checker::Checker;
use crate::types::exits::block_exits;
use crate::types::ty::Ty;

impl Checker {
    /// The type of a block: `never` if control does not reach its end.
    pub(in crate::types) fn infer_block(&mut self, block: &Block) -> Ty {
        if block_exits(block) {
            return Ty::Never;
        }
        self.scoped(|checker| {
            checker.hide_bound_names(block);
            checker.infer_last(block)
        })
    }

    /// The type of the last statement of a block whose names are already hidden.
    pub(super) fn infer_last(&mut self, block: &Block) -> Ty {
        match block.statements.last().map(|statement| &statement.kind) {
            Some(StatementKind::Expression(value)) => self.infer(value),
            Some(
                StatementKind::Return(_)
                | StatementKind::Throw(_)
                | StatementKind::Break
                | StatementKind::Continue,
            ) => Ty::Never,
            _ => Ty::Dynamic,
        }
    }

    pub(super) fn infer_if(&mut self, item: &If) -> Ty {
        let mark = self.environment.mark();
        let mut found = Vec::new();
        let mut is_dynamic = false;
        for (condition, block) in &item.branches {
            let ty = self.scoped(|checker| {
                checker.assume(condition, true);
                checker.infer_block(block)
            });
            if ty == Ty::Dynamic {
                // What follows belongs to an `else` about which nothing is known.
                is_dynamic = found.is_empty();
                break;
            }
            found.push(ty);
            self.assume(condition, false);
        }
        if found.len() == item.branches.len()
            && let Some(block) = &item.otherwise
        {
            found.push(self.infer_block(block));
        }
        self.environment.reset(mark);
        if is_dynamic {
            return Ty::Dynamic;
        }
        let known = found.into_iter().filter(|ty| *ty != Ty::Dynamic);
        Ty::merged(known.filter(|ty| *ty != Ty::Never))
    }

    /// `try { … }` alone.
    pub(super) fn infer_try(&mut self, block: &Block) -> Ty {
        let value = self.infer_block(block);
        let mut errors = Vec::new();
        self.collect_errors(block, &mut errors);
        let error = Ty::merged(errors);
        let error = if error == Ty::Never {
            Ty::Dynamic
        } else {
            error
        };
        let Some([inner, inner_error]) = value.arguments_of("Result") else {
            return result_of(value.as_part(), error.as_part());
        };
        if error == Ty::Dynamic {
            return value.clone();
        }
        let both = either(inner_error.clone().as_whole(), error);
        result_of(inner.clone(), both)
    }

    /// The types of the errors that statements of the block throw or pass on.
    fn collect_errors(&mut self, block: &Block, errors: &mut Vec<Ty>) {
        self.scoped(|checker| {
            checker.hide_bound_names(block);
            for statement in &block.statements {
                checker.collect_errors_of(statement, errors);
            }
        });
    }

    fn collect_errors_of(&mut self, statement: &Statement, errors: &mut Vec<Ty>) {
        match &statement.kind {
            StatementKind::Throw(value) => {
                let ty = self.infer(value);
                add_known(errors, ty);
            }
            StatementKind::While(item) => self.collect_errors(&item.body, errors),
            StatementKind::Mutex(block) | StatementKind::Defer(block) => {
                self.collect_errors(block, errors);
            }
            StatementKind::Expression(value) => self.collect_errors_in(value, errors),
            _ => {}
        }
    }

    fn collect_errors_in(&mut self, value: &Expression, errors: &mut Vec<Ty>) {
        match &value.kind {
            ExpressionKind::Postfix(postfix) => {
                if let Some((last, before)) = postfix.suffixes.split_last()
                    && matches!(last.kind, SuffixKind::Try)
                {
                    let operand = self.infer_suffixes(postfix, before.len());
                    if let Some([_, error]) = operand.arguments_of("Result") {
                        add_known(errors, error.clone());
                    }
                }
            }
            ExpressionKind::If(item) => {
                let blocks = item.branches.iter().map(|(_, block)| block);
                for block in blocks.chain(&item.otherwise) {
                    self.collect_errors(block, errors);
                }
            }
            ExpressionKind::Retry(item) => self.collect_errors(&item.body, errors),
            ExpressionKind::Deadline(item) => self.collect_errors(&item.body, errors),
            ExpressionKind::Spawn(block) => self.collect_errors(block, errors),
            ExpressionKind::Try(item) if item.catch.is_none() && item.finally.is_none() => {
                self.collect_errors(&item.body, errors);
            }
            _ => {}
        }
    }
}

fn add_known(errors: &mut Vec<Ty>, ty: Ty) {
    if !ty.is_unknown_part() && !errors.contains(&ty) {
        errors.push(ty);
    }
}

/// `Result<T, E>`
pub(super) fn result_of(value: Ty, error: Ty) -> Ty {
    Ty::applied("Result", vec![value.as_part(), error.as_part()])
}
