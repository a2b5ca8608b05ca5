//! Keeping secrets out of what readers see.
//!
//! One policy object rules JSON fields and headers by name, credentials in
//! URLs, secrets with a known look, and secrets that are known by their values
//! ([`KnownSecrets`]), in whatever form they are written. It is applied
//! twice: to tool inputs, outputs and errors before any reader sees an event,
//! and to the whole record before a durable sink stores it. The loop itself
//! keeps the original values, because a tool has to work with them.
//!
//! Nearly all text holds no secret, so everything starts with one quick pass
//! for words that could announce one ([`Triggers`]); the rules proper run
//! only behind it. Where a rule is in doubt it redacts: a lost word is a
//! nuisance, a leaked key is an incident.

mod event;
mod key_lines;
mod known;
mod names;
mod rules;
mod stream;
mod text;
mod triggers;
mod variables;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

pub use known::{KnownSecret, KnownSecrets, SecretSource};
pub use stream::StreamRedactor;
pub use variables::is_secret_variable;

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
    known: KnownSecrets,
    compiled: Arc<Compiled>,
}

/// How many characters of a known value have to be there before the end of a text that is still
/// arriving is taken for its beginning.
const ARRIVED_BYTES_MIN: usize = 4;

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
    /// characters are ignored: hiding every `a` protects nobody. Other clones of
    /// this policy do not hide it; [`learn`](Self::learn) is for that.
    #[must_use]
    pub fn with_secret(mut self, value: impl Into<String>) -> Self {
        self.known = self.known.fork();
        self.known.learn(KnownSecret::declared("secret", value));
        self
    }

    /// From now on this policy and all clones of it hide a value as well, those that
    /// work already included.
    pub fn learn(&self, secret: KnownSecret) {
        self.known.learn(secret);
    }

    /// The secrets that are known by their values.
    pub fn known(&self) -> &KnownSecrets {
        &self.known
    }

    /// Whether a field, header or query parameter of this name holds a secret.
    pub fn is_sensitive_name(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether text, or serialised JSON, could hold anything to redact. Says
    /// "no" quickly; a "yes" means that the rules have to look.
    pub fn might_match(&self, text: impl AsRef<[u8]>) -> bool {
        let text = text.as_ref();
        self.has_look(text) || self.known.are_in(text)
    }

    /// Whether anything in the text could look like a secret.
    fn has_look(&self, text: &[u8]) -> bool {
        let triggers = self
            .compiled
            .triggers
            .get_or_init(|| Triggers::new(&self.names));
        triggers.found_in(text) || key_lines::may_be_in(text)
    }

    fn patterns(&self) -> &Patterns {
        self.compiled
            .patterns
            .get_or_init(|| Patterns::new(&self.names))
    }

    /// The text without its secrets.
    pub fn redact_text<'a>(&self, text: &'a str, completeness: Completeness) -> Cow<'a, str> {
        let found = self.find(text, completeness);
        text::taken_out(text, found)
    }

    /// Where the secrets of a text are, in no order.
    fn find(&self, text: &str, completeness: Completeness) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        if self.known.are_in(text) {
            found = self.known.find(text);
        }
        if completeness == Completeness::Partial
            && let Some(start) = self.known.open_at(text)
            && text.len() - start >= ARRIVED_BYTES_MIN
        {
            found.push(start..text.len());
        }
        if self.has_look(text.as_bytes()) {
            found.extend(self.patterns().find(text, completeness));
        }
        found
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
            Value::Object(fields) => {
                let is_renamed = self.redact_names(fields);
                fields
                    .iter_mut()
                    .fold(is_renamed, |changed, (name, field)| {
                        self.redact_field(name, field, completeness) | changed
                    })
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// A name may be a secret itself, in a table of what belongs to which key.
    fn redact_names(&self, fields: &mut Map<String, Value>) -> bool {
        if !fields.keys().any(|name| self.known.are_in(name)) {
            return false;
        }
        let all = std::mem::take(fields).into_iter();
        fields.extend(all.map(|(name, field)| (self.known.redact(&name).into_owned(), field)));
        true
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
