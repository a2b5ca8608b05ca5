//! The walk that shows every node to the rules that care about it.

use std::collections::HashSet;

use harn_syntax::tree::{
    Binary, BinaryOp, Block, Expression, ExpressionKind, Function, Item, ItemKind, Statement,
    StatementKind,
};
use harn_syntax::visit::{self, Visit};
use harn_syntax::{Diagnostic, Span};

use super::Context;
use super::file;
use super::gates::{self, Gates};
use super::rules;

/// What the rules find in a file, in no particular order.
pub(super) fn findings(ctx: &Context<'_>) -> Vec<Diagnostic> {
    let mut walk = Walk {
        ctx,
        place: Place::default(),
        defended: HashSet::new(),
        discarding: None,
        out: Vec::new(),
    };
    walk.statements(&ctx.module.statements, true);
    let mut out = walk.out;
    rules::file(ctx, &mut out);
    out
}

/// Where the walk is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Whether it is inside a loop of the same body.
    pub(super) in_loop: bool,
    /// Whether it is inside a test pipeline.
    pub(super) in_test: bool,
    /// Whether it is inside a pipeline that is no test.
    pub(super) in_pipeline: bool,
    /// Whether it is inside a function whose name says that it checks something.
    pub(super) in_assertion: bool,
    /// Whether it is inside a function that is there to open pull requests.
    pub(super) in_opener: bool,
    /// Whether it is inside a declaration that an invariant guards.
    pub(super) in_invariant: bool,
    /// Whether an error is caught here.
    pub(super) in_try: bool,
    /// Whether it is inside something that is declared.
    pub(super) in_item: bool,
    /// The expression that is the whole of the innermost statement.
    pub(super) statement: Option<Span>,
    /// What came before it in the same body.
    pub(super) gates: Gates,
}

pub(super) struct Walk<'a> {
    ctx: &'a Context<'a>,
    place: Place,
    /// Values that something takes the place of if they are nil.
    defended: HashSet<Span>,
    /// Where the block begins whose last value is not used.
    discarding: Option<u32>,
    out: Vec<Diagnostic>,
}

impl Walk<'_> {
    /// Inside a part of the same body: the gates it passes stay passed.
    fn inside(&mut self, place: Place, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.place, place);
        walk(self);
        let gates = self.place.gates;
        self.place = Place { gates, ..outer };
    }

    /// Inside the body of a function, where everything starts anew.
    fn inside_body(&mut self, place: Place, walk: impl FnOnce(&mut Self)) {
        let fresh = Place {
            in_loop: false,
            in_try: false,
            gates: Gates::default(),
            ..place
        };
        let outer = std::mem::replace(&mut self.place, fresh);
        walk(self);
        self.place = outer;
    }

    /// Statements of one scope, and whether the value of the last one is discarded too.
    fn statements(&mut self, statements: &[Statement], discards: bool) {
        rules::statements(self.ctx, statements, &mut self.out);
        for (at, statement) in statements.iter().enumerate() {
            if let StatementKind::Expression(value) = &statement.kind
                && (discards || at + 1 < statements.len())
            {
                rules::discarded(self.ctx, self.place, value, &mut self.out);
            }
            self.statement(statement);
        }
    }

    fn discarding(&mut self, block: &Block, walk: impl FnOnce(&mut Self)) {
        let outer = self.discarding.replace(block.span.start);
        walk(self);
        self.discarding = outer;
    }

    /// Every value before a `??` may be nil.
    fn note_defended(&mut self, binary: &Binary) {
        let mut left = binary.first.span;
        for operand in &binary.rest {
            if operand.op == BinaryOp::Coalesce {
                self.defended.insert(left);
            }
            left = operand.value.span;
        }
    }
}

impl Visit for Walk<'_> {
    fn statement(&mut self, statement: &Statement) {
        rules::statement(self.ctx, self.place, statement, &mut self.out);
        if let StatementKind::Expression(value) = &statement.kind {
            self.place.statement = Some(value.span);
        }
        let looping = Place {
            in_loop: true,
            ..self.place
        };
        match &statement.kind {
            StatementKind::For(loop_) => self.inside(looping, |this| {
                this.discarding(&loop_.body, |this| visit::walk_statement(this, statement));
            }),
            StatementKind::While(loop_) => self.inside(looping, |this| {
                this.discarding(&loop_.body, |this| visit::walk_statement(this, statement));
            }),
            StatementKind::Guard(guard) => {
                self.discarding(&guard.otherwise, |this| {
                    visit::walk_statement(this, statement);
                });
            }
            StatementKind::Mutex(block) | StatementKind::Defer(block) => {
                self.discarding(block, |this| visit::walk_statement(this, statement));
            }
            _ => visit::walk_statement(self, statement),
        }
    }

    fn item(&mut self, item: &Item) {
        rules::item(self.ctx, self.place, item, &mut self.out);
        let place = Place {
            in_item: true,
            in_invariant: item
                .attributes
                .iter()
                .any(|one| one.name.text == "invariant"),
            ..self.place
        };
        match &item.kind {
            ItemKind::Pipeline(_) => {
                let is_test = file::is_test(item);
                let place = Place {
                    in_test: is_test,
                    in_pipeline: !is_test,
                    ..place
                };
                self.inside_body(place, |this| visit::walk_item(this, item));
            }
            ItemKind::Tool(_) | ItemKind::Override(_) => {
                self.inside_body(place, |this| visit::walk_item(this, item));
            }
            _ => self.inside(place, |this| visit::walk_item(this, item)),
        }
    }

    fn function(&mut self, function: &Function) {
        rules::function(self.ctx, function, &mut self.out);
        let place = Place {
            in_assertion: is_assertion(&function.name.text),
            in_opener: rules::is_opener(&function.name.text),
            ..self.place
        };
        self.inside_body(place, |this| {
            this.discarding(&function.body, |this| visit::walk_function(this, function));
        });
    }

    fn block(&mut self, block: &Block) {
        let discards = self.discarding == Some(block.span.start);
        self.statements(&block.statements, discards);
    }

    fn expression(&mut self, expression: &Expression) {
        let is_defended = self.defended.contains(&expression.span);
        rules::expression(self.ctx, self.place, expression, &mut self.out);
        if !is_defended {
            rules::undefended(self.ctx, expression, &mut self.out);
        }
        match &expression.kind {
            ExpressionKind::Binary(binary) => {
                self.note_defended(binary);
                visit::walk_expression(self, expression);
            }
            ExpressionKind::Call(call) => {
                // What is asked for may be an argument, and so may what is done then.
                let is_question = gates::ASKS.contains(&call.name.text.as_str());
                self.place.gates.asked |= is_question;
                visit::walk_expression(self, expression);
                rules::call(self.ctx, self.place, call, expression.span, &mut self.out);
                self.place.gates.pass(self.ctx, &call.name.text);
            }
            // They run later, but what came before them still came before them.
            ExpressionKind::Closure(_) | ExpressionKind::Spawn(_) | ExpressionKind::Parallel(_) => {
                let place = Place {
                    in_loop: false,
                    ..self.place
                };
                self.inside(place, |this| visit::walk_expression(this, expression));
            }
            ExpressionKind::Try(attempt) => {
                let in_try = self.place.in_try;
                self.place.in_try |= attempt.catch.is_some() || attempt.finally.is_none();
                visit::walk_expression(self, expression);
                self.place.in_try = in_try;
            }
            _ => visit::walk_expression(self, expression),
        }
    }
}

/// Whether a function is there to be called by tests.
fn is_assertion(name: &str) -> bool {
    let words = ["assert", "expect", "check", "test", "verify"];
    let name = name.trim_start_matches('_');
    words.iter().any(|word| name.starts_with(word))
}
