//! `harn events topics`.

use serde_json::json;

use super::{BACKENDS, Backend, HOUR, NOW_MS, ORDERS, Project, SECOND};

#[test]
fn topics_are_listed_with_their_size_and_age() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let call = project.harn(&["topics"]).exits_with(0);
        let expected = "\
TOPIC                            RECORDS        ID  NEWEST
observability.agent_events.s_1         4         4  7m ago
orders                                 2         2  3s ago
";
        assert_eq!(call.stdout, expected, "{backend:?}");
        assert_eq!(call.stderr, "");
    }
}

#[test]
fn times_can_be_absolute() {
    let project = Project::with_records(Backend::Sqlite);
    project
        .harn(&["topics", "--absolute"])
        .exits_with(0)
        .prints("orders                                 2         2  2026-01-31T11:59:57.000Z");
}

#[test]
fn json_has_the_promised_keys() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        let answer = project.harn(&["topics", "--json"]).exits_with(0).json();
        let expected = json!({"topic": "orders", "records": 2, "newest_id": 2,
            "newest_at_ms": NOW_MS - 3 * SECOND, "error": null});
        assert_eq!(answer["topics"][1], expected);
        assert_eq!(answer["topics"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn what_was_compacted_away_is_not_counted() {
    for backend in BACKENDS {
        let project = Project::with_records(backend);
        for (before, records, newest) in [(1, 1, json!(NOW_MS - 3 * SECOND)), (2, 0, json!(null))] {
            project.compact(ORDERS, before);
            let row = &project.harn(&["topics", "--json"]).json()["topics"][1];
            assert_eq!(row["records"], records);
            assert_eq!(row["newest_id"], 2);
            assert_eq!(row["newest_at_ms"], newest);
        }
        let gone = "orders                                 0         2  gone";
        project.harn(&["topics"]).exits_with(0).prints(gone);
    }
}

#[test]
fn an_empty_log_has_no_topics() {
    let project = Project::new(Backend::Sqlite);
    drop(project.open());
    let call = project.harn(&["topics"]).exits_with(0);
    assert_eq!(call.stdout, "");
    assert_eq!(call.stderr, "no topics: nothing has been appended yet\n");
    let answer = project.harn(&["topics", "--json"]).exits_with(0).json();
    assert_eq!(answer, json!({"topics": []}));
}

#[test]
fn the_future_and_the_long_past_have_words_as_well() {
    let project = Project::new(Backend::File);
    for (topic, age) in [("a", -2 * HOUR), ("b", 48 * HOUR), ("c", 0)] {
        project.append(
            topic,
            vec![harn_log::LogEvent::at("k", json!({}), NOW_MS - age)],
        );
    }
    let call = project.harn(&["topics"]).exits_with(0);
    let ends = ["  in 2h", "  2d ago", "  just now"];
    for (line, end) in call.stdout.lines().skip(1).zip(ends) {
        assert!(line.ends_with(end), "{line}");
    }
}
