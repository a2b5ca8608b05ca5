//! What never reaches its end.

use harn_syntax::tree::{Block, ExpressionKind, If, Statement, StatementKind};

/// Whether control can not reach what follows the statement.
pub(super) fn statement_exits(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Return(_)
        | StatementKind::Throw(_)
        | StatementKind::Break
        | StatementKind::Continue => true,
        StatementKind::Expression(value) => match &value.kind {
            ExpressionKind::If(item) => branches_exit(item, 0),
            _ => false,
        },
        _ => false,
    }
}

/// Whether control can not reach the end of the block.
pub(super) fn block_exits(block: &Block) -> bool {
    block.statements.iter().any(statement_exits)
}

/// Whether every branch from this one on exits, the `else` included.
pub(super) fn branches_exit(item: &If, from: usize) -> bool {
    let branches = &item.branches[from.min(item.branches.len())..];
    item.otherwise.as_ref().is_some_and(block_exits)
        && branches.iter().all(|(_, block)| block_exits(block))
}
