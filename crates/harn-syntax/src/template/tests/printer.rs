//! Trees as text.
//!
//! ```text
//! a{{ b }}{{ c.d | upper }}                 "a" b (value (upper c.d))
//! {{ if a }}x{{ elif b }}y{{ else }}z{{ end }}
//!                                           (if (a "x") (b "y") (else "z"))
//! {{ for k, v in xs }}x{{ end }}            (for k v xs "x" (else))
//! {{ include "p" with { a: 1 } }}           (include "p" (a 1))
//! ```

use super::*;

pub(super) fn nodes(nodes: &[Node]) -> String {
    let nodes: Vec<String> = nodes.iter().map(node).collect();
    nodes.join(" ")
}

fn node(node: &Node) -> String {
    match &node.kind {
        NodeKind::Text(text) => format!("{text:?}"),
        NodeKind::Raw(text) => format!("(raw {text:?})"),
        NodeKind::Name(name) => name.to_string(),
        NodeKind::Value(value) => format!("(value {})", filtered(value)),
        NodeKind::If(block) => {
            let branches = block.branches.iter();
            let branches = branches.map(|branch| list(&filtered(&branch.condition), &branch.body));
            let branches: Vec<String> = branches.collect();
            let otherwise = list("else", &block.otherwise);
            format!("(if {} {otherwise})", branches.join(" "))
        }
        NodeKind::For(block) => {
            let variables = match &block.variables {
                LoopVariables::Item(item) => item.to_string(),
                LoopVariables::KeyAndItem(key, item) => format!("{key} {item}"),
            };
            let body = list(&filtered(&block.items), &block.body);
            let body = &body[1..body.len() - 1];
            let otherwise = list("else", &block.otherwise);
            format!("(for {variables} {body} {otherwise})")
        }
        NodeKind::Include(include) => {
            let bindings = include.bindings.iter();
            let bindings =
                bindings.map(|binding| format!(" ({} {})", binding.key, filtered(&binding.value)));
            let bindings: String = bindings.collect();
            format!("(include {}{bindings})", filtered(&include.path))
        }
    }
}

fn list(head: &str, body: &[Node]) -> String {
    match body.is_empty() {
        true => format!("({head})"),
        false => format!("({head} {})", nodes(body)),
    }
}

fn filtered(value: &Filtered) -> String {
    let mut text = expression(&value.value);
    for FilterCall { filter, arguments } in &value.filters {
        let arguments: Vec<String> = arguments.iter().map(expression).collect();
        let parts = [&[text][..], &arguments].concat();
        text = format!("({} {})", filter.name(), parts.join(" "));
    }
    text
}

fn expression(value: &Expression) -> String {
    let all = |operands: &[Expression]| {
        let operands: Vec<String> = operands.iter().map(expression).collect();
        operands.join(" ")
    };
    match value {
        Expression::Nil => "nil".into(),
        Expression::Bool(value) => value.to_string(),
        Expression::Int(value) => value.to_string(),
        Expression::Float(value) => format!("{value:?}"),
        Expression::String(text) => format!("{text:?}"),
        Expression::Path(value) => path(value),
        Expression::Not(operand) => format!("(not {})", expression(operand)),
        Expression::Compare(comparison, operands) => {
            let (left, right) = &**operands;
            let sign = sign(*comparison);
            format!("({sign} {} {})", expression(left), expression(right))
        }
        Expression::And(operands) => format!("(and {})", all(operands)),
        Expression::Or(operands) => format!("(or {})", all(operands)),
    }
}

fn path(path: &Path) -> String {
    let mut text = path.root.to_string();
    for step in &path.steps {
        text += &match step {
            Step::Key(key) => format!(".{key}"),
            Step::Index(index) => format!("[{index}]"),
        };
    }
    text
}

fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "==",
        Comparison::NotEqual => "!=",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}
