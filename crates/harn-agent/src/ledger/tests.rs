use serde_json::{Value, json};

use super::{DeliverableStatus, TaskLedger};

fn ledger(options: Value) -> TaskLedger {
    TaskLedger::from_options(options.as_object().unwrap())
}

/// Two deliverables, the second of them done.
fn half_done() -> TaskLedger {
    ledger(json!({"task_ledger": {
        "root_task": "Ship it",
        "deliverables": [
            {"id": "code", "text": "write the code"},
            {"id": "docs", "text": "write the docs", "status": "done"},
        ],
    }}))
}

#[test]
fn options_become_a_ledger() {
    let plain = ledger(json!({"root_task": "Ship", "deliverables": ["code", "  ", "docs"]}));
    let ids: Vec<_> = plain.deliverables.iter().map(|one| &*one.id).collect();
    assert_eq!(ids, ["deliverable-1", "deliverable-3"]);
    assert_eq!(plain.root_task, "Ship");

    let given = ledger(json!({
        "root_task": "ignored",
        "task_ledger": {
            "root_task": "Real",
            "deliverables": [
                {"id": "a", "text": "A", "status": "blocked", "note": "waits"},
                "B",
                {"text": "C", "status": "strange"},
                {"id": "no text"},
                null,
            ],
            "rationale": "why",
            "observations": ["seen", 2],
        },
    }));
    assert_eq!(
        given.to_value(),
        json!({
            "root_task": "Real",
            "deliverables": [
                {"id": "a", "text": "A", "status": "blocked", "note": "waits"},
                {"id": "deliverable-2", "text": "B", "status": "open", "note": null},
                {"id": "deliverable-3", "text": "C", "status": "open", "note": null},
            ],
            "rationale": "why",
            "observations": ["seen", "2"],
        })
    );
    let back: TaskLedger = serde_json::from_value(given.to_value()).unwrap();
    assert_eq!(back, given);

    for nothing in [
        json!({}),
        json!({"task_ledger": null}),
        json!({"task_ledger": true, "deliverables": "code"}),
        json!({"root_task": null, "deliverables": ["", null]}),
    ] {
        assert_eq!(ledger(nothing.clone()), TaskLedger::default(), "{nothing}");
    }
}

#[test]
fn a_ledger_is_empty_without_deliverables_rationale_and_observations() {
    let rows = [
        (json!({}), true),
        (json!({"root_task": "Ship"}), true),
        (json!({"task_ledger": {"rationale": "why"}}), false),
        (json!({"task_ledger": {"observations": ["seen"]}}), false),
        (json!({"deliverables": ["code"]}), false),
    ];
    for (options, empty) in rows {
        assert_eq!(ledger(options.clone()).is_empty(), empty, "{options}");
    }
}

#[test]
fn open_and_blocked_deliverables_block_the_end() {
    for (status, blocks) in [
        ("open", true),
        ("blocked", true),
        ("done", false),
        ("dropped", false),
    ] {
        let one = json!({"deliverables": [{"text": "x", "status": status}]});
        assert_eq!(ledger(one).blocks_done(), blocks, "{status}");
    }
    assert!(!TaskLedger::default().blocks_done());
}

#[test]
fn the_model_sees_what_there_is() {
    let full = ledger(json!({"task_ledger": {
        "root_task": "Ship it",
        "deliverables": [
            {"id": "a", "text": "code"},
            {"id": "b", "text": "docs", "status": "dropped", "note": "not wanted"},
        ],
        "rationale": "small steps",
        "observations": ["1", "2", "3", "4", "5", "6"],
    }}));
    assert_eq!(
        full.render(),
        "<task_ledger>\nroot_task: Ship it\ndeliverables:\n  [a] (open) code\n  \
         [b] (dropped) docs — not wanted\nrationale: small steps\nobservations:\n  - 2\n  - 3\n  \
         - 4\n  - 5\n  - 6\n</task_ledger>"
    );
    assert_eq!(
        TaskLedger::default().render(),
        "<task_ledger>\n</task_ledger>"
    );
    assert_eq!(
        ledger(json!({"deliverables": ["x"]})).render(),
        "<task_ledger>\ndeliverables:\n  [deliverable-1] (open) x\n</task_ledger>"
    );
}

#[test]
fn actions_say_what_they_did() {
    let mut ledger = half_done();
    let rows = [
        (
            json!({"action": "add", "text": " tests "}),
            "deliverable deliverable-3 added",
        ),
        (
            json!({"action": "add_deliverable", "text": "x", "id": "x"}),
            "deliverable x added",
        ),
        (
            json!({"action": "mark", "id": "code", "status": "done"}),
            "deliverable code marked done",
        ),
        (
            json!({"action": "mark_deliverable", "id": "docs", "status": "dropped", "note": "no"}),
            "deliverable docs marked dropped",
        ),
        (
            json!({"action": "rationale", "text": "so"}),
            "rationale updated",
        ),
        (
            json!({"action": "note", "text": "seen"}),
            "observation recorded",
        ),
    ];
    for (arguments, expected) in rows {
        assert_eq!(
            ledger.apply(&arguments).as_deref(),
            Ok(expected),
            "{arguments}"
        );
    }
    assert_eq!(ledger.deliverables[2].text, "tests");
    assert_eq!(ledger.deliverables[0].status, DeliverableStatus::Done);
    assert_eq!(ledger.deliverables[1].note.as_deref(), Some("no"));
    assert_eq!(ledger.rationale, "so");
    assert_eq!(ledger.observations, ["seen"]);
}

#[test]
fn an_empty_ledger_can_be_seeded() {
    let mut ledger = TaskLedger::default();
    let seed = json!({"action": "seed_plan", "deliverables": ["a", "b"]});
    assert_eq!(
        ledger.apply(&seed).as_deref(),
        Ok("ledger seeded with 2 deliverables")
    );
    let ids: Vec<_> = ledger.deliverables.iter().map(|one| &*one.id).collect();
    assert_eq!(ids, ["deliverable-1", "deliverable-2"]);
}

#[test]
fn an_id_that_is_taken_is_not_given_again() {
    let mut ledger = ledger(json!({"deliverables": [{"id": "deliverable-2", "text": "x"}]}));
    let added = ledger.apply(&json!({"action": "add", "text": "y"}));
    assert_eq!(added.as_deref(), Ok("deliverable deliverable-3 added"));
}

#[test]
fn what_is_wrong_is_said_and_changes_nothing() {
    let rows = [
        (json!({}), "ledger: `action` is required"),
        (json!(null), "ledger: `action` is required"),
        (
            json!({"action": "finish"}),
            "ledger: unknown action \"finish\"; use one of add|mark|rationale|note|seed_plan",
        ),
        (json!({"action": "add"}), "ledger add: `text` is required"),
        (
            json!({"action": "add", "text": 5}),
            "ledger add: `text` is required",
        ),
        (
            json!({"action": "add_deliverable"}),
            "ledger add: `text` is required",
        ),
        (
            json!({"action": "add", "text": " "}),
            "ledger add: `text` must not be empty",
        ),
        (
            json!({"action": "add", "text": "x", "id": "code"}),
            "ledger add: deliverable id \"code\" already exists; use `mark` to update or pick a different id",
        ),
        (json!({"action": "mark"}), "ledger mark: `id` is required"),
        (
            json!({"action": "mark", "id": "code"}),
            "ledger mark: `status` is required",
        ),
        (
            json!({"action": "mark", "id": "nope", "status": "finished"}),
            "ledger mark: status \"finished\" is not one of open|done|blocked|dropped",
        ),
        (
            json!({"action": "mark", "id": "nope", "status": "blocked"}),
            "ledger mark: no deliverable with id \"nope\"; known ids: [code, docs]",
        ),
        (
            json!({"action": "mark", "id": "code", "status": "blocked"}),
            "ledger mark: status \"blocked\" requires a `note` explaining why",
        ),
        (
            json!({"action": "mark", "id": "code", "status": "dropped", "note": " "}),
            "ledger mark: status \"dropped\" requires a `note` explaining why",
        ),
        (
            json!({"action": "rationale"}),
            "ledger rationale: `text` is required",
        ),
        (json!({"action": "note"}), "ledger note: `text` is required"),
        (
            json!({"action": "note", "text": "\n"}),
            "ledger note: `text` must not be empty",
        ),
        (
            json!({"action": "seed_plan"}),
            "ledger seed_plan: `deliverables` list is required",
        ),
        (
            json!({"action": "seed_plan", "deliverables": "a"}),
            "ledger seed_plan: `deliverables` list is required",
        ),
        (
            json!({"action": "seed_plan", "deliverables": ["a"]}),
            "ledger seed_plan: ledger already has deliverables; use `add` to extend",
        ),
    ];
    let mut ledger = half_done();
    for (arguments, expected) in rows {
        assert_eq!(
            ledger.apply(&arguments),
            Err(expected.to_owned()),
            "{arguments}"
        );
        assert_eq!(ledger, half_done(), "{arguments}");
    }
    let mut empty = TaskLedger::default();
    for bad in [json!(""), json!(3)] {
        let seed = json!({"action": "seed_plan", "deliverables": ["a", bad]});
        let expected = "ledger seed_plan: deliverables[1] must be a non-empty string";
        assert_eq!(empty.apply(&seed), Err(expected.to_owned()));
        assert_eq!(empty, TaskLedger::default());
    }
}

#[test]
fn a_model_that_is_done_too_early_is_told_what_is_left() {
    let mut ledger = half_done();
    let add = json!({"action": "add", "text": "ask", "id": "ask"});
    ledger.apply(&add).unwrap();
    let mark = json!({"action": "mark", "id": "ask", "status": "blocked", "note": "nobody there"});
    ledger.apply(&mark).unwrap();
    let feedback = ledger.gate_feedback();
    let lines = "`<done>` rejected: 2 deliverable(s) are not yet resolved.\n  [code] (open) write \
                 the code\n  [ask] (blocked) ask\n";
    assert!(feedback.starts_with(lines), "{feedback}");
    assert!(feedback.len() > lines.len());
}
