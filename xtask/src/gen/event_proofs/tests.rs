//! A catalogue of a few events, and what tests and sources say about them.

use super::*;

/// Events with the emitter that the catalogue names, and whether the host door takes them.
fn catalogue(events: &[(&str, &str, &str)]) -> Catalogue {
    let variants = events.iter().map(|(tag, emitter, host)| {
        let words = tag.split('_').map(|word| {
            let (first, rest) = word.split_at(1);
            format!("{}{rest}", first.to_uppercase())
        });
        serde_json::json!({
            "type": tag, "rust_name": words.collect::<String>(), "group": "g", "since": 1,
            "host": host, "host_types": [], "meaning": "", "emitted_by": "B.", "emitter": emitter,
            "emitted_when": "", "ordering": "", "fields": [],
        })
    });
    let catalogue = serde_json::json!({
        "variants": variants.collect::<Vec<_>>(),
        "types": {}, "legacy_tags": {}, "reserved_tags": [],
    });
    Catalogue::parse(&catalogue.to_string()).unwrap()
}

fn test(source: &str) -> SourceFile {
    SourceFile::new("crates/harn-agent/tests/events/tools.rs", source)
}

/// What is wrong with an event whose catalogue says this, or nothing.
#[track_caller]
fn check(event: (&str, &str, &str), files: &[SourceFile], expected: &str) {
    let complaint = collect(&catalogue(&[event]), files).err();
    let complaint = complaint.map(|why| why.to_string()).unwrap_or_default();
    let complaint = complaint
        .rsplit(" is malformed: ")
        .next()
        .unwrap_or_default();
    assert_eq!(complaint, expected);
}

#[test]
fn a_test_names_what_it_proves() {
    let source = "async fn a_plan_is_told() {\n    let stage = Stage::proving(\n        \
                  &[\n            \"plan\",\n        ],\n        &[\"no event\"],\n    );\n}\n\
                  fn b() { Stage::publishing(&[\"skill_narrow\"]); Stage::proving_online(&[]); }";
    let catalogue = catalogue(&[
        ("plan", "runtime", "no"),
        ("skill_narrow", "programs_so_far", "direct"),
        ("fs_watch", "nobody", "no"),
    ]);
    let proofs = collect(&catalogue, &[test(source)]).unwrap();
    assert_eq!(proofs["plan"].emitted, ["tools::a_plan_is_told"]);
    assert_eq!(proofs["skill_narrow"].published, ["tools::b"]);
    let none = &proofs["fs_watch"];
    assert!(none.emitted.is_empty() && none.published.is_empty());
}

#[test]
fn a_name_that_is_no_event_is_refused() {
    let source = test("fn a() { Stage::proving(&[\"plam\"]); }");
    check(("plan", "runtime", "no"), &[source], "`plam` is no event");
}

#[test]
fn what_the_host_door_refuses_is_not_published() {
    let source = test("fn a() { Stage::publishing(&[\"artifact\"]); }");
    let expected = "the host door refuses `artifact`";
    check(("artifact", "programs", "no"), &[source], expected);
}

#[test]
fn the_catalogue_says_what_the_tests_prove() {
    let proving = || test("fn a() { Stage::proving(&[\"plan\"]); }");
    let publishing = || test("fn a() { Stage::publishing(&[\"plan\"]); }");
    check(("plan", "runtime", "direct"), &[proving()], "");
    check(("plan", "programs", "direct"), &[publishing()], "");
    check(("plan", "programs_so_far", "direct"), &[publishing()], "");
    check(("plan", "nobody", "no"), &[], "");
    let emitted = "the emitter of `plan` is Nobody, and by the tests the runtime emits it";
    check(("plan", "nobody", "no"), &[proving()], emitted);
    let nothing = "the emitter of `plan` is Runtime, and by the tests nothing emits it";
    check(("plan", "runtime", "no"), &[], nothing);
    let published = "the emitter of `plan` is Runtime, and by the tests only programs publish it";
    check(("plan", "runtime", "direct"), &[publishing()], published);
    let unused = "programs may publish `plan`, and no test does";
    check(("plan", "nobody", "direct"), &[], unused);
}

#[test]
fn a_program_that_hears_an_event_proves_it() {
    let program = |text: &str| SourceFile::new("conformance/caches/hit.harn", text);
    let printed = || SourceFile::new("conformance/caches/hit.expected", "heard cache_hit\n");
    let event = ("cache_hit", "runtime", "special");
    let listening = "// cache_hit\nagent_subscribe(\"s\", { event -> println(event.type) })";
    check(event, &[program(listening), printed()], "");
    let unproved = "the emitter of `cache_hit` is Runtime, and by the tests nothing emits it";
    let publishing = format!("{listening}\nagent_emit_event(\"s\", name, {{}})");
    check(event, &[program(&publishing), printed()], unproved);
    let naming = format!("{listening}\nprintln(\"cache_hit\")");
    check(event, &[program(&naming), printed()], unproved);
    let other = SourceFile::new("conformance/caches/hit.expected", "cache_hit_ratio\n");
    check(event, &[program(listening), other], unproved);
}

#[test]
fn code_that_makes_an_event_needs_a_test_that_proves_it() {
    let source = |path: &str, text: &str| SourceFile::new(path, text);
    let event = ("fs_watch", "nobody", "no");
    let path = "crates/harn-agent/src/watch.rs";
    let made = "bus.emit(&AgentEvent::FsWatch { session_id, events: vec![Batch { .. }] });";
    let expected =
        "crates/harn-agent/src/watch.rs makes `fs_watch`, and no test proves that it is emitted";
    check(event, &[source(path, made)], expected);
    // Patterns, tests, and the crate that reads all events make none.
    for (path, text) in [
        (
            path,
            "match event { AgentEvent::FsWatch { events, .. } => 1, }",
        ),
        (
            path,
            "#[cfg(test)]\nmod tests { AgentEvent::FsWatch { session_id } }",
        ),
        ("crates/harn-agent/src/watch/tests.rs", made),
        ("crates/harn-events/src/brackets.rs", made),
    ] {
        check(event, &[source(path, text)], "");
    }
    let published = "fn tell() { agent_emit_event(id, \"fs_watch\", {}) }";
    let path = "crates/harn-vm/harn/watch.harn";
    let expected =
        "crates/harn-vm/harn/watch.harn makes `fs_watch`, and no test proves that it is emitted";
    check(event, &[source(path, published)], expected);
}
