//! Leaves out pieces that say what another one says already.

use std::collections::HashMap;

use super::options::{Dedup, Options};
use super::{Dropped, Piece};

/// The pieces without those that are the same as an earlier one.
pub(super) fn without_duplicates(
    pieces: Vec<Piece>,
    options: &Options,
    dropped: &mut Vec<Dropped>,
) -> Vec<Piece> {
    let mut seen = Seen::new(options);
    let mut kept: Vec<Piece> = Vec::new();
    for piece in pieces {
        match seen.find_or_add(&piece.text, kept.len()) {
            None => kept.push(piece),
            Some(earlier) => dropped.push(Dropped {
                artifact: options.artifact_id(piece.artifact),
                detail: format!("duplicate of {}", kept[earlier].id),
                piece: Some(piece.id),
                reason: "duplicate",
            }),
        }
    }
    kept
}

/// What was seen, by its number.
enum Seen {
    Nothing,
    Texts(HashMap<String, usize>),
    Trigrams { overlap: f64, seen: Vec<Vec<u64>> },
}

impl Seen {
    fn new(options: &Options) -> Self {
        match options.dedup {
            Dedup::None => Self::Nothing,
            Dedup::Chunked => Self::Texts(HashMap::new()),
            Dedup::Semantic => Self::Trigrams {
                overlap: options.overlap,
                seen: Vec::new(),
            },
        }
    }

    /// The number of a text like this one; if there is none, this is the next.
    fn find_or_add(&mut self, text: &str, next: usize) -> Option<usize> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let normal = words.join(" ");
        match self {
            Self::Nothing => None,
            Self::Texts(seen) => match seen.get(&normal) {
                Some(earlier) => Some(*earlier),
                None => {
                    seen.insert(normal, next);
                    None
                }
            },
            Self::Trigrams { overlap, seen } => {
                let trigrams = trigrams(&normal);
                let mut earlier = seen.iter();
                let found = earlier.position(|other| is_alike(&trigrams, other, *overlap));
                if found.is_none() {
                    seen.push(trigrams);
                }
                found
            }
        }
    }
}

/// All runs of three characters, each once and sorted. A shorter text is a run of its own.
fn trigrams(text: &str) -> Vec<u64> {
    let text = text.to_lowercase();
    let characters: Vec<char> = text.chars().collect();
    let size = characters.len().clamp(1, 3);
    // A character has 21 bits, so three of them fit.
    let key = |run: &[char]| run.iter().fold(1, |key, one| key << 21 | u64::from(*one));
    let mut trigrams: Vec<u64> = characters.windows(size).map(key).collect();
    trigrams.sort_unstable();
    trigrams.dedup();
    trigrams
}

/// Whether what two have in common is a large enough share of what they have together.
fn is_alike(one: &[u64], other: &[u64], overlap: f64) -> bool {
    let (small, large) = (one.len().min(other.len()), one.len().max(other.len()));
    if large == 0 {
        return true;
    }
    // They cannot have more in common than the smaller one has.
    if (small as f64 / large as f64) < overlap {
        return false;
    }
    let shared = shared(one, other);
    let together = one.len() + other.len() - shared;
    shared as f64 / together as f64 >= overlap
}

/// How many numbers two sorted lists share.
fn shared(one: &[u64], other: &[u64]) -> usize {
    let (mut at, mut shared) = (0, 0);
    for number in one {
        while at < other.len() && other[at] < *number {
            at += 1;
        }
        if other.get(at) == Some(number) {
            shared += 1;
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigrams_are_runs_of_three_characters() {
        assert_eq!(trigrams("abcd").len(), 2);
        assert_eq!(trigrams("aaaa").len(), 1);
        assert_eq!(trigrams("ab").len(), 1);
        assert!(trigrams("").is_empty());
        assert_eq!(trigrams("ABC"), trigrams("abc"));
    }

    #[test]
    fn likeness_is_a_share() {
        let (one, other) = (trigrams("abcdef"), trigrams("abcdeX"));
        // abc bcd cde are shared, def and dex are not.
        assert!(is_alike(&one, &other, 0.6));
        assert!(!is_alike(&one, &other, 0.61));
        assert!(is_alike(&one, &one, 1.0));
    }
}
