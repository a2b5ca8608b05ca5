//! Who emits which event today, as far as it is proved.
//!
//! ```text
//! tests/events/*.rs ──────────┐
//! programs of conformance ────┼──► proofs ──► hold `emitter` of the catalogue against them
//! sources that make events ───┘
//! ```
//!
//! A test names the events it proves when it sets its stage: `Stage::proving(&["plan"], …)`, or
//! `Stage::publishing(&["skill_narrow"])` where a program publishes them. The stage fails if one
//! of them was not emitted, so a name in the source is a fact. What the library of the language
//! emits is proved by programs of conformance that hear an event and publish none.
//!
//! The other direction is read from the sources: code that makes an event which no test proves
//! means that the catalogue is behind.

use std::collections::BTreeMap;

use harn_events::catalogue::{Catalogue, Emitter, Event, HostRight};

use crate::error::Error;
use crate::sources::SourceFile;

/// The tests that cause events.
pub(super) const EVENT_TESTS: &str = "crates/harn-agent/tests/events/";

/// The tests that prove an event.
#[derive(Debug, Default)]
pub(super) struct Proofs {
    /// The runtime emits it, or the library does.
    pub(super) emitted: Vec<String>,
    /// A program publishes it.
    pub(super) published: Vec<String>,
}

/// The proofs of all events, by tag.
///
/// # Errors
/// A test names what is no event, or claims what the host door refuses; or the catalogue says
/// something else about an event than the tests and the sources.
pub(super) fn collect(
    catalogue: &Catalogue,
    files: &[SourceFile],
) -> Result<BTreeMap<String, Proofs>, Error> {
    let mut proofs: BTreeMap<String, Proofs> = BTreeMap::new();
    for claim in files.iter().filter_map(test_module).flat_map(claims) {
        let event = catalogue.variants.iter().find(|one| one.tag == claim.event);
        let Some(event) = event else {
            let why = format!("`{}` is no event", claim.event);
            return Err(Error::malformed(claim.test, why));
        };
        if claim.is_published && matches!(event.host, HostRight::No) {
            let why = format!("the host door refuses `{}`", claim.event);
            return Err(Error::malformed(claim.test, why));
        }
        let proofs = proofs.entry(claim.event).or_default();
        match claim.is_published {
            true => proofs.published.push(claim.test),
            false => proofs.emitted.push(claim.test),
        }
    }
    for event in &catalogue.variants {
        let proofs = proofs.entry(event.tag.clone()).or_default();
        if proofs.emitted.is_empty() {
            proofs.emitted = listening_programs(files, &event.tag);
        }
        agree(event, proofs, files).map_err(|why| Error::malformed("the event catalogue", why))?;
    }
    Ok(proofs)
}

/// Whether the catalogue says of an event what the tests and the sources say.
fn agree(event: &Event, proofs: &Proofs, files: &[SourceFile]) -> Result<(), String> {
    let tag = &event.tag;
    let (is_emitted, is_published) = (!proofs.emitted.is_empty(), !proofs.published.is_empty());
    let proved = match (is_emitted, is_published) {
        (true, _) => "the runtime emits it",
        (false, true) => "only programs publish it",
        (false, false) => "nothing emits it",
    };
    let agrees = match event.emitter {
        Emitter::Runtime => is_emitted,
        Emitter::Programs | Emitter::ProgramsSoFar => !is_emitted && is_published,
        Emitter::Nobody => !is_emitted && !is_published,
    };
    if !agrees {
        let said = event.emitter;
        return Err(format!(
            "the emitter of `{tag}` is {said:?}, and by the tests {proved}"
        ));
    }
    if event.emitter == Emitter::Nobody && !matches!(event.host, HostRight::No) {
        return Err(format!("programs may publish `{tag}`, and no test does"));
    }
    match making_file(event, files).filter(|_| !is_emitted) {
        Some(path) => Err(format!(
            "{path} makes `{tag}`, and no test proves that it is emitted"
        )),
        None => Ok(()),
    }
}

/// What a test says about an event.
#[derive(Debug, PartialEq, Eq)]
struct Claim {
    event: String,
    test: String,
    is_published: bool,
}

/// The name of a module that causes events, and its source.
fn test_module(file: &SourceFile) -> Option<(&str, &str)> {
    let module = file.path.strip_prefix(EVENT_TESTS)?.strip_suffix(".rs")?;
    Some((module, &file.text))
}

/// What the tests of a module claim.
fn claims((module, source): (&str, &str)) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (stage, is_published) in [("Stage::proving", false), ("Stage::publishing", true)] {
        for (at, _) in source.match_indices(stage) {
            let Some(test) = enclosing_function(&source[..at]) else {
                continue;
            };
            let list = source[at..].split_once("&[").map_or("", |(_, rest)| rest);
            let list = list.split_once(']').map_or("", |(list, _)| list);
            // What stands between quotes: every second piece.
            for event in list.split('"').skip(1).step_by(2) {
                let claim = Claim {
                    event: event.to_owned(),
                    test: format!("{module}::{test}"),
                    is_published,
                };
                if !claims.contains(&claim) {
                    claims.push(claim);
                }
            }
        }
    }
    claims
}

/// The name of the function that is open at the end of a source.
fn enclosing_function(before: &str) -> Option<&str> {
    let (_, rest) = before.rsplit_once("fn ")?;
    rest.split_once('(').map(|(name, _)| name)
}

/// The programs of conformance that are told of an event, do not name it and publish nothing.
fn listening_programs(files: &[SourceFile], event: &str) -> Vec<String> {
    let text_of = |path: &str| files.iter().find(|file| file.path == path);
    let programs = files.iter().filter(|file| {
        file.path.starts_with("conformance/")
            && file.has_extension("harn")
            && file.text.contains("agent_subscribe")
    });
    let listening = programs.filter(|program| {
        let code = without_comments(&program.text);
        let printed = program.path.replace(".harn", ".expected");
        code.contains("agent_subscribe")
            && !code.contains("agent_emit_event")
            && !has_word(&code, event)
            && text_of(&printed).is_some_and(|printed| has_word(&printed.text, event))
    });
    listening.map(|program| program.path.clone()).collect()
}

fn without_comments(program: &str) -> String {
    let lines = program.lines().map(|line| {
        let code = line.split_once("//").map_or(line, |(code, _)| code);
        format!("{code}\n")
    });
    lines.collect()
}

/// Whether a text has a name, and not only as a part of another one.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|one| one == word)
}

/// A file of the runtime, a protocol or the library that makes an event.
fn making_file<'a>(event: &Event, files: &'a [SourceFile]) -> Option<&'a str> {
    let literal = format!("\"{}\"", event.tag);
    let makes = |file: &&SourceFile| {
        let Some((krate, path)) = file
            .path
            .strip_prefix("crates/")
            .and_then(|path| path.split_once('/'))
        else {
            return false;
        };
        match path.rsplit_once('.') {
            // The crate of the events reads and closes them all; the simulator is for tests.
            Some((_, "rs")) if !["harn-events", "harn-sim"].contains(&krate) => {
                path.starts_with("src/")
                    && !path.contains("/tests")
                    && has_construction(product_code(&file.text), &event.rust_name)
            }
            Some((_, "harn")) => {
                file.text.contains("agent_emit_event") && file.text.contains(&literal)
            }
            _ => false,
        }
    };
    files.iter().find(makes).map(|file| file.path.as_str())
}

/// A source without the tests at its end.
fn product_code(source: &str) -> &str {
    source
        .split_once("#[cfg(test)]")
        .map_or(source, |(code, _)| code)
}

/// Whether a variant is made somewhere. A pattern leaves fields out and ends in `..`.
fn has_construction(source: &str, variant: &str) -> bool {
    let head = format!("AgentEvent::{variant} {{");
    source.match_indices(&head).any(|(at, _)| {
        let fields = braced(&source[at + head.len()..]);
        !fields.trim_end().ends_with("..")
    })
}

/// What stands before the brace that closes the one before this text.
fn braced(text: &str) -> &str {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests;
