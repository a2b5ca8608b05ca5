//! What fits a question best: Okapi BM25, with something on top for keys and tags.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use harn_machine::Value;

use super::record::Record;

/// How soon more of the same word stops to matter.
const SATURATION: f64 = 1.2;
/// How much the length of a record matters.
const LENGTH_WEIGHT: f64 = 0.75;
/// What a word of the question that is in the key adds.
const KEY_BONUS: f64 = 0.4;
/// What a word of the question that is in the tags adds.
const TAG_BONUS: f64 = 0.25;

/// A record and how well it fits.
#[derive(Debug)]
pub(super) struct Ranked<'a> {
    pub(super) record: &'a Record,
    pub(super) score: f64,
    /// Its place among all; those that came later are newer.
    pub(super) at: usize,
}

impl Ranked<'_> {
    pub(super) fn to_value(&self) -> Value {
        self.record.with_score(self.score)
    }
}

/// So many records at most, the best first. A question without words is answered by what is
/// newest.
pub(super) fn best<'a>(records: &'a [Record], query: &str, count: usize) -> Vec<Ranked<'a>> {
    let query: Vec<String> = terms(query).collect();
    let documents: Vec<&Document> = records.iter().map(Document::of).collect();
    let scores = Scores::new(&query, &documents);
    let all = records.iter().zip(&documents).enumerate();
    let mut ranked: Vec<Ranked<'a>> = all
        .map(|(at, (record, document))| Ranked {
            record,
            score: scores.of(document),
            at,
        })
        .filter(|ranked| query.is_empty() || ranked.score > 0.0)
        .collect();
    ranked.sort_by(|one, other| {
        let better = other.score.total_cmp(&one.score);
        better.then(other.at.cmp(&one.at))
    });
    ranked.truncate(count);
    ranked
}

/// The words of a text: letters and digits, more than one octet of them.
fn terms(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    let words = words.filter(|word| word.len() > 1);
    words.map(str::to_ascii_lowercase)
}

/// A record as words.
#[derive(Debug)]
pub(super) struct Document {
    counts: HashMap<String, f64>,
    length: f64,
    key: HashSet<String>,
    tags: HashSet<String>,
}

impl Document {
    /// The words of a record, counted once.
    fn of(record: &Record) -> &Self {
        record.words.get_or_init(|| Rc::new(Self::new(record)))
    }

    fn new(record: &Record) -> Self {
        let value = record.value_text();
        let texts = [&record.key, &record.text, &value];
        let texts = texts.into_iter().chain(&record.tags);
        let (mut counts, mut length) = (HashMap::new(), 0.0);
        for term in texts.flat_map(|text| terms(text)) {
            *counts.entry(term).or_insert(0.0) += 1.0;
            length += 1.0;
        }
        Self {
            counts,
            length,
            key: terms(&record.key).collect(),
            tags: record.tags.iter().flat_map(|tag| terms(tag)).collect(),
        }
    }
}

struct Scores<'a> {
    /// The words of the question, each as often as it is there, and how rare they are.
    query: Vec<(&'a String, f64)>,
    average_length: f64,
}

impl<'a> Scores<'a> {
    fn new(query: &'a [String], documents: &[&Document]) -> Self {
        let total = documents.len() as f64;
        let lengths: f64 = documents.iter().map(|document| document.length).sum();
        let rarity = |term: &String| {
            let with = documents.iter();
            let with = with.filter(|document| document.counts.contains_key(term));
            let with = with.count() as f64;
            ((total - with + 0.5) / (with + 0.5) + 1.0).ln()
        };
        Self {
            query: query.iter().map(|term| (term, rarity(term))).collect(),
            average_length: lengths / total.max(1.0),
        }
    }

    fn of(&self, document: &Document) -> f64 {
        let terms = self.query.iter();
        let scores = terms.map(|(term, rarity)| self.of_term(document, term, *rarity));
        // Not `sum`, which begins with a negative zero.
        scores.fold(0.0, |sum, score| sum + score)
    }

    fn of_term(&self, document: &Document, term: &String, rarity: f64) -> f64 {
        let mut score = 0.0;
        if let Some(count) = document.counts.get(term) {
            let length = document.length / self.average_length.max(1.0);
            let damping = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length);
            score += rarity * count * (SATURATION + 1.0) / (count + damping);
        }
        if document.key.contains(term) {
            score += KEY_BONUS;
        }
        if document.tags.contains(term) {
            score += TAG_BONUS;
        }
        score
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harn_machine::value::Text;

    fn record(key: &str, text: &str, tags: &[&str]) -> Record {
        let tags = tags.iter().map(|tag| Text::new(tag)).collect();
        let id = Text::new(key);
        let key = Text::new(key);
        let (at, none) = (Value::Nil, Value::Nil);
        Record::new(id, Text::new("n"), key, &text.into(), tags, at, none)
    }

    #[track_caller]
    fn check(records: &[Record], query: &str, expected: &[&str]) {
        let best = best(records, query, 10);
        let keys: Vec<&str> = best.iter().map(|it| it.record.key.as_str()).collect();
        assert_eq!(keys, expected, "{query}");
    }

    #[test]
    fn words_are_longer_than_one_octet() {
        let words: Vec<String> = terms("A bc, D-EF 1 23 é_ü").collect();
        assert_eq!(words, ["bc", "ef", "23", "é", "ü"]);
    }

    #[test]
    fn what_fits_best_comes_first_and_what_does_not_fit_is_left_out() {
        let records = [
            record("k1", "the cat sat", &[]),
            record("k2", "cat cat cat", &[]),
            record("k3", "a dog", &[]),
            record("cat", "nothing", &[]),
            record("k4", "nothing", &["cat"]),
        ];
        check(&records, "cat", &["cat", "k4", "k2", "k1"]);
        check(&records, "CAT!", &["cat", "k4", "k2", "k1"]);
        check(&records, "bird", &[]);
    }

    #[test]
    fn what_fits_equally_well_is_given_newest_first() {
        let records = [
            record("k1", "same", &[]),
            record("k2", "same", &[]),
            record("k3", "other", &[]),
        ];
        check(&records, "same", &["k2", "k1"]);
        check(&records, "? a -", &["k3", "k2", "k1"]);
        assert_eq!(best(&records, "?", 1)[0].score.to_string(), "0");
    }

    #[test]
    fn scores_are_those_of_the_formula() {
        let records = [record("k1", "cat", &[]), record("k2", "dog", &[])];
        let best = best(&records, "cat", 5);
        // Every record has three words: its key, and its text twice, as text and as value.
        let rarity = (2.0f64 - 1.0 + 0.5) / (1.0 + 0.5) + 1.0;
        let expected = rarity.ln() * 2.0 * 2.2 / (2.0 + 1.2);
        assert!((best[0].score - expected).abs() < 1e-12, "{best:?}");
        let twice = super::best(&records, "cat cat", 5);
        assert!((twice[0].score - 2.0 * expected).abs() < 1e-12, "{twice:?}");
    }
}
