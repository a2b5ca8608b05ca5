//! `match`

use harn_syntax::tree::{
    Argument, Entry, Expression, ExpressionKind, Match, MatchArm, Name, Postfix, SuffixKind,
};

use super::emit::Jump;
use super::expression::small_int;
use super::unit::Compiler;
use crate::code::{Op, Raised};

impl Compiler<'_> {
    /// `match value { … }`
    pub(super) fn match_arms(&mut self, at: u32, item: &Match, d: Option<u16>) {
        // A guard that fails may have changed the variable that is looked at.
        let value = match item.arms.iter().all(|arm| arm.guard.is_none()) {
            true => self.operand(&item.value),
            false => {
                let value = self.temporary();
                self.evaluate(&item.value, value);
                value
            }
        };
        let mut ends = Vec::new();
        let mut is_complete = false;
        for arm in &item.arms {
            let visible = self.visible.len();
            let mut next = Vec::new();
            let mark = self.mark();
            self.patterns(arm, value, &mut next);
            if let Some(guard) = &arm.guard {
                next.extend(self.condition(guard, false));
            }
            self.release(mark);
            self.block(&arm.body, d);
            ends.push(self.jump(arm.span.start, Op::Jump, 0));
            self.visible.truncate(visible);
            is_complete = next.is_empty();
            self.land_all(next);
            if is_complete {
                break;
            }
        }
        if !is_complete {
            self.raise(at, Raised::Thrown, "No match arm matched the value");
        }
        self.land_all(ends);
    }

    /// The patterns of an arm. Jumps to the next arm are added to `next`.
    fn patterns(&mut self, arm: &MatchArm, value: u16, next: &mut Vec<Jump>) {
        match arm.patterns.as_slice() {
            [one] => self.match_pattern(one, value, next),
            several => {
                let Some((last, before)) = several.split_last() else {
                    return;
                };
                let mut found = Vec::new();
                for one in before {
                    found.push(self.match_equal(one, value, true));
                }
                next.push(self.match_equal(last, value, false));
                self.land_all(found);
            }
        }
    }

    /// Compares with an expression, and jumps if that holds or does not, as `when` says.
    fn match_equal(&mut self, expression: &Expression, value: u16, when: bool) -> Jump {
        let at = expression.span.start;
        let mark = self.mark();
        let jump = match small_int(expression) {
            Some(number) => {
                let op = match when {
                    true => Op::JumpEqualInt,
                    false => Op::JumpNotEqualInt,
                };
                self.branch(at, op, value, number)
            }
            None => {
                let other = self.operand(expression);
                let op = match when {
                    true => Op::JumpEqual,
                    false => Op::JumpNotEqual,
                };
                self.branch(at, op, value, other)
            }
        };
        self.release(mark);
        jump
    }

    fn match_pattern(&mut self, pattern: &Expression, value: u16, next: &mut Vec<Jump>) {
        let at = pattern.span.start;
        match &pattern.kind {
            ExpressionKind::Name(name) => self.bind_register(name, value),
            ExpressionKind::Postfix(postfix) if self.is_variant_pattern(postfix) => {
                self.match_variant(at, postfix, value, next);
            }
            ExpressionKind::Dict(entries) if entries.iter().all(is_named) => {
                next.push(self.jump(at, Op::JumpUnlessDict, value));
                for entry in entries {
                    self.match_entry(entry, value, next);
                }
            }
            ExpressionKind::List(elements) if elements.iter().all(is_one) => {
                let count = self.small(elements.len());
                next.push(self.branch(at, Op::JumpUnlessList, value, count));
                for (position, element) in elements.iter().enumerate() {
                    let part = element.expression();
                    let start = part.span.start;
                    self.match_part(part, next, |compiler, d| {
                        compiler.element(start, d, value, position);
                    });
                }
            }
            _ => {
                let jump = self.match_equal(pattern, value, false);
                next.push(jump);
            }
        }
    }

    fn is_variant_pattern(&self, postfix: &Postfix) -> bool {
        postfix.suffixes.len() == 1 && self.as_variant(postfix).is_some()
    }

    fn match_variant(&mut self, at: u32, postfix: &Postfix, value: u16, next: &mut Vec<Jump>) {
        let Some((arguments, name, variant)) = self.as_variant(postfix) else {
            return;
        };
        let tag = self.tag_constant(name, variant);
        next.push(self.branch(at, Op::JumpUnlessTag, value, tag));
        let is_call = matches!(postfix.suffixes[0].kind, SuffixKind::Method { .. });
        for (position, argument) in arguments.iter().enumerate().filter(|_| is_call) {
            if let Some(name) = plain_name(argument) {
                let position = self.small(position);
                self.bind_unless_discarded(name, |compiler, d| {
                    compiler.op(name.span.start, Op::Payload, d, value, position);
                });
            }
        }
    }

    fn match_entry(&mut self, entry: &Entry, value: u16, next: &mut Vec<Jump>) {
        let Entry::Field(key, part) = entry else {
            return;
        };
        let Some(name) = key.name() else {
            return;
        };
        let site = self.site(&name.text);
        self.match_part(part, next, |compiler, d| {
            compiler.op(name.span.start, Op::GetField, d, value, site);
        });
    }

    /// A part of what is matched: bound to a name or compared.
    fn match_part(
        &mut self,
        part: &Expression,
        next: &mut Vec<Jump>,
        evaluate: impl FnOnce(&mut Self, u16),
    ) {
        if let ExpressionKind::Name(name) = &part.kind {
            return self.bind_unless_discarded(name, evaluate);
        }
        let mark = self.mark();
        let found = self.temporary();
        evaluate(self, found);
        next.push(self.match_equal(part, found, false));
        self.release(mark);
    }

    fn bind_unless_discarded(&mut self, name: &Name, evaluate: impl FnOnce(&mut Self, u16)) {
        if !name.is_discard() {
            self.bind(name, evaluate);
        }
    }
}

fn is_named(entry: &Entry) -> bool {
    matches!(entry, Entry::Field(key, _) if key.name().is_some())
}

fn is_one(argument: &Argument) -> bool {
    matches!(argument, Argument::One(_))
}

fn plain_name(argument: &Argument) -> Option<&Name> {
    match argument {
        Argument::One(value) => match &value.kind {
            ExpressionKind::Name(name) => Some(name),
            _ => None,
        },
        Argument::Spread(_) => None,
    }
}
