//! Words that weigh more the rarer they are.
//!
//! The texts of a skill are one document: its name, what it is for and when to use it. Words
//! count by their stems, so that `migrating` finds `migrations`.

use std::collections::HashMap;

use super::{Matched, Worded, words};

/// How much a word that occurs again still counts.
const K1: f64 = 1.5;

/// How much long descriptions are held against a skill.
const B: f64 = 0.75;

/// A stem has at least so many letters.
const STEM_LETTERS_MIN: usize = 3;

/// Endings that say little, the longest first.
const ENDINGS: [&str; 14] = [
    "ations", "ation", "ingly", "ings", "ing", "ions", "ion", "ies", "ed", "es", "er", "ly", "s",
    "e",
];

/// Which skills have which words.
#[derive(Debug)]
pub(super) struct Bm25 {
    /// For each stem the skills that have it, and how often.
    postings: HashMap<String, Vec<(usize, u32)>>,
    /// How many words each skill has.
    lengths: Vec<f64>,
    average: f64,
}

impl Bm25 {
    pub(super) fn new(skills: &[Matched]) -> Self {
        let mut postings: HashMap<String, Vec<(usize, u32)>> = HashMap::new();
        let mut lengths = Vec::with_capacity(skills.len());
        for (at, skill) in skills.iter().enumerate() {
            let name = skill.name.to_lowercase();
            let texts = [&name, &skill.description, &skill.when_to_use];
            let mut length = 0.0;
            for word in texts.into_iter().flat_map(|text| words(text)) {
                length += 1.0;
                let posting = postings.entry(stem(word).to_owned()).or_default();
                match posting.last_mut() {
                    Some((last, times)) if *last == at => *times += 1,
                    _ => posting.push((at, 1)),
                }
            }
            lengths.push(length);
        }
        let total: f64 = lengths.iter().sum();
        let average = (total / lengths.len().max(1) as f64).max(1.0);
        Self {
            postings,
            lengths,
            average,
        }
    }

    /// For each skill, what the words of a prompt say about it. A word counts once.
    pub(super) fn scores(&self, prompt: &str) -> Vec<Worded> {
        let mut scores = vec![Worded::default(); self.lengths.len()];
        let count = self.lengths.len() as f64;
        let mut stems: Vec<&str> = words(prompt).map(stem).collect();
        stems.sort_unstable();
        stems.dedup();
        for posting in stems.iter().filter_map(|stem| self.postings.get(*stem)) {
            let holding = posting.len() as f64;
            let weight = ((count - holding + 0.5) / (holding + 0.5) + 1.0).ln();
            for (at, times) in posting {
                let times = f64::from(*times);
                let length = 1.0 - B + B * self.lengths[*at] / self.average;
                scores[*at].score += weight * times * (K1 + 1.0) / (times + K1 * length);
                scores[*at].hits += 1;
            }
        }
        scores
    }
}

/// A word without its ending.
fn stem(word: &str) -> &str {
    let stems = ENDINGS
        .iter()
        .filter_map(|ending| word.strip_suffix(ending));
    let mut stems = stems.filter(|stem| stem.chars().count() >= STEM_LETTERS_MIN);
    stems.next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_known_by_their_stems() {
        let rows = [
            ("migrating", "migrat"),
            ("migrations", "migr"),
            ("tests", "test"),
            ("testing", "test"),
            ("was", "was"),
            ("sing", "sing"),
            ("über", "über"),
        ];
        for (word, expected) in rows {
            assert_eq!(stem(word), expected);
        }
    }
}
