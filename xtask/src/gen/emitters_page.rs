//! The page that says which events are emitted today, written from the tests that cause them.
//!
//! ```text
//! catalogue/events.json ──┐
//!                         ├──► a row per event: who emits it, and which tests prove that
//! tests/events/*.rs ──────┘
//! ```
//!
//! A test names the events it proves when it sets its stage: `Stage::proving(&["plan"], …)`, or
//! `Stage::publishing(&["cache_hit"])` where a program publishes them. The stage fails if one of
//! them was not emitted, so a name in the source is a fact.

use std::collections::BTreeMap;

use harn_events::catalogue::{Catalogue, Event};

use super::markdown::{code, table};
use crate::error::Error;

/// The page for the text of a catalogue and the sources of the tests by module.
pub(super) fn render(catalogue: &str, tests: &[(String, String)]) -> Result<String, Error> {
    let catalogue =
        Catalogue::parse(catalogue).map_err(|why| Error::malformed("the event catalogue", why))?;
    let mut proofs: BTreeMap<String, Proofs> = BTreeMap::new();
    for (module, source) in tests {
        for claim in claims(module, source) {
            if !catalogue.variants.iter().any(|one| one.tag == claim.event) {
                let why = format!("`{}` is no event", claim.event);
                return Err(Error::malformed(claim.test, why));
            }
            let proofs = proofs.entry(claim.event).or_default();
            match claim.is_published {
                true => proofs.published.push(claim.test),
                false => proofs.emitted.push(claim.test),
            }
        }
    }
    Ok(page(&catalogue, &proofs))
}

/// The tests that prove an event.
#[derive(Default)]
struct Proofs {
    /// The runtime emits it.
    emitted: Vec<String>,
    /// A program publishes it.
    published: Vec<String>,
}

/// What a test says about an event.
#[derive(Debug, PartialEq, Eq)]
struct Claim {
    event: String,
    test: String,
    is_published: bool,
}

/// What the tests of a module claim.
fn claims(module: &str, source: &str) -> Vec<Claim> {
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

fn page(catalogue: &Catalogue, proofs: &BTreeMap<String, Proofs>) -> String {
    let of = |event: &Event| proofs.get(&event.tag);
    let events = catalogue.variants.iter();
    let emitted = events
        .clone()
        .filter(|event| of(event).is_some_and(|proofs| !proofs.emitted.is_empty()));
    let emitted = emitted.count();
    let published = events
        .clone()
        .filter(|event| of(event).is_some_and(|proofs| proofs.emitted.is_empty()));
    let published = published.count();
    let total = catalogue.variants.len();
    let rows: Vec<Vec<String>> = events.map(|event| row(event, of(event))).collect();
    format!(
        "<!-- Written by `cargo xtask gen` from the tests in crates/harn-agent/tests/events. \
         Edit the tests, not this page. -->\n\n\
         # Who emits what today\n\n\
         Of the {total} kinds of [event](../reference/events.md), {emitted} are emitted by the \
         runtime today, and {published} more by programs only, with `agent_emit_event`; the \
         other {} wait for their subsystem. Each row names the tests in \
         `crates/harn-agent/tests/events` that cause the event for real and look at its fields, \
         its order and its pair. A test that names an event here fails unless it was emitted.\n\n\
         {}",
        total - emitted - published,
        table(&["event", "emitted by", "proved by"], &rows)
    )
}

fn row(event: &Event, proofs: Option<&Proofs>) -> Vec<String> {
    let name = format!("[`{0}`](../reference/events.md#{0})", event.tag);
    let Some(proofs) = proofs else {
        return vec![name, "nobody yet".to_owned(), String::new()];
    };
    let by = match (proofs.emitted.is_empty(), proofs.published.is_empty()) {
        (false, false) => "the runtime, programs",
        (false, true) => "the runtime",
        _ => "programs",
    };
    let tests = proofs.emitted.iter().chain(&proofs.published);
    let tests: Vec<String> = tests.map(|test| code(test)).collect();
    vec![name, by.to_owned(), tests.join(", ")]
}

#[cfg(test)]
mod tests {
    use super::*;

    const CATALOGUE: &str = r#"{
      "variants": [
        {"type": "plan", "group": "g", "since": 1, "host": "no", "host_types": [],
         "meaning": "", "emitted_by": "", "emitted_when": "", "ordering": "", "fields": []},
        {"type": "cache_hit", "group": "g", "since": 1, "host": "no", "host_types": [],
         "meaning": "", "emitted_by": "", "emitted_when": "", "ordering": "", "fields": []},
        {"type": "handoff", "group": "g", "since": 1, "host": "no", "host_types": [],
         "meaning": "", "emitted_by": "", "emitted_when": "", "ordering": "", "fields": []}
      ],
      "types": {}, "legacy_tags": {}, "reserved_tags": []
    }"#;

    fn tests(source: &str) -> Vec<(String, String)> {
        vec![("tools".to_owned(), source.to_owned())]
    }

    #[test]
    fn a_test_names_what_it_proves() {
        let source = "async fn a_plan_is_told() {\n    let stage = Stage::proving(\n        \
                      &[\n            \"plan\",\n        ],\n        &[\"no event\"],\n    );\n}\n\
                      fn b() { Stage::publishing(&[\"cache_hit\"]); Stage::proving_online(&[]); }";
        let page = render(CATALOGUE, &tests(source)).unwrap();
        let rows = "| [`plan`](../reference/events.md#plan) | the runtime | \
                    `tools::a_plan_is_told` |\n\
                    | [`cache_hit`](../reference/events.md#cache_hit) | programs | `tools::b` |\n\
                    | [`handoff`](../reference/events.md#handoff) | nobody yet |  |\n";
        assert!(page.ends_with(rows), "{page}");
        assert!(page.contains("Of the 3 kinds of"), "{page}");
        let counted = "1 are emitted by the runtime today, and 1 more by programs only";
        assert!(page.contains(counted), "{page}");
    }

    #[test]
    fn a_name_that_is_no_event_is_refused() {
        let source = "fn a() { Stage::proving(&[\"plam\"]); }";
        assert!(render(CATALOGUE, &tests(source)).is_err());
    }
}
