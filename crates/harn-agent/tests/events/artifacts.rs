//! What is shown while a session goes on, and work that goes to somebody else.

use harn_agent::Asked;
use harn_agent::llm::desk::Thrown;
use serde_json::{Value, json};

use crate::stage::{SESSION, Stage};

/// Calls a builtin inside a session.
async fn inside(stage: &Stage, builtin: &str, arguments: Vec<Value>) -> Result<Value, Thrown> {
    stage.runtime.open_session(SESSION).await.unwrap();
    let asked = Asked {
        builtin: builtin.to_owned(),
        arguments,
        session_id: Some(SESSION.to_owned()),
        ..Asked::default()
    };
    stage.runtime.answer(asked).await
}

#[tokio::test(start_paused = true)]
async fn what_is_shown_is_told_after_it_is_in_the_transcript() {
    let stage = Stage::proving(&["artifact"], &[]);
    let table = json!({"columns": ["a"], "rows": [[1]]});
    let options = json!({"artifact_id": "x", "title": "T", "provenance": {"by": "me"}});
    let arguments = vec![json!("table"), table.clone(), options];
    let shown = inside(&stage, "artifact_emit", arguments).await.unwrap();
    assert_eq!(
        stage.one("artifact"),
        json!({
            "type": "artifact", "session_id": SESSION, "artifact_id": "x", "kind": "table",
            "title": "T", "mime_type": "application/vnd.harn.table+json", "spec": table,
            "fallback": "T\na\n1", "size_bytes": 30, "provenance": {"by": "me"}, "metadata": {},
        })
    );
    let session = stage.runtime.session(SESSION).unwrap();
    let noted = session.read(|state| json!(state.events));
    assert_eq!(noted.as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&noted[0]["kind"], &noted[0]["metadata"]),
        (&json!("artifact"), &shown)
    );
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_shown_is_not_told() {
    let stage = Stage::proving(&[], &[]);
    let arguments = vec![json!("painting"), json!({})];
    assert!(inside(&stage, "artifact_emit", arguments).await.is_err());
    assert_eq!(stage.of_type("artifact"), Vec::<Value>::new());
    let outside = vec![json!("mermaid"), json!("graph")];
    let thrown = stage.ask("artifact_emit", outside).await.unwrap_err();
    assert_eq!(thrown.to_string(), "artifact_emit: no active agent session");
}

#[tokio::test(start_paused = true)]
async fn a_handoff_is_told_once_it_is_an_artifact() {
    let stage = Stage::proving(&["handoff"], &[]);
    let payload = json!({
        "id": "h", "source_persona": "coder", "task": "Finish", "reason": "Time",
        "target_persona_or_human": {"kind": "queue", "label": "Night shift"},
    });
    inside(&stage, "handoff", vec![payload.clone()])
        .await
        .unwrap();
    assert_eq!(stage.of_type("handoff"), Vec::<Value>::new());
    let artifact = json!({"id": "a", "kind": "handoff", "data": payload});
    inside(&stage, "artifact", vec![artifact.clone()])
        .await
        .unwrap();
    let event = stage.one("handoff");
    assert_eq!(
        (&event["session_id"], &event["artifact_id"]),
        (&json!(SESSION), &json!("a"))
    );
    assert_eq!(event["handoff"]["kind"], "handoff");
    assert_eq!(
        event["handoff"]["target_persona_or_human"]["kind"],
        "worker"
    );
    assert_eq!(event["handoff"]["route_decision"], Value::Null);
    // Outside of a session nobody is told, and it is counted.
    stage.ask("artifact", vec![artifact]).await.unwrap();
    stage.one("handoff");
}
