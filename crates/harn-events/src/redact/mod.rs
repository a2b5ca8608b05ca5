//! Keeping secrets out of what readers see.
//!
//! One policy object rules JSON fields and headers by name, credentials in
//! URLs, secrets with a known look, and secrets somebody declared. It is applied
//! twice: to tool inputs, outputs and errors before any reader sees an event,
//! and to the whole record before a durable sink stores it. The loop itself
//! keeps the original values, because a tool has to work with them.
//!
//! Nearly all text holds no secret, so everything starts with one quick pass
//! for words that could announce one ([`Triggers`]); the rules proper run
//! only behind it. Where a rule is in doubt it redacts: a lost word is a
//! nuisance, a leaked key is an incident.

mod event;
mod names;
mod text;
mod triggers;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use names::FieldNames;
use text::Patterns;
use triggers::Triggers;

/// What stands where a secret was.
pub const REDACTED: &str = "[redacted]";

/// Whether a text is all there is, or the beginning of something still arriving.
///
/// A secret that is still arriving does not look like one yet, so the end of a
/// partial text is judged by its first characters alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// Nothing will follow.
    Whole,
    /// More may follow.
    Partial,
}

/// What counts as a secret. Cheap to clone; the compiled rules are shared.
#[derive(Clone, Debug, Default)]
pub struct RedactionPolicy {
    names: FieldNames,
    /// Values from secret stores and the environment, wherever they turn up.
    secrets: Arc<Vec<String>>,
    compiled: Arc<Compiled>,
}

/// Built on first use: a program that publishes nothing pays nothing, and one
/// that publishes no secret never pays for the patterns.
#[derive(Debug, Default)]
struct Compiled {
    triggers: OnceLock<Triggers>,
    patterns: OnceLock<Patterns>,
}

impl RedactionPolicy {
    /// The standard rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also treats fields, headers and query parameters of this name as secret.
    #[must_use]
    pub fn with_field(mut self, name: &str) -> Self {
        self.names.add(name);
        self.compiled = Arc::default();
        self
    }

    /// Also hides this very value wherever it appears. Values shorter than four
    /// characters are ignored: hiding every `a` protects nobody.
    #[must_use]
    pub fn with_secret(mut self, value: impl Into<String>) -> Self {
        let value = value.into();
        if value.trim().chars().count() >= 4 {
            Arc::make_mut(&mut self.secrets).push(value);
            self.compiled = Arc::default();
        }
        self
    }

    /// Whether a field, header or query parameter of this name holds a secret.
    pub fn is_sensitive_name(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether text, or serialised JSON, could hold anything to redact. Says
    /// "no" quickly; a "yes" means that the rules have to look.
    pub fn might_match(&self, text: impl AsRef<[u8]>) -> bool {
        let triggers = self
            .compiled
            .triggers
            .get_or_init(|| Triggers::new(&self.names, &self.secrets));
        triggers.found_in(text.as_ref())
    }

    /// The text without its secrets.
    pub fn redact_text<'a>(&self, text: &'a str, completeness: Completeness) -> Cow<'a, str> {
        if !self.might_match(text) {
            return Cow::Borrowed(text);
        }
        let patterns = self
            .compiled
            .patterns
            .get_or_init(|| Patterns::new(&self.names, &self.secrets));
        patterns.redact(text, completeness)
    }

    /// Removes the secrets from a JSON value; says whether there were any.
    pub fn redact_value(&self, value: &mut Value, completeness: Completeness) -> bool {
        match value {
            Value::String(text) => match self.redact_text(text, completeness) {
                Cow::Borrowed(_) => false,
                Cow::Owned(redacted) => {
                    *text = redacted;
                    true
                }
            },
            Value::Array(items) => items.iter_mut().fold(false, |changed, item| {
                self.redact_value(item, completeness) | changed
            }),
            Value::Object(fields) => fields.iter_mut().fold(false, |changed, (name, field)| {
                self.redact_field(name, field, completeness) | changed
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    fn redact_field(&self, name: &str, field: &mut Value, completeness: Completeness) -> bool {
        if !self.is_sensitive_name(name) {
            return self.redact_value(field, completeness);
        }
        let is_secret = !field.is_null() && field.as_str() != Some(REDACTED);
        if is_secret {
            *field = Value::from(REDACTED);
        }
        is_secret
    }
}
