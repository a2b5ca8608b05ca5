use serde_json::{Value, json};

use super::{plan_artifact, plan_entries, render_plan};

fn plan(arguments: Value) -> Value {
    plan_artifact("emit_plan", &arguments)
}

/// What the steps of a plan are about.
fn contents(plan: &Value) -> Vec<&str> {
    let steps = plan["steps"].as_array().unwrap();
    steps
        .iter()
        .map(|step| step["content"].as_str().unwrap())
        .collect()
}

#[test]
fn nothing_is_a_plan_too() {
    let made = plan(json!({}));
    // The digest of the JSON without the id, made with `sha256sum`:
    // {"_type":"plan_artifact","approval":{"state":"unrequested"},"assumptions":[],
    // "open_questions":[],"schema_version":"harn.plan.v1","steps":[],"summary":"",
    // "title":"Plan","tool":"emit_plan","verification_commands":[]}
    assert_eq!(
        made,
        json!({
            "_type": "plan_artifact",
            "schema_version": "harn.plan.v1",
            "tool": "emit_plan",
            "title": "Plan",
            "summary": "",
            "steps": [],
            "assumptions": [],
            "open_questions": [],
            "verification_commands": [],
            "approval": {"state": "unrequested"},
            "id": "plan_ed2b42b33b9e",
        })
    );
    let ids = [json!(null), json!(7), json!([])].map(|other| plan(other)["id"].clone());
    assert!(ids.iter().all(|id| *id == made["id"]));
    assert_ne!(plan_artifact("update_plan", &json!({}))["id"], made["id"]);
}

#[test]
fn fields_are_found_under_all_their_names() {
    let rows = [
        ("title", "title", json!("T")),
        ("title", "name", json!("T")),
        ("summary", "explanation", json!("S")),
        ("summary", "summary", json!("S")),
        ("summary", "direction", json!("S")),
        ("assumptions", "assumptions", json!(["a"])),
        ("open_questions", "open_questions", json!(["q"])),
        ("open_questions", "questions", json!(["q"])),
        ("open_questions", "unknowns", json!(["q"])),
        (
            "verification_commands",
            "verification_commands",
            json!(["make"]),
        ),
        ("verification_commands", "verification", json!(["make"])),
        ("verification_commands", "verify_commands", json!(["make"])),
    ];
    for (field, key, value) in rows {
        let flat = plan(json!({key: value}));
        assert_eq!(flat[field], value, "{key}");
        let nested = plan(json!({"plan": {key: value}}));
        assert_eq!(nested[field], value, "{key}");
        assert_eq!(nested["id"], flat["id"]);
    }
    let first = plan(json!({"explanation": "outer", "plan": {"summary": "inner"}}));
    assert_eq!(first["summary"], "outer");
    let one = plan(json!({"assumptions": "just one", "questions": ["a", "", null, 3]}));
    assert_eq!(one["assumptions"], json!(["just one"]));
    assert_eq!(one["open_questions"], json!(["a", "3"]));
    assert_eq!(plan(json!({"title": " ", "name": "N"}))["title"], "N");
}

#[test]
fn steps_are_found_in_all_their_shapes() {
    let rows = [
        json!(["one", "two"]),
        json!({"steps": ["one", "two"]}),
        json!({"tasks": ["one", "two"]}),
        json!({"plan": ["one", {"step": "two"}]}),
        json!({"plan": {"plan": ["one", "two"]}}),
        json!({"steps": [{"content": "one"}, {"step": "two"}]}),
        json!({"steps": [{"task": "one"}, {"goal": "two"}]}),
        json!({"steps": [{"description": "one"}, " two "]}),
        json!({"plan": {"steps": ["one", {}, "", 5, "two"]}}),
    ];
    for arguments in rows {
        assert_eq!(
            contents(&plan(arguments.clone())),
            ["one", "two"],
            "{arguments}"
        );
    }
    let made = plan(json!([
        "one",
        "",
        {"id": "own", "content": "two", "priority": "high", "status": "done"},
        {"content": "three", "priority": 2},
    ]));
    assert_eq!(
        made["steps"],
        json!([
            {"id": "step-1", "content": "one", "status": "pending", "priority": null},
            {"id": "own", "content": "two", "status": "completed", "priority": "high"},
            {"id": "step-4", "content": "three", "status": "pending", "priority": 2},
        ])
    );
}

#[test]
fn statuses_are_normalised() {
    let rows = [
        ("pending", "pending todo not_started strange Not-Started"),
        (
            "in_progress",
            "in_progress active running started In-Progress ACTIVE",
        ),
        ("completed", "completed complete done Done"),
        ("blocked", "blocked waiting"),
        ("cancelled", "cancelled canceled dropped skipped"),
    ];
    for (normal, written) in rows {
        for status in written.split(' ') {
            let made = plan(json!([{"step": "x", "status": status}]));
            assert_eq!(made["steps"][0]["status"], normal, "{status}");
        }
    }
    let spaced = plan(json!([{"step": "x", "status": "in progress"}]));
    assert_eq!(spaced["steps"][0]["status"], "in_progress");
}

#[test]
fn approvals_are_normalised() {
    let rows = [
        (json!("approved"), json!({"state": "approved"})),
        (
            json!({"state": "Rejected", "reason": "no"}),
            json!({"state": "rejected", "reason": "no"}),
        ),
        (json!({"state": "perhaps"}), json!({"state": "unrequested"})),
        (json!(true), json!({"state": "unrequested"})),
        (
            json!({
                "state": "requested", "request_id": "r1", "reviewer": "ada", "reviewers": ["ada"],
                "approved_at": "2026-01-01T00:00:00Z", "reason": null, "other": 1,
            }),
            json!({
                "state": "requested", "request_id": "r1", "reviewer": "ada", "reviewers": ["ada"],
                "approved_at": "2026-01-01T00:00:00Z",
            }),
        ),
    ];
    for (written, expected) in rows {
        assert_eq!(
            plan(json!({"approval": written}))["approval"],
            expected,
            "{written}"
        );
    }
}

#[test]
fn a_plan_stays_what_it_is() {
    let made = plan(json!({"title": "T", "steps": [{"step": "x", "priority": 1}]}));
    assert_eq!(plan(made.clone()), made);
}

#[test]
fn hosts_get_at_least_one_entry() {
    let rows = [
        (
            json!({"steps": ["a", {"step": "b", "status": "active", "priority": "low"}]}),
            json!([
                {"content": "a", "status": "pending"},
                {"content": "b", "status": "in_progress", "priority": "low"},
            ]),
        ),
        (
            json!({"summary": "S"}),
            json!([{"content": "S", "status": "pending"}]),
        ),
        (
            json!({}),
            json!([{"content": "Plan emitted", "status": "pending"}]),
        ),
    ];
    for (arguments, expected) in rows {
        assert_eq!(plan_entries(&arguments), expected);
        assert_eq!(plan_entries(&plan(arguments)), expected);
    }
}

#[test]
fn a_plan_can_be_read() {
    let full = plan(json!({
        "title": "Ship",
        "summary": "In two steps.",
        "steps": ["build", {"step": "test", "status": "done"}],
        "assumptions": ["it compiles"],
        "questions": ["when?"],
        "verification": ["make test"],
        "approval": "requested",
    }));
    assert_eq!(
        render_plan(&full),
        "# Ship\n\nIn two steps.\n\n## Steps\n- [pending] build\n- [completed] test\n\n\
         ## Assumptions\n- it compiles\n\n## Open questions\n- when?\n\n\
         ## Verification commands\n- make test\n\nApproval: requested"
    );
    assert_eq!(
        render_plan(&plan(json!({}))),
        "# Plan\n\nApproval: unrequested"
    );
}
