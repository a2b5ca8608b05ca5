//! Which skills fit what the user says.
//!
//! ```text
//! prompt ─┬─ words ──► descriptions ─┐
//!         ├─ names ──────────────────┼─► score and reasons ─► best first
//! files ──┴─ globs ──────────────────┘
//! ```
//!
//! A matcher is made once for a registry and asked for each prompt. Neither the length of a
//! prompt times the number of skills nor the number of its words times the length of their
//! descriptions is ever paid: words and names are looked for all at once.

mod bm25;
mod glob;
pub(crate) mod host;

use std::collections::HashMap;

use aho_corasick::AhoCorasick;

use super::options::Strategy;
use super::registry::SkillRegistry;
use bm25::Bm25;
use glob::Glob;

/// Words that are not longer than this say too little.
const WORD_BYTES_IGNORED: usize = 2;

/// What a mention of the name is worth.
const NAME_SCORE: f64 = 2.0;

/// What a glob that matches a file is worth.
const GLOB_SCORE: f64 = 1.5;

/// How many hits are worth half a point, less a half.
const HITS_HALF: f64 = 1.5;

/// BM25 counts in larger numbers, so names and files do as well.
const BM25_SCALE: f64 = 4.0;

/// A skill that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Which one: its place in the registry.
    pub at: usize,
    /// How well.
    pub score: f64,
    /// Why.
    pub reason: String,
}

/// Finds the skills of a registry that fit.
#[derive(Debug, Default)]
pub struct Matcher {
    skills: Vec<Matched>,
    /// Finds all names that a prompt mentions.
    names: Option<AhoCorasick>,
    bm25: Option<Bm25>,
}

/// What matching looks at, of a skill that models may use.
#[derive(Debug)]
struct Matched {
    at: usize,
    name: String,
    description: String,
    when_to_use: String,
    globs: Vec<Glob>,
}

impl Matcher {
    /// For the skills of a registry that models may use.
    pub fn new(registry: &SkillRegistry, strategy: Strategy) -> Self {
        let skills = registry.skills().iter().enumerate();
        let skills: Vec<Matched> = skills
            .filter(|(_, skill)| !skill.is_gated)
            .map(|(at, skill)| Matched {
                at,
                name: skill.name.clone(),
                description: skill.description.to_lowercase(),
                when_to_use: skill.when_to_use.to_lowercase(),
                globs: skill.paths.iter().map(|path| Glob::new(path)).collect(),
            })
            .collect();
        let names = skills.iter().map(|skill| skill.name.to_lowercase());
        Self {
            names: automaton(names),
            bm25: (strategy == Strategy::Bm25).then(|| Bm25::new(&skills)),
            skills,
        }
    }

    /// The skills that fit a prompt and files, the best first; equal ones in their order.
    pub fn rank(&self, prompt: &str, working_files: &[String]) -> Vec<Candidate> {
        let prompt = prompt.to_lowercase();
        let mentioned = self.mentioned(&prompt);
        let (worded, scale) = match &self.bm25 {
            Some(bm25) => (bm25.scores(&prompt), BM25_SCALE),
            None => (self.keywords(&prompt), 1.0),
        };
        let scored = self.skills.iter().enumerate().filter_map(|(at, skill)| {
            let Worded { score, hits } = worded[at];
            let matches = |glob: &&Glob| working_files.iter().any(|file| glob.matches(file));
            let evidence = Evidence {
                score,
                hits,
                is_mentioned: mentioned[at],
                globs: skill.globs.iter().filter(matches).count(),
                scale,
            };
            evidence.candidate(skill)
        });
        best_first(scored.collect())
    }

    /// For each skill, whether the prompt has its name.
    fn mentioned(&self, prompt: &str) -> Vec<bool> {
        let mut mentioned = vec![false; self.skills.len()];
        if let Some(names) = &self.names {
            for found in names.find_overlapping_iter(prompt) {
                mentioned[found.pattern().as_usize()] = true;
            }
        }
        mentioned
    }

    /// For each skill, how many words of the prompt its texts contain: those of its description
    /// and those of when to use it, repeats counted.
    fn keywords(&self, prompt: &str) -> Vec<Worded> {
        let mut times: HashMap<&str, usize> = HashMap::new();
        for word in words(prompt).filter(|word| word.len() > WORD_BYTES_IGNORED) {
            *times.entry(word).or_default() += 1;
        }
        let (words, times): (Vec<&str>, Vec<usize>) = times.into_iter().unzip();
        let Some(automaton) = automaton(words) else {
            return vec![Worded::default(); self.skills.len()];
        };
        // The text in which each word was found last, so that it counts once in each.
        let mut seen = vec![0_usize; times.len()];
        let mut text_number = 0;
        let mut hits_in = |text: &str| {
            text_number += 1;
            let mut hits = 0;
            for found in automaton.find_overlapping_iter(text) {
                let word = found.pattern().as_usize();
                if seen[word] != text_number {
                    seen[word] = text_number;
                    hits += times[word];
                }
            }
            hits
        };
        let scored = self.skills.iter().map(|skill| {
            let hits = hits_in(&skill.description) + hits_in(&skill.when_to_use);
            let score = match hits {
                0 => 0.0,
                hits => hits as f64 / (hits as f64 + HITS_HALF),
            };
            Worded { score, hits }
        });
        scored.collect()
    }
}

/// What words say about a skill.
#[derive(Clone, Copy, Debug, Default)]
struct Worded {
    score: f64,
    hits: usize,
}

/// Everything that speaks for a skill.
struct Evidence {
    score: f64,
    hits: usize,
    is_mentioned: bool,
    globs: usize,
    scale: f64,
}

impl Evidence {
    fn candidate(self, skill: &Matched) -> Option<Candidate> {
        let mut score = self.score;
        let mut reasons = Vec::new();
        if self.hits > 0 {
            reasons.push(format!("{} keyword hit(s)", self.hits));
        }
        if self.is_mentioned {
            score += NAME_SCORE * self.scale;
            reasons.push(format!("prompt mentions '{}'", skill.name));
        }
        if self.globs > 0 {
            score += GLOB_SCORE * self.globs as f64 * self.scale;
            reasons.push(format!("{} path glob(s) matched", self.globs));
        }
        (score > 0.0).then(|| Candidate {
            at: skill.at,
            score,
            reason: reasons.join("; "),
        })
    }
}

/// Candidates by their scores; equal ones in their order.
fn best_first(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.sort_by(|one, other| other.score.total_cmp(&one.score));
    candidates
}

/// Finds all of these texts at once; `None` if there are none. Texts that are too many to be
/// looked for are not found.
fn automaton<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> Option<AhoCorasick> {
    let mut texts = texts.into_iter().peekable();
    texts.peek()?;
    AhoCorasick::new(texts).ok()
}

/// The runs of letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests;
