//! What is wrong with struct literals.

use harn_syntax::tree::{Entry, StructLiteral};
use harn_syntax::{Diagnostic, Edit, Span};

use crate::types::binding::Bindings;
use crate::types::checker::{Checker, Misspelt};
use crate::types::codes;
use crate::types::declarations::StructTy;

impl Checker {
    pub(super) fn check_struct(&mut self, literal: &StructLiteral, span: Span) {
        self.check_entries(&literal.entries);
        match self.known.declarations.structs.get(&literal.name.text) {
            Some(declared) => {
                let declared = declared.clone();
                self.check_fields(literal, &declared);
                self.check_missing_fields(literal, &declared, span);
            }
            None => self.report_unknown_struct(literal),
        }
    }

    fn check_fields(&mut self, literal: &StructLiteral, declared: &StructTy) {
        let name = &literal.name.text;
        let mut bindings = Bindings::of(declared.parameters.iter().map(|(name, _)| name));
        self.bind_fields(&mut bindings, declared, &literal.entries);
        for entry in &literal.entries {
            let Entry::Field(key, value) = entry else {
                continue;
            };
            let Some(key) = key.name() else {
                continue;
            };
            let field = &key.text;
            let Some(found) = declared.field(field) else {
                let message = format!("Unknown field '{field}' in struct '{name}'");
                self.warn(codes::UNKNOWN_FIELD, key.span, message);
                continue;
            };
            let Some(expected) = &found.ty else {
                continue;
            };
            let actual = self.infer(value);
            if !self
                .known
                .compatible(&actual, &bindings.apply_all(expected))
            {
                let expected = bindings.apply(expected);
                let message =
                    format!("Field '{field}' in struct '{name}' expects {expected}, got {actual}");
                self.error(codes::STRUCT_FIELD_TYPE, value.span, message);
            }
        }
    }

    fn check_missing_fields(&mut self, literal: &StructLiteral, declared: &StructTy, span: Span) {
        let mut given = hashbrown::HashSet::new();
        for entry in &literal.entries {
            match entry {
                Entry::Field(key, _) => match key.name() {
                    Some(name) => given.insert(&name.text),
                    None => return,
                },
                Entry::Spread(_) => return,
            };
        }
        let name = &literal.name.text;
        let needed = declared.fields.iter().filter(|field| !field.optional);
        for field in needed.filter(|field| !given.contains(&field.name)) {
            let field = &field.name;
            let message = format!("Missing field '{field}' in struct '{name}' construction");
            self.warn(codes::MISSING_FIELD, span, message);
        }
    }

    fn report_unknown_struct(&mut self, literal: &StructLiteral) {
        if self.known.declarations.unresolved {
            return;
        }
        let name = &literal.name.text;
        let error =
            |message: String| Diagnostic::error(codes::UNKNOWN_STRUCT, literal.name.span, message);
        let diagnostic = match self.suggest(Misspelt::Struct, name) {
            None => error(format!("unknown struct type `{name}`")).with_help(format!(
                "declare `struct {name} {{ ... }}` before constructing it"
            )),
            Some(close) => error(format!(
                "unknown struct type `{name}` — did you mean `{close}`?"
            ))
            .with_help(format!(
                "declare `struct {close} {{ ... }}` or fix the type name"
            ))
            .with_fix(
                format!("Construct `{close}`"),
                vec![Edit {
                    span: literal.name.span,
                    text: close.to_string(),
                }],
            ),
        };
        self.say(diagnostic);
    }
}
