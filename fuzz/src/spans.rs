//! Every node of a tree is where it says it is.

use harn_syntax::tree::{
    Block, Expression, Function, Module, Name, Parameter, Pattern, Statement, Type,
};
use harn_syntax::visit::{self, Visit};
use harn_syntax::{Colour, Diagnostic, Fix, LineIndex, Span, render};

/// Checks that every node is inside the text and inside the node around it.
pub fn check(text: &str, module: &Module) {
    let whole = Span::new(0, text.len());
    let mut spans = Spans {
        text,
        around: whole,
    };
    visit::walk_module(&mut spans, module);
    for comment in &module.comments {
        check_span(text, comment.span);
    }
}

/// Checks that a span is a piece of the text.
pub fn check_span(text: &str, span: Span) {
    assert!(span.start <= span.end, "{span:?} ends before it begins");
    assert!(text.get(span.range()).is_some(), "{span:?} of {text:?}");
}

/// Checks that a message points into the text, can be shown, and that its edits can be made.
pub fn check_diagnostic(text: &str, lines: &LineIndex, diagnostic: &Diagnostic) {
    assert!(!diagnostic.message.is_empty());
    check_span(text, diagnostic.span);
    for label in &diagnostic.secondary {
        check_span(text, label.span);
    }
    render(diagnostic, "a.harn", text, lines, Colour::Never);
    if let Some(fix) = &diagnostic.fix {
        apply(text, fix);
    }
}

/// The text after a fix.
pub fn apply(text: &str, fix: &Fix) -> String {
    let mut edits: Vec<_> = fix.edits.iter().collect();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut fixed = String::new();
    let mut at = 0;
    for edit in edits {
        check_span(text, edit.span);
        let range = edit.span.range();
        assert!(at <= range.start, "edits overlap: {fix:?}");
        fixed.push_str(&text[at..range.start]);
        fixed.push_str(&edit.text);
        at = range.end;
    }
    fixed + &text[at..]
}

struct Spans<'a> {
    text: &'a str,
    around: Span,
}

impl Spans<'_> {
    fn node(&mut self, span: Span, walk: impl FnOnce(&mut Self)) {
        let around = self.around;
        check_span(self.text, span);
        assert!(
            around.start <= span.start && span.end <= around.end,
            "{span:?} is outside {around:?} in {:?}",
            self.text
        );
        self.around = span;
        walk(self);
        self.around = around;
    }

    fn name(&self, name: &Name) {
        check_span(self.text, name.span);
        assert_eq!(name.span.of(self.text), name.text, "a name is as written");
    }
}

impl Visit for Spans<'_> {
    fn statement(&mut self, statement: &Statement) {
        self.node(statement.span, |this| {
            visit::walk_statement(this, statement)
        });
    }

    fn function(&mut self, function: &Function) {
        self.name(&function.name);
        visit::walk_function(self, function);
    }

    fn block(&mut self, block: &Block) {
        self.node(block.span, |this| visit::walk_block(this, block));
    }

    fn expression(&mut self, expression: &Expression) {
        self.node(expression.span, |this| {
            visit::walk_expression(this, expression)
        });
    }

    fn pattern(&mut self, pattern: &Pattern) {
        self.node(pattern.span, |this| visit::walk_pattern(this, pattern));
    }

    fn parameter(&mut self, parameter: &Parameter) {
        self.name(&parameter.name);
        visit::walk_parameter(self, parameter);
    }

    fn ty(&mut self, ty: &Type) {
        self.node(ty.span, |this| visit::walk_type(this, ty));
    }
}
