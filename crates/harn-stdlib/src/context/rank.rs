//! How much a piece matters, and which comes first.

use std::cmp::Reverse;
use std::collections::HashMap;

use harn_machine::Value;
use harn_machine::value::Dict;

use super::options::{Options, Strategy};

/// A piece, as it came back from the program, with its score.
pub(super) struct Ranked {
    pub(super) piece: Dict,
    pub(super) artifact: String,
    pub(super) index: i64,
    pub(super) score: f64,
}

impl Ranked {
    pub(super) fn new(piece: &Dict, score: f64) -> Self {
        Self {
            piece: piece.clone(),
            artifact: field(piece, "artifact_id"),
            index: match piece.get("chunk_index") {
                Some(Value::Int(index)) => *index,
                _ => 0,
            },
            score,
        }
    }
}

pub(super) fn field(piece: &Dict, key: &str) -> String {
    piece.get(key).map(Value::show).unwrap_or_default()
}

/// The scores of pieces that no callback has scored.
pub(super) fn scores(pieces: &[Dict], options: &Options) -> Vec<f64> {
    match options.strategy {
        Strategy::Relevance => {
            let terms = terms(&options.query);
            let texts = pieces.iter().map(|piece| field(piece, "text"));
            texts.map(|text| relevance(&text, &terms)).collect()
        }
        Strategy::Recency => recency(pieces, options),
        Strategy::RoundRobin => vec![0.0; pieces.len()],
    }
}

/// What a query asks for: its longer words, each once.
fn terms(query: &str) -> Vec<String> {
    let query = query.to_lowercase();
    let words = query.split(|character: char| !character.is_alphanumeric());
    let mut terms: Vec<String> = Vec::new();
    for word in words.filter(|word| word.chars().count() > 2) {
        if !terms.iter().any(|term| term == word) {
            terms.push(word.to_owned());
        }
    }
    terms
}

fn relevance(text: &str, terms: &[String]) -> f64 {
    if terms.is_empty() {
        return 0.0;
    }
    let lower = text.to_lowercase();
    let counts = terms
        .iter()
        .map(|term| lower.matches(term.as_str()).count());
    let counts: Vec<usize> = counts.collect();
    let matched = counts.iter().filter(|count| **count > 0).count();
    let matches: usize = counts.iter().sum();
    let fraction = matched as f64 / terms.len() as f64;
    let density = matches as f64 / (text.len() as f64 / 400.0 + 1.0);
    0.7 * fraction + 0.3 * density.min(1.0)
}

/// The newest artifact has 1, the oldest the least.
fn recency(pieces: &[Dict], options: &Options) -> Vec<f64> {
    let mut times: Vec<(String, String)> = options
        .artifacts
        .iter()
        .enumerate()
        .map(|(at, artifact)| (field(artifact, "created_at"), options.artifact_id(at)))
        .collect();
    times.sort_by_key(|(time, _)| Reverse(time.clone()));
    let mut scores = HashMap::new();
    let (mut rank, mut before) = (0, None);
    for (time, id) in &times {
        if before.is_some_and(|before| before != time) {
            rank += 1;
        }
        before = Some(time);
        scores.insert(id.as_str(), 1.0 / f64::from(rank + 1));
    }
    let ids = pieces.iter().map(|piece| field(piece, "artifact_id"));
    ids.map(|id| scores.get(id.as_str()).copied().unwrap_or(0.0))
        .collect()
}

/// Puts pieces in the order of the strategy.
pub(super) fn sort(ranked: &mut [Ranked], options: &Options) {
    if options.strategy == Strategy::RoundRobin {
        let ids = (0..options.artifacts.len()).map(|at| options.artifact_id(at));
        let places: HashMap<String, usize> = ids.zip(0..).collect();
        return ranked.sort_by_cached_key(|one| (one.index, places.get(&one.artifact).copied()));
    }
    ranked.sort_by(|one, other| {
        let by_score = other.score.total_cmp(&one.score);
        let by_artifact = || one.artifact.cmp(&other.artifact);
        by_score
            .then_with(by_artifact)
            .then(one.index.cmp(&other.index))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_longer_words() {
        assert_eq!(
            terms("How to fix The fix, an API?"),
            ["how", "fix", "the", "api"]
        );
    }

    #[test]
    fn relevance_is_how_much_is_matched_and_how_densely() {
        let terms = terms("alpha beta");
        assert_eq!(relevance("nothing", &terms), 0.0);
        // One of two terms; one match in 10/400 + 1.
        let expected = 0.7 * 0.5 + 0.3 * (1.0 / (10.0 / 400.0 + 1.0));
        assert!((relevance("some ALPHA", &terms) - expected).abs() < 1e-12);
        assert_eq!(relevance("alpha alpha beta", &terms), 1.0);
    }
}
