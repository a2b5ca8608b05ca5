//! How well skills are matched, measured on a labelled set.
//!
//! The table is printed with `cargo nextest run -p harn-agent --no-capture skill_matching`.
//! What is guarded is what was measured, a little less: a change that makes matching worse is
//! noticed, one that makes it better may raise the guard.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use harn_agent::Functions;
use harn_agent::skills::{Candidate, Matcher, SkillRegistry, Strategy};
use serde_json::Value;

/// A prompt and what it should find.
struct Labelled {
    text: String,
    working_files: Vec<String>,
    expected: BTreeSet<String>,
    kind: String,
}

/// What came of all prompts.
#[derive(Default)]
struct Measured {
    hits: usize,
    matches: usize,
    expected: usize,
    /// Prompts that were right, and all of them, by kind.
    kinds: BTreeMap<String, (usize, usize)>,
}

impl Measured {
    fn precision(&self) -> f64 {
        self.hits as f64 / self.matches.max(1) as f64
    }

    fn recall(&self) -> f64 {
        self.hits as f64 / self.expected.max(1) as f64
    }

    fn right(&self, kind: &str) -> usize {
        self.kinds[kind].0
    }

    fn row(&self, name: &str) -> String {
        let kinds = self.kinds.iter();
        let kinds = kinds.map(|(kind, (right, all))| format!("{kind} {right}/{all}"));
        format!(
            "{name:24} precision {:.3}  recall {:.3}  {}",
            self.precision(),
            self.recall(),
            kinds.collect::<Vec<_>>().join("  ")
        )
    }
}

fn lines(name: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/skill_matching");
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn labelled() -> Vec<Labelled> {
    let texts = |value: &Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items
            .map(|item| item.as_str().unwrap().to_owned())
            .collect()
    };
    let prompts = lines("prompts.jsonl").into_iter().map(|line| Labelled {
        text: line["text"].as_str().unwrap().to_owned(),
        working_files: texts(&line["working_files"]),
        expected: texts(&line["expected"]).into_iter().collect(),
        kind: line["kind"].as_str().unwrap().to_owned(),
    });
    prompts.collect()
}

fn measure(strategy: Strategy, min_score: f64) -> Measured {
    let skills = Value::Array(lines("skills.jsonl"));
    let registry = SkillRegistry::parse(Some(&skills), &Functions::default());
    let matcher = Matcher::new(&registry, strategy);
    let mut measured = Measured::default();
    for prompt in labelled() {
        let found = matcher.rank(&prompt.text, &prompt.working_files);
        let count = prompt.expected.len().max(1);
        let is_enough = |one: &Candidate| one.score >= min_score;
        let found: BTreeSet<String> = found
            .into_iter()
            .filter(is_enough)
            .take(count)
            .map(|one| registry.skills()[one.at].name.clone())
            .collect();
        measured.hits += found.intersection(&prompt.expected).count();
        measured.matches += found.len();
        measured.expected += prompt.expected.len();
        let kind = measured.kinds.entry(prompt.kind).or_default();
        kind.0 += usize::from(found == prompt.expected);
        kind.1 += 1;
    }
    measured
}

#[test]
fn matching_is_as_good_as_it_was() {
    let rows = [
        ("metadata", Strategy::Metadata, 0.0),
        ("metadata, at least 0.7", Strategy::Metadata, 0.7),
        ("bm25", Strategy::Bm25, 0.0),
        ("bm25, at least 6", Strategy::Bm25, 6.0),
    ];
    let measured = rows.map(|(name, strategy, least)| {
        let measured = measure(strategy, least);
        println!("{}", measured.row(name));
        measured
    });
    let guards = [(0.50, 0.59), (0.66, 0.55), (0.63, 0.76), (0.81, 0.75)];
    for (measured, (precision, recall)) in measured.iter().zip(guards) {
        assert!(measured.precision() >= precision, "precision");
        assert!(measured.recall() >= recall, "recall");
        // Whoever is named, and whoever works on these files, is found.
        assert_eq!(measured.right("named"), measured.kinds["named"].1);
        assert_eq!(measured.right("files"), measured.kinds["files"].1);
    }
}
