//! The page that says which events are emitted today, and which tests prove that.

use std::collections::BTreeMap;

use harn_events::catalogue::{Catalogue, Emitter, Event, HostRight};

use super::event_proofs::Proofs;
use super::markdown::{code, table};

/// The page for a catalogue that agrees with its proofs.
pub(super) fn render(catalogue: &Catalogue, proofs: &BTreeMap<String, Proofs>) -> String {
    let count = |emitters: &[Emitter]| {
        let events = catalogue.variants.iter();
        events.filter(|one| emitters.contains(&one.emitter)).count()
    };
    let rows: Vec<Vec<String>> = catalogue
        .variants
        .iter()
        .map(|event| row(event, proofs.get(&event.tag)))
        .collect();
    format!(
        "<!-- Written by `cargo xtask gen` from the tests in crates/harn-agent/tests/events and \
         conformance. Edit the tests, not this page. -->\n\n\
         # Who emits what today\n\n\
         Of the {} kinds of [event](../reference/events.md), {} are emitted by the runtime and \
         its library today, {} are emitted only when a program publishes them with \
         `agent_emit_event`, and the other {} by nobody: they wait for their subsystem, and the \
         [host door](hosts.md) refuses them. What is still to come is on the page about \
         [what is not built](../status.md#events).\n\n\
         Each row names the tests in `crates/harn-agent/tests/events` that cause the event for \
         real and look at its fields, its order and its pair, or the programs in `conformance` \
         that hear it. A test that names an event here fails unless it was emitted, and an event \
         that code makes and no test proves stops `cargo xtask gen`.\n\n\
         {}",
        catalogue.variants.len(),
        count(&[Emitter::Runtime]),
        count(&[Emitter::Programs, Emitter::ProgramsSoFar]),
        count(&[Emitter::Nobody]),
        table(&["event", "emitted by", "proved by"], &rows)
    )
}

fn row(event: &Event, proofs: Option<&Proofs>) -> Vec<String> {
    let name = format!("[`{0}`](../reference/events.md#{0})", event.tag);
    let by = match (event.emitter, &event.host) {
        (Emitter::Runtime, HostRight::No) => "the runtime",
        (Emitter::Runtime, HostRight::Direct | HostRight::Special) => "the runtime, programs",
        (Emitter::Programs | Emitter::ProgramsSoFar, _) => "programs",
        (Emitter::Nobody, _) => "nobody yet",
    };
    let tests = proofs.map(|proofs| proofs.emitted.iter().chain(&proofs.published));
    let tests: Vec<String> = tests.into_iter().flatten().map(|test| code(test)).collect();
    vec![name, by.to_owned(), tests.join(", ")]
}

#[cfg(test)]
mod tests {
    use super::*;

    const CATALOGUE: &str = r#"{
      "variants": [
        {"type": "plan", "group": "g", "since": 1, "host": "no", "host_types": [],
         "meaning": "", "emitted_by": "", "emitter": "runtime", "emitted_when": "",
         "ordering": "", "fields": []},
        {"type": "tool_call", "group": "g", "since": 1, "host": "direct", "host_types": [],
         "meaning": "", "emitted_by": "", "emitter": "runtime", "emitted_when": "",
         "ordering": "", "fields": []},
        {"type": "skill_narrow", "group": "g", "since": 1, "host": "direct", "host_types": [],
         "meaning": "", "emitted_by": "", "emitter": "programs_so_far", "emitted_when": "",
         "ordering": "", "fields": []},
        {"type": "fs_watch", "group": "g", "since": 1, "host": "no", "host_types": [],
         "meaning": "", "emitted_by": "", "emitter": "nobody", "emitted_when": "",
         "ordering": "", "fields": []}
      ],
      "types": {}, "legacy_tags": {}, "reserved_tags": []
    }"#;

    #[test]
    fn an_event_has_a_row_with_its_emitter_and_its_proofs() {
        let proofs = |emitted: &[&str], published: &[&str]| Proofs {
            emitted: emitted.iter().map(ToString::to_string).collect(),
            published: published.iter().map(ToString::to_string).collect(),
        };
        let proofs = BTreeMap::from([
            ("plan".to_string(), proofs(&["tools::a"], &[])),
            (
                "tool_call".to_string(),
                proofs(&["tools::a"], &["published::b"]),
            ),
            ("skill_narrow".to_string(), proofs(&[], &["published::b"])),
        ]);
        let page = render(&Catalogue::parse(CATALOGUE).unwrap(), &proofs);
        let rows = "| [`plan`](../reference/events.md#plan) | the runtime | `tools::a` |\n\
                    | [`tool_call`](../reference/events.md#tool_call) | the runtime, programs | \
                    `tools::a`, `published::b` |\n\
                    | [`skill_narrow`](../reference/events.md#skill_narrow) | programs | \
                    `published::b` |\n\
                    | [`fs_watch`](../reference/events.md#fs_watch) | nobody yet |  |\n";
        assert!(page.ends_with(rows), "{page}");
        let counted = "Of the 4 kinds of [event](../reference/events.md), 2 are emitted by the \
                       runtime and its library today, 1 are emitted only when a program";
        assert!(page.contains(counted), "{page}");
    }
}
