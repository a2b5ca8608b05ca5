//! The `_` that stands for the value of a pipe.

use harn_syntax::tree::{Argument, BinaryOp, Expression, ExpressionKind, Name, SuffixKind};

/// The placeholders in what a value is piped into. They are not looked for inside closures,
/// dicts, strings and other constructs.
pub(super) fn placeholders(expression: &Expression) -> Vec<&Name> {
    let mut found = Vec::new();
    collect(expression, &mut found);
    found
}

fn collect<'a>(expression: &'a Expression, found: &mut Vec<&'a Name>) {
    match &expression.kind {
        ExpressionKind::Name(name) if name.is_discard() => found.push(name),
        ExpressionKind::Call(call) => collect_all(&call.arguments, found),
        ExpressionKind::List(elements) => collect_all(elements, found),
        ExpressionKind::Unary(_, value) => collect(value, found),
        ExpressionKind::Binary(binary) if binary.rest[0].op != BinaryOp::Pipe => {
            collect(&binary.first, found);
            let operands = binary.rest.iter();
            operands.for_each(|operand| collect(&operand.value, found));
        }
        ExpressionKind::Postfix(postfix) => {
            collect(&postfix.base, found);
            for suffix in &postfix.suffixes {
                match &suffix.kind {
                    SuffixKind::Method { arguments, .. } => collect_all(arguments, found),
                    SuffixKind::Index { index, .. } => collect(index, found),
                    SuffixKind::Member { .. } | SuffixKind::Slice { .. } | SuffixKind::Try => {}
                }
            }
        }
        _ => {}
    }
}

fn collect_all<'a>(arguments: &'a [Argument], found: &mut Vec<&'a Name>) {
    let values = arguments.iter().map(Argument::expression);
    values.for_each(|value| collect(value, found));
}
