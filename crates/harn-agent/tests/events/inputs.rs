//! What a person says while a loop runs.

use harn_agent::Seam;
use serde_json::{Value, json};

use crate::stage::{SESSION, Stage, calling, request, saying, tool};

fn said(stage: &Stage) -> Vec<Value> {
    let session = stage.runtime.session(SESSION).unwrap();
    let messages = session.read(|state| state.messages.clone());
    let of_user = messages.into_iter().filter(|one| one["role"] == "user");
    of_user.map(|one| one["content"].clone()).collect()
}

/// A loop that would end goes on if somebody has waited for that.
#[tokio::test(start_paused = true)]
async fn a_loop_goes_on_for_what_waited_for_its_end() {
    let stage = Stage::proving_with_host(&[], &[saying("Done."), saying("That too.")]);
    stage.host.will_say(Seam::Completion, "And the tests?");
    let result = stage.run(json!({})).await;
    assert_eq!(result["status"], "done");
    assert_eq!(result["text"], "Done.That too.");
    assert_eq!(said(&stage), ["Do it.", "And the tests?"]);
}

/// The loop is offered an input at every seam until it has said it, and says it once.
#[tokio::test(start_paused = true)]
async fn an_input_with_an_identity_is_heard_once() {
    let answers = [
        calling("look", json!({})),
        calling("look", json!({"path": "a"})),
        saying("Fine."),
    ];
    let stage = Stage::proving_with_host(&[], &answers);
    stage
        .host
        .will_send(Seam::PostToolDispatch, "i1", "Look twice.");
    let looking = request(json!({})).tool(tool("look", Ok("a lamp")));
    stage.run_with(looking).await.unwrap();
    let heard = said(&stage)
        .iter()
        .filter(|text| **text == "Look twice.")
        .count();
    assert_eq!(heard, 1);
    let outcome = stage.one("control_outcome");
    assert_eq!(outcome["control_id"], "i1");
    assert_eq!(
        (&outcome["outcome"], &outcome["status"]),
        (&json!("accepted"), &json!("delivered"))
    );
    let metadata = json!({"requestedMode": "finish_step", "deliveredAt": "post_tool_dispatch"});
    assert_eq!(outcome["metadata"], metadata);
    assert_eq!(stage.one("user_message")["message_id"], "i1");
}

/// What the journal has heard is not heard again, also by a loop of another process. The fold
/// of the journal is all that such a loop knows.
#[tokio::test(start_paused = true)]
async fn the_journal_knows_what_was_heard() {
    let stage = Stage::proving_with_host(&[], &[saying("Hm."), saying("Yes."), saying("Again.")]);
    stage.host.will_send(Seam::IterationStart, "i1", "Quickly.");
    stage.run(json!({})).await;
    stage.run(json!({})).await;
    assert_eq!(said(&stage), ["Do it.", "Quickly.", "Do it."]);
    let session = stage.runtime.session(SESSION).unwrap();
    assert!(session.read(|state| state.heard.contains("i1")));
}

/// Whoever has sent an input learns where it was delivered.
#[tokio::test(start_paused = true)]
async fn a_delivered_input_has_an_outcome() {
    let stage = Stage::proving_with_host(&["control_outcome"], &[saying("Hm.")]);
    stage.host.will_send(Seam::IterationStart, "i1", "Quickly.");
    stage.run(json!({})).await;
    let outcome = stage.one("control_outcome");
    assert_eq!(
        (&outcome["control_id"], &outcome["method"]),
        (&json!("i1"), &json!("session/input"))
    );
    assert_eq!(
        (&outcome["outcome"], &outcome["status"]),
        (&json!("accepted"), &json!("delivered"))
    );
    let target = json!({"sessionId": SESSION, "messageId": "i1"});
    assert_eq!(outcome["target"], target);
    assert_eq!(outcome["metadata"]["deliveredAt"], "iteration_start");
    let actor = json!({"kind": "host", "id": "operator", "via": "test", "verified": true});
    assert_eq!(outcome["actor"], actor);
}

/// Calls that were not begun are not made for somebody who interrupts.
#[tokio::test(start_paused = true)]
async fn an_interruption_before_the_calls_skips_them() {
    let answers = [calling("look", json!({})), saying("I stop.")];
    let stage = Stage::proving_with_host(&[], &answers);
    stage.host.will_send(Seam::PreToolDispatch, "i1", "Stop.");
    let looking = request(json!({})).tool(tool("look", Ok("a lamp")));
    stage.run_with(looking).await.unwrap();
    assert_eq!(stage.of_type("tool_call").len(), 0);
    assert_eq!(said(&stage), ["Do it.", "Stop."]);
    assert_eq!(stage.one("user_message")["message_id"], "i1");
    let end = &stage.of_type("iteration_end")[0]["iteration_info"];
    assert_eq!(end["skip_reason"], "interrupt_immediate");
    assert_eq!(roles(&stage), ["user", "assistant", "user", "assistant"]);
    seam_follows(&stage, "user_message");
}

/// A turn without calls is interrupted as well.
#[tokio::test(start_paused = true)]
async fn an_interruption_of_a_text_turn_follows_it() {
    let stage = Stage::proving_with_host(&[], &[saying("Hm."), saying("##DONE##")]);
    stage.host.will_send(Seam::PreToolDispatch, "i1", "Stop.");
    stage
        .run(json!({"persistent": true, "max_iterations": 1}))
        .await;
    let roles = roles(&stage);
    assert_eq!(roles[..3], ["user", "assistant", "user"]);
    assert_eq!(said(&stage)[..2], ["Do it.", "Stop."]);
    seam_follows(&stage, "user_message");
}

/// A seam follows what it delivered.
fn seam_follows(stage: &Stage, kind: &str) {
    let story = stage.story();
    let at = |kind: &str| story.iter().position(|one| one == kind).unwrap();
    assert!(at(kind) < at("@pre_tool_dispatch"), "{story:?}");
}

fn roles(stage: &Stage) -> Vec<String> {
    let session = stage.runtime.session(SESSION).unwrap();
    session.read(|state| {
        let roles = state.messages.iter().map(|message| &message["role"]);
        roles
            .map(|role| role.as_str().unwrap().to_owned())
            .collect()
    })
}
