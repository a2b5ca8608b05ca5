//! What is wrong with attributes. Nothing of it stops a program.

use harn_syntax::Span;
use harn_syntax::tree::{Attribute, AttributeArgument, AttributeValue, Item, ItemKind};

use crate::types::checker::Checker;
use crate::types::codes;

/// The arguments `@archivist` knows.
const ARCHIVIST_ARGUMENTS: [&str; 4] =
    ["evidence", "confidence", "source_date", "coverage_examples"];

impl Checker {
    pub(super) fn check_attributes(&mut self, item: &Item) {
        for attribute in &item.attributes {
            self.check_attribute(attribute, item);
        }
        self.check_predicate(&item.attributes);
    }

    fn check_attribute(&mut self, attribute: &Attribute, item: &Item) {
        let name = attribute.name.text.as_str();
        let is_function = matches!(item.kind, ItemKind::Function(_));
        match name {
            "deprecated" | "complexity" => {}
            "test" => {
                if !matches!(item.kind, ItemKind::Pipeline(_)) {
                    let message = "`@test` only applies to pipeline declarations";
                    self.misuse(attribute.span, message);
                }
            }
            "invariant" => {
                let runs = matches!(item.kind, ItemKind::Tool(_) | ItemKind::Pipeline(_));
                if !is_function && !runs {
                    let message = "`@invariant` only applies to function, tool, or pipeline \
                                   declarations";
                    self.misuse(attribute.span, message);
                }
            }
            "acp_tool" | "acp_skill" | "deterministic" | "semantic" | "archivist"
            | "retroactive" => {
                if is_function {
                    self.check_predicate_part(attribute, &item.attributes);
                } else {
                    let message = format!("`@{name}` only applies to function declarations");
                    self.misuse(attribute.span, &message);
                }
            }
            _ => {
                let message = format!("unknown attribute `@{name}`");
                self.warn(codes::UNKNOWN_ATTRIBUTE, attribute.span, message);
            }
        }
    }

    /// `@archivist` and `@retroactive` say something about a Flow predicate.
    fn check_predicate_part(&mut self, attribute: &Attribute, all: &[Attribute]) {
        let is_predicate = all.iter().any(is_predicate_mark);
        match attribute.name.text.as_str() {
            "archivist" => {
                if !is_predicate {
                    let message = "`@archivist(...)` only applies to Flow predicates marked with \
                                   `@invariant`";
                    self.misuse(attribute.span, message);
                }
                self.check_archivist(attribute);
            }
            "retroactive" if !is_predicate => {
                let message = "`@retroactive` only applies to Flow predicates marked with \
                               `@invariant`";
                self.misuse(attribute.span, message);
            }
            _ => {}
        }
    }

    fn check_archivist(&mut self, attribute: &Attribute) {
        let arguments = attribute.arguments.as_deref().unwrap_or(&[]);
        for argument in arguments {
            self.check_archivist_argument(argument);
        }
        let is_evidence = |argument: &AttributeArgument| {
            let name = argument.name.as_ref();
            name.is_some_and(|name| name.text == "evidence")
        };
        if !arguments.iter().any(is_evidence) {
            let message = "`@archivist(...)` should declare `evidence: [...]` so predicates can \
                           be audited";
            self.misuse(attribute.span, message);
        }
    }

    fn check_archivist_argument(&mut self, argument: &AttributeArgument) {
        let Some(name) = &argument.name else {
            let message = "`@archivist(...)` arguments must be named (e.g. `evidence: [...], \
                           confidence: 0.9`)";
            return self.misuse(argument.span, message);
        };
        let name = name.text.as_str();
        if !ARCHIVIST_ARGUMENTS.contains(&name) {
            let message = format!(
                "unknown `@archivist` argument `{name}`; expected one of {ARCHIVIST_ARGUMENTS:?}"
            );
            return self.misuse(argument.span, &message);
        }
        if name == "confidence" && !is_confidence(&argument.value) {
            let message = "`@archivist(confidence: ...)` must be a float in [0.0, 1.0]";
            self.misuse(argument.span, message);
        }
    }

    /// What the attributes of a Flow predicate must be together.
    fn check_predicate(&mut self, all: &[Attribute]) {
        let find = |name: &str| all.iter().find(|attribute| attribute.name.text == name);
        let (deterministic, semantic) = (find("deterministic"), find("semantic"));
        if let (Some(_), Some(second)) = (deterministic, semantic) {
            let message = "`@deterministic` and `@semantic` are mutually exclusive; a Flow \
                           predicate is one mode or the other";
            self.misuse(second.span, message);
        }
        let Some(mark) = all.iter().find(|attribute| is_predicate_mark(attribute)) else {
            return;
        };
        if deterministic.is_none() && semantic.is_none() {
            let message = "Flow `@invariant` requires exactly one of `@deterministic` (default) \
                           or `@semantic`";
            self.misuse(mark.span, message);
        }
        if find("archivist").is_none() {
            let message = "Flow `@invariant` is missing `@archivist(...)` provenance (evidence, \
                           confidence, source_date, coverage_examples)";
            self.misuse(mark.span, message);
        }
    }

    fn misuse(&mut self, span: Span, message: &str) {
        self.warn(codes::ATTRIBUTE_USE, span, message);
    }
}

/// Whether it is `@invariant` without arguments, which marks a Flow predicate.
fn is_predicate_mark(attribute: &Attribute) -> bool {
    let arguments = attribute.arguments.as_deref().unwrap_or(&[]);
    attribute.name.text == "invariant" && arguments.is_empty()
}

fn is_confidence(value: &AttributeValue) -> bool {
    match value {
        AttributeValue::Float(number) => (0.0..=1.0).contains(number),
        AttributeValue::Int(number) => (0..=1).contains(number),
        AttributeValue::Name(_) => true,
        AttributeValue::String(_)
        | AttributeValue::Bool(_)
        | AttributeValue::Nil
        | AttributeValue::List(_) => false,
    }
}
