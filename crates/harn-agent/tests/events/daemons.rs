//! Daemons that are started, sent events, stopped and taken up again.

use serde_json::{Value, json};

use crate::stage::{SESSION, Stage, saying};

async fn ask(stage: &Stage, builtin: &str, argument: &Value) -> Value {
    stage.ask(builtin, vec![argument.clone()]).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_daemon_tells_its_whole_story() {
    let answers = [saying("Waiting."), saying("One."), saying("Two.")];
    let stage = Stage::proving(
        &["loop_checkpoint", "iteration_start", "iteration_end"],
        &answers,
    );
    let folder = tempfile::tempdir().unwrap();
    let root = json!(folder.path().to_str().unwrap());
    let config = json!({
        "task": "watch", "persist_path": root, "session_id": SESSION,
        "provider": "mock", "model": "m",
    });
    let daemon = ask(&stage, "daemon_spawn", &config).await;
    let event = vec![daemon.clone(), json!("knock")];
    stage.ask("daemon_trigger", event).await.unwrap();
    let stopped = ask(&stage, "daemon_stop", &daemon).await;
    assert_eq!(
        (&stopped["status"], &stopped["queued_event_count"]),
        (&json!("stopped"), &json!(0))
    );
    let seams = stage.of_type("loop_checkpoint");
    let delivered = seams.iter().filter_map(|seam| seam["delivered"].as_u64());
    assert_eq!(
        delivered.sum::<u64>(),
        1,
        "an event is delivered at one seam"
    );
    let before = stage.story().len();
    let again = ask(&stage, "daemon_resume", &root).await;
    let event = vec![again.clone(), json!("knock again")];
    stage.ask("daemon_trigger", event).await.unwrap();
    ask(&stage, "daemon_stop", &again).await;
    let story = stage.story();
    assert_eq!(
        story[before..],
        [
            // It was idle when it was saved, so it waits before it asks.
            "@daemon_idle_pre",
            "@daemon_idle_post",
            "iteration_start",
            "@iteration_start",
            "@pre_compact",
            "@post_compact",
            "agent_message_chunk",
            "@pre_tool_dispatch",
            "iteration_end",
            "@iteration_end",
            "@daemon_idle_pre",
            "@loop_exit",
        ]
    );
}
