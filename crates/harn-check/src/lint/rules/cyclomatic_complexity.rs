//! A function with more paths through it than one can keep in mind.
//!
//! Counted are 1 for the function itself and 1 for each `if`, `else if`, ternary, `for`,
//! `while`, `guard`, `retry`, `catch`, match arm and `select` case (unless it takes whatever is
//! left), `&&`, `||` and `??`. A closure is counted on its own. `@complexity(allow)` silences
//! the rule for one declaration, `@complexity(allow: 40)` gives it another limit.

use harn_syntax::Diagnostic;
use harn_syntax::tree::{
    Attribute, AttributeArgument, AttributeValue, Binary, BinaryOp, Block, Expression,
    ExpressionKind, Item, ItemKind, MatchArm, Name, SelectArm, Statement, StatementKind,
};
use harn_syntax::visit::{self, Visit};

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::Rule;

pub(crate) const RULE: Rule = Rule {
    name: "cyclomatic-complexity",
    summary: "A function should not have too many paths through it.",
    fixable: false,
    on_by_default: true,
};

pub(super) fn item(ctx: &Context<'_>, item: &Item, out: &mut Findings) {
    let Some(max) = limit(ctx, &item.attributes) else {
        return;
    };
    let body = |name: &Name, body: &Block| -> Option<Diagnostic> {
        let paths = paths(body);
        let message = || {
            format!(
                "`{}` has {paths} paths through it, more than {max}",
                name.text
            )
        };
        let finding = || RULE.warning(name.span, message()).with_help(HELP);
        (paths > max).then(finding)
    };
    match &item.kind {
        ItemKind::Function(one) => out.extend(body(&one.name, &one.body)),
        ItemKind::Pipeline(one) => out.extend(body(&one.name, &one.body)),
        ItemKind::Tool(one) => out.extend(body(&one.name, &one.body)),
        ItemKind::Impl(one) => {
            let methods = one.methods.iter();
            out.extend(methods.filter_map(|(_, one)| body(&one.name, &one.body)));
        }
        _ => {}
    }
}

pub(super) fn expression(ctx: &Context<'_>, expression: &Expression, out: &mut Findings) {
    let ExpressionKind::Closure(closure) = &expression.kind else {
        return;
    };
    let (paths, max) = (paths(&closure.body), ctx.options.complexity_max);
    if paths > max {
        let message = format!("this closure has {paths} paths through it, more than {max}");
        out.push(RULE.warning(expression.span, message).with_help(HELP));
    }
}

const HELP: &str = "move parts of it into functions with names of their own";

/// How many paths are fine; `None` if any number is.
fn limit(ctx: &Context<'_>, attributes: &[Attribute]) -> Option<usize> {
    let mut arguments = attributes
        .iter()
        .filter(|attribute| attribute.name.text == "complexity")
        .flat_map(|attribute| attribute.arguments.iter().flatten());
    let allow = |argument: &&AttributeArgument| match (&argument.name, &argument.value) {
        (Some(name), _) => name.text == "allow",
        (None, AttributeValue::Name(name)) => name.text == "allow",
        _ => false,
    };
    match arguments.find(allow).map(|argument| &argument.value) {
        Some(AttributeValue::Int(max)) => Some(usize::try_from(*max).unwrap_or(0)),
        Some(AttributeValue::Bool(false)) | None => Some(ctx.options.complexity_max),
        Some(_) => None,
    }
}

fn paths(body: &Block) -> usize {
    let mut counter = Counter { paths: 1 };
    counter.block(body);
    counter.paths
}

struct Counter {
    paths: usize,
}

impl Counter {
    fn count_expression(&self, kind: &ExpressionKind) -> usize {
        match kind {
            ExpressionKind::If(item) => item.branches.len(),
            ExpressionKind::Match(item) => item.arms.iter().filter(|arm| decides(arm)).count(),
            ExpressionKind::Ternary(_) | ExpressionKind::Retry(_) => 1,
            ExpressionKind::Try(item) => usize::from(item.catch.is_some()),
            ExpressionKind::Binary(binary) => short_cuts(binary),
            _ => 0,
        }
    }
}

impl Visit for Counter {
    fn statement(&mut self, statement: &Statement) {
        self.paths += match &statement.kind {
            StatementKind::For(_) | StatementKind::While(_) | StatementKind::Guard(_) => 1,
            StatementKind::Select(select) => {
                let decides = |arm: &&SelectArm| !matches!(arm, SelectArm::Default(_));
                select.arms.iter().filter(decides).count()
            }
            _ => 0,
        };
        visit::walk_statement(self, statement);
    }

    /// What is declared inside is counted on its own.
    fn item(&mut self, _item: &Item) {}

    fn expression(&mut self, expression: &Expression) {
        if !matches!(expression.kind, ExpressionKind::Closure(_)) {
            self.paths += self.count_expression(&expression.kind);
            visit::walk_expression(self, expression);
        }
    }
}

/// Whether an arm can be passed over.
fn decides(arm: &MatchArm) -> bool {
    let takes_all = match &arm.patterns[..] {
        [only] => matches!(only.kind, ExpressionKind::Name(_)),
        _ => false,
    };
    arm.guard.is_some() || !takes_all
}

fn short_cuts(binary: &Binary) -> usize {
    let is_short_cut =
        |op: BinaryOp| matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Coalesce);
    let ops = binary.rest.iter().map(|operand| operand.op);
    ops.filter(|op| is_short_cut(*op)).count()
}
