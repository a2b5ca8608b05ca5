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
        for (condition, block) in &item.branches {
            let ty = self.scoped(|checker| {
                checker.assume(condition, true);
                checker.infer_block(block)
            });
            found.push(ty);
            if found.last() == Some(&Ty::Dynamic) {
                // What follows belongs to an `else` about which nothing is known.
                break;
            }
            self.assume(condition, false);
        }
        if found.len() == item.branches.len()
            && found.last() != Some(&Ty::Dynamic)
            && let Some(block) = &item.otherwise
        {
            found.push(self.infer_block(block));
        }
        self.environment.reset(mark);
        if found.first() == Some(&Ty::Dynamic) {
            return Ty::Dynamic;
        }
        let is_ignored = found.contains(&Ty::Dynamic);
        let known = found.into_iter().filter(|ty| *ty != Ty::Dynamic);
        match Ty::merged(known.filter(|ty| *ty != Ty::Never)) {
            Ty::Never if is_ignored => Ty::Dynamic,
            merged => merged,
        }
    }

    /// `try { … }` alone. What is in it is looked at twice, once for its value and once for its
    /// errors, so the answers for blocks further inside are kept until the outermost is done.
    pub(super) fn infer_try(&mut self, block: &Block) -> Ty {
        if let Some(known) = self.tries.get(&block.span) {
            return known.clone();
        }
        self.try_depth += 1;
        let ty = self.infer_result(block);
        self.try_depth -= 1;
        if self.try_depth == 0 {
            self.tries.clear();
        } else {
            self.tries.insert(block.span, ty.clone());
        }
        ty
    }

    fn infer_result(&mut self, block: &Block) -> Ty {
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
            ExpressionKind::If(item) => self.collect_errors_of_branches(item, errors),
            ExpressionKind::Retry(item) => self.collect_errors(&item.body, errors),
            ExpressionKind::Deadline(item) => self.collect_errors(&item.body, errors),
            ExpressionKind::Spawn(block) => self.collect_errors(block, errors),
            ExpressionKind::Try(item) if item.catch.is_none() && item.finally.is_none() => {
                self.collect_errors(&item.body, errors);
            }
            _ => {}
        }
    }

    /// Each branch knows what its condition tells, as when its value is inferred.
    fn collect_errors_of_branches(&mut self, item: &If, errors: &mut Vec<Ty>) {
        self.scoped(|checker| {
            for (condition, block) in &item.branches {
                checker.scoped(|checker| {
                    checker.assume(condition, true);
                    checker.collect_errors(block, errors);
                });
                checker.assume(condition, false);
            }
            if let Some(block) = &item.otherwise {
                checker.collect_errors(block, errors);
            }
        });
    }
}

/// Adds a type that is not there yet. Nothing is known about a union that is too large, so
/// once it is, the rest does not matter.
fn add_known(errors: &mut Vec<Ty>, ty: Ty) {
    if errors.len() <= Ty::MEMBERS_MAX && !ty.is_unknown_part() && !errors.contains(&ty) {
        errors.push(ty);
    }
}

/// `Result<T, E>`
pub(super) fn result_of(value: Ty, error: Ty) -> Ty {
    Ty::applied("Result", vec![value.as_part(), error.as_part()])
}
