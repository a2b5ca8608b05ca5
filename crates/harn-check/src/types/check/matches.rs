//! What is wrong with the arms of a `match`.

use harn_syntax::tree::{
    Argument, Entry, Expression, ExpressionKind, Match, MatchArm, Name, SuffixKind,
};
use harn_syntax::{Diagnostic, Edit, Span};

use crate::types::checker::Checker;
use crate::types::codes;
use crate::types::literals::{literal_kind, literal_type};
use crate::types::narrow::{kind_of, member_of_variable, variable_name};
use crate::types::ty::Ty;

const OR_PATTERN: &str = "Or-pattern alternatives must be literal patterns (string, int, float, \
                          bool, nil, or `_`). Identifier bindings and destructuring patterns are \
                          not allowed inside `|`.";

impl Checker {
    pub(super) fn check_match(&mut self, item: &Match, span: Span) {
        self.check(&item.value);
        let matched = self.infer(&item.value);
        for arm in &item.arms {
            self.scoped(|checker| {
                checker.check_patterns(arm, &matched);
                checker.narrow_in_arm(item, arm);
                if let Some(guard) = &arm.guard {
                    checker.check(guard);
                }
                checker.check_block(&arm.body);
            });
        }
        if let Some(missing) = self.missing_cases(item, &matched) {
            let error = Diagnostic::error(codes::NON_EXHAUSTIVE_MATCH, span, missing.message);
            let arms = missing.patterns.iter();
            let arms: String = arms
                .map(|pattern| format!("{pattern} -> {{ }}\n"))
                .collect();
            let end = Span {
                start: span.end.saturating_sub(1),
                end: span.end.saturating_sub(1),
            };
            let edit = Edit {
                span: end,
                text: format!("\n{arms}"),
            };
            self.say(error.with_fix("Add the missing arms", vec![edit]));
        }
    }

    fn check_patterns(&mut self, arm: &MatchArm, matched: &Ty) {
        let alternatives = arm.patterns.len() > 1;
        for pattern in &arm.patterns {
            let literal = literal_kind(pattern);
            if alternatives && literal.is_none() && !is_discard(pattern) {
                self.error(codes::OR_PATTERN, pattern.span, OR_PATTERN);
                continue;
            }
            match literal {
                Some(kind) => self.check_literal(pattern, kind, matched),
                None => self.check_pattern(pattern),
            }
        }
    }

    fn check_literal(&mut self, pattern: &Expression, kind: &'static str, matched: &Ty) {
        let fits = match kind {
            "nil" => true,
            "int" | "float" => {
                self.known.compatible(&Ty::INT, matched)
                    || self.known.compatible(&Ty::FLOAT, matched)
            }
            _ => self.known.compatible(&Ty::named(kind), matched),
        };
        if !fits && *matched != Ty::Never {
            let message =
                format!("Match pattern type mismatch: matching {matched} against {kind} literal");
            self.warn(codes::MATCH_PATTERN_TYPE, pattern.span, message);
        }
    }

    /// Declares what a pattern binds and checks the rest of it.
    fn check_pattern(&mut self, pattern: &Expression) {
        match &pattern.kind {
            ExpressionKind::Name(name) => self.bind_in_arm(name),
            ExpressionKind::List(elements) => {
                for element in elements {
                    self.check_part(element.expression());
                }
            }
            ExpressionKind::Dict(entries) => {
                for entry in entries {
                    match entry {
                        Entry::Field(_, value) | Entry::Spread(value) => self.check_part(value),
                    }
                }
            }
            ExpressionKind::Postfix(postfix) if self.infer_constructed(postfix).is_some() => {
                if let [suffix] = postfix.suffixes.as_slice()
                    && let SuffixKind::Method { arguments, .. } = &suffix.kind
                {
                    self.bind_payload(arguments);
                }
            }
            _ => self.check(pattern),
        }
    }

    fn bind_payload(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            if let ExpressionKind::Name(name) = &argument.expression().kind {
                self.bind_in_arm(name);
            }
        }
    }

    /// A part of a list or dict pattern: a name binds, anything else is compared.
    fn check_part(&mut self, part: &Expression) {
        match &part.kind {
            ExpressionKind::Name(name) => self.bind_in_arm(name),
            _ => self.check(part),
        }
    }

    fn bind_in_arm(&mut self, name: &Name) {
        self.declare_typed(name, Ty::Dynamic);
    }

    /// What an arm tells about the matched variable.
    fn narrow_in_arm(&mut self, item: &Match, arm: &MatchArm) {
        match &item.value.kind {
            ExpressionKind::Name(name) => {
                let Some((_, variable)) = self.environment.variable(&name.text) else {
                    return;
                };
                let current = variable.state.current.clone();
                if let Some(narrowed) = narrowed_by(&current, &arm.patterns) {
                    self.narrow(&name.text, narrowed);
                }
            }
            ExpressionKind::Postfix(postfix) => {
                let literals = arm.patterns.iter().map(literal_type);
                if let (Some((object, tag)), Some(literals)) = (
                    member_of_variable(postfix),
                    literals.collect::<Option<Vec<_>>>(),
                ) {
                    self.narrow_tagged(object, tag, &|own| literals.contains(own));
                }
            }
            _ => {}
        }
    }
}

/// The members of a union that literal patterns choose.
fn narrowed_by(current: &Ty, patterns: &[Expression]) -> Option<Ty> {
    let Ty::Union(union) = current else {
        return None;
    };
    let chosen = patterns.iter().map(|pattern| {
        let kind = literal_kind(pattern)?;
        let literal = literal_type(pattern);
        let equal = union
            .members
            .iter()
            .find(|member| Some(*member) == literal.as_ref());
        let of_kind = |member: &&Ty| {
            kind_of(member) == Some(kind) && !matches!(member, Ty::String(_) | Ty::Int(_))
        };
        equal
            .or_else(|| union.members.iter().find(of_kind))
            .cloned()
    });
    let chosen = chosen.collect::<Option<Vec<_>>>()?;
    Some(Ty::merged(chosen))
}

/// Whether the pattern is `_`.
pub(in crate::types) fn is_discard(pattern: &Expression) -> bool {
    variable_name(pattern).is_some_and(|name| name == "_")
}
