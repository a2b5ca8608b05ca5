//! Selections of many artifacts, and what is shown while a session goes on.

use serde_json::{Value, json};

use super::*;

fn read(payload: &Value) -> Artifact {
    let making = Making {
        now: "2026-01-01T00:00:00Z",
        new_id: &|| "new".to_owned(),
    };
    Artifact::read(payload, &making).unwrap()
}

#[test]
fn whatever_a_dict_holds_an_artifact_has_all_fields() {
    let odd = json!({
        "id": 7, "kind": null, "title": [1], "text": true, "priority": "high", "lineage": "x",
        "relevance": {}, "estimated_tokens": -1, "metadata": [], "created_at": "",
    });
    let artifact = read(&odd).to_json();
    assert_eq!(
        artifact,
        json!({
            "_type": "artifact", "id": "7", "kind": "artifact", "title": "[1]", "text": "true",
            "data": null, "source": null, "created_at": "2026-01-01T00:00:00Z",
            "freshness": null, "priority": 40, "lineage": [], "relevance": null,
            "estimated_tokens": 1, "stage": null, "metadata": {},
        })
    );
}

#[test]
fn many_artifacts_are_selected_in_one_go() {
    let artifacts: Vec<Artifact> = (0..20_000_i64)
        .map(|n| read(&json!({"id": n.to_string(), "priority": n % 7, "text": n.to_string()})))
        .collect();
    let policy = ContextPolicy::read(&json!({
        "max_tokens": 1000,
        "pinned_ids": (0..5000).map(|n| n.to_string()).collect::<Vec<_>>(),
    }));
    let selected = select_adaptive(artifacts, &policy);
    assert_eq!(selected.iter().map(Artifact::tokens).sum::<u64>(), 1000);
    assert_eq!(selected[0].id, "6");
}

#[test]
fn newer_is_newer_however_a_time_is_written() {
    let times = [
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00.5Z",
        "2026-01-01T00:30:00+01:00",
        "-",
    ];
    let artifacts = times.map(|time| read(&json!({"id": time, "created_at": time})));
    let policy = ContextPolicy::read(&json!({"prefer_recent": true}));
    let selected = select(artifacts.to_vec(), &policy);
    let ids: Vec<&str> = selected.iter().map(|artifact| &*artifact.id).collect();
    assert_eq!(ids, [times[1], times[0], times[2], times[3]]);
}

#[track_caller]
fn refused(kind: &str, spec: &Value, options: &Value) -> String {
    let making = Making {
        now: "",
        new_id: &|| "new".to_owned(),
    };
    let read = LiveArtifact::read(&json!(kind), spec, options, &making);
    read.expect_err("it cannot be shown").to_string()
}

#[test]
fn what_cannot_be_shown_says_why() {
    let none = json!({});
    for (kind, spec, options, expected) in [
        (
            "vega-lite",
            json!({"layer": [{"mark": "bar"}, {"data": {"url": "x"}}]}),
            &none,
            "a vega-lite spec must carry its data; data.url is not allowed",
        ),
        (
            "vega-lite",
            json!([]),
            &none,
            "a vega-lite spec must be a dict",
        ),
        (
            "mermaid",
            json!(1),
            &none,
            "a mermaid spec must be a string",
        ),
        (
            "table",
            json!({"columns": vec![0; 51], "rows": []}),
            &none,
            "a table may have at most 50 columns, got 51",
        ),
        (
            "painting",
            json!(null),
            &none,
            "unknown kind 'painting'; known are vega-lite, mermaid and table",
        ),
        (
            "mermaid",
            json!("graph"),
            &json!({"max_bytes": 3}),
            "the spec may take at most 3 bytes, got 7",
        ),
        (
            "mermaid",
            json!("g"),
            &json!({"max_bytes": 0}),
            "max_bytes must be a positive int",
        ),
        (
            "mermaid",
            json!("g"),
            &json!({"metadata": 1}),
            "metadata must be a dict",
        ),
        (
            "mermaid",
            json!("g"),
            &json!(7),
            "options must be a dict or nil",
        ),
        (
            "mermaid",
            json!("g"),
            &json!({"fallback": "x".repeat(65_537)}),
            "the fallback may take at most 65536 bytes, got 65537",
        ),
    ] {
        assert_eq!(refused(kind, &spec, options), expected);
    }
}

#[test]
fn what_cannot_be_drawn_can_be_read() {
    let making = Making {
        now: "",
        new_id: &|| "new".to_owned(),
    };
    let fallback = |kind: &str, spec: Value| {
        let options = json!({"title": "T"});
        LiveArtifact::read(&json!(kind), &spec, &options, &making)
            .unwrap()
            .fallback
    };
    let table =
        json!({"columns": ["a", {"name": "b"}], "rows": [[1, null], {"a": "x", "b": true}]});
    assert_eq!(fallback("table", table), "T\na | b\n1 | \nx | true");
    assert_eq!(fallback("mermaid", json!("graph TD")), "T\ngraph TD");
    let long = fallback("mermaid", json!("ä".repeat(40_000)));
    assert_eq!(long.len(), 65_536);
}
