//! Operators and what they stand between.

use crate::tree::{
    Binary, BinaryOp, Expression, Operand, Postfix, Range, Suffix, SuffixKind, Ternary,
};

use super::Formatter;
use super::comments::Gap;
use super::extent;
use super::layout::Rule;
use super::lists::Brackets;
use super::parentheses::{Around, inner_tries, reads_as_call};

impl<'a> Formatter<'a> {
    /// `a + b - c`: on one line, or broken before each operator. What stood on several lines
    /// stays on several.
    pub(super) fn binary(&mut self, binary: &'a Binary) {
        let is_wrapped = |operand: &usize| reads_as_call(binary, *operand);
        let mut rule = self.binary_rule(binary);
        let group = self.layout.open();
        for _ in (0..binary.rest.len()).filter(is_wrapped) {
            self.text("(");
        }
        self.child(&binary.first, Around::First(binary.rest[0].op), Gap::Free);
        self.layout.indent_if_broken();
        for (at, operand) in binary.rest.iter().enumerate() {
            if self.operator(operand) {
                rule = Rule::Broken;
            }
            let next = binary.rest.get(at + 1).map(|next| next.op);
            self.child(&operand.value, Around::Next(operand.op, next), Gap::Free);
            if is_wrapped(&at) {
                self.text(")");
            }
        }
        self.layout.dedent_if_broken();
        self.layout.close(group, rule);
    }

    /// An operator, and the comments before its operand. Says whether they broke a line.
    fn operator(&mut self, operand: &'a Operand) -> bool {
        let start = extent::start(&operand.value);
        let is_broken = if may_begin_line(operand.op) {
            let is_broken = self.gap(start, Gap::Free);
            self.layout.line();
            self.text(operand.op.text());
            is_broken
        } else {
            self.layout.backslash_line();
            self.text(operand.op.text());
            self.gap(start, Gap::Free)
        };
        self.layout.space();
        is_broken
    }

    fn binary_rule(&self, binary: &Binary) -> Rule {
        let mut end = extent::end(&binary.first);
        let mut rule = Rule::Chain;
        for operand in &binary.rest {
            if self.has_line_break(end, extent::start(&operand.value)) {
                rule = Rule::Broken;
            }
            end = extent::end(&operand.value);
        }
        rule
    }

    /// `c ? a : b`. Neither the `?` nor what follows it can begin a line, so a long one is
    /// broken behind a backslash. It stays broken as other operators do.
    pub(super) fn ternary(&mut self, ternary: &'a Ternary) {
        let (condition, then) = (&ternary.condition, &ternary.then);
        let otherwise = extent::start(&ternary.otherwise);
        let is_broken = self.has_line_break(extent::end(condition), extent::start(then))
            || self.has_line_break(extent::end(then), otherwise);
        let rule = if is_broken { Rule::Broken } else { Rule::Chain };
        let group = self.layout.open();
        self.child(&ternary.condition, Around::TernaryEnd, Gap::Free);
        self.layout.indent_if_broken();
        self.layout.backslash_line();
        self.text("? ");
        self.child(&ternary.then, Around::TernaryMiddle, Gap::Glued);
        self.gap(otherwise, Gap::Glued);
        self.layout.line();
        self.text(": ");
        self.child(&ternary.otherwise, Around::TernaryEnd, Gap::Glued);
        self.layout.dedent_if_broken();
        self.layout.close(group, rule);
    }

    pub(super) fn range(&mut self, range: &'a Range) {
        self.child(&range.start, Around::RangeEnd, Gap::Free);
        self.text(" to ");
        self.child(&range.end, Around::RangeEnd, Gap::Glued);
        if range.exclusive {
            self.text(" exclusive");
        }
    }

    /// `value.member.method()`: what stood on several lines gets a line for each call.
    pub(super) fn postfix(&mut self, postfix: &'a Postfix) {
        let begins_line = |at: usize| self.begins_line(postfix, at);
        let is_broken = (0..postfix.suffixes.len()).any(begins_line);
        let methods = postfix.suffixes.iter().filter(|suffix| is_method(suffix));
        let mut rule = match (is_broken, methods.count()) {
            (true, _) => Rule::Broken,
            (false, 0 | 1) => Rule::Inline,
            (false, _) => Rule::Chain,
        };
        let group = self.layout.open();
        for _ in 0..inner_tries(postfix) {
            self.text("(");
        }
        self.child(&postfix.base, Around::Base, Gap::Free);
        self.layout.indent_if_broken();
        let mut is_after_line = false;
        for (at, suffix) in postfix.suffixes.iter().enumerate() {
            let begins_line = self.begins_line(postfix, at);
            let is_own_line = begins_line || (is_method(suffix) && !is_after_line);
            is_after_line = begins_line && !is_method(suffix);
            if self.suffix(suffix, is_own_line) {
                rule = Rule::Broken;
            }
            if matches!(suffix.kind, SuffixKind::Try) && at + 1 < postfix.suffixes.len() {
                self.text(")");
            }
        }
        self.layout.dedent_if_broken();
        self.layout.close(group, rule);
    }

    /// Whether a suffix is a member at the start of a line.
    fn begins_line(&self, postfix: &Postfix, at: usize) -> bool {
        let end = match at {
            0 => extent::end(&postfix.base),
            _ => postfix.suffixes[at - 1].span.end,
        };
        match &postfix.suffixes[at].kind {
            SuffixKind::Member { name, .. } | SuffixKind::Method { name, .. } => {
                self.has_line_break(end, name.span.start)
            }
            _ => false,
        }
    }

    /// Writes a suffix. Says whether a comment pushed it to another line.
    fn suffix(&mut self, suffix: &'a Suffix, begins_line: bool) -> bool {
        let mut is_pushed = false;
        match &suffix.kind {
            SuffixKind::Member { name, optional } | SuffixKind::Method { name, optional, .. } => {
                is_pushed = self.gap(name.span.start, Gap::Free);
                if begins_line || is_pushed {
                    self.layout.soft_line();
                }
                self.text(if *optional { "?." } else { "." });
                self.layout.text(name.text.as_str());
            }
            SuffixKind::Index { index, optional } => {
                self.text(if *optional { "?[" } else { "[" });
                self.expression(index);
                self.gap(suffix.span.end - 1, Gap::Free);
                self.text("]");
            }
            SuffixKind::Slice { start, end } => {
                self.slice(start.as_ref(), end.as_ref());
                self.gap(suffix.span.end - 1, Gap::Free);
                self.text("]");
            }
            SuffixKind::Try => self.text("?"),
        }
        if let SuffixKind::Method { arguments, .. } = &suffix.kind {
            self.sequence(Brackets::ROUND, arguments.iter(), suffix.span.end - 1);
        }
        is_pushed
    }

    fn slice(&mut self, start: Option<&'a Expression>, end: Option<&'a Expression>) {
        self.text("[");
        if let Some(start) = start {
            self.expression(start);
        }
        self.text(":");
        if let Some(end) = end {
            self.expression(end);
        }
    }
}

fn is_method(suffix: &Suffix) -> bool {
    matches!(suffix.kind, SuffixKind::Method { .. })
}

/// Whether a line may begin with it. A `-` there would begin a new statement.
fn may_begin_line(op: BinaryOp) -> bool {
    !matches!(op, BinaryOp::Subtract | BinaryOp::In | BinaryOp::NotIn)
}
