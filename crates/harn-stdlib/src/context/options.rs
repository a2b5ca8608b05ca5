//! What a program says about a context.

use harn_machine::value::Dict;
use harn_machine::{Failure, Fault, Value};

use crate::expect::number;

/// What a program says about a context.
pub(super) struct Options {
    pub(super) artifacts: Vec<Dict>,
    pub(super) budget: i64,
    pub(super) dedup: Dedup,
    pub(super) strategy: Strategy,
    pub(super) query: String,
    /// How many tokens an artifact may have before it is cut into pieces.
    pub(super) threshold: usize,
    /// How much two pieces may have in common.
    pub(super) overlap: f64,
    /// A function that scores pieces, or nil.
    pub(super) ranker: Value,
}

/// Which pieces count as the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dedup {
    None,
    Chunked,
    Semantic,
}

impl Dedup {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Chunked => "chunked",
            Self::Semantic => "semantic",
        }
    }
}

/// Which pieces come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    Relevance,
    Recency,
    RoundRobin,
}

impl Strategy {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Relevance => "relevance",
            Self::Recency => "recency",
            Self::RoundRobin => "round_robin",
        }
    }
}

impl Options {
    pub(super) fn read(options: &Value) -> Result<Self, Failure> {
        let Value::Dict(options) = options else {
            return missing();
        };
        let Some(Value::List(artifacts)) = options.get("artifacts") else {
            return missing();
        };
        let artifacts = artifacts.iter().map(|artifact| match artifact {
            Value::Dict(artifact) => artifact.clone(),
            _ => Dict::default(),
        });
        let query = options.get("query").filter(|query| !query.is_nil());
        Ok(Self {
            artifacts: artifacts.collect(),
            budget: at_least_zero(options, "budget_tokens", 8000)?,
            dedup: dedup(options)?,
            strategy: strategy(options)?,
            query: query.map(Value::show).unwrap_or_default(),
            threshold: usize::try_from(at_least_zero(options, "microcompact_threshold", 2000)?)
                .unwrap_or(usize::MAX),
            overlap: overlap(options)?,
            ranker: ranker(options)?,
        })
    }

    /// The id of an artifact, by its place among all of them.
    pub(super) fn artifact_id(&self, at: usize) -> String {
        match self.artifacts[at].get("id") {
            None | Some(Value::Nil) => format!("artifact_{}", at + 1),
            Some(id) => id.show(),
        }
    }
}

fn failed<T>(problem: &str) -> Result<T, Failure> {
    Err(Fault::runtime(format!("assemble_context: {problem}")))
}

fn missing<T>() -> Result<T, Failure> {
    failed("first argument must be an options dict with `artifacts`")
}

fn at_least_zero(options: &Dict, key: &str, fallback: i64) -> Result<i64, Failure> {
    let given = match options.get(key) {
        None | Some(Value::Nil) => return Ok(fallback),
        Some(given) => number(given),
    };
    match given {
        Some(given) if given >= 0.0 => Ok(given as i64),
        _ => failed(&format!("{key} must be >= 0")),
    }
}

fn overlap(options: &Dict) -> Result<f64, Failure> {
    let given = match options.get("semantic_overlap") {
        None | Some(Value::Nil) => return Ok(0.85),
        Some(given) => number(given),
    };
    match given {
        Some(given) if (0.0..=1.0).contains(&given) => Ok(given),
        _ => failed("semantic_overlap must be in [0.0, 1.0]"),
    }
}

fn dedup(options: &Dict) -> Result<Dedup, Failure> {
    let given = match options.get("dedup") {
        None | Some(Value::Nil) => return Ok(Dedup::Chunked),
        Some(given) => given.show(),
    };
    match given.as_str() {
        "none" => Ok(Dedup::None),
        "chunked" => Ok(Dedup::Chunked),
        "semantic" => Ok(Dedup::Semantic),
        _ => failed(&format!(
            "dedup must be one of none | chunked | semantic (got \"{given}\")"
        )),
    }
}

fn strategy(options: &Dict) -> Result<Strategy, Failure> {
    let given = match options.get("strategy") {
        None | Some(Value::Nil) => return Ok(Strategy::Relevance),
        Some(given) => given.show(),
    };
    match given.as_str() {
        "relevance" => Ok(Strategy::Relevance),
        "recency" => Ok(Strategy::Recency),
        "round_robin" => Ok(Strategy::RoundRobin),
        _ => failed(&format!(
            "strategy must be one of recency | relevance | round_robin (got \"{given}\")"
        )),
    }
}

/// The ranker, which only relevance needs.
fn ranker(options: &Dict) -> Result<Value, Failure> {
    let given = options.get("ranker_callback").cloned().unwrap_or_default();
    if !given.is_nil() && !given.is_callable() {
        return failed("ranker_callback must be a closure");
    }
    Ok(match strategy(options)? {
        Strategy::Relevance => given,
        Strategy::Recency | Strategy::RoundRobin => Value::Nil,
    })
}
