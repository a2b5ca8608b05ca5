//! The shape of the event enum as data, written by the same macro as the enum.
//!
//! The compatibility reader asks it which fields are numbers; the tests compare
//! it with the catalogue.

/// One variant.
#[derive(Debug)]
pub(crate) struct Variant {
    /// `type` on the wire.
    pub(crate) tag: &'static str,
    /// Name in Rust.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "compared with the catalogue by a test")
    )]
    pub(crate) rust_name: &'static str,
    /// Fields in order, `session_id` first.
    pub(crate) fields: &'static [Field],
}

/// One field of a variant.
#[derive(Debug)]
pub(crate) struct Field {
    /// Key on the wire and name in Rust.
    pub(crate) name: &'static str,
    /// Rust type as written in the declaration.
    pub(crate) ty: &'static str,
    /// When the key is written and what its absence means.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "compared with the catalogue by a test")
    )]
    pub(crate) rule: Rule,
}

/// When a key is written and what its absence means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Always written; an error when absent.
    Required,
    /// Always written; the default when absent.
    Nullable,
    /// Left out when it has the default; the default when absent.
    Omitted,
}

/// The variant with this tag.
pub(crate) fn variant(tag: &str) -> Option<&'static Variant> {
    crate::event::SHAPES
        .iter()
        .find(|variant| variant.tag == tag)
}

impl Field {
    /// Whether the field is a plain number, in which `null` can only be the trace
    /// of a number that JSON could not hold.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self.ty, "f64" | "u64" | "usize")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{self, Catalogue};

    fn rule(field: &catalogue::Field) -> Rule {
        match (field.required, &field.skip_if) {
            (true, _) => Rule::Required,
            (false, None) => Rule::Nullable,
            (false, Some(_)) => Rule::Omitted,
        }
    }

    /// `Vec < Value >` and `Vec<serde_json::Value>` are one type. What is known of an iteration
    /// is any JSON as well; it only shares some of it.
    fn plain(ty: &str) -> String {
        let plain = ty.replace("serde_json::", "").replace(' ', "");
        plain.replace("IterationInfo", "Value")
    }

    #[test]
    fn the_enum_is_the_catalogue_field_by_field() {
        let catalogue = Catalogue::builtin();
        assert_eq!(catalogue.variants.len(), crate::event::SHAPES.len());
        for (event, variant) in catalogue.variants.iter().zip(crate::event::SHAPES) {
            assert_eq!(
                event.tag, variant.tag,
                "variants stand in the order of the catalogue"
            );
            assert_eq!(event.rust_name, variant.rust_name);
            let described: Vec<_> = event
                .fields
                .iter()
                .map(|field| {
                    (
                        &*field.name,
                        plain(field.rust.as_deref().unwrap_or("")),
                        rule(field),
                    )
                })
                .collect();
            let declared: Vec<_> = variant
                .fields
                .iter()
                .map(|field| (field.name, plain(field.ty), field.rule))
                .collect();
            assert_eq!(described, declared, "{}", event.tag);
        }
    }
}
