//! What a host says about calls that need approval.

use serde_json::{Value, json};

use crate::stage::{SESSION, Stage, calling, request, saying, tool};

const ASK: &str = "session/request_permission";

fn asks() -> Value {
    json!({"approval_policy": {"require_approval": ["look"]}})
}

fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

/// A stage whose model calls `look` with these arguments, one after the other, and whose host
/// always says the same.
async fn looking(calls: &[Value], answer: Result<Value, &str>) -> Stage {
    let stage = Stage::proving_with_host(&[], &looks(calls));
    look_on(&stage, answer).await;
    stage
}

/// The answers of a model that calls `look` with these arguments, one after the other.
fn looks(calls: &[Value]) -> Vec<Value> {
    let looks = calls.iter().map(|one| calling("look", one.clone()));
    looks.chain([saying("Fine.")]).collect()
}

/// Runs the loop with a host that always says the same.
async fn look_on(stage: &Stage, answer: Result<Value, &str>) {
    stage.host.will_answer(ASK, answer);
    let looking = request(asks()).tool(tool("look", Ok("a lamp")));
    stage.run_with(looking).await.unwrap();
}

/// The decision is known before the tool runs, and says which request it answers.
#[tokio::test(start_paused = true)]
async fn a_decision_is_an_event_before_the_call() {
    let answers = looks(&[json!({"path": "a"})]);
    let stage = Stage::proving_with_host(&["typed_checkpoint"], &answers);
    look_on(&stage, Ok(selected("allow_once"))).await;
    let plot = stage.plot();
    let expected = [
        "tool_call",
        "typed_checkpoint",
        "tool_call_update in_progress",
        "tool_call_update completed",
    ];
    assert_eq!(plot[..4], expected);
    let decision = &stage.one("typed_checkpoint")["checkpoint"];
    assert_eq!(decision["kind"], "permission_decision");
    assert_eq!(decision["decision"], "host_granted");
    let asked = &stage.host.asked(ASK)[0];
    assert_eq!(decision["request_id"], asked["approvalRequest"]["id"]);
    assert_eq!(decision["tool_call_id"], asked["toolCall"]["toolCallId"]);
}

/// Whoever approves sees all there is to know, and no secret.
#[tokio::test(start_paused = true)]
async fn an_approval_has_a_record() {
    let arguments = json!({"path": "a", "password": "p"});
    let stage = looking(
        std::slice::from_ref(&arguments),
        Ok(selected("reject_once")),
    )
    .await;
    let asked = &stage.host.asked(ASK)[0];
    let record = &asked["approvalRequest"];
    assert_eq!(
        *record,
        json!({
            "id": record["id"], "action": "look", "args": {"path": "a", "password": "[redacted]"},
            "principal": null, "requestedAt": "1970-01-01T00:16:40.000Z", "approversRequired": 1,
            "evidenceRefs": [], "undoMetadata": null, "capabilitiesRequested": [],
        })
    );
    assert_eq!(asked["remembers"], "tool");
    assert_eq!(asked["toolCall"]["rawInput"], arguments);
    let end = stage.one("tool_call_update");
    assert_eq!(
        (&end["status"], &end["error_category"]),
        (&json!("failed"), &json!("permission_denied"))
    );
    assert_eq!(
        stage.one("typed_checkpoint")["checkpoint"]["decision"],
        "host_denied"
    );
    // Secrets are not in the log, so what follows from it is not what the session is.
    std::mem::forget(stage);
}

/// What was said for good is not asked again.
#[tokio::test(start_paused = true)]
async fn an_answer_for_good_is_remembered_by_the_session() {
    for (option, status) in [("allow_always", "completed"), ("reject_always", "failed")] {
        let calls = [json!({"path": "a"}), json!({"path": "b"})];
        let stage = looking(&calls, Ok(selected(option))).await;
        assert_eq!(stage.host.asked(ASK).len(), 1, "{option}");
        let ends = stage.of_type("tool_call_update");
        let ends = ends.iter().filter(|end| end["status"] == status).count();
        assert_eq!(ends, 2, "{option}");
        let decisions = stage.of_type("typed_checkpoint");
        assert_eq!(decisions[1]["checkpoint"]["remembered"], true);
    }
    let calls = [json!({"path": "a"}), json!({"path": "b"})];
    let once = looking(&calls, Ok(selected("allow_once"))).await;
    assert_eq!(once.host.asked(ASK).len(), 2);
}

/// Arguments that the host has changed are those of the call, and everybody is told so.
#[tokio::test(start_paused = true)]
async fn changed_arguments_are_used_and_kept() {
    let mut answer = selected("allow_once");
    answer["args"] = json!({"path": "b"});
    let stage = looking(&[json!({"path": "a"})], Ok(answer)).await;
    let updates = stage.of_type("tool_call_update");
    assert_eq!(updates[0]["raw_input"], json!({"path": "b"}));
    assert_eq!(updates[0]["status"], "pending");
    assert_eq!(updates[2]["status"], "completed");
    let session = stage.runtime.session(SESSION).unwrap();
    let intents = session.read(|state| {
        let events = state.events.iter().map(|event| event.to_value());
        let intents = events.filter(|event| event["kind"] == "tool_intent");
        intents
            .map(|event| event["metadata"]["arguments"].clone())
            .collect::<Vec<_>>()
    });
    assert_eq!(intents, [json!({"path": "b"})]);
}

/// Changed arguments that do not fit the tool deny the call.
#[tokio::test(start_paused = true)]
async fn changed_arguments_have_to_fit() {
    for args in [json!({"path": 1}), json!({"other": "x"})] {
        let mut answer = selected("allow_once");
        answer["args"] = args.clone();
        let stage = looking(&[json!({"path": "a"})], Ok(answer)).await;
        let end = stage.one("tool_call_update");
        assert_eq!(end["status"], "failed", "{args}");
        let error = end["error"].as_str().unwrap();
        assert!(
            error.starts_with("the host's arguments do not fit the tool: "),
            "{error}"
        );
    }
}

/// A host that fails has not agreed.
#[tokio::test(start_paused = true)]
async fn a_host_that_fails_has_not_agreed() {
    for answer in [
        Err("broken"),
        Ok(Value::Null),
        Ok(json!({"outcome": {"outcome": "cancelled"}})),
    ] {
        let stage = looking(&[json!({})], answer).await;
        assert_eq!(
            stage.one("tool_call_update")["error_category"],
            "permission_denied"
        );
    }
}
