//! Runs every sample of `tests/corpus`: answers in the style of weak models, each with what we
//! make of it. A text in a list of errors or violations must be contained in what is reported;
//! with `=` before it, it must be all of it. Calls are written `name {JSON}`.

use std::path::Path;

use harn_llm::grammar::think::{Piece, ThinkSplitter};
use harn_llm::grammar::{
    Candidate, Candidates, Channel, Parsed, ParsedCall, ToolNames, fenced, parse,
};
use serde::Deserialize;

const CASES_MIN: usize = 220;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    tools: Vec<String>,
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    about: String,
    text: String,
    /// `json` for the fenced format.
    #[serde(default)]
    format: String,
    #[serde(default)]
    calls: Vec<String>,
    #[serde(default)]
    ids: Vec<String>,
    #[serde(default)]
    errors: Vec<String>,
    #[serde(default)]
    violations: Vec<String>,
    #[serde(default)]
    repairs: Vec<String>,
    prose: Option<String>,
    done: Option<String>,
    response: Option<String>,
    canonical: Option<String>,
    /// The messages of candidates that are withdrawn, where the sample is about them.
    aborted: Option<Vec<String>>,
    /// Set where the whole answer shows that what was announced was a thought.
    #[serde(default)]
    announces_thoughts: bool,
}

const TOOLS: [&str; 6] = ["read", "write", "run", "list_files", "fs.stat", "append"];

#[test]
fn every_sample_is_read_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut count = 0;
    let mut failures = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file: File = toml::from_str(&std::fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let tools: ToolNames = if file.tools.is_empty() {
            TOOLS.into_iter().collect()
        } else {
            file.tools.iter().cloned().collect()
        };
        for case in &file.case {
            count += 1;
            for failure in check(case, &tools) {
                let place = path.file_name().unwrap().to_string_lossy();
                failures.push(format!("{place}, {}: {failure}", case.about));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(count >= CASES_MIN, "only {count} samples");
}

fn check(case: &Case, tools: &ToolNames) -> Vec<String> {
    let parsed = match case.format.as_str() {
        "json" => fenced::parse(&case.text, tools, Some("##DONE##")),
        _ => parse(&case.text, tools, Some("##DONE##")),
    };
    let mut failures = Vec::new();
    let calls = |calls: &[ParsedCall]| -> Vec<String> {
        calls
            .iter()
            .map(|call| format!("{} {}", call.name, call.arguments))
            .collect()
    };
    let expected: Vec<String> = case.calls.iter().map(|call| normal(call)).collect();
    if calls(&parsed.calls) != expected {
        failures.push(format!(
            "calls {:?}, not {expected:?}",
            calls(&parsed.calls)
        ));
    }
    let ids: Vec<&str> = parsed.calls.iter().map(|call| call.id.as_str()).collect();
    if !case.ids.is_empty() && ids != case.ids {
        failures.push(format!("ids {ids:?}, not {:?}", case.ids));
    }
    texts("errors", &parsed.errors, &case.errors, &mut failures);
    texts(
        "violations",
        &parsed.violations,
        &case.violations,
        &mut failures,
    );
    let repairs: Vec<&str> = parsed.repairs.iter().map(|repair| repair.what).collect();
    if repairs != case.repairs {
        failures.push(format!("repairs {repairs:?}, not {:?}", case.repairs));
    }
    for (what, found, expected) in [
        ("prose", Some(&parsed.prose), &case.prose),
        ("done", parsed.done_marker.as_ref(), &case.done),
        ("response", parsed.user_response.as_ref(), &case.response),
        ("canonical", parsed.canonical.as_ref(), &case.canonical),
    ] {
        if expected.is_some() && found != expected.as_ref() {
            failures.push(format!("{what} {found:?}, not {expected:?}"));
        }
    }
    check_canonical(&parsed, tools, &mut failures);
    check_candidates(case, &parsed, tools, &mut failures);
    failures
}

fn normal(call: &str) -> String {
    let (name, arguments) = call.split_once(' ').unwrap_or((call, "{}"));
    let arguments: serde_json::Value =
        serde_json::from_str(arguments).unwrap_or_else(|error| panic!("{call}: {error}"));
    format!("{name} {arguments}")
}

fn texts(what: &str, found: &[String], expected: &[String], failures: &mut Vec<String>) {
    let fits = |(found, expected): (&String, &String)| match expected.strip_prefix('=') {
        Some(whole) => found == whole,
        None => found.contains(expected.as_str()),
    };
    if found.len() != expected.len() || !found.iter().zip(expected).all(fits) {
        failures.push(format!("{what} {found:#?}, not {expected:#?}"));
    }
}

/// What is written into the history must say what was run.
fn check_canonical(parsed: &Parsed, tools: &ToolNames, failures: &mut Vec<String>) {
    let Some(canonical) = &parsed.canonical else {
        return;
    };
    let again = parse(canonical, tools, Some("##DONE##"));
    let bare = |calls: &[ParsedCall]| -> Vec<(String, serde_json::Value)> {
        calls
            .iter()
            .map(|call| (call.name.clone(), call.arguments.clone()))
            .collect()
    };
    if bare(&again.calls) != bare(&parsed.calls) || again.canonical.as_ref() != Some(canonical) {
        failures.push(format!("canonical text is read as {again:#?}"));
    }
}

fn check_candidates(case: &Case, parsed: &Parsed, tools: &ToolNames, failures: &mut Vec<String>) {
    let channel = match case.format.as_str() {
        "json" => Channel::Fenced,
        _ => Channel::Tagged,
    };
    let whole = announced(&[&case.text], tools, channel);
    let pieces: Vec<String> = case.text.chars().map(String::from).collect();
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    let in_pieces = announced(&pieces, tools, channel);
    if whole != in_pieces {
        failures.push(format!(
            "announced {whole:#?}\nbut in pieces {in_pieces:#?}"
        ));
    }
    let opened = whole
        .iter()
        .filter(|it| matches!(it, Candidate::Opened { .. }))
        .count();
    if opened * 2 != whole.len() {
        failures.push(format!("not every candidate is closed once: {whole:#?}"));
    }
    let mut run = parsed.calls.iter();
    for candidate in &whole {
        if let Candidate::Promoted {
            name, arguments, ..
        } = candidate
        {
            let is_run = run.any(|call| call.name == *name && call.arguments == *arguments);
            if !is_run && !case.announces_thoughts {
                failures.push(format!("announced and not run: {candidate:?}"));
            }
        }
    }
    if let Some(expected) = &case.aborted {
        let aborted: Vec<String> = whole
            .iter()
            .filter_map(|candidate| match candidate {
                Candidate::Aborted { message, .. } => Some(message.clone()),
                Candidate::Opened { .. } | Candidate::Promoted { .. } => None,
            })
            .collect();
        texts("withdrawals", &aborted, expected, failures);
    }
}

fn announced(pieces: &[&str], tools: &ToolNames, channel: Channel) -> Vec<Candidate> {
    let mut splitter = ThinkSplitter::default();
    let mut candidates = Candidates::new(tools.clone(), channel, 7);
    let mut found = Vec::new();
    for piece in pieces {
        for said in splitter.push(piece) {
            if let Piece::Text(text) = said {
                found.extend(candidates.push(&text));
            }
        }
    }
    for said in splitter.finish() {
        if let Piece::Text(text) = said {
            found.extend(candidates.push(&text));
        }
    }
    found.extend(candidates.finish());
    found
}
