//! Sessions: their messages, their places and their end.

use harn_agent::session::SESSIONS_MAX;
use serde_json::{Value, json};

use crate::stage::{SESSION, Stage, saying};

/// The last event of a session, whatever it is closed with.
#[tokio::test(start_paused = true)]
async fn a_closed_session_says_so_last() {
    let rows = [
        (Value::Null, ("closed", "closed", Value::Null)),
        (
            json!("finished"),
            ("finished", "finished", json!("finished")),
        ),
        (
            json!({"reason": "tidying", "status": "ok", "metadata": {"n": 1}}),
            ("tidying", "ok", json!({"n": 1})),
        ),
    ];
    for (given, (reason, status, metadata)) in rows {
        let stage = Stage::proving(&["session_closed"], &[saying("Fine.")]);
        stage.run(json!({})).await;
        let arguments = vec![json!(SESSION), given];
        stage.ask("agent_session_close", arguments).await.unwrap();
        assert_eq!(
            stage.one("session_closed"),
            json!({
                "type": "session_closed", "session_id": SESSION, "reason": reason,
                "status": status, "metadata": metadata,
            })
        );
        assert_eq!(stage.story().last().unwrap(), "session_closed");
        // What comes too late is not kept: the stage finds nothing after the end.
        let late = vec![json!(SESSION), json!("typed_checkpoint"), json!({"n": 1})];
        stage.ask("agent_emit_event", late).await.unwrap();
    }
}

/// A session may begin again under its old name; its events go on where they ended.
#[tokio::test(start_paused = true)]
async fn a_closed_session_can_begin_again() {
    let stage = Stage::proving(&["session_closed"], &[saying("One."), saying("Two.")]);
    for _ in 0..2 {
        stage.run(json!({})).await;
        let arguments = vec![json!(SESSION)];
        stage.ask("agent_session_close", arguments).await.unwrap();
    }
    assert_eq!(stage.of_type("session_closed").len(), 2);
}

/// S17: the session that was not used for longest goes, and says so.
#[tokio::test(start_paused = true)]
async fn one_session_too_many_evicts_the_idlest() {
    let stage = Stage::proving(&["session_closed"], &[]);
    for number in 0..=SESSIONS_MAX {
        let id = json!(format!("s{number}"));
        stage.ask("agent_session_open", vec![id]).await.unwrap();
    }
    let event = stage.one("session_closed");
    assert_eq!(
        (&event["session_id"], &event["reason"]),
        (&json!("s0"), &json!("evicted"))
    );
    assert!(stage.runtime.session("s0").is_none());
    assert!(stage.runtime.session("s1").is_some());
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_put_in_is_told() {
    let stage = Stage::proving(&["user_message"], &[]);
    let session = vec![json!(SESSION)];
    stage.ask("agent_session_open", session).await.unwrap();
    let message = json!({"role": "user", "content": "Hi", "messageId": "m1"});
    let arguments = vec![json!(SESSION), message];
    stage.ask("agent_session_inject", arguments).await.unwrap();
    assert_eq!(
        stage.one("user_message"),
        json!({
            "type": "user_message", "session_id": SESSION, "message_id": "m1",
            "content": [{"type": "text", "text": "Hi"}],
        })
    );
}

/// A move is told when the place is another one, with where the session was before.
#[tokio::test(start_paused = true)]
async fn a_session_that_moves_says_where() {
    let stage = Stage::proving(&["anchor_changed"], &[]);
    let session = vec![json!(SESSION)];
    stage.ask("agent_session_open", session).await.unwrap();
    for (place, reason) in [
        ("/here", "start"),
        ("/here", "again"),
        ("/there", "better light"),
    ] {
        let arguments = vec![
            json!(SESSION),
            json!({"primary": place}),
            json!({"reason": reason}),
        ];
        stage
            .ask("agent_session_reanchor", arguments)
            .await
            .unwrap();
    }
    let moves = stage.of_type("anchor_changed");
    assert_eq!(moves.len(), 2);
    let first = &moves[0];
    assert_eq!(
        (&first["session_id"], &first["previous"]),
        (&json!(SESSION), &Value::Null)
    );
    assert_eq!(first["current"]["primary"], "/here");
    let second = &moves[1];
    assert_eq!(second["previous"]["primary"], "/here");
    assert_eq!(second["current"]["primary"], "/there");
    assert_eq!(
        (&second["carry_transcript"], &second["compacted"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(second["reason"], "better light");
}
