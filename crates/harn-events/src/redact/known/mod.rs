//! Secrets that are known by their values.
//!
//! ```text
//! environment, files ── read at the first look ─┐
//! logins, keys of servers ── learned meanwhile ─┴─► values ─► forms ─► matcher
//! ```
//!
//! What the process was told in confidence ([`KnownSecrets::of_process`]) is known to every policy;
//! what a policy learns besides is known to it and to its clones. Values are read and prepared when
//! something is looked through for the first time, so a program that writes nothing down pays
//! nothing.

mod forms;
mod matcher;
mod process;
mod worth;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use matcher::Matcher;

pub(super) use matcher::FORM_BYTES_MAX;
pub(super) use worth::entropy;

use super::REDACTED;
use crate::lock::{Recover, RecoverShared};

/// A value that must not be shown, and a name for it that may.
#[derive(Clone, PartialEq, Eq)]
pub struct KnownSecret {
    name: String,
    value: String,
    is_declared: bool,
}

impl KnownSecret {
    /// A value that stood where secrets stand. It is looked for unless it is as short, as plain
    /// or as common as no secret is: hiding every `production` protects nobody.
    pub fn found(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            is_declared: false,
        }
    }

    /// A value that somebody said is secret. It is looked for from four characters on.
    pub fn declared(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            is_declared: true,
            ..Self::found(name, value)
        }
    }

    /// How it may be called: `env ANTHROPIC_API_KEY`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is looked for.
    pub fn is_looked_for(&self) -> bool {
        match self.is_declared {
            true => worth::is_worth_when_declared(&self.value),
            false => worth::is_worth(&self.value),
        }
    }
}

impl fmt::Debug for KnownSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("KnownSecret")
            .field(&self.name)
            .finish()
    }
}

/// Reads secrets when they are needed first.
pub type SecretSource = Box<dyn FnOnce() -> Vec<KnownSecret> + Send>;

/// Secrets that are known by their values. Clones know the same.
#[derive(Clone)]
pub struct KnownSecrets(Arc<Inner>);

struct Inner {
    /// What is known besides. One level at most, so a search has a bound.
    base: Option<KnownSecrets>,
    /// Whether nothing was learned, which costs no lock to find out.
    is_empty: AtomicBool,
    learned: Mutex<Learned>,
    /// Thrown away when something is learned.
    matcher: RwLock<Option<Arc<Prepared>>>,
}

#[derive(Default)]
struct Learned {
    secrets: Vec<KnownSecret>,
    sources: Vec<SecretSource>,
}

/// Secrets that are ready to be looked for.
struct Prepared {
    names: Vec<String>,
    matcher: Matcher,
}

impl Default for KnownSecrets {
    /// What the process knows, and room for more.
    fn default() -> Self {
        Self::with_base(Some(Self::of_process().clone()))
    }
}

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self
            .0
            .learned
            .recover()
            .secrets
            .iter()
            .map(|one| one.name.clone())
            .collect();
        formatter.debug_tuple("KnownSecrets").field(&names).finish()
    }
}

impl KnownSecrets {
    /// What this process was told in confidence. The program that owns the process adds what its
    /// environment and its user's files hold; every policy knows it.
    pub fn of_process() -> &'static Self {
        process::secrets()
    }

    fn with_base(base: Option<Self>) -> Self {
        Self(Arc::new(Inner {
            base,
            is_empty: AtomicBool::new(true),
            learned: Mutex::default(),
            matcher: RwLock::default(),
        }))
    }

    /// Hides a value from now on.
    pub fn learn(&self, secret: KnownSecret) {
        if !secret.is_looked_for() {
            return;
        }
        let mut learned = self.0.learned.recover();
        if !learned.secrets.contains(&secret) {
            learned.secrets.push(secret);
            self.forget_matcher();
        }
    }

    /// Hides what `source` reads, which is called when something is looked through next.
    pub fn learn_from(&self, source: SecretSource) {
        self.0.learned.recover().sources.push(source);
        self.forget_matcher();
    }

    /// Whoever calls this holds the lock of what was learned.
    fn forget_matcher(&self) {
        *self.0.matcher.recover_write() = None;
        self.0.is_empty.store(false, Ordering::Release);
    }

    /// A set of its own that knows the same now, and to which more can be added.
    pub(super) fn fork(&self) -> Self {
        let fork = Self::with_base(self.0.base.clone());
        for secret in self.0.learned.recover().secrets.iter().cloned() {
            fork.learn(secret);
        }
        fork
    }

    fn prepared(&self) -> Option<Arc<Prepared>> {
        if self.0.is_empty.load(Ordering::Acquire) {
            return None;
        }
        if let Some(prepared) = &*self.0.matcher.recover_read() {
            return Some(Arc::clone(prepared));
        }
        let mut learned = self.0.learned.recover();
        let sources = std::mem::take(&mut learned.sources);
        let read = sources.into_iter().flat_map(|source| source());
        learned
            .secrets
            .extend(read.filter(KnownSecret::is_looked_for));
        let prepared = Arc::new(Prepared {
            names: learned.secrets.iter().map(|one| one.name.clone()).collect(),
            matcher: Matcher::new(learned.secrets.iter().map(|one| one.value.as_str())),
        });
        *self.0.matcher.recover_write() = Some(Arc::clone(&prepared));
        Some(prepared)
    }

    /// This set and the one below it, as far as they know anything.
    fn each(&self) -> impl Iterator<Item = Arc<Prepared>> {
        let base = self.0.base.as_ref().and_then(KnownSecrets::prepared);
        base.into_iter().chain(self.prepared())
    }

    /// Whether a text, or serialised JSON, holds any of them.
    pub fn are_in(&self, text: impl AsRef<[u8]>) -> bool {
        self.each().any(|one| one.matcher.is_in(text.as_ref()))
    }

    /// A text with `[redacted]` in the place of each of them.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.are_in(text) {
            true => Cow::Owned(without(text, &joined(self.find(text)))),
            false => Cow::Borrowed(text),
        }
    }

    /// A text with `[secret NAME]` in the place of each of them, as models see it.
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut found: Vec<(Range<usize>, String)> = Vec::new();
        for prepared in self.each() {
            let all = prepared.matcher.find(text.as_bytes()).into_iter();
            found.extend(all.map(|one| (one.range, prepared.names[one.value].clone())));
        }
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let mut masked = String::new();
        let mut end = 0;
        for (range, name) in found {
            if range.start >= end {
                masked.push_str(&text[end..range.start]);
                masked.push_str(&format!("[secret {name}]"));
            }
            end = end.max(range.end);
        }
        masked.push_str(&text[end..]);
        Cow::Owned(masked)
    }

    /// Where they are, in no order.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let found = self
            .each()
            .flat_map(|one| one.matcher.find(text.as_bytes()));
        found.map(|found| found.range).collect()
    }

    /// Where the longest end of a text begins that one of them may go on from.
    pub(super) fn open_at(&self, text: &str) -> Option<usize> {
        let open = self
            .each()
            .filter_map(|one| one.matcher.open_at(text.as_bytes()));
        open.min()
    }
}

/// Ranges in order, those that overlap as one.
pub(super) fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// The text with a mark in the place of each range.
pub(super) fn without(text: &str, ranges: &[Range<usize>]) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut end = 0;
    for range in ranges {
        redacted.push_str(&text[end..range.start]);
        redacted.push_str(REDACTED);
        end = range.end;
    }
    redacted + &text[end..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knowing(secrets: &[(&str, &str)]) -> KnownSecrets {
        let known = KnownSecrets::with_base(None);
        for (name, value) in secrets {
            known.learn(KnownSecret::declared(*name, *value));
        }
        known
    }

    #[test]
    fn a_known_value_is_hidden_in_every_form() {
        let known = knowing(&[("key", "q7Zr2/PLm9+XwK4tVb\"")]);
        for text in [
            "q7Zr2/PLm9+XwK4tVb\"",
            "q7Zr2/PLm9+XwK4tVb\\\"",
            "q7Zr2%2FPLm9%2BXwK4tVb%22",
            "cTdacjIvUExtOStYd0s0dFZiI", // base64, but for the end
        ] {
            assert_eq!(known.redact(&format!("<{text}>")), "<[redacted]>", "{text}");
        }
        assert_eq!(known.redact("nothing"), "nothing");
    }

    #[test]
    fn values_that_overlap_are_hidden_as_one() {
        let known = knowing(&[
            ("a", "horse"),
            ("b", "horse battery"),
            ("c", "battery staple"),
        ]);
        assert_eq!(known.redact("a horse battery staple."), "a [redacted].");
    }

    #[test]
    fn models_see_the_name_of_what_is_hidden() {
        let known = knowing(&[("env A_KEY", "q7Zr2PLm"), ("b", "q7Zr2PLm9XwK4tVb")]);
        assert_eq!(
            known.mask("x q7Zr2PLm9XwK4tVb y q7Zr2PLm"),
            "x [secret b] y [secret env A_KEY]"
        );
    }

    #[test]
    fn a_source_is_read_at_the_first_look_and_once() {
        let known = KnownSecrets::with_base(None);
        let reads = Arc::new(Mutex::new(0));
        let count = Arc::clone(&reads);
        known.learn_from(Box::new(move || {
            *count.lock().unwrap() += 1;
            vec![
                KnownSecret::found("f", "q7Zr2PLm9XwK4tVb"),
                KnownSecret::found("g", "plain"),
            ]
        }));
        assert_eq!(*reads.lock().unwrap(), 0);
        assert!(known.are_in("q7Zr2PLm9XwK4tVb") && !known.are_in("plain"));
        assert!(known.are_in("q7Zr2PLm9XwK4tVb"));
        assert_eq!(*reads.lock().unwrap(), 1);
    }

    #[test]
    fn what_is_learned_is_known_to_clones_and_not_to_forks() {
        let known = knowing(&[("a", "first-secret")]);
        let (clone, fork) = (known.clone(), known.fork());
        known.learn(KnownSecret::declared("b", "second-secret"));
        assert!(clone.are_in("second-secret") && !fork.are_in("second-secret"));
        assert!(fork.are_in("first-secret"));
        assert!(
            !format!("{known:?} {:?}", KnownSecret::found("n", "v-value")).contains("secret\"")
        );
    }
}
