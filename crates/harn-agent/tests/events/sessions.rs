//! The end of sessions.

use harn_agent::events::CloseSession;
use harn_agent::session::SESSIONS_MAX;
use serde_json::json;

use crate::stage::{SESSION, Stage, saying};

#[tokio::test(start_paused = true)]
async fn a_closed_session_says_so_last() {
    let stage = Stage::proving(&["session_closed"], &[saying("Fine.")]);
    stage.run(json!({})).await;
    let bus = stage.runtime.bus();
    bus.close_session_and_await(SESSION, CloseSession::default())
        .await;
    assert_eq!(
        stage.one("session_closed"),
        json!({
            "type": "session_closed", "session_id": SESSION, "reason": "closed",
            "status": "closed", "metadata": null,
        })
    );
    assert_eq!(stage.story().last().unwrap(), "session_closed");
    // What comes too late is not told.
    let payload = json!({"checkpoint": 1});
    let _refused = bus
        .emit_host_event(SESSION, "typed_checkpoint", &payload)
        .await;
    assert_eq!(stage.of_type("session_closed").len(), 1);
}

/// S17: the session that was not used for longest goes, and says so.
#[tokio::test(start_paused = true)]
async fn one_session_too_many_evicts_the_idlest() {
    let stage = Stage::proving(&["session_closed"], &[]);
    for number in 0..=SESSIONS_MAX {
        let id = format!("s{number}");
        stage.runtime.open_session(&id).await.unwrap();
    }
    let event = stage.one("session_closed");
    assert_eq!(
        (&event["session_id"], &event["reason"]),
        (&json!("s0"), &json!("evicted"))
    );
    assert!(stage.runtime.session("s0").is_none());
    assert!(stage.runtime.session("s1").is_some());
}
