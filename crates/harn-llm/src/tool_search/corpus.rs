//! Which deferred tools fit a query.

use std::collections::{HashMap, HashSet};

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
///
/// Words are looked up instead of texts being gone through, so that a search takes as long as
/// what it finds, however many tools there are.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    documents: Vec<Document>,
    /// For each word the tools that have it, and how often.
    postings: HashMap<Box<str>, Vec<(usize, u32)>>,
    /// How many words a tool has on average.
    average: f64,
}

#[derive(Clone, Debug)]
struct Document {
    name: String,
    description: String,
    text: String,
    /// How many words there are.
    length: u32,
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
        let mut corpus = Self::default();
        for (at, tool) in tools.iter().enumerate() {
            let mut document = document(tool);
            for word in words(&document.text.to_lowercase()) {
                document.length += 1;
                corpus.count(word, at);
            }
            corpus.documents.push(document);
        }
        let lengths = corpus.documents.iter().map(|one| f64::from(one.length));
        let total: f64 = lengths.sum();
        corpus.average = (total / corpus.documents.len().max(1) as f64).max(1.0);
        corpus
    }

    fn count(&mut self, word: &str, at: usize) {
        let Some(posting) = self.postings.get_mut(word) else {
            self.postings.insert(word.into(), vec![(at, 1)]);
            return;
        };
        match posting.last_mut() {
            Some((last, times)) if *last == at => *times += 1,
            _ => posting.push((at, 1)),
        }
    }

    /// Searches, by words or by a pattern. The host's own strategies are not run here, and
    /// without it nothing is found.
    pub fn search(&self, strategy: Strategy, query: &str) -> Found {
        self.search_among(strategy, query, &|_| true)
    }

    /// The same among the tools that are in view.
    pub fn search_among(
        &self,
        strategy: Strategy,
        query: &str,
        is_in_view: &dyn Fn(&str) -> bool,
    ) -> Found {
        match strategy {
            Strategy::Bm25 => Found {
                names: best(self.bm25(query), is_in_view),
                diagnostic: None,
            },
            Strategy::Regex => self.regex(query, is_in_view),
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
        self.candidates_among(&|_| true)
    }

    /// The same among the tools that are in view.
    pub fn candidates_among(&self, is_in_view: &dyn Fn(&str) -> bool) -> Value {
        let documents = self.documents.iter();
        documents
            .filter(|document| is_in_view(&document.name))
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
        let documents = self.documents.iter();
        let mut unsaid: HashSet<&str> = documents.map(|document| &*document.name).collect();
        let names = names.into_iter().flatten().filter_map(Value::as_str);
        // A name that was said is taken out, so that it is found once.
        let found = names.filter(|name| unsaid.remove(name)).map(str::to_owned);
        let found: Vec<String> = found.take(FOUND_MAX).collect();
        let diagnostic = answer.get("diagnostic").filter(|text| !text.is_null());
        Found {
            names: found,
            diagnostic: diagnostic.map(display),
        }
    }

    fn bm25(&self, query: &str) -> Vec<(f64, &str)> {
        let count = self.documents.len() as f64;
        let mut scores = vec![0.0; self.documents.len()];
        for posting in words(&query.to_lowercase()).filter_map(|word| self.postings.get(word)) {
            let holding = posting.len() as f64;
            let weight = ((count - holding + 0.5) / (holding + 0.5) + 1.0).ln();
            for (at, times) in posting {
                let times = f64::from(*times);
                let length = f64::from(self.documents[*at].length);
                let length = 1.0 - B + B * length / self.average;
                scores[*at] += weight * times * (K1 + 1.0) / (times + K1 * length);
            }
        }
        let scored = scores.into_iter().zip(&self.documents);
        scored
            .map(|(score, document)| (score, document.name.as_str()))
            .collect()
    }

    fn regex(&self, pattern: &str, is_in_view: &dyn Fn(&str) -> bool) -> Found {
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
            names: best(scored, is_in_view),
            diagnostic: None,
        }
    }
}

/// The names of the best that are in view, ties by name; what does not fit at all is no match.
fn best(mut scored: Vec<(f64, &str)>, is_in_view: &dyn Fn(&str) -> bool) -> Vec<String> {
    scored.retain(|(score, name)| *score > 0.0 && is_in_view(name));
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
    Document {
        name: spec.name.clone(),
        description: spec.description.clone(),
        length: 0,
        text,
    }
}

/// The runs of letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
}
