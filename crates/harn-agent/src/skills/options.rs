//! What a loop is told about skills.

use harn_llm::options::value::{Options, display};
use serde_json::{Map, Value};

use super::registry::SkillRegistry;
use crate::callback::Functions;

/// The options of a loop that are about skills.
#[derive(Clone, Debug, Default)]
pub struct SkillOptions {
    /// The skills it may use.
    pub registry: SkillRegistry,
    /// Whether it was given skills, perhaps none.
    pub is_given: bool,
    /// How they are chosen.
    pub strategy: Strategy,
    /// How many of them at once.
    pub top_n: usize,
    /// Whether a choice holds for the whole loop.
    pub is_sticky: bool,
    /// What a skill must score to be chosen; `None`: anything above nothing.
    pub min_score: Option<f64>,
    /// The files that the loop is about.
    pub working_files: Vec<String>,
}

/// How skills are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// By the words and files that their descriptions share with the prompt.
    #[default]
    Metadata,
    /// The same, where a word weighs more the rarer it is among the skills.
    Bm25,
    /// By the host.
    Host,
    /// By the host, by meaning.
    Embedding,
}

impl Strategy {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::Bm25 => "bm25",
            Self::Host => "host",
            Self::Embedding => "embedding",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Metadata, Self::Bm25, Self::Host, Self::Embedding];
        all.into_iter().find(|strategy| strategy.word() == word)
    }
}

impl SkillOptions {
    /// Reads the options `skills`, `skill_match` and `working_files`. What is not understood is
    /// said with `warn` and left as usual.
    pub fn parse(options: &Map<String, Value>, functions: &Functions, warn: &dyn Fn(&str)) -> Self {
        let empty = Map::new();
        let matching = options.get("skill_match").and_then(Value::as_object);
        let matching = Options(matching.unwrap_or(&empty));
        let strategy = matching.given_text("strategy").map(|word| {
            Strategy::from_word(&word).unwrap_or_else(|| {
                warn(&format!(
                    "skill_match.strategy: \"{word}\" is unknown; \"metadata\" is used instead"
                ));
                Strategy::Metadata
            })
        });
        let top_n = matching.count("top_n").unwrap_or(1);
        Self {
            registry: SkillRegistry::parse(options.get("skills"), functions),
            is_given: options.get("skills").is_some_and(|given| !given.is_null()),
            strategy: strategy.unwrap_or_default(),
            top_n: usize::try_from(top_n).unwrap_or(usize::MAX).max(1),
            is_sticky: matching.given("sticky").is_none() || matching.flag("sticky"),
            min_score: matching.float("min_score"),
            working_files: working_files(options.get("working_files")),
        }
    }
}

fn working_files(files: Option<&Value>) -> Vec<String> {
    match files {
        Some(Value::Array(files)) => files.iter().map(display).collect(),
        Some(Value::String(file)) if !file.is_empty() => vec![file.clone()],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::cell::RefCell;

    fn parse(options: Value) -> (SkillOptions, Vec<String>) {
        let warnings = RefCell::new(Vec::new());
        let options = options.as_object().cloned().unwrap();
        let warn = |text: &str| warnings.borrow_mut().push(text.to_owned());
        let parsed = SkillOptions::parse(&options, &Functions::default(), &warn);
        (parsed, warnings.into_inner())
    }

    #[test]
    fn the_usual_is_one_skill_for_the_whole_loop() {
        let (usual, warnings) = parse(json!({}));
        assert_eq!((usual.top_n, usual.is_sticky), (1, true));
        assert_eq!(usual.strategy, Strategy::Metadata);
        assert!(usual.min_score.is_none() && warnings.is_empty());
    }

    #[test]
    fn options_are_read() {
        let (options, warnings) = parse(json!({
            "skill_match": {"strategy": "bm25", "top_n": 0, "sticky": false, "min_score": 6},
            "working_files": "a.md",
        }));
        assert_eq!((options.top_n, options.is_sticky), (1, false));
        assert_eq!(
            (options.strategy, options.min_score),
            (Strategy::Bm25, Some(6.0))
        );
        assert_eq!(options.working_files, ["a.md"]);
        assert!(warnings.is_empty());
        let (options, warnings) = parse(json!({"skill_match": {"strategy": "magic"}}));
        assert_eq!((options.strategy, warnings.len()), (Strategy::Metadata, 1));
    }
}
