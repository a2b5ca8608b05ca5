//! What is wrong with statements.

use harn_syntax::tree::{
    Block, Expression, ExpressionKind, For, LoopPattern, Name, Pattern, PatternKind, Select,
    SelectArm, Statement, StatementKind,
};

use super::items::Place;
use crate::types::checker::{Body, Checker};
use crate::types::codes;
use crate::types::environment::Variable;
use crate::types::exits::statement_exits;
use crate::types::ty::Ty;

impl Checker {
    /// Checks a block in a scope of its own.
    pub(super) fn check_block(&mut self, block: &Block) {
        self.scoped(|checker| checker.check_body(block));
    }

    /// Checks a block in the scope at hand.
    pub(super) fn check_body(&mut self, block: &Block) {
        self.declare_functions(&block.statements);
        let mut exited = false;
        let mut told = false;
        for statement in &block.statements {
            if exited && !told {
                self.warn(codes::UNREACHABLE_CODE, statement.span, "unreachable code");
                told = true;
            }
            self.check_statement(statement);
            exited = exited || statement_exits(statement);
        }
    }

    pub(in crate::types) fn check_statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Expression(value) => {
                self.check(value);
                if let ExpressionKind::If(item) = &value.kind {
                    self.assume_passed(item);
                }
            }
            StatementKind::Item(item) => self.check_item(item, statement.span, Place::Block),
            StatementKind::Binding(binding) => self.check_binding(binding, statement.span),
            StatementKind::Assignment(item) => self.check_assignment(item, statement.span),
            StatementKind::For(item) => self.check_for(item),
            StatementKind::While(item) => {
                self.check(&item.condition);
                self.scoped(|checker| {
                    checker.assume(&item.condition, true);
                    checker.check_block(&item.body);
                });
            }
            StatementKind::Select(select) => self.check_select(select),
            StatementKind::Guard(guard) => {
                self.check(&guard.condition);
                self.scoped(|checker| {
                    checker.assume(&guard.condition, false);
                    checker.check_block(&guard.otherwise);
                });
                self.assume(&guard.condition, true);
            }
            StatementKind::Require(require) => {
                self.check(&require.condition);
                self.check_optional(require.message.as_ref());
            }
            StatementKind::Mutex(block) | StatementKind::Defer(block) => self.check_block(block),
            StatementKind::Return(value) => self.check_optional(value.as_ref()),
            StatementKind::Throw(value) => {
                self.check(value);
                self.check_narrowed("throw", statement.span);
            }
            StatementKind::Yield(_) | StatementKind::Emit(_) => self.check_production(statement),
            StatementKind::Break | StatementKind::Continue => {}
        }
    }

    fn check_optional(&mut self, value: Option<&Expression>) {
        if let Some(value) = value {
            self.check(value);
        }
    }

    /// `yield` and `emit`
    fn check_production(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Yield(value) => {
                self.check_optional(value.as_ref());
                if let Body::Stream(_) = self.body {
                    let message = "`yield` is not a stream emit; use `emit` inside `gen fn`";
                    self.error(codes::YIELD_IN_STREAM, statement.span, message);
                }
            }
            StatementKind::Emit(value) => {
                self.check(value);
                match self.body.clone() {
                    Body::Stream(Some(expected)) => {
                        let actual = self.infer(value);
                        if !self.known.compatible(&actual, &expected) {
                            let message = format!(
                                "emit type doesn't match: expected {expected}, got {actual}"
                            );
                            self.error(codes::EMIT_TYPE, statement.span, message);
                        }
                    }
                    Body::Stream(None) => {}
                    Body::File | Body::Function => {
                        let message = "`emit` can only be used inside a `gen fn`";
                        self.error(codes::EMIT_OUTSIDE_STREAM, statement.span, message);
                    }
                }
            }
            _ => {}
        }
    }

    fn check_for(&mut self, item: &For) {
        self.check(&item.source);
        let source = self.infer(&item.source);
        let element = element_of(&source);
        self.scoped(|checker| {
            match &item.pattern {
                LoopPattern::One(pattern) => match &pattern.kind {
                    PatternKind::Name(name) => checker.declare_typed(name, element),
                    _ => checker.declare_pattern(pattern, false),
                },
                LoopPattern::Pair(first, second) => {
                    let (one, two) = match element.arguments_of("Pair") {
                        Some([one, two]) => (one.clone(), two.clone()),
                        None => (Ty::Dynamic, Ty::Dynamic),
                    };
                    checker.declare_typed(first, one.as_whole());
                    checker.declare_typed(second, two.as_whole());
                }
            }
            checker.check_block(&item.body);
        });
    }

    /// Declares an immutable variable where its name stands.
    pub(super) fn declare_typed(&mut self, name: &Name, ty: Ty) {
        self.note_type(name.span, &ty);
        self.environment
            .declare(name.text.clone(), Variable::of(ty));
    }

    /// Declares what a pattern binds in order, each default seeing what comes before it.
    pub(super) fn declare_pattern(&mut self, pattern: &Pattern, mutable: bool) {
        let declare = |checker: &mut Self, name: &Name| {
            let variable = Variable::dynamic(mutable);
            checker.environment.declare(name.text.clone(), variable);
        };
        let rest = match &pattern.kind {
            PatternKind::Name(name) => return declare(self, name),
            PatternKind::Dict { fields, rest } => {
                for field in fields {
                    self.check_optional(field.default.as_ref());
                    declare(self, field.bound());
                }
                rest
            }
            PatternKind::List { elements, rest } => {
                for element in elements {
                    self.check_optional(element.default.as_ref());
                    declare(self, &element.name);
                }
                rest
            }
        };
        if let Some(rest) = rest {
            declare(self, rest);
        }
    }

    fn check_select(&mut self, select: &Select) {
        for arm in &select.arms {
            match arm {
                SelectArm::Receive(name, channel, block) => {
                    self.check(channel);
                    self.scoped(|checker| {
                        checker.declare_typed(name, Ty::Dynamic);
                        checker.check_block(block);
                    });
                }
                SelectArm::Timeout(time, block) => {
                    self.check(time);
                    self.check_block(block);
                }
                SelectArm::Default(block) => self.check_block(block),
            }
        }
    }
}

/// The type of the items a loop over a value of that type gets.
fn element_of(source: &Ty) -> Ty {
    for name in ["list", "iter", "Generator", "Stream"] {
        if let Some([element]) = source.arguments_of(name) {
            return element.clone().as_whole();
        }
    }
    match source.name().map(|name| name.as_str()) {
        Some("range") => Ty::INT,
        Some("string") => Ty::STRING,
        _ => Ty::Dynamic,
    }
}
