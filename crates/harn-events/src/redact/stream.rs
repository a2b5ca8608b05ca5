//! Text that is shown while it arrives, without the secrets in it.
//!
//! ```text
//! pieces ─► context, shown already │ held: could begin a secret ─► shown when it cannot any more
//! ```
//!
//! A secret that arrives in pieces is in none of them, but whoever joins what was shown has it.
//! So the end of the text that a secret could go on from is held back, and judged together with
//! what follows. A word or two late is all that a reader notices.

use std::ops::Range;

use super::known::{FORM_BYTES_MAX, joined, without};
use super::triggers::TOKEN_PREFIXES;
use super::{Completeness, REDACTED, RedactionPolicy};

/// At most so much is held back.
const HELD_BYTES_MAX: usize = FORM_BYTES_MAX;

/// So much of what was shown is remembered: what stands before a value says that it is secret.
const CONTEXT_BYTES: usize = 256;

/// So much is remembered of a secret that is longer than what is held back.
const LONG_SECRET_BYTES: usize = 1024;

/// So much of the prefix of a token has to be there. A single letter begins any word, and tells
/// nothing about the token.
const PREFIX_BYTES_MIN: usize = 2;

/// A run of letters and digits of this length may become a line of a key.
const RUN_BYTES_MIN: usize = 16;

/// Redacts one stream of text. Nothing that it gives, however it is joined, holds a secret that
/// the policy knows or recognises.
#[derive(Debug)]
pub struct StreamRedactor {
    policy: RedactionPolicy,
    /// What was shown last, and then what is held back.
    text: String,
    /// How much of `text` was shown.
    shown: usize,
    /// Whether the mark of the secret that is arriving was shown already.
    is_inside: bool,
}

impl StreamRedactor {
    /// A stream of which nothing has arrived.
    pub fn new(policy: RedactionPolicy) -> Self {
        Self {
            policy,
            text: String::new(),
            shown: 0,
            is_inside: false,
        }
    }

    /// Takes a piece and gives what may be shown now; empty if it has to wait.
    pub fn push(&mut self, piece: &str) -> String {
        self.text.push_str(piece);
        let open = self.open_at().unwrap_or(self.text.len());
        let open = open.clamp(self.shown, self.text.len());
        let found = self.secrets();
        // A secret is shown as one mark, when all of it is there.
        let crossing = found.iter().find(|range| {
            range.contains(&open) || range.end == self.text.len() && range.start < open
        });
        let cut = crossing.map_or(open, |range| range.start.max(self.shown));
        if self.text.len() - cut <= HELD_BYTES_MAX {
            return self.show(cut, &found);
        }
        self.show_long(cut, &found)
    }

    /// Gives what was held back, without secrets: nothing follows.
    pub fn finish(&mut self) -> String {
        let found = self.secrets();
        let rest = self.show(self.text.len(), &found);
        self.text.clear();
        self.shown = 0;
        self.is_inside = false;
        rest
    }

    /// Gives what is held back although more may follow: what could be the beginning of a secret
    /// is hidden, unless it is too short to tell anything.
    pub fn pause(&mut self) -> String {
        let found = joined(self.policy.find(&self.text, Completeness::Partial));
        self.show(self.text.len(), &found)
    }

    /// Whether nothing is held back.
    pub fn is_idle(&self) -> bool {
        self.shown == self.text.len()
    }

    fn secrets(&self) -> Vec<Range<usize>> {
        joined(self.policy.find(&self.text, Completeness::Whole))
    }

    /// Where the end begins that a secret could go on from.
    fn open_at(&self) -> Option<usize> {
        let known = self.policy.known.open_at(&self.text);
        let looks = || self.policy.patterns().open_at(&self.text);
        let looks = match self.policy.has_look(self.text.as_bytes()) {
            true => looks(),
            false => None,
        };
        let all = [
            known,
            looks,
            begun_prefix(&self.text),
            block_at(&self.text),
            run_at(&self.text),
        ];
        all.into_iter().flatten().min()
    }

    /// Shows what is held back up to a place.
    fn show(&mut self, cut: usize, found: &[Range<usize>]) -> String {
        let held = self.shown..cut;
        let inside = found
            .iter()
            .filter(|range| range.end > held.start && range.start < held.end && !held.is_empty())
            .map(|range| {
                range.start.max(held.start) - held.start..range.end.min(held.end) - held.start
            });
        let inside: Vec<_> = inside.collect();
        let mut given = without(&self.text[held.clone()], &inside);
        let goes_on = self.is_inside && inside.first().is_some_and(|first| first.start == 0);
        if goes_on {
            given.drain(..REDACTED.len());
        }
        if let Some(last) = inside.last()
            && !held.is_empty()
        {
            self.is_inside = last.end == held.len();
        } else if !held.is_empty() {
            self.is_inside = false;
        }
        self.shown = cut;
        let context = self
            .text
            .floor_char_boundary(cut.saturating_sub(CONTEXT_BYTES));
        self.text.drain(..context);
        self.shown -= context;
        given
    }

    /// What is held back is a secret, or the beginning of one, that is longer than anything that
    /// may be held back: its mark is shown, and its middle forgotten while it goes on.
    fn show_long(&mut self, cut: usize, found: &[Range<usize>]) -> String {
        let mut given = self.show(cut, found);
        if !self.is_inside {
            given.push_str(REDACTED);
        }
        self.is_inside = true;
        let start = self
            .text
            .floor_char_boundary(self.shown + LONG_SECRET_BYTES / 2);
        let end = self
            .text
            .floor_char_boundary(self.text.len() - LONG_SECRET_BYTES / 2);
        self.text.replace_range(start..end, "");
        given
    }
}

/// Where at the end of a text a token may have begun of which not even the prefix is there.
fn begun_prefix(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let longest = TOKEN_PREFIXES
        .iter()
        .map(|prefix| prefix.len())
        .max()
        .unwrap_or_default();
    let first = bytes.len().saturating_sub(longest);
    let last = (bytes.len() + 1).saturating_sub(PREFIX_BYTES_MIN);
    (first..last).find(|&start| {
        let is_word_start = start == 0 || !is_word(bytes[start - 1]);
        is_word_start
            && TOKEN_PREFIXES
                .iter()
                .any(|prefix| prefix.as_bytes().starts_with(&bytes[start..]))
    })
}

/// Where the title of a block of a key begins at the end of a text: `-----BEGIN PRIV`.
fn block_at(text: &str) -> Option<usize> {
    const TITLE_BYTES_MAX: usize = 64;
    let is_title = |byte: &u8| byte.is_ascii_uppercase() || matches!(byte, b' ' | b'-');
    let title = text
        .bytes()
        .rev()
        .take(TITLE_BYTES_MAX)
        .take_while(is_title)
        .count();
    let start = text.len() - title;
    let dashes = text.bytes().rev().take_while(|byte| *byte == b'-').count();
    let begun = (1..=5).contains(&dashes).then_some(text.len() - dashes);
    let titled = text[start..].find("-----").map(|dashes| start + dashes);
    titled.or(begun)
}

/// Where the run of letters and digits at the end of a text begins, if it is a long one.
fn run_at(text: &str) -> Option<usize> {
    let is_digit =
        |byte: &u8| is_word(*byte) || matches!(byte, b'+' | b'/' | b'=' | b'.' | b':' | b'-');
    let run = text.bytes().rev().take_while(is_digit).count();
    (run >= RUN_BYTES_MIN).then_some(text.len() - run)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::KnownSecret;

    fn policy() -> RedactionPolicy {
        let policy = RedactionPolicy::new();
        policy.learn(KnownSecret::declared("k", "correct horse battery"));
        policy
    }

    /// What is shown of a text that arrives in pieces of so many characters.
    fn shown(policy: &RedactionPolicy, text: &str, length: usize) -> String {
        let mut stream = StreamRedactor::new(policy.clone());
        let characters: Vec<char> = text.chars().collect();
        let mut all = String::new();
        for piece in characters.chunks(length) {
            all += &stream.push(&piece.iter().collect::<String>());
        }
        all + &stream.finish()
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let policy = policy();
        for length in 1..=16 {
            assert_eq!(shown(&policy, text, length), expected, "pieces of {length}");
        }
    }

    #[test]
    fn no_pieces_of_a_secret_show_however_it_arrives() {
        check("the correct horse battery is", "the [redacted] is");
        check(
            "DB_PASSWORD=hunter2 and on",
            "DB_PASSWORD=[redacted] and on",
        );
        check("postgres://u:p@ss@host/db", "postgres://[redacted]@host/db");
        check(
            "{\"api_key\": \"a b c\"} x",
            "{\"api_key\": \"[redacted]\"} x",
        );
        check(
            "x\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\ny",
            "x\n[redacted]\ny",
        );
    }

    #[test]
    fn at_most_a_letter_of_the_prefix_of_a_token_shows() {
        let policy = policy();
        for length in 1..=16 {
            let shown = shown(&policy, "key ghp_abcdefghijklmnopqrst123456 end", length);
            let (before, after) = shown.split_once("[redacted]").unwrap();
            assert!(
                matches!(before, "key " | "key g") && after == " end",
                "{shown}"
            );
        }
    }

    #[test]
    fn what_only_begins_like_a_secret_is_shown_when_it_is_none() {
        check("a correct horse barks", "a correct horse barks");
        check(
            "a task-based plan with sketches",
            "a task-based plan with sketches",
        );
        check("see http://localhost:8080/x", "see http://localhost:8080/x");
        check("ends with correct horse", "ends with correct horse");
        check("größer als höflich, s", "größer als höflich, s");
    }

    #[test]
    fn prose_is_not_held_back() {
        let mut stream = StreamRedactor::new(policy());
        assert_eq!(stream.push("Hello, "), "Hello, ");
        assert_eq!(stream.push("world. "), "world. ");
        assert!(stream.is_idle());
        assert_eq!(stream.push("It is c"), "It is ");
        assert!(!stream.is_idle());
        assert_eq!(stream.push("old."), "cold.");
    }

    #[test]
    fn a_secret_that_is_longer_than_what_is_held_back_is_one_mark() {
        let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n";
        let key = format!(
            "a -----BEGIN PRIVATE KEY-----\n{}-----END PRIVATE KEY----- b",
            line.repeat(200)
        );
        let policy = policy();
        for length in [7, 16, 1000, 100_000] {
            assert_eq!(
                shown(&policy, &key, length),
                "a [redacted] b",
                "pieces of {length}"
            );
        }
    }

    #[test]
    fn a_stream_that_pauses_hides_what_could_be_a_beginning() {
        let mut stream = StreamRedactor::new(policy());
        assert_eq!(stream.push("say correct ho"), "say ");
        assert_eq!(stream.pause(), "[redacted]");
        assert_eq!(stream.push("rse battery!"), "!");
        assert_eq!(stream.push(" co"), " ");
        assert_eq!(stream.pause(), "co");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn no_secret_shows_in_whatever_pieces_it_arrives(
            words in proptest::collection::vec("[a-z]{0,6}|correct horse battery|correct|token=|ghp_abcdefghijklmnopqrst|Bearer|[0-9]{3}", 0..8),
            length in 1usize..17,
        ) {
            let text = words.join(" ");
            let shown = shown(&policy(), &text, length);
            prop_assert!(!shown.contains("correct horse battery"), "{shown}");
            prop_assert!(!shown.contains("ghp_abcdefghijklmnopqrst"), "{shown}");
        }
    }
}
