//! What follows a value: members, methods, indexes, slices and `?`.

use harn_syntax::tree::{Argument, Expression, ExpressionKind, Postfix, Suffix, SuffixKind};

use super::exits::Exit;
use super::unit::Compiler;
use crate::code::{OPTIONAL, Op};

impl Compiler<'_> {
    /// `value.member?.method(a)[i]?`
    pub(super) fn postfix(&mut self, at: u32, postfix: &Postfix, d: u16) {
        let suffixes = postfix.suffixes.as_slice();
        if let Some((arguments, name, variant)) = self.as_variant(postfix) {
            let rest = &suffixes[1..];
            let value = match rest.is_empty() {
                true => d,
                false => self.intermediate(d),
            };
            self.variant(at, (name, variant), arguments, value);
            return self.suffixes(at, value, rest, d);
        }
        let Some((first, rest)) = suffixes.split_first() else {
            return self.evaluate(&postfix.base, d);
        };
        let result = match rest.is_empty() {
            true => d,
            false => self.intermediate(d),
        };
        self.first_suffix(at, &postfix.base, first, result);
        self.suffixes(at, result, rest, d);
    }

    /// The enum, the variant and the arguments, if that is what an expression begins with.
    pub(super) fn as_variant<'e>(
        &self,
        postfix: &'e Postfix,
    ) -> Option<(&'e [Argument], &'e str, &'e str)> {
        let ExpressionKind::Name(base) = &postfix.base.kind else {
            return None;
        };
        if !self.is_enum(&base.text) {
            return None;
        }
        match &postfix.suffixes.first()?.kind {
            SuffixKind::Member { name, .. } => Some((&[], &base.text, &name.text)),
            SuffixKind::Method {
                name, arguments, ..
            } => Some((arguments, &base.text, &name.text)),
            _ => None,
        }
    }

    /// The first suffix: what it follows may be a variable, or has to go into a window.
    fn first_suffix(&mut self, at: u32, base: &Expression, suffix: &Suffix, d: u16) {
        let mark = self.mark();
        match &suffix.kind {
            SuffixKind::Method { arguments, .. } => {
                let window = self.window_for(d, method_window(arguments));
                self.evaluate(base, window);
                self.method(at, window, suffix, d);
            }
            SuffixKind::Slice { .. } => {
                let window = self.window_for(d, 3);
                self.evaluate(base, window);
                self.slice(at, window, suffix, d);
            }
            SuffixKind::Index { index, .. } => {
                let value = self.operand_before(base, &[index]);
                self.suffix(at, value, suffix, d);
            }
            SuffixKind::Member { .. } | SuffixKind::Try => {
                let value = self.operand(base);
                self.suffix(at, value, suffix, d);
            }
        }
        self.release(mark);
    }

    fn suffixes(&mut self, at: u32, value: u16, suffixes: &[Suffix], d: u16) {
        for (position, suffix) in suffixes.iter().enumerate() {
            let mark = self.mark();
            let result = match position + 1 == suffixes.len() {
                true => d,
                false => value,
            };
            match &suffix.kind {
                SuffixKind::Method { arguments, .. } => {
                    let window = self.window_for(value, method_window(arguments));
                    self.copy(at, window, value);
                    self.method(at, window, suffix, result);
                }
                SuffixKind::Slice { .. } => {
                    let window = self.window_for(value, 3);
                    self.copy(at, window, value);
                    self.slice(at, window, suffix, result);
                }
                _ => self.suffix(at, value, suffix, result),
            }
            self.release(mark);
        }
    }

    fn suffix(&mut self, at: u32, value: u16, suffix: &Suffix, d: u16) {
        match &suffix.kind {
            SuffixKind::Member { name, optional } => {
                let site = self.site(&name.text);
                self.op_n(at, Op::GetField, flag(*optional), d, value, site);
            }
            SuffixKind::Index { index, optional } => {
                let index = self.operand(index);
                self.op_n(at, Op::GetIndex, flag(*optional), d, value, index);
            }
            SuffixKind::Try => self.unwrap(at, value, d),
            SuffixKind::Method { .. } | SuffixKind::Slice { .. } => {}
        }
    }

    /// A method of the first value in a window.
    fn method(&mut self, at: u32, window: u16, suffix: &Suffix, d: u16) {
        let SuffixKind::Method {
            name,
            optional,
            arguments,
        } = &suffix.kind
        else {
            return;
        };
        let nothing = optional.then(|| self.jump(at, Op::JumpIfNil, window));
        let next = window.saturating_add(1);
        let site = self.site(&name.text);
        match method_count(arguments) {
            Some(count) => {
                self.fill(next, arguments.iter().map(Argument::expression));
                self.op_n(at, Op::CallMethod, count, d, window, site);
            }
            None => {
                self.list(at, arguments, next);
                self.op(at, Op::CallMethodSpread, d, window, site);
            }
        }
        if let Some(nothing) = nothing {
            let end = self.jump(at, Op::Jump, 0);
            self.land(nothing);
            self.load_nil(at, d);
            self.land(end);
        }
    }

    fn slice(&mut self, at: u32, window: u16, suffix: &Suffix, d: u16) {
        let SuffixKind::Slice { start, end } = &suffix.kind else {
            return;
        };
        for (register, bound) in (window..).skip(1).zip([start, end]) {
            match bound {
                Some(bound) => self.evaluate(bound, register),
                None => self.load_nil(at, register),
            }
        }
        self.op(at, Op::Slice, d, window, 0);
    }

    /// `value?`
    fn unwrap(&mut self, at: u32, value: u16, d: u16) {
        let mark = self.mark();
        let result = self.intermediate(d);
        let failed = self.branch(at, Op::Unwrap, result, value);
        if !self.is_guarded() {
            self.body.unwraps.push((failed, result));
        } else {
            let end = self.jump(at, Op::Jump, 0);
            self.land(failed);
            self.leave(at, Exit::Return, Some(result));
            self.land(end);
        }
        self.copy(at, d, result);
        self.release(mark);
    }
}

/// How many values a call of a method has in registers after the receiver; `None` if they are
/// in a list.
fn method_count(arguments: &[Argument]) -> Option<u8> {
    let is_one = |argument: &Argument| matches!(argument, Argument::One(_));
    let count = u8::try_from(arguments.len()).ok()?;
    (count < u8::MAX && arguments.iter().all(is_one)).then_some(count)
}

fn method_window(arguments: &[Argument]) -> usize {
    1 + method_count(arguments).map_or(1, usize::from)
}

fn flag(optional: bool) -> u8 {
    match optional {
        true => OPTIONAL,
        false => 0,
    }
}
