//! Packs pieces into a budget, the most important first.

use std::collections::HashMap;

use harn_machine::value::{Dict, Text};
use harn_machine::{Context, Failure, Fault, Value, argument};

use super::Dropped;
use super::options::Options;
use super::rank::{self, Ranked, field};
use crate::expect::number;

/// What becomes of pieces that have scores, or are to get them.
pub(super) fn packed(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let Value::Dict(given) = argument(arguments, 0) else {
        return Ok(Value::Nil);
    };
    let options = Options::read(given.get("options").unwrap_or(&Value::Nil))?;
    let pieces: Vec<Dict> = list(given, "chunks")
        .iter()
        .filter_map(|piece| match piece {
            Value::Dict(piece) => Some(piece.clone()),
            _ => None,
        })
        .collect();
    let scores = match &options.ranker {
        Value::Nil => rank::scores(&pieces, &options),
        _ => ranked_by_program(argument(arguments, 1), pieces.len())?,
    };
    let mut ranked: Vec<Ranked> = pieces
        .iter()
        .zip(scores)
        .map(|(piece, score)| Ranked::new(piece, score))
        .collect();
    rank::sort(&mut ranked, &options);
    let dropped = list(given, "dropped").to_vec();
    Ok(pack(&ranked, &pieces, dropped, &options))
}

fn list<'a>(dict: &'a Dict, key: &str) -> &'a [Value] {
    match dict.get(key) {
        Some(Value::List(items)) => items,
        _ => &[],
    }
}

/// The scores that a callback gives. Pieces that it forgets have none.
fn ranked_by_program(scores: &Value, count: usize) -> Result<Vec<f64>, Failure> {
    let problem =
        || Fault::runtime("assemble_context: ranker_callback must return a list of numbers");
    let Value::List(scores) = scores else {
        return Err(problem());
    };
    let scores = scores.iter().map(number);
    let mut scores = scores.collect::<Option<Vec<f64>>>().ok_or_else(problem)?;
    scores.resize(count, 0.0);
    Ok(scores)
}

fn pack(ranked: &[Ranked], pieces: &[Dict], mut dropped: Vec<Value>, options: &Options) -> Value {
    let (mut chunks, mut reasons, mut total) = (Vec::new(), Vec::new(), 0_i64);
    let mut taken: HashMap<&str, (i64, i64)> = HashMap::new();
    for one in ranked {
        let tokens = tokens(&one.piece);
        let fits = total.saturating_add(tokens) <= options.budget;
        reasons.push(reason(one, fits, options));
        if fits {
            total += tokens;
            let (count, sum) = taken.entry(&one.artifact).or_default();
            (*count, *sum) = (*count + 1, *sum + tokens);
            let mut chunk = one.piece.clone();
            chunk.insert(Text::new("score"), one.score.into());
            chunks.push(Value::Dict(chunk));
        } else {
            let left = options.budget - total;
            let entry = Dropped {
                artifact: one.artifact.clone(),
                piece: Some(field(&one.piece, "id")),
                reason: "budget_exceeded",
                detail: format!("needs {tokens} tokens, {left} left"),
            };
            dropped.push(entry.described());
        }
    }
    Value::dict([
        ("chunks", Value::list(chunks)),
        ("included", included(&taken, pieces, options)),
        ("dropped", Value::list(dropped)),
        ("reasons", Value::list(reasons)),
        ("total_tokens", total.into()),
        ("budget_tokens", options.budget.into()),
        ("strategy", options.strategy.name().into()),
        ("dedup", options.dedup.name().into()),
    ])
}

fn tokens(piece: &Dict) -> i64 {
    match piece.get("estimated_tokens") {
        Some(Value::Int(tokens)) => *tokens,
        _ => 0,
    }
}

fn reason(one: &Ranked, fits: bool, options: &Options) -> Value {
    let reason = if fits { "selected" } else { "budget_exceeded" };
    Value::dict([
        ("chunk_id", field(&one.piece, "id").into()),
        ("artifact_id", one.artifact.as_str().into()),
        ("strategy", options.strategy.name().into()),
        ("score", one.score.into()),
        ("included", fits.into()),
        ("reason", reason.into()),
    ])
}

/// How much of each artifact was taken, in the order in which they were given.
fn included(taken: &HashMap<&str, (i64, i64)>, pieces: &[Dict], options: &Options) -> Value {
    let mut totals: HashMap<String, &Dict> = HashMap::new();
    for piece in pieces {
        totals.entry(field(piece, "artifact_id")).or_insert(piece);
    }
    let ids = (0..options.artifacts.len()).map(|at| options.artifact_id(at));
    let included = ids.filter_map(|id| {
        let (count, tokens) = *taken.get(id.as_str())?;
        let piece = totals.remove(&id)?;
        let known = |key: &str| piece.get(key).cloned().unwrap_or_default();
        Some(Value::dict([
            ("artifact_id", id.into()),
            ("artifact_kind", known("artifact_kind")),
            ("chunks_included", count.into()),
            ("chunks_total", known("chunk_count")),
            ("tokens_included", tokens.into()),
        ]))
    });
    included.collect()
}
