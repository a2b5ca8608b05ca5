//! `harn events types`.

use harn_events::catalogue::Catalogue;

use crate::program::harn;

#[test]
fn every_type_is_listed_once_with_its_version_and_meaning() {
    let call = harn(&["events", "types"]).exits_with(0);
    let catalogue = Catalogue::builtin();
    assert_eq!(catalogue.variants.len(), 61);
    for event in &catalogue.variants {
        let rows = call.stdout.lines().filter(|line| {
            let mut words = line.split_whitespace();
            words.next() == Some(&event.tag) && words.next() == Some(&event.since.to_string())
        });
        let rows: Vec<&str> = rows.collect();
        assert_eq!(rows.len(), 1, "{}", event.tag);
        assert!(rows[0].ends_with(&event.meaning), "{}", rows[0]);
    }
    assert_eq!(call.stderr, "");
}

#[test]
fn types_stand_below_their_group() {
    let call = harn(&["events", "types"]).exits_with(0);
    let at = |text: &str| {
        call.stdout
            .find(text)
            .unwrap_or_else(|| panic!("no {text}"))
    };
    assert!(at("\nhitl\n") < at("\nhitl_requested "));
    assert!(at("\nmcp client\n") < at("\nmcp_notification "));
}

#[test]
fn one_type_is_described_field_by_field() {
    for event in &Catalogue::builtin().variants {
        let call = harn(&["events", "types", &event.tag]).exits_with(0);
        let text: String = call.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let prose = |prose: &str| prose.split_whitespace().collect::<Vec<_>>().join(" ");
        for sentence in [
            &event.meaning,
            &event.emitted_by,
            &event.emitted_when,
            &event.ordering,
        ] {
            assert!(text.contains(&prose(sentence)), "{}: {sentence}", event.tag);
        }
        for note in &event.notes {
            assert!(text.contains(&prose(note)), "{}: {note}", event.tag);
        }
        for field in &event.fields {
            let said = format!("{} {} {}", field.name, field.type_name, prose(&field.doc));
            assert!(text.contains(&said), "{}: {said}", event.tag);
        }
    }
}

#[test]
fn an_event_that_nobody_emits_says_so() {
    for (tag, expected) in [
        (
            "fs_watch",
            "  emitted by    nobody in this version. Specified and not built: Host file-watch",
        ),
        (
            "step_judge_decision",
            "  emitted by    in this version only programs that publish it, with",
        ),
        ("artifact", "  emitted by    artifact_emit builtin."),
    ] {
        harn(&["events", "types", tag])
            .exits_with(0)
            .prints(expected);
    }
}

#[test]
fn the_rules_of_a_field_are_told() {
    harn(&["events", "types", "loop_checkpoint"])
        .exits_with(0)
        .prints("    (always written; required; since version 3)")
        .prints("    (left out when zero; reads as 0 when absent; since version 3)");
    harn(&["events", "types", "transcript_compacted"])
        .prints("    (always written; reads as \"\" when absent in old records; since version 3)");
}

#[test]
fn host_rights_are_told() {
    for (tag, expected) in [
        ("tool_call", "  hosts         may emit it as it is"),
        ("handoff", "  hosts         may not emit it"),
        (
            "loop_stuck_signal",
            "  hosts         may emit it by sending loop_stuck",
        ),
    ] {
        harn(&["events", "types", tag])
            .exits_with(0)
            .prints(expected);
    }
}

#[test]
fn an_unknown_type_fails_with_a_suggestion() {
    let call = harn(&["events", "types", "tool_cal_update"]).exits_with(1);
    assert_eq!(call.stdout, "");
    let expected =
        "error: there is no event type `tool_cal_update`; did you mean `tool_call_update`?\n";
    assert_eq!(call.stderr, expected);
}

#[test]
fn a_stranger_gets_no_silly_suggestion() {
    let call = harn(&["--json", "events", "types", "banana_milkshake"]).exits_with(1);
    assert_eq!(call.stdout, "");
    assert!(!call.stderr.contains("did you mean"), "{call:?}");
    assert!(call.stderr.contains("harn events types"), "{call:?}");
}

#[test]
fn other_names_of_an_event_lead_to_it() {
    for (name, tag) in [("turn_end", "iteration_end"), ("cache_hit", "cache_hit")] {
        let call = harn(&["events", "types", name]).exits_with(0).prints(tag);
        assert_eq!(call.stderr.contains(tag), name != tag, "{call:?}");
    }
    let call = harn(&["events", "types", "stance_armed"]).exits_with(0);
    assert!(call.stderr.contains("stance_transition"), "{call:?}");
}

#[test]
fn a_reserved_name_says_so() {
    let call = harn(&["events", "types", "purpose_label"]).exits_with(1);
    assert!(call.stderr.contains("reserved"), "{call:?}");
}

#[test]
fn json_of_one_type_has_the_keys_of_the_catalogue() {
    let event = harn(&["events", "types", "iteration_end", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(event["type"], "iteration_end");
    assert_eq!(event["since"], 3);
    assert_eq!(event["emitter"], "runtime");
    assert_eq!(event["host"], "direct");
    assert_eq!(event["renamed_from"], "turn_end");
    let expected = [
        "emitted_by",
        "emitted_when",
        "emitter",
        "fields",
        "group",
        "host",
        "host_types",
        "meaning",
        "notes",
        "ordering",
        "renamed_from",
        "since",
        "type",
    ];
    assert_eq!(sorted_keys(&event), expected);
    let expected = [
        "compat_default",
        "default",
        "doc",
        "name",
        "required",
        "since",
        "skip_if",
        "type",
    ];
    assert_eq!(sorted_keys(&event["fields"][0]), expected);
}

fn sorted_keys(object: &serde_json::Value) -> Vec<&str> {
    let keys = object.as_object().expect("it is an object").keys();
    let mut keys: Vec<&str> = keys.map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn json_of_all_types_is_in_the_order_of_the_catalogue() {
    let answer = harn(&["--json", "events", "types"]).exits_with(0).json();
    let events = answer["events"].as_array().unwrap();
    let tags: Vec<&str> = events
        .iter()
        .filter_map(|one| one["type"].as_str())
        .collect();
    let catalogue = Catalogue::builtin();
    let expected: Vec<&str> = catalogue
        .variants
        .iter()
        .map(|one| one.tag.as_str())
        .collect();
    assert_eq!(tags, expected);
}
