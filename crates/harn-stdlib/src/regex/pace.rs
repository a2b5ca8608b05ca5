//! How far a pattern reads beyond what it matches.
//!
//! One search takes time in proportion to the text, but a pattern such as `.*x|a` reads to the
//! end of the text before it settles for one letter, and does so again for the next one. All
//! matches of it together take the square of that time. So some of the searches are followed
//! byte by byte, and when those between them would have read too much, it is an error.
//! What is followed depends on the text alone, so that a run can be repeated.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

/// How many bytes may be read more than once. That takes less than a second for most patterns,
/// and some seconds for the worst.
const READ_AGAIN_MAX: usize = 1 << 27;

/// Texts up to this length cannot be read that often.
const SHORT_BYTES_MAX: usize = 1 << 13;

/// Every so many matches one is followed, and more of the first ones.
const INTERVAL: usize = 256;

/// A pattern that can be followed.
#[derive(Default)]
pub(super) struct Ahead(OnceCell<Option<Followed>>);

struct Followed {
    automaton: DFA,
    cache: RefCell<Cache>,
}

/// The pattern reads too much of a text too often.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooSlow;

impl Ahead {
    /// How many bytes a search reads beyond its match. As far as that can be told: there are
    /// patterns that cannot be followed, or not through every letter.
    fn beyond(&self, pattern: (&str, &str), text: &str, found: &Range<usize>) -> usize {
        let followed = self.0.get_or_init(|| Followed::new(pattern));
        let followed = followed.as_ref();
        followed.map_or(0, |followed| followed.beyond(text.as_bytes(), found))
    }
}

impl Followed {
    fn new((pattern, flags): (&str, &str)) -> Option<Self> {
        let has = |flag: char| flags.contains(flag);
        let syntax = syntax::Config::new()
            .case_insensitive(has('i'))
            .multi_line(has('m'))
            .dot_matches_new_line(has('s'))
            .ignore_whitespace(has('x'));
        let automaton = DFA::builder()
            .syntax(syntax)
            .thompson(thompson::Config::new().nfa_size_limit(Some(10 << 20)))
            .configure(DFA::config().unicode_word_boundary(true))
            .build(pattern)
            .ok()?;
        let cache = RefCell::new(automaton.create_cache());
        Some(Self { automaton, cache })
    }

    fn beyond(&self, text: &[u8], found: &Range<usize>) -> usize {
        let (automaton, cache) = (&self.automaton, &mut *self.cache.borrow_mut());
        let input = Input::new(text).span(found.start..text.len());
        let input = input.anchored(Anchored::Yes);
        let Ok(mut state) = automaton.start_state_forward(cache, &input) else {
            return 0;
        };
        let mut at = found.start;
        while let Some(byte) = text.get(at) {
            match automaton.next_state(cache, state, *byte) {
                Ok(next) if !next.is_dead() && !next.is_quit() => state = next,
                _ => break,
            }
            at += 1;
        }
        at.saturating_sub(found.end)
    }
}

/// What the matches of one text have cost.
pub(super) struct Pace<'a> {
    ahead: &'a Ahead,
    pattern: (&'a str, &'a str),
    text: &'a str,
    matches: usize,
    followed: usize,
    read_again: usize,
}

impl<'a> Pace<'a> {
    pub(super) fn new(ahead: &'a Ahead, pattern: (&'a str, &'a str), text: &'a str) -> Self {
        Self {
            ahead,
            pattern,
            text,
            matches: 0,
            followed: 0,
            read_again: 0,
        }
    }

    /// Takes note of a match. Fails if there should be no more.
    pub(super) fn note(&mut self, found: Range<usize>) -> Result<(), TooSlow> {
        if self.text.len() <= SHORT_BYTES_MAX {
            return Ok(());
        }
        self.matches += 1;
        let is_early = self.matches < INTERVAL && self.matches.is_power_of_two();
        if !is_early && !self.matches.is_multiple_of(INTERVAL) {
            return Ok(());
        }
        let beyond = self.ahead.beyond(self.pattern, self.text, &found);
        let since = self.matches - self.followed;
        self.followed = self.matches;
        self.read_again = self.read_again.saturating_add(beyond.saturating_mul(since));
        match self.read_again > READ_AGAIN_MAX {
            true => Err(TooSlow),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beyond(pattern: &str, text: &str, found: Range<usize>) -> usize {
        Ahead::default().beyond((pattern, ""), text, &found)
    }

    #[test]
    fn it_is_known_how_far_a_pattern_reads() {
        // That a match has ended is known one byte later.
        assert_eq!(beyond("a+", "aaabbbb", 0..3), 1);
        assert_eq!(beyond(".*x|a", "aaaa\nbbbbb", 1..2), 2);
        assert_eq!(beyond("(?s).*x|a", "aaaa\nbbbbb", 1..2), 8);
    }

    #[test]
    fn reading_everything_again_is_too_slow_for_long_texts() {
        let noted = |pattern: &str, length: usize| {
            let (ahead, text) = (Ahead::default(), "a".repeat(length));
            let mut pace = Pace::new(&ahead, (pattern, ""), &text);
            (0..length).try_for_each(|at| pace.note(at..at + 1))
        };
        assert_eq!(noted(".*x|a", 10_000), Ok(()));
        assert_eq!(noted(".*x|a", 100_000), Err(TooSlow));
        assert_eq!(noted("a", 100_000), Ok(()));
    }
}
