//! A match arm that can never be reached, because one before it takes the same.
//!
//! Literals, variants and catch-alls are compared. `E.V` takes every payload, so `E.V(x)` after
//! it is a duplicate. An arm with a guard may let its value pass, so it never takes anything
//! away from later ones.

use std::collections::HashSet;

use harn_syntax::tree::{Expression, ExpressionKind, Match, MatchArm, SuffixKind};

use super::Findings;
use crate::lint::Context;
use crate::lint::rule::{Rule, remove};

pub(crate) const RULE: Rule = Rule {
    name: "duplicate-match-arm",
    summary: "No two arms of a match should take the same value.",
    fixable: true,
    on_by_default: true,
};

pub(super) fn check(ctx: &Context<'_>, expression: &Expression, out: &mut Findings) {
    if let ExpressionKind::Match(item) = &expression.kind {
        arms(ctx, item, out);
    }
}

fn arms(ctx: &Context<'_>, item: &Match, out: &mut Findings) {
    let mut taken: HashSet<Key> = HashSet::new();
    for arm in &item.arms {
        let is_only = arm.patterns.len() == 1;
        let mut own = Vec::new();
        for pattern in &arm.patterns {
            let Some(key) = key(pattern, is_only) else {
                continue;
            };
            if taken.contains(&key) || own.contains(&key) {
                report(ctx, arm, pattern, out);
            } else if own.len() < ALTERNATIVES_MAX {
                own.push(key);
            }
        }
        if arm.guard.is_none() {
            taken.extend(own);
        }
    }
}

/// How many alternatives of one arm are compared with each other.
const ALTERNATIVES_MAX: usize = 64;

/// What a pattern takes.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Nil,
    Bool(bool),
    Int(i64),
    /// By its bits.
    Float(u64),
    String(String),
    Variant(String, String),
    Anything,
}

fn key(pattern: &Expression, is_only: bool) -> Option<Key> {
    Some(match &pattern.kind {
        ExpressionKind::Nil => Key::Nil,
        ExpressionKind::Bool(value) => Key::Bool(*value),
        ExpressionKind::Int(value) => Key::Int(*value),
        ExpressionKind::Float(value) => Key::Float(value.to_bits()),
        ExpressionKind::String(text) | ExpressionKind::RawString(text) => {
            Key::String(text.to_string())
        }
        ExpressionKind::Name(_) if is_only => Key::Anything,
        ExpressionKind::Postfix(postfix) => {
            let ExpressionKind::Name(base) = &postfix.base.kind else {
                return None;
            };
            let is_type = base.text.starts_with(char::is_uppercase);
            match &postfix.suffixes[..] {
                [only] if is_type => match &only.kind {
                    SuffixKind::Member { name, .. } | SuffixKind::Method { name, .. } => {
                        Key::Variant(base.text.to_string(), name.text.to_string())
                    }
                    _ => return None,
                },
                _ => return None,
            }
        }
        _ => return None,
    })
}

fn report(ctx: &Context<'_>, arm: &MatchArm, pattern: &Expression, out: &mut Findings) {
    let finding = RULE
        .warning(
            pattern.span,
            "this arm is never reached: one before it takes the same",
        )
        .with_help("remove it, or match something else");
    out.push(match arm.patterns.len() {
        1 if ctx.source.is_free_of_comments(arm.span) => {
            let edits = vec![remove(ctx.source.whole_lines(arm.span))];
            finding.with_fix("Remove the arm", edits)
        }
        _ => finding,
    });
}
