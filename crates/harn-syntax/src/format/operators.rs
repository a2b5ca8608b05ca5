//! Operators and what they stand between.

use crate::tree::{
    Binary, BinaryOp, Expression, Operand, Postfix, Range, Suffix, SuffixKind, Ternary,
};

use super::Formatter;
use super::comments::Gap;
use super::layout::Rule;
use super::lists::Brackets;
use super::parentheses::{Around, inner_tries, reads_as_call};

impl<'a> Formatter<'a> {
    /// `a + b - c`: on one line, or broken before each operator. What stood on several lines
    /// stays on several.
    pub(super) fn binary(&mut self, binary: &'a Binary) {
        let wrapped: Vec<bool> = (0..binary.rest.len())
            .map(|operand| reads_as_call(binary, operand))
            .collect();
        let mut rule = self.binary_rule(binary);
        let group = self.layout.open();
        for _ in wrapped.iter().filter(|is_wrapped| **is_wrapped) {
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
            if wrapped[at] {
                self.text(")");
            }
        }
        self.layout.dedent_if_broken();
        self.layout.close(group, rule);
    }

    /// An operator, and the comments before its operand. Says whether they broke a line.
    fn operator(&mut self, operand: &'a Operand) -> bool {
        let start = operand.value.span.start;
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
        let mut end = binary.first.span.end;
        let mut rule = Rule::Chain;
        for operand in &binary.rest {
            if self.has_line_break(end, operand.value.span.start) {
                rule = Rule::Broken;
            }
            end = operand.value.span.end;
        }
        rule
    }

    /// `c ? a : b`. Neither the `?` nor what follows it can begin a line, so a long one is
    /// broken behind a backslash.
    pub(super) fn ternary(&mut self, ternary: &'a Ternary) {
        let group = self.layout.open();
        self.child(&ternary.condition, Around::TernaryEnd, Gap::Free);
        self.layout.indent_if_broken();
        self.layout.backslash_line();
        self.text("? ");
        self.child(&ternary.then, Around::TernaryMiddle, Gap::Glued);
        self.gap(ternary.otherwise.span.start, Gap::Glued);
        self.layout.line();
        self.text(": ");
        self.child(&ternary.otherwise, Around::TernaryEnd, Gap::Glued);
        self.layout.dedent_if_broken();
        self.layout.close(group, Rule::Chain);
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
        let lines = self.suffix_lines(postfix);
        let methods = postfix.suffixes.iter().filter(|suffix| is_method(suffix));
        let mut rule = match (lines.contains(&true), methods.count()) {
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
            let begins_line = lines[at] || (is_method(suffix) && !is_after_line);
            is_after_line = lines[at] && !is_method(suffix);
            if self.suffix(suffix, begins_line) {
                rule = Rule::Broken;
            }
            if matches!(suffix.kind, SuffixKind::Try) && at + 1 < postfix.suffixes.len() {
                self.text(")");
            }
        }
        self.layout.dedent_if_broken();
        self.layout.close(group, rule);
    }

    /// For each suffix, whether it is a member at the start of a line.
    fn suffix_lines(&self, postfix: &Postfix) -> Vec<bool> {
        let mut end = postfix.base.span.end;
        let is_at_line = |suffix: &Suffix| {
            let begins = match &suffix.kind {
                SuffixKind::Member { name, .. } | SuffixKind::Method { name, .. } => {
                    self.has_line_break(end, name.span.start)
                }
                _ => false,
            };
            end = suffix.span.end;
            begins
        };
        postfix.suffixes.iter().map(is_at_line).collect()
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
