//! A loop that waits.

use harn_agent::Seam;
use serde_json::{Value, json};

use crate::stage::{SESSION, Stage, saying};

#[tokio::test(start_paused = true)]
async fn a_daemon_that_waits_in_vain_trips_its_watchdog() {
    let answers = [saying("Nothing to do.")];
    let stage = Stage::proving_with_host(&["daemon_watchdog_tripped", "loop_checkpoint"], &answers);
    let result = stage
        .run(json!({"daemon": true, "idle_watchdog_attempts": 2}))
        .await;
    assert_eq!(result["status"], "watchdog");
    let event = stage.one("daemon_watchdog_tripped");
    assert_eq!(
        (&event["session_id"], &event["attempts"]),
        (&json!(SESSION), &json!(2))
    );
    assert!(event["elapsed_ms"].is_u64());
    let story = stage.story();
    assert_eq!(
        story[5..],
        [
            "@pre_tool_dispatch",
            "iteration_end",
            "@iteration_end",
            "@daemon_idle_pre",
            "@daemon_idle_post",
            "@daemon_idle_pre",
            "@daemon_idle_post",
            "daemon_watchdog_tripped",
            "@loop_exit",
        ]
    );
}

/// A message wakes the daemon, and the next iteration is of the same run.
#[tokio::test(start_paused = true)]
async fn a_message_wakes_a_daemon() {
    let answers = [saying("Nothing to do."), saying("A lamp."), saying("Done.")];
    let stage = Stage::proving_with_host(&["loop_checkpoint", "iteration_start"], &answers);
    stage.host.will_say(Seam::Idle, "What is that?");
    let result = stage
        .run(json!({"daemon": true, "idle_watchdog_attempts": 1, "max_iterations": 2}))
        .await;
    assert!(result["status"].is_string());
    let starts = stage.of_type("iteration_start");
    let numbers: Vec<&Value> = starts.iter().map(|start| &start["iteration"]).collect();
    assert_eq!(numbers[0], 1);
    let seams = stage.of_type("loop_checkpoint");
    let idle = seams
        .iter()
        .filter(|seam| seam["kind"] == "daemon_idle_pre");
    let delivered: u64 = idle.filter_map(|seam| seam["delivered"].as_u64()).sum();
    assert_eq!(delivered, 1);
}

/// A daemon with a timer wakes by itself, and ends with its last iteration.
#[tokio::test(start_paused = true)]
async fn a_timer_wakes_a_daemon() {
    let answers = [saying("Nothing."), saying("Still nothing.")];
    let stage = Stage::proving(&["loop_checkpoint", "budget_exhausted"], &answers);
    stage
        .run(json!({"daemon": true, "wake_interval_ms": 10, "max_iterations": 2}))
        .await;
    let starts = stage.of_type("iteration_start");
    assert_eq!(starts.len(), 2);
    assert_eq!(starts[1]["iteration"], 2);
    stage.one("budget_exhausted");
}
