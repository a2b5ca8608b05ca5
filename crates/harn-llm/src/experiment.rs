//! Prompts that are tried in another shape.
//!
//! An experiment is named in a text such as `prompt_order_permutation(seed: 3)` or in a dict,
//! and changes what is asked before anybody is asked. Experiments that a program wrote itself
//! have run before its options came here; all that is left of them is what to say about them.

mod spec;

use serde_json::{Map, Value, json};

use crate::catalog::Invalid;
use spec::{Spec, argument_text};

/// The key of a dict that says what an experiment of the program's own has done already.
pub const APPLIED: &str = "__applied";

/// What stands after the prompt of `chain_of_draft`.
const DRAFT: &str = "First emit a terse scratch draft inside <draft>...</draft>, a few words per \
                     step. Then write the final answer outside the tags.";

/// Tries a prompt in another shape; gives what is said about the experiment afterwards.
///
/// # Errors
/// There is no such experiment, or its text cannot be read.
pub fn apply(
    given: &Value,
    system: &mut Option<String>,
    messages: &mut Vec<Value>,
) -> Result<Option<Value>, Invalid> {
    if let Some(applied) = given.get(APPLIED) {
        return Ok(Some(applied.clone()));
    }
    let Some(spec) = Spec::read(given)? else {
        return Ok(None);
    };
    run(&spec, system, messages)?;
    Ok(Some(json!({
        "label": spec.label.clone().unwrap_or_else(|| label(&spec)),
        "name": spec.name,
        "args": spec.arguments,
        "metadata": {},
    })))
}

/// An experiment as one would write it.
fn label(spec: &Spec) -> String {
    if spec.arguments.is_empty() {
        return spec.name.clone();
    }
    let arguments = spec.arguments.iter();
    let arguments: Vec<String> = arguments
        .map(|(name, value)| format!("{name}: {}", argument_text(value)))
        .collect();
    format!("{}({})", spec.name, arguments.join(", "))
}

fn run(spec: &Spec, system: &mut Option<String>, messages: &mut Vec<Value>) -> Result<(), Invalid> {
    let latest = messages.iter().rposition(is_prompt);
    let text = |messages: &[Value], at: usize| {
        let text = messages[at]["content"].as_str();
        text.unwrap_or_default().to_owned()
    };
    match (spec.name.as_str(), latest) {
        ("prompt_order_permutation", Some(at)) => {
            let shuffled = permuted(&text(messages, at), seed(&spec.arguments));
            messages[at]["content"] = shuffled.into();
        }
        ("doubled_prompt", Some(at)) => {
            let copy = messages[at].clone();
            messages.insert(0, copy.clone());
            messages.push(copy);
        }
        ("chain_of_draft", Some(at)) => {
            let drafted = format!("{}\n\n{DRAFT}", text(messages, at));
            messages[at]["content"] = drafted.into();
        }
        ("inverted_system", Some(at)) => {
            let prompt = text(messages, at);
            messages[at]["content"] = system.replace(prompt).unwrap_or_default().into();
        }
        (
            "prompt_order_permutation" | "doubled_prompt" | "chain_of_draft" | "inverted_system",
            None,
        ) => {}
        (name, _) => {
            return Err(Invalid::new(format!(
                "unknown structural experiment `{name}`"
            )));
        }
    }
    Ok(())
}

/// Whether a user said it in plain text.
fn is_prompt(message: &Value) -> bool {
    message["role"] == "user" && message["content"].is_string()
}

fn seed(arguments: &Map<String, Value>) -> u64 {
    let seed = arguments.get("seed");
    let whole = seed.and_then(|seed| seed.as_i64().or_else(|| whole(seed.as_f64()?)));
    // The bits are what counts, not the sign.
    whole.unwrap_or(0).cast_unsigned()
}

#[expect(clippy::cast_possible_truncation, reason = "a seed may be any number")]
fn whole(seed: f64) -> Option<i64> {
    seed.is_finite().then_some(seed as i64)
}

/// The paragraphs of a text in another order.
fn permuted(text: &str, seed: u64) -> String {
    let mut paragraphs: Vec<(usize, String)> = paragraphs(text).into_iter().enumerate().collect();
    paragraphs.sort_by_key(|(index, _)| (score(seed, *index), *index));
    let is_unchanged = paragraphs
        .iter()
        .enumerate()
        .all(|(at, (was, _))| at == *was);
    if is_unchanged && !paragraphs.is_empty() {
        paragraphs.rotate_left(1);
    }
    let paragraphs: Vec<String> = paragraphs.into_iter().map(|(_, text)| text).collect();
    paragraphs.join("\n\n")
}

/// What stands between blank lines.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        if !line.trim().is_empty() {
            lines.push(line);
        } else if !lines.is_empty() {
            paragraphs.push(lines.join("\n").trim().to_owned());
            lines.clear();
        }
    }
    paragraphs
}

/// Where a paragraph goes: the same seed always gives the same order.
fn score(seed: u64, index: usize) -> u64 {
    let spread = (index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (seed ^ spread)
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests;
