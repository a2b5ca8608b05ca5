//! From the inside out: what is wrong with expressions, statements and declarations.
//!
//! ```text
//! items ──► statements ──► expressions ──► infer ──► compatible ──► diagnostics
//!               └── narrow: what conditions tell about variables
//! ```

mod arguments;
mod assignments;
mod attributes;
mod calls;
mod functions;
mod items;
mod matches;
mod operators;
mod options;
mod postfix;
mod returns;
mod statements;
mod strict;
mod structs;

pub(super) use items::Place;

use harn_syntax::tree::{
    Argument, Closure, Entry, Expression, ExpressionKind, If, Key, Parallel, ParallelMode, Ternary,
    Try,
};

use super::checker::{Body, Checker};
use super::codes;
use super::environment::Variable;
use super::exits::block_exits;
use super::ty::Ty;

const TRY_STAR: &str = "try* requires an enclosing function (fn, tool, or pipeline) so the rethrow \
                        has a target";

impl Checker {
    /// Says what is wrong with an expression.
    pub(super) fn check(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Nil
            | ExpressionKind::Bool(_)
            | ExpressionKind::Int(_)
            | ExpressionKind::Float(_)
            | ExpressionKind::Duration(_)
            | ExpressionKind::String(_)
            | ExpressionKind::RawString(_)
            | ExpressionKind::Interpolated(_) => {}
            ExpressionKind::Name(name) => {
                self.note_type_with(name.span, |checker| checker.infer(expression));
            }
            ExpressionKind::List(elements) => self.check_arguments(elements),
            ExpressionKind::Dict(entries) => self.check_entries(entries),
            ExpressionKind::Struct(literal) => self.check_struct(literal, expression.span),
            ExpressionKind::Closure(closure) => self.check_closure(closure),
            ExpressionKind::Call(call) => self.check_call(call, expression.span),
            ExpressionKind::Postfix(postfix) => self.check_postfix(postfix, expression.span),
            ExpressionKind::Unary(_, value) => self.check(value),
            ExpressionKind::Binary(binary) => self.check_binary(binary),
            ExpressionKind::Range(range) => {
                self.check(&range.start);
                self.check(&range.end);
            }
            ExpressionKind::Ternary(ternary) => self.check_ternary(ternary),
            ExpressionKind::TryStar(value) => {
                self.check(value);
                if self.body == Body::File {
                    let code = codes::TRY_STAR_OUTSIDE_FUNCTION;
                    self.error(code, expression.span, TRY_STAR);
                }
            }
            _ => self.check_block_expression(expression),
        }
    }

    /// The expressions that hold blocks.
    fn check_block_expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::If(item) => self.check_if(item),
            ExpressionKind::Match(item) => self.check_match(item, expression.span),
            ExpressionKind::Try(item) => self.check_try(item),
            ExpressionKind::Retry(item) => {
                self.check(&item.count);
                self.check_block(&item.body);
            }
            ExpressionKind::Parallel(parallel) => self.check_parallel(parallel),
            ExpressionKind::Spawn(block) => self.check_block(block),
            ExpressionKind::Deadline(item) => {
                self.check(&item.time);
                self.check_block(&item.body);
            }
            _ => {}
        }
    }

    fn check_arguments(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            self.check(argument.expression());
        }
    }

    fn check_entries(&mut self, entries: &[Entry]) {
        for entry in entries {
            match entry {
                Entry::Field(key, value) => {
                    if let Key::Computed(key) = key {
                        self.check(key);
                    }
                    self.check(value);
                }
                Entry::Spread(value) => self.check(value),
            }
        }
    }

    fn check_closure(&mut self, closure: &Closure) {
        self.in_body(Body::Function, |checker| {
            checker.declare_parameters(&closure.parameters);
            checker.check_body(&closure.body);
        });
    }

    fn check_ternary(&mut self, ternary: &Ternary) {
        self.check(&ternary.condition);
        for (holds, branch) in [(true, &ternary.then), (false, &ternary.otherwise)] {
            self.scoped(|checker| {
                checker.assume(&ternary.condition, holds);
                checker.check(branch);
            });
        }
    }

    pub(super) fn check_if(&mut self, item: &If) {
        self.scoped(|checker| {
            for (condition, block) in &item.branches {
                checker.check(condition);
                checker.scoped(|checker| {
                    checker.assume(condition, true);
                    checker.check_block(block);
                });
                checker.assume(condition, false);
            }
            if let Some(block) = &item.otherwise {
                checker.check_block(block);
            }
        });
    }

    /// What holds after an `if` because the other way does not get there.
    pub(super) fn assume_passed(&mut self, item: &If) {
        let otherwise_exits = item.otherwise.as_ref().is_some_and(block_exits);
        // Whether everything after each branch exits, from the last one to the first.
        let mut rest_exits = vec![otherwise_exits];
        let mut exits = Vec::with_capacity(item.branches.len());
        for (_, block) in item.branches.iter().rev() {
            let exit = block_exits(block);
            exits.push(exit);
            let all = exit && rest_exits.last().is_some_and(|rest| *rest);
            rest_exits.push(all);
        }
        let ways = exits.iter().zip(&rest_exits).rev();
        for ((condition, _), (exit, rest)) in item.branches.iter().zip(ways) {
            match (exit, rest) {
                (true, false) => self.assume(condition, false),
                (false, true) => return self.assume(condition, true),
                (true, true) | (false, false) => return,
            }
        }
    }

    fn check_try(&mut self, item: &Try) {
        self.check_block(&item.body);
        if let Some(catch) = &item.catch {
            self.scoped(|checker| {
                if let Some(name) = &catch.name {
                    let ty = catch.ty.as_ref().map_or(Ty::Dynamic, Ty::from);
                    checker.note_type(name.span, &ty);
                    let variable = Variable::of(ty);
                    checker.environment.declare(name.text.clone(), variable);
                }
                checker.check_block(&catch.body);
            });
        }
        if let Some(block) = &item.finally {
            self.check_block(block);
        }
    }

    fn check_parallel(&mut self, parallel: &Parallel) {
        self.check(&parallel.source);
        for value in &parallel.max_concurrent {
            self.check(value);
            let actual = self.infer(value);
            if !self.known.compatible(&actual, &Ty::INT) {
                let actual = match &actual {
                    Ty::Named(name) => format!("Named(\"{name}\")"),
                    other => other.to_string(),
                };
                let message = format!("`max_concurrent` on `parallel` must be int, got {actual}");
                self.error(codes::MAX_CONCURRENT_TYPE, value.span, message);
            }
        }
        let source = self.infer(&parallel.source);
        self.scoped(|checker| {
            if let Some(name) = &parallel.variable {
                let ty = match (parallel.mode, source.arguments_of("list")) {
                    (ParallelMode::Count, _) => Ty::INT,
                    (_, Some([element])) => element.clone().as_whole(),
                    (_, None) => Ty::Dynamic,
                };
                checker.note_type(name.span, &ty);
                let variable = Variable::of(ty);
                checker.environment.declare(name.text.clone(), variable);
            }
            checker.check_block(&parallel.body);
        });
    }
}
