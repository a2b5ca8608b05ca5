//! Which deferred tools fit a query.

use std::collections::BTreeMap;

use regex::RegexBuilder;
use serde_json::{Map, Value, json};

use super::Strategy;
use crate::options::tools::Declared;
use crate::options::value::display;

/// How many tools a search finds at most.
const FOUND_MAX: usize = 20;

/// How much a word that occurs again still counts.
const K1: f64 = 1.5;

/// How much long descriptions are held against a tool.
const B: f64 = 0.75;

/// How much memory a pattern may take, and its parts may be nested.
const PATTERN_BYTES_MAX: usize = 1 << 20;
const PATTERN_DEPTH_MAX: u32 = 100;

/// What can be found.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    documents: Vec<Document>,
}

#[derive(Clone, Debug)]
struct Document {
    name: String,
    description: String,
    text: String,
    /// How often each word occurs.
    words: BTreeMap<String, usize>,
    /// How many there are.
    length: usize,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Names of tools, the best first.
    pub names: Vec<String>,
    /// Why there are none, if there is a reason.
    pub diagnostic: Option<String>,
}

impl Found {
    /// The answer the model gets.
    pub fn answer(&self) -> Value {
        let mut answer = json!({"tool_names": self.names});
        if let Some(diagnostic) = &self.diagnostic {
            answer["diagnostic"] = diagnostic.as_str().into();
        }
        answer
    }
}

impl Corpus {
    /// What can be found among these tools.
    pub fn new(tools: &[Declared]) -> Self {
        Self {
            documents: tools.iter().map(document).collect(),
        }
    }

    /// Searches, by words or by a pattern. The host's own strategies are not run here, and
    /// without it nothing is found.
    pub fn search(&self, strategy: Strategy, query: &str) -> Found {
        match strategy {
            Strategy::Bm25 => Found {
                names: best(self.bm25(query)),
                diagnostic: None,
            },
            Strategy::Regex => self.regex(query),
            Strategy::Semantic | Strategy::Host => Found {
                names: Vec::new(),
                diagnostic: Some(format!(
                    "tool_search strategy \"{}\" needs a host, and none is attached",
                    strategy.word()
                )),
            },
        }
    }

    /// What the host is told can be found.
    pub fn candidates(&self) -> Value {
        let documents = self.documents.iter();
        documents
            .map(|document| {
                json!({
                    "name": document.name,
                    "description": document.description,
                    "text": document.text,
                })
            })
            .collect()
    }

    /// What the host found, out of its answer `{tool_names, diagnostic?}`; names nobody knows
    /// are left out.
    pub fn found_by_host(&self, answer: &Value) -> Found {
        let names = answer.get("tool_names").and_then(Value::as_array);
        let mut found: Vec<String> = Vec::new();
        for name in names.into_iter().flatten().filter_map(Value::as_str) {
            let known = self.documents.iter().any(|document| document.name == name);
            if known && found.len() < FOUND_MAX && !found.iter().any(|other| other == name) {
                found.push(name.to_owned());
            }
        }
        let diagnostic = answer.get("diagnostic").filter(|text| !text.is_null());
        Found {
            names: found,
            diagnostic: diagnostic.map(display),
        }
    }

    fn bm25(&self, query: &str) -> Vec<(f64, &str)> {
        let count = self.documents.len() as f64;
        let total: usize = self.documents.iter().map(|document| document.length).sum();
        let average = (total as f64 / count).max(1.0);
        let weights: Vec<(String, f64)> = words(query)
            .map(|word| {
                let holding = self.documents.iter();
                let holding = holding
                    .filter(|document| document.words.contains_key(&word))
                    .count() as f64;
                let weight = ((count - holding + 0.5) / (holding + 0.5) + 1.0).ln();
                (word, weight)
            })
            .collect();
        let score = |document: &Document| -> f64 {
            let parts = weights.iter().map(|(word, weight)| {
                let times = document.words.get(word).copied().unwrap_or(0) as f64;
                let length = 1.0 - B + B * document.length as f64 / average;
                weight * times * (K1 + 1.0) / (times + K1 * length)
            });
            parts.sum()
        };
        let documents = self.documents.iter();
        documents
            .map(|document| (score(document), document.name.as_str()))
            .collect()
    }

    fn regex(&self, pattern: &str) -> Found {
        let built = RegexBuilder::new(pattern)
            .case_insensitive(true)
            .size_limit(PATTERN_BYTES_MAX)
            .nest_limit(PATTERN_DEPTH_MAX)
            .build();
        let pattern = match built {
            Ok(pattern) => pattern,
            Err(error) => {
                return Found {
                    names: Vec::new(),
                    diagnostic: Some(format!("invalid regex: {error}")),
                };
            }
        };
        let documents = self.documents.iter();
        let scored = documents
            .map(|document| {
                let count = pattern.find_iter(&document.text).count();
                (count as f64, document.name.as_str())
            })
            .collect();
        Found {
            names: best(scored),
            diagnostic: None,
        }
    }
}

/// The names of the best, ties by name; what does not fit at all is no match.
fn best(mut scored: Vec<(f64, &str)>) -> Vec<String> {
    scored.retain(|(score, _)| *score > 0.0);
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
    let names = scored.into_iter().map(|(_, name)| name.to_owned());
    names.take(FOUND_MAX).collect()
}

fn document(tool: &Declared) -> Document {
    let spec = &tool.spec;
    let mut parts = vec![spec.name.clone(), spec.description.clone()];
    let properties = spec.parameters.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.unwrap_or(&Map::new()) {
        parts.push(name.clone());
        parts.extend(schema.get("description").map(display));
    }
    if let Some(server) = &tool.server {
        parts.extend([format!("mcp:{server}"), server.clone()]);
    }
    let text = parts.join("\n");
    let mut counted = BTreeMap::new();
    for word in words(&text) {
        *counted.entry(word).or_insert(0) += 1;
    }
    Document {
        name: spec.name.clone(),
        description: spec.description.clone(),
        length: counted.values().sum(),
        words: counted,
        text,
    }
}

/// The lower-cased runs of letters and digits.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}
