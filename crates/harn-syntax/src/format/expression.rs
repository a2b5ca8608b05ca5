//! Expressions.

use crate::position::Span;
use crate::token::TokenKind;
use crate::tree::{
    Argument, Block, Catch, Closure, ClosureStyle, Entry, Expression, ExpressionKind, If, Key,
    Match, MatchArm, Parallel, ParallelMode, StatementKind, StructLiteral, Try, UnaryOp,
};

use super::Formatter;
use super::comments::Gap;
use super::extent;
use super::layout::Rule;
use super::lists::{Body, Brackets, Element};
use super::literals;
use super::parentheses::{Around, has_arrow_in_call, needs_parentheses};

impl<'a> Formatter<'a> {
    /// An expression where any may stand, on this line or the next.
    pub(super) fn expression(&mut self, expression: &'a Expression) {
        self.child(expression, Around::Nothing, Gap::Free);
    }

    /// An expression as part of something, in parentheses if it needs them there.
    pub(super) fn child(&mut self, expression: &'a Expression, around: Around, gap: Gap) {
        let is_guarded = self
            .guarded
            .take_if(|guarded| std::ptr::eq(*guarded, expression));
        let is_wrapped = is_guarded.is_some() || needs_parentheses(expression, around);
        self.below_comments(extent::start(expression), gap, |formatter| {
            if is_wrapped {
                formatter.parenthesised(expression);
            } else {
                formatter.bare(expression);
            }
        });
    }

    fn parenthesised(&mut self, expression: &'a Expression) {
        self.text("(");
        self.bare(expression);
        self.text(")");
    }

    /// Writes what begins at `start`. If comments push it to another line, it is indented.
    fn below_comments(&mut self, start: u32, gap: Gap, write: impl FnOnce(&mut Self)) {
        let notes = self.comments.all_before(start);
        let breaks = notes
            .iter()
            .any(|note| note.needs_line() || note.begins_line);
        let is_indented = breaks && gap == Gap::Free;
        if is_indented {
            self.layout.indent();
        }
        self.gap(start, gap);
        write(self);
        if is_indented {
            self.layout.dedent();
        }
    }

    fn bare(&mut self, expression: &'a Expression) {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Nil => self.text("nil"),
            ExpressionKind::Bool(true) => self.text("true"),
            ExpressionKind::Bool(false) => self.text("false"),
            ExpressionKind::Int(number) => self.layout.text(number.to_string()),
            ExpressionKind::Float(number) => {
                self.layout.text(literals::float(*number, span, self.text));
            }
            ExpressionKind::Duration(time) => {
                self.layout.text(literals::duration(*time, span, self.text));
            }
            ExpressionKind::String(_)
            | ExpressionKind::RawString(_)
            | ExpressionKind::Interpolated(_) => self.layout.text(span.of(self.text)),
            ExpressionKind::Name(name) => self.layout.text(name.text.as_str()),
            ExpressionKind::List(elements) => {
                self.sequence(Brackets::SQUARE, elements.iter(), span.end - 1);
            }
            ExpressionKind::Dict(entries) => self.dict(entries, span.end - 1),
            ExpressionKind::Struct(literal) => self.struct_literal(literal, span.end - 1),
            ExpressionKind::Closure(closure) => self.closure(closure, span.start),
            ExpressionKind::Call(call) => {
                self.layout.text(call.name.text.as_str());
                self.type_arguments(&call.type_arguments);
                self.sequence(Brackets::ROUND, call.arguments.iter(), span.end - 1);
            }
            ExpressionKind::Postfix(postfix) => self.postfix(postfix),
            ExpressionKind::Unary(op, value) => {
                self.text(match op {
                    UnaryOp::Not => "!",
                    UnaryOp::Negate => "-",
                });
                self.child(value, Around::Prefix, Gap::Glued);
            }
            ExpressionKind::TryStar(value) => {
                self.text("try* ");
                self.child(value, Around::Prefix, Gap::Glued);
            }
            ExpressionKind::Binary(binary) => self.binary(binary),
            ExpressionKind::Range(range) => self.range(range),
            ExpressionKind::Ternary(ternary) => self.ternary(ternary),
            ExpressionKind::If(item) => self.if_(item),
            ExpressionKind::Match(item) => self.match_(item, span),
            ExpressionKind::Try(item) => self.try_(item),
            ExpressionKind::Retry(item) => self.counted("retry ", &item.count, &item.body),
            ExpressionKind::Deadline(item) => self.counted("deadline ", &item.time, &item.body),
            ExpressionKind::Parallel(item) => self.parallel(item),
            ExpressionKind::Spawn(body) => {
                self.text("spawn ");
                self.block(body);
            }
        }
    }

    fn dict(&mut self, entries: &'a [Entry], close: u32) {
        self.sequence(Brackets::CURLY, entries.iter().map(DictEntry), close);
    }

    fn struct_literal(&mut self, literal: &'a StructLiteral, close: u32) {
        self.layout.text(literal.name.text.as_str());
        self.layout.space();
        self.sequence(
            Brackets::CURLY,
            literal.entries.iter().map(StructEntry),
            close,
        );
    }

    /// `{ x -> x * 2 }`, `fn(x) { x + 1 }`
    fn closure(&mut self, closure: &'a Closure, start: u32) {
        let is_inline = is_simple(&closure.body);
        let group = is_inline.then(|| self.layout.open());
        let body = Body {
            is_inline,
            ..Body::block(closure.body.span.end)
        };
        let is_empty = closure.body.statements.is_empty();
        match closure.style {
            ClosureStyle::Braces => {
                self.text("{");
                self.closure_parameters(closure);
                self.text(" ->");
                let empty = if is_empty { " }" } else { "}" };
                self.body(Body { empty, ..body }, closure.body.statements.iter());
            }
            ClosureStyle::Fn => {
                self.text("fn");
                self.parameters(&closure.parameters, start);
                self.text(" {");
                self.body(body, closure.body.statements.iter());
            }
        }
        if let Some(group) = group {
            self.layout.close(group, Rule::Whole);
        }
    }

    fn closure_parameters(&mut self, closure: &'a Closure) {
        for (at, parameter) in closure.parameters.iter().enumerate() {
            if at > 0 {
                self.text(",");
            }
            self.layout.space();
            Element::write(&parameter, self);
        }
    }

    pub(super) fn block(&mut self, block: &'a Block) {
        self.text("{");
        self.body(Body::block(block.span.end), block.statements.iter());
    }

    fn if_(&mut self, item: &'a If) {
        for (at, (condition, block)) in item.branches.iter().enumerate() {
            if at > 0 {
                self.gap(extent::start(condition), Gap::Free);
                self.layout.space();
                self.text("else ");
            }
            self.text("if ");
            self.child(condition, Around::Header, Gap::Free);
            self.layout.space();
            self.block(block);
        }
        if let Some(block) = &item.otherwise {
            self.continuation("else ", block.span.start);
            self.block(block);
        }
    }

    /// A word that continues a construct after a closing brace, below the comments before
    /// what follows it.
    fn continuation(&mut self, word: &'static str, next: u32) {
        self.gap(next, Gap::Free);
        self.layout.space();
        self.text(word);
    }

    fn match_(&mut self, item: &'a Match, span: Span) {
        self.text("match ");
        self.child(&item.value, Around::Header, Gap::Free);
        self.text(" {");
        self.body(Body::block(span.end), item.arms.iter());
    }

    fn try_(&mut self, item: &'a Try) {
        self.text("try ");
        self.block(&item.body);
        if let Some(catch) = &item.catch {
            self.catch(catch);
        }
        if let Some(block) = &item.finally {
            self.continuation("finally ", block.span.start);
            self.block(block);
        }
    }

    fn catch(&mut self, catch: &'a Catch) {
        let name = catch.name.as_ref();
        let start = name.map_or(catch.body.span.start, |name| name.span.start);
        self.continuation("catch ", start);
        if let Some(name) = name {
            self.text("(");
            self.name(name);
            self.annotation(catch.ty.as_ref());
            self.text(") ");
        }
        self.block(&catch.body);
    }

    fn counted(&mut self, word: &'static str, count: &'a Expression, body: &'a Block) {
        self.text(word);
        self.child(count, Around::Primary, Gap::Glued);
        self.layout.space();
        self.block(body);
    }

    fn parallel(&mut self, item: &'a Parallel) {
        let (word, around) = match item.mode {
            ParallelMode::Count => ("parallel ", Around::ParallelCount),
            ParallelMode::Each => ("parallel each ", Around::ParallelSource),
            ParallelMode::Settle => ("parallel settle ", Around::ParallelSource),
        };
        self.text(word);
        self.child(&item.source, around, Gap::Free);
        if let Some(last) = item.max_concurrent.last() {
            self.text(" with ");
            let close = self.find(TokenKind::RightBrace, last.span.end);
            let options = item.max_concurrent.iter().map(ParallelOption);
            self.sequence(Brackets::PADDED, options, close);
        }
        self.text(" {");
        let mut body = Body::block(item.body.span.end);
        if let Some(variable) = &item.variable {
            self.layout.space();
            self.name(variable);
            self.text(" ->");
            body.empty = " }";
        }
        self.body(body, item.body.statements.iter());
        if item.as_stream {
            self.text(" as stream");
        }
    }

    /// `...e`
    fn spread(&mut self, value: &'a Expression) {
        self.text("...");
        self.expression(value);
    }

    fn key(&mut self, key: &'a Key, is_bare: fn(&str) -> bool, style: StringKey) {
        match key {
            Key::Name(name) => self.name(name),
            Key::String(name) if is_bare(&name.text) => self.name(name),
            Key::String(name) if style == StringKey::Computed => {
                self.gap(name.span.start, Gap::Free);
                self.text("[");
                self.source(name.span);
                self.text("]");
            }
            Key::String(name) => self.source(name.span),
            Key::Computed(key) => {
                self.gap(extent::start(key), Gap::Free);
                self.text("[");
                self.expression(key);
                self.text("]");
            }
        }
    }
}

/// How a key is written that is no name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StringKey {
    /// `"x-y"`
    Quoted,
    /// `["x-y"]`
    Computed,
}

/// Whether a body is one expression that may stand on the line of its braces.
fn is_simple(block: &Block) -> bool {
    let [statement] = &block.statements[..] else {
        return false;
    };
    let StatementKind::Expression(expression) = &statement.kind else {
        return false;
    };
    !matches!(
        expression.kind,
        ExpressionKind::If(_)
            | ExpressionKind::Match(_)
            | ExpressionKind::Try(_)
            | ExpressionKind::Retry(_)
            | ExpressionKind::Parallel(_)
            | ExpressionKind::Spawn(_)
            | ExpressionKind::Deadline(_)
    )
}

impl<'a> Element<'a> for &'a Argument {
    fn start(&self) -> u32 {
        extent::start(self.expression())
    }

    fn end(&self) -> u32 {
        extent::end(self.expression())
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        match self {
            Argument::One(value) => formatter.expression(value),
            Argument::Spread(value) => formatter.spread(value),
        }
    }
}

/// An entry of a dict.
struct DictEntry<'a>(&'a Entry);

impl<'a> Element<'a> for DictEntry<'a> {
    fn start(&self) -> u32 {
        entry_start(self.0)
    }

    fn end(&self) -> u32 {
        extent::end(entry_value(self.0))
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        let value = entry_value(self.0);
        match self.0 {
            Entry::Field(key, _) => {
                let style = match formatter.in_pattern {
                    true => StringKey::Quoted,
                    false => StringKey::Computed,
                };
                formatter.key(key, literals::is_key, style);
                formatter.text(": ");
            }
            Entry::Spread(_) => formatter.text("..."),
        }
        let around = match formatter.has_generic_calls && has_arrow_in_call(value) {
            true => Around::Dict,
            false => Around::Nothing,
        };
        formatter.child(value, around, Gap::Free);
    }
}

/// An entry of a struct literal. The first must begin with a name or a string, or it would
/// not be one, so strings stay strings.
struct StructEntry<'a>(&'a Entry);

impl<'a> Element<'a> for StructEntry<'a> {
    fn start(&self) -> u32 {
        entry_start(self.0)
    }

    fn end(&self) -> u32 {
        extent::end(entry_value(self.0))
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        match self.0 {
            Entry::Field(key, value) => {
                formatter.key(key, literals::is_identifier, StringKey::Quoted);
                formatter.text(": ");
                formatter.expression(value);
            }
            Entry::Spread(value) => formatter.spread(value),
        }
    }
}

fn entry_start(entry: &Entry) -> u32 {
    match entry {
        Entry::Field(Key::Name(name) | Key::String(name), _) => name.span.start,
        Entry::Field(Key::Computed(key), _) => extent::start(key),
        Entry::Spread(value) => extent::start(value),
    }
}

fn entry_value(entry: &Entry) -> &Expression {
    match entry {
        Entry::Field(_, value) | Entry::Spread(value) => value,
    }
}

/// `max_concurrent: n`
struct ParallelOption<'a>(&'a Expression);

impl<'a> Element<'a> for ParallelOption<'a> {
    fn start(&self) -> u32 {
        extent::start(self.0)
    }

    fn end(&self) -> u32 {
        extent::end(self.0)
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        formatter.text("max_concurrent: ");
        formatter.expression(self.0);
    }
}

impl<'a> Element<'a> for &'a MatchArm {
    /// Parentheses around its first pattern go away.
    fn start(&self) -> u32 {
        let first = self.patterns.first();
        first.map_or(self.span.start, extent::start)
    }

    fn end(&self) -> u32 {
        self.span.end
    }

    fn write(&self, formatter: &mut Formatter<'a>) {
        let outer = std::mem::replace(&mut formatter.in_pattern, true);
        for (at, pattern) in self.patterns.iter().enumerate() {
            if at > 0 {
                formatter.text(" | ");
            }
            formatter.expression(pattern);
        }
        formatter.in_pattern = outer;
        if let Some(guard) = &self.guard {
            formatter.text(" if ");
            formatter.expression(guard);
        }
        formatter.text(" -> ");
        let is_inline = is_simple(&self.body);
        let group = is_inline.then(|| formatter.layout.open());
        formatter.text("{");
        let body = Body {
            is_inline,
            ..Body::block(self.body.span.end)
        };
        formatter.body(body, self.body.statements.iter());
        if let Some(group) = group {
            formatter.layout.close(group, Rule::Whole);
        }
    }
}
