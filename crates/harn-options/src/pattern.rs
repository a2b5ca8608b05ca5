//! The patterns of rules: which tools, and which of their arguments, a rule is about.
//!
//! ```text
//! '{read,list}_*' ─► parse ─► read_*  list_*        matches "list_files": yes
//!                       └──► "pattern 'X' cannot be read: …"
//! ```
//!
//! All lists of policies, permissions, approvals, hooks and skills that name tools or texts are
//! read here, so that one pattern means the same in each of them: `*` is any text, `?` one
//! letter, `[a-z]` and `[!a-z]` one letter out of some, `{a,b}` one of several patterns, and a
//! backslash takes what follows as it is written. A `/` is a letter like all others. A rule that
//! nobody can read must not turn into a rule that says nothing, so it is an error.

mod parse;

use std::fmt;

/// A pattern that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPattern {
    /// One for each choice that its braces leave. A text has to fit one of them.
    variants: Vec<Vec<Part>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// This letter.
    Letter(char),
    /// `?`: any letter.
    AnyLetter,
    /// `[…]`: one of these.
    OneOf(Letters),
    /// `*`: any text, also none.
    AnyText,
}

/// The letters of a `[…]`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Letters {
    /// `[!…]`: all letters but these.
    is_negated: bool,
    /// From and to, both included.
    ranges: Vec<(char, char)>,
}

/// A pattern that means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadablePattern {
    pattern: String,
    reason: String,
}

impl fmt::Display for UnreadablePattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pattern, reason } = self;
        write!(out, "pattern '{pattern}' cannot be read: {reason}")
    }
}

impl std::error::Error for UnreadablePattern {}

impl TextPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(pattern: &str) -> Result<Self, UnreadablePattern> {
        let variants = parse::variants(pattern).map_err(|reason| UnreadablePattern {
            pattern: pattern.to_owned(),
            reason,
        })?;
        Ok(Self { variants })
    }

    /// Whether a text fits as a whole.
    pub fn matches(&self, text: &str) -> bool {
        self.variants.iter().any(|parts| fits(parts, text))
    }

    /// Whether all texts that fit another pattern fit this one. A no may be wrong where the two
    /// are hard to compare, a yes never is.
    pub fn covers(&self, other: &Self) -> bool {
        let is_covered = |inner: &Vec<Part>| self.variants.iter().any(|outer| covers(outer, inner));
        other.variants.iter().all(is_covered)
    }

    /// Whether the pattern is a text and fits that one alone.
    pub fn is_plain(&self) -> bool {
        let is_letter = |part: &Part| matches!(part, Part::Letter(_));
        self.variants.len() == 1 && self.variants[0].iter().all(is_letter)
    }
}

impl Part {
    fn takes(&self, letter: char) -> bool {
        match self {
            Self::Letter(expected) => *expected == letter,
            Self::AnyLetter => true,
            Self::OneOf(letters) => letters.have(letter),
            Self::AnyText => false,
        }
    }

    /// Whether every letter that another part takes is taken by this one.
    fn takes_all_of(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::AnyText) | (Self::AnyText, _) => false,
            (Self::AnyLetter, _) => true,
            (one, Self::Letter(letter)) => one.takes(*letter),
            (one, other) => one == other,
        }
    }
}

impl Letters {
    fn have(&self, letter: char) -> bool {
        let is_listed = self
            .ranges
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&letter));
        is_listed != self.is_negated
    }
}

/// Whether the parts stand for a text.
///
/// When something does not fit, only the last `*` takes more: those before it may end as early
/// as they can, because the last one takes whatever is left.
fn fits(parts: &[Part], text: &str) -> bool {
    let (mut part, mut at) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    loop {
        let letter = text[at..].chars().next();
        match (parts.get(part), letter) {
            (None, None) => return true,
            (Some(Part::AnyText), _) => {
                part += 1;
                last_star = Some((part, at));
                continue;
            }
            (Some(one), Some(letter)) if one.takes(letter) => {
                part += 1;
                at += letter.len_utf8();
                continue;
            }
            _ => {}
        }
        let Some((after, taken)) = last_star else {
            return false;
        };
        let Some(letter) = text[taken..].chars().next() else {
            return false;
        };
        at = taken + letter.len_utf8();
        part = after;
        last_star = Some((after, at));
    }
}

/// The same with parts for letters: a `*` of the inner pattern is taken by one of the outer only.
fn covers(outer: &[Part], inner: &[Part]) -> bool {
    let (mut part, mut at) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    loop {
        match (outer.get(part), inner.get(at)) {
            (None, None) => return true,
            (Some(Part::AnyText), _) => {
                part += 1;
                last_star = Some((part, at));
                continue;
            }
            (Some(one), Some(other)) if one.takes_all_of(other) => {
                part += 1;
                at += 1;
                continue;
            }
            _ => {}
        }
        match last_star {
            Some((after, taken)) if taken < inner.len() => {
                at = taken + 1;
                part = after;
                last_star = Some((after, at));
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests;
