//! Statements.

use crate::tree::{
    Assignment, Binding, DictField, Expression, For, ListElement, LoopPattern, Name, Pattern,
    PatternKind, SelectArm, Statement, StatementKind, While,
};

use super::Formatter;
use super::comments::Gap;
use super::extent;
use super::lists::{Body, Brackets, Element};
use super::parentheses::{self, Around};

impl<'a> Formatter<'a> {
    fn statement(&mut self, statement: &'a Statement) {
        match &statement.kind {
            StatementKind::Expression(expression) => self.guarded_expression(expression),
            StatementKind::Item(item) => self.item(item),
            StatementKind::Binding(binding) => self.binding(binding),
            StatementKind::Assignment(assignment) => self.assignment(assignment),
            StatementKind::For(item) => self.for_(item),
            StatementKind::While(item) => self.while_(item),
            StatementKind::Select(select) => {
                self.text("select {");
                self.body(Body::block(statement.span.end), select.arms.iter());
            }
            StatementKind::Guard(guard) => {
                self.text("guard ");
                self.child(&guard.condition, Around::Guard, Gap::Free);
                self.text(" else ");
                self.block(&guard.otherwise);
            }
            StatementKind::Require(require) => {
                self.text("require ");
                self.expression(&require.condition);
                if let Some(message) = &require.message {
                    self.text(", ");
                    self.expression(message);
                }
            }
            StatementKind::Mutex(block) => {
                self.text("mutex ");
                self.block(block);
            }
            StatementKind::Defer(block) => {
                self.text("defer ");
                self.block(block);
            }
            StatementKind::Return(value) => self.leaving("return", value.as_ref()),
            StatementKind::Yield(value) => self.leaving("yield", value.as_ref()),
            StatementKind::Throw(value) => {
                self.text("throw ");
                self.expression(value);
            }
            StatementKind::Emit(value) => {
                self.text("emit ");
                self.expression(value);
            }
            StatementKind::Break => self.text("break"),
            StatementKind::Continue => self.text("continue"),
        }
    }

    /// An expression at the start of a statement.
    fn guarded_expression(&mut self, expression: &'a Expression) {
        self.guarded = parentheses::guarded(expression);
        self.expression(expression);
    }

    fn leaving(&mut self, word: &'static str, value: Option<&'a Expression>) {
        self.text(word);
        if let Some(value) = value {
            self.layout.space();
            self.child(value, Around::Nothing, Gap::Glued);
        }
    }

    fn binding(&mut self, binding: &'a Binding) {
        self.text(if binding.mutable { "var " } else { "let " });
        self.pattern(&binding.pattern);
        self.annotation(binding.ty.as_ref());
        self.text(" = ");
        self.expression(&binding.value);
    }

    fn assignment(&mut self, assignment: &'a Assignment) {
        self.guarded_expression(&assignment.target);
        self.layout.space();
        if let Some(op) = assignment.op {
            self.text(op.text());
        }
        self.text("= ");
        self.expression(&assignment.value);
    }

    fn for_(&mut self, item: &'a For) {
        self.text("for ");
        match &item.pattern {
            LoopPattern::One(pattern) => self.pattern(pattern),
            LoopPattern::Pair(first, second) => {
                self.text("(");
                self.name(first);
                self.text(", ");
                self.name(second);
                self.text(")");
            }
        }
        self.text(" in ");
        self.child(&item.source, Around::Header, Gap::Free);
        self.layout.space();
        self.block(&item.body);
    }

    fn while_(&mut self, item: &'a While) {
        self.text("while ");
        self.child(&item.condition, Around::While, Gap::Free);
        self.layout.space();
        self.block(&item.body);
    }

    fn pattern(&mut self, pattern: &'a Pattern) {
        self.gap(pattern.span.start, Gap::Free);
        let close = pattern.span.end - 1;
        match &pattern.kind {
            PatternKind::Name(name) => self.name(name),
            PatternKind::Dict { fields, rest } => {
                let fields = fields.iter().map(PatternElement::Field);
                let elements = fields.chain(rest.as_ref().map(PatternElement::Rest));
                self.sequence(Brackets::CURLY, elements, close);
            }
            PatternKind::List { elements, rest } => {
                let elements = elements.iter().map(PatternElement::Element);
                let elements = elements.chain(rest.as_ref().map(PatternElement::Rest));
                self.sequence(Brackets::SQUARE, elements, close);
            }
        }
    }
}

impl<'a> Element<'a> for &'a Statement {
    /// Parentheses that begin a statement go away.
    fn start(&self) -> u32 {
        match &self.kind {
            StatementKind::Expression(expression) => extent::start(expression),
            StatementKind::Assignment(assignment) => extent::start(&assignment.target),
            _ => self.span.start,
        }
    }

    fn end(&self) -> u32 {
        self.span.end
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        let in_pattern = std::mem::replace(&mut formatter.in_pattern, false);
        formatter.statement(self);
        formatter.in_pattern = in_pattern;
    }
}

/// What a pattern consists of.
enum PatternElement<'a> {
    Field(&'a DictField),
    Element(&'a ListElement),
    Rest(&'a Name),
}

impl<'a> PatternElement<'a> {
    /// Its first name, and the value it has if there is none.
    fn parts(&self) -> (&'a Name, Option<&'a Expression>) {
        match self {
            Self::Field(field) => (&field.field, field.default.as_ref()),
            Self::Element(element) => (&element.name, element.default.as_ref()),
            Self::Rest(name) => (name, None),
        }
    }
}

impl<'a> Element<'a> for PatternElement<'a> {
    fn start(&self) -> u32 {
        self.parts().0.span.start
    }

    fn end(&self) -> u32 {
        let name = match self {
            Self::Field(field) => field.bound(),
            Self::Element(_) | Self::Rest(_) => self.parts().0,
        };
        self.parts().1.map_or(name.span.end, extent::end)
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        let (name, default) = self.parts();
        if let Self::Rest(_) = self {
            formatter.text("...");
        }
        formatter.name(name);
        if let Self::Field(DictField {
            alias: Some(alias), ..
        }) = self
        {
            formatter.text(": ");
            formatter.name(alias);
        }
        if let Some(default) = default {
            formatter.text(" = ");
            formatter.expression(default);
        }
    }
}

impl<'a> Element<'a> for &'a SelectArm {
    fn start(&self) -> u32 {
        match self {
            SelectArm::Receive(name, ..) => name.span.start,
            SelectArm::Timeout(time, _) => extent::start(time),
            SelectArm::Default(block) => block.span.start,
        }
    }

    fn end(&self) -> u32 {
        match self {
            SelectArm::Receive(_, _, block)
            | SelectArm::Timeout(_, block)
            | SelectArm::Default(block) => block.span.end,
        }
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        match self {
            SelectArm::Receive(name, channel, _) => {
                formatter.name(name);
                formatter.text(" from ");
                formatter.child(channel, Around::Header, Gap::Free);
                formatter.layout.space();
            }
            SelectArm::Timeout(time, _) => {
                formatter.text("timeout ");
                formatter.child(time, Around::Header, Gap::Free);
                formatter.layout.space();
            }
            SelectArm::Default(_) => formatter.text("default "),
        }
        match self {
            SelectArm::Receive(_, _, block)
            | SelectArm::Timeout(_, block)
            | SelectArm::Default(block) => formatter.block(block),
        }
    }
}
