//! Looking ahead in the tree.

use harn_syntax::tree::{
    Block, Expression, ExpressionKind, Function, Item, ItemKind, Statement, StatementKind,
};
use harn_syntax::visit::{self, Visit};

/// Whether an expression may assign to a variable of the function it is in. Only blocks can.
pub(super) fn may_assign(expression: &Expression) -> bool {
    let mut search = Search::for_(|kind| matches!(kind, StatementKind::Assignment(_)));
    search.expression(expression);
    search.found
}

/// Whether a block contains `defer`, functions inside it not counted.
pub(super) fn defers<'a>(statements: impl IntoIterator<Item = &'a Statement>) -> bool {
    let mut search = Search::for_(|kind| matches!(kind, StatementKind::Defer(_)));
    for statement in statements {
        search.statement(statement);
    }
    search.found
}

/// Whether an expression contains `defer`, functions inside it not counted.
pub(super) fn defers_inside(expression: &Expression) -> bool {
    let mut search = Search::for_(|kind| matches!(kind, StatementKind::Defer(_)));
    search.expression(expression);
    search.found
}

/// Whether a block contains `impl`, functions inside it not counted.
pub(super) fn impls<'a>(statements: impl IntoIterator<Item = &'a Statement>) -> bool {
    let mut search = Search::for_(|kind| match kind {
        StatementKind::Item(item) => matches!(item.kind, ItemKind::Impl(_)),
        _ => false,
    });
    for statement in statements {
        search.statement(statement);
    }
    search.found
}

struct Search {
    is_wanted: fn(&StatementKind) -> bool,
    found: bool,
}

impl Search {
    fn for_(is_wanted: fn(&StatementKind) -> bool) -> Self {
        Self {
            is_wanted,
            found: false,
        }
    }
}

impl Visit for Search {
    fn statement(&mut self, statement: &Statement) {
        self.found |= (self.is_wanted)(&statement.kind);
        if !self.found {
            visit::walk_statement(self, statement);
        }
    }

    fn item(&mut self, item: &Item) {
        // Only these have code of the function around them.
        if matches!(item.kind, ItemKind::Skill(_) | ItemKind::EvalPack(_)) {
            visit::walk_item(self, item);
        }
    }

    fn function(&mut self, _: &Function) {}

    fn block(&mut self, block: &Block) {
        if !self.found {
            visit::walk_block(self, block);
        }
    }

    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Closure(_) | ExpressionKind::Spawn(_) => {}
            ExpressionKind::Parallel(item) => {
                self.expression(&item.source);
                let limits = item.max_concurrent.iter();
                limits.for_each(|limit| self.expression(limit));
            }
            _ if self.found => {}
            _ => visit::walk_expression(self, expression),
        }
    }
}
