//! Whether the arms of a `match` deal with every possible value.

use harn_syntax::tree::{Expression, ExpressionKind, Match, SuffixKind};
use smol_str::SmolStr;

use super::checker::Checker;
use super::literals::{literal_kind, literal_type};
use super::narrow::member_of_variable;
use super::ty::Ty;

impl Checker {
    /// What the arms forget, as a message.
    pub(super) fn missing_cases(&mut self, item: &Match, matched: &Ty) -> Option<String> {
        let patterns: Vec<&Expression> = item.arms.iter().flat_map(|arm| &arm.patterns).collect();
        if let Some(name) = self.matched_enum(&item.value, matched) {
            return self.missing_variants(&name, &patterns);
        }
        if let ExpressionKind::Postfix(postfix) = &item.value.kind
            && let Some((object, tag)) = member_of_variable(postfix)
            && let Some((_, variable)) = self.environment.variable(object)
            && let Some(tagged) = self.known.tagged(&variable.state.current)
            && tagged.tag == *tag
        {
            let tags: Vec<Ty> = tagged.variants.into_iter().map(|(_, tag)| tag).collect();
            let missing = missing_literals(&tags, &patterns)?;
            let what = "Non-exhaustive match on tagged shape union: missing variants";
            return Some(format!("{what} {missing}"));
        }
        self.missing_members(matched, &patterns)
    }

    /// The enum a value belongs to, or the one whose `variant` it is.
    fn matched_enum(&mut self, value: &Expression, matched: &Ty) -> Option<SmolStr> {
        let resolved = match &value.kind {
            ExpressionKind::Postfix(postfix) => match postfix.suffixes.split_last() {
                Some((last, before)) if is_variant(&last.kind) => {
                    let object = self.infer_suffixes(postfix, before.len());
                    self.known.resolve(&object)
                }
                _ => self.known.resolve(matched),
            },
            _ => self.known.resolve(matched),
        };
        let name = resolved.name()?;
        let declared = self.known.declarations.enums.get(name)?;
        declared.parameters.is_empty().then(|| name.clone())
    }

    fn missing_variants(&self, name: &SmolStr, patterns: &[&Expression]) -> Option<String> {
        let declared = self.known.declarations.enums.get(name)?;
        let mut covered = std::collections::HashSet::new();
        for pattern in patterns {
            let is_own = |text: &SmolStr| declared.variants.iter().any(|(own, _)| own == text);
            let variant = match &pattern.kind {
                ExpressionKind::String(text) | ExpressionKind::RawString(text) => text,
                ExpressionKind::Name(bound) if is_own(&bound.text) => &bound.text,
                ExpressionKind::Postfix(postfix) => match member_of_variable(postfix) {
                    Some((object, variant)) if object == name => variant,
                    _ => return None,
                },
                _ => return None,
            };
            covered.insert(variant);
        }
        let missing = declared.variants.iter().map(|(variant, _)| variant);
        let missing = missing.filter(|variant| !covered.contains(variant));
        let missing: Vec<String> = missing.map(|variant| format!("\"{variant}\"")).collect();
        (!missing.is_empty()).then(|| {
            let missing = missing.join(", ");
            format!("Non-exhaustive match on enum {name}: missing variants {missing}")
        })
    }

    fn missing_members(&self, matched: &Ty, patterns: &[&Expression]) -> Option<String> {
        let members = self.known.resolved_members(matched)?;
        if members.len() < 2 {
            return None;
        }
        let is_literal = |member: &Ty| matches!(member, Ty::String(_) | Ty::Int(_));
        if members.iter().all(is_literal) {
            let missing = missing_literals(&members, patterns)?;
            let what = "Non-exhaustive match on literal union: missing";
            return Some(format!("{what} {missing}"));
        }
        if !members.iter().all(|member| member.name().is_some()) {
            return None;
        }
        let kinds = patterns.iter().map(|pattern| literal_kind(pattern));
        let covered = kinds.collect::<Option<Vec<_>>>()?;
        let missing = members.iter().filter_map(Ty::name);
        let missing = missing.filter(|name| !covered.contains(&name.as_str()));
        let missing: Vec<&str> = missing.map(SmolStr::as_str).collect();
        (!missing.is_empty()).then(|| {
            let missing = missing.join(", ");
            format!("Non-exhaustive match on union type: missing {missing}")
        })
    }
}

/// Whether the suffix is `.variant`.
fn is_variant(suffix: &SuffixKind) -> bool {
    matches!(suffix, SuffixKind::Member { name, optional: false } if name.text == "variant")
}

/// The literals that no pattern names. A pattern that is no literal deals with all of them.
fn missing_literals(literals: &[Ty], patterns: &[&Expression]) -> Option<String> {
    let named = patterns.iter().map(|pattern| literal_type(pattern));
    let named: std::collections::HashSet<Ty> = named.collect::<Option<_>>()?;
    let missing = literals.iter().filter(|literal| !named.contains(literal));
    let missing: Vec<String> = missing.map(Ty::to_string).collect();
    (!missing.is_empty()).then(|| missing.join(", "))
}
