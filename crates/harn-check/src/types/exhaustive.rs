//! Whether the arms of a `match` deal with every possible value.

use harn_syntax::tree::{Expression, ExpressionKind, Match, SuffixKind};
use smol_str::SmolStr;

use super::checker::Checker;
use super::literals::{literal_kind, literal_type};
use super::narrow::member_of_variable;
use super::ty::Ty;

/// What the arms of a `match` forget.
pub(super) struct Missing {
    pub(super) message: String,
    /// Patterns that would deal with it.
    pub(super) patterns: Vec<String>,
}

impl Checker {
    /// What the arms forget.
    pub(super) fn missing_cases(&mut self, item: &Match, matched: &Ty) -> Option<Missing> {
        let patterns: Vec<&Expression> = item.arms.iter().flat_map(|arm| &arm.patterns).collect();
        if let Some(name) = self.matched_enum(&item.value, matched) {
            let missing = self.missing_variants(&name, &patterns)?;
            let quoted = missing.iter().map(|variant| format!("\"{variant}\""));
            let listed = quoted.collect::<Vec<_>>();
            let is_name = matched.is("string");
            let named = missing.iter().map(|variant| format!("{name}.{variant}"));
            return Some(Missing {
                message: format!(
                    "Non-exhaustive match on enum {name}: missing variants {}",
                    listed.join(", ")
                ),
                patterns: if is_name { listed } else { named.collect() },
            });
        }
        if let ExpressionKind::Postfix(postfix) = &item.value.kind
            && let Some((object, tag)) = member_of_variable(postfix)
            && let Some((_, variable)) = self.environment.variable(object)
            && let current = variable.state.current.clone()
            && let Some(tagged) = self.tagged(&current)
            && tagged.tag == *tag
        {
            let tags = tagged.variants.iter().map(|(_, tag)| tag.clone());
            let tags: Vec<Ty> = tags.collect();
            let what = "Non-exhaustive match on tagged shape union: missing variants";
            return missing_literals(what, &tags, &patterns);
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

    fn missing_variants(&self, name: &SmolStr, patterns: &[&Expression]) -> Option<Vec<SmolStr>> {
        let declared = self.known.declarations.enums.get(name)?;
        let mut covered = hashbrown::HashSet::new();
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
        let missing: Vec<SmolStr> = missing.cloned().collect();
        (!missing.is_empty()).then_some(missing)
    }

    fn missing_members(&self, matched: &Ty, patterns: &[&Expression]) -> Option<Missing> {
        let members = self.known.resolved_members(matched)?;
        if members.len() < 2 {
            return None;
        }
        let is_literal = |member: &Ty| matches!(member, Ty::String(_) | Ty::Int(_));
        if members.iter().all(is_literal) {
            let what = "Non-exhaustive match on literal union: missing";
            return missing_literals(what, &members, patterns);
        }
        if !members.iter().all(|member| member.name().is_some()) {
            return None;
        }
        let kinds = patterns.iter().map(|pattern| literal_kind(pattern));
        let covered = kinds.collect::<Option<Vec<_>>>()?;
        let missing = members.iter().filter_map(Ty::name);
        let missing = missing.filter(|name| !covered.contains(&name.as_str()));
        let missing: Vec<&str> = missing.map(SmolStr::as_str).collect();
        (!missing.is_empty()).then(|| Missing {
            message: format!(
                "Non-exhaustive match on union type: missing {}",
                missing.join(", ")
            ),
            // No pattern matches every value of a type.
            patterns: vec!["_".to_owned()],
        })
    }
}

/// Whether the suffix is `.variant`.
fn is_variant(suffix: &SuffixKind) -> bool {
    matches!(suffix, SuffixKind::Member { name, optional: false } if name.text == "variant")
}

/// The literals that no pattern names. A pattern that is no literal deals with all of them.
fn missing_literals(what: &str, literals: &[Ty], patterns: &[&Expression]) -> Option<Missing> {
    let named = patterns.iter().map(|pattern| literal_type(pattern));
    let named: hashbrown::HashSet<Ty> = named.collect::<Option<_>>()?;
    let missing = literals.iter().filter(|literal| !named.contains(*literal));
    let missing: Vec<String> = missing.map(Ty::to_string).collect();
    (!missing.is_empty()).then(|| Missing {
        message: format!("{what} {}", missing.join(", ")),
        patterns: missing,
    })
}
