use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::queue::Queue;
use crate::builtins::Asked;
use crate::testing::Program;

/// A program with a folder for a daemon.
struct Scene {
    program: Program,
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        Self {
            program: Program::default(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn root(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    async fn ask(&self, builtin: &str, arguments: Value) -> Result<Value, String> {
        let asked = Asked {
            builtin: builtin.to_owned(),
            arguments: arguments.as_array().unwrap().clone(),
            ..Asked::default()
        };
        let answer = self.program.runtime.answer(asked).await;
        answer.map_err(|thrown| crate::registry::told(&thrown))
    }

    async fn spawn(&self, more: Value) -> Result<Value, String> {
        let mut config = json!({
            "task": "watch", "persist_path": self.root(), "provider": "mock", "model": "m",
        });
        let more = more.as_object().unwrap().clone();
        config.as_object_mut().unwrap().extend(more);
        self.ask("daemon_spawn", json!([config])).await
    }

    fn file(&self, name: &str) -> Value {
        read(&self.folder.path().join(name))
    }

    fn write(&self, name: &str, value: &Value) {
        std::fs::write(self.folder.path().join(name), value.to_string()).unwrap();
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// What users said, of a snapshot.
fn asked(snapshot: &Value) -> Vec<&str> {
    let messages = snapshot["visible_messages"].as_array().unwrap().iter();
    let messages = messages.filter(|message| message["role"] == "user");
    messages
        .map(|one| one["content"].as_str().unwrap())
        .collect()
}

#[test]
fn a_queue_is_what_its_file_says() {
    let mut queue = Queue::new();
    queue.push(&json!("a"), "then".to_owned());
    queue.push(&json!({"b": 1}), "then".to_owned());
    queue.hand_over();
    let meta = json!({
        "pending_events": queue.pending_value(),
        "inflight_event": queue.in_flight_value(),
        "next_event_seq": queue.next_seq,
    });
    assert_eq!(Queue::read(&meta), queue);
    assert_eq!((queue.len(), queue.pending.len()), (2, 1));
    assert!(queue.hand_over().is_none(), "one at a time");
    queue.requeue();
    let texts: Vec<String> = queue
        .pending
        .iter()
        .map(super::queue::Event::text)
        .collect();
    assert_eq!(texts, ["a", r#"{"b":1}"#]);
}

/// Whatever a file says, numbers are not used again.
#[test]
fn a_damaged_file_gives_the_events_it_has() {
    let meta =
        json!({"pending_events": [1, {"seq": 7, "payload": "x"}, {"seq": 8}], "next_event_seq": 2});
    let queue = Queue::read(&meta);
    assert_eq!((queue.len(), queue.next_seq), (1, 8));
    assert_eq!(Queue::read(&json!(null)), Queue::new());
}

#[tokio::test(start_paused = true)]
async fn an_event_that_a_snapshot_knows_is_not_delivered_again() {
    let scene = Scene::new();
    scene.program.mock("Waiting.");
    let daemon = scene.spawn(json!({})).await.unwrap();
    scene.program.mock("Seen.");
    scene
        .ask("daemon_trigger", json!([daemon, "knock"]))
        .await
        .unwrap();
    scene.ask("daemon_stop", json!([daemon])).await.unwrap();
    // The process died after the snapshot and before the queue was written.
    let mut meta = scene.file("daemon.meta.json");
    meta["inflight_event"] = json!({"seq": 1, "enqueued_at": "", "payload": "knock"});
    scene.write("daemon.meta.json", &meta);
    let again = scene
        .ask("daemon_resume", json!([scene.root()]))
        .await
        .unwrap();
    assert_eq!(
        (&again["status"], &again["queued_event_count"]),
        (&json!("running"), &json!(0))
    );
    let snapshot = scene.ask("daemon_snapshot", json!([again])).await.unwrap();
    assert_eq!(asked(&snapshot), ["watch", "knock"]);
    scene.ask("daemon_stop", json!([again])).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_daemon_that_is_taken_up_does_not_ask_about_nothing() {
    let scene = Scene::new();
    scene.program.mock("Waiting.");
    let daemon = scene.spawn(json!({})).await.unwrap();
    scene.ask("daemon_stop", json!([daemon])).await.unwrap();
    let again = scene
        .ask("daemon_resume", json!([scene.root()]))
        .await
        .unwrap();
    assert_eq!(again["daemon_state"], "idle");
    let snapshot = scene.ask("daemon_snapshot", json!([again])).await.unwrap();
    assert_eq!(snapshot["total_iterations"], 1);
    scene.ask("daemon_stop", json!([again])).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_daemon_that_has_saved_nothing_begins_anew() {
    let scene = Scene::new();
    scene.program.mock("Waiting.");
    let daemon = scene.spawn(json!({})).await.unwrap();
    scene.ask("daemon_stop", json!([daemon])).await.unwrap();
    std::fs::remove_file(Path::new(scene.root()).join("daemon.json")).unwrap();
    scene.program.mock("Waiting again.");
    let again = scene
        .ask("daemon_resume", json!([scene.root()]))
        .await
        .unwrap();
    assert_eq!(again["daemon_state"], "idle");
    let snapshot = scene.ask("daemon_snapshot", json!([again])).await.unwrap();
    assert_eq!(snapshot["last_iteration_text"], "Waiting again.");
    scene.ask("daemon_stop", json!([again])).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn events_that_nobody_has_handled_are_not_thrown_away() {
    let scene = Scene::new();
    scene.program.mock("Waiting.");
    let daemon = scene.spawn(json!({})).await.unwrap();
    scene.ask("daemon_stop", json!([daemon])).await.unwrap();
    let mut meta = scene.file("daemon.meta.json");
    meta["pending_events"] = json!([{"seq": 1, "enqueued_at": "", "payload": "knock"}]);
    scene.write("daemon.meta.json", &meta);
    let refusal = scene.spawn(json!({})).await.unwrap_err();
    assert!(refusal.contains("holds 1 event(s)"), "{refusal}");
    meta["pending_events"] = json!([]);
    scene.write("daemon.meta.json", &meta);
    scene.program.mock("Waiting.");
    let fresh = scene.spawn(json!({})).await.unwrap();
    assert_ne!(fresh["id"], daemon["id"]);
    scene.ask("daemon_stop", json!([fresh])).await.unwrap();
}

/// A lock of the system keeps the folder, so it does not matter which process asks.
#[tokio::test(start_paused = true)]
async fn a_folder_belongs_to_one_process() {
    let scene = Scene::new();
    let other = Program::default();
    scene.program.mock("Waiting.");
    let daemon = scene.spawn(json!({})).await.unwrap();
    let asked = Asked {
        builtin: "daemon_resume".to_owned(),
        arguments: vec![json!(scene.root())],
        ..Asked::default()
    };
    let refusal = other.runtime.answer(asked).await.unwrap_err();
    let text = format!(
        "daemon_resume: daemon '{}' is already running",
        scene.root()
    );
    assert_eq!(crate::registry::told(&refusal), text);
    scene.ask("daemon_stop", json!([daemon])).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn handlers_that_a_file_cannot_keep_are_asked_for() {
    let scene = Scene::new();
    scene.program.mock("Waiting.");
    let daemon = scene.spawn(json!({})).await.unwrap();
    scene.ask("daemon_stop", json!([daemon])).await.unwrap();
    let mut meta = scene.file("daemon.meta.json");
    meta["id"] = json!("daemon_of_another_process");
    meta["options"]["tools"] = json!({
        "_type": "tool_registry",
        "tools": [{"name": "open", "handler": null}, {"name": "close", "handler": null}],
    });
    scene.write("daemon.meta.json", &meta);
    let refusal = scene
        .ask("daemon_resume", json!([scene.root()]))
        .await
        .unwrap_err();
    assert!(refusal.contains("'open', 'close'"), "{refusal}");
}

#[tokio::test(start_paused = true)]
async fn capacities_are_positive() {
    let scene = Scene::new();
    for wrong in [json!(0), json!(-1), json!("many")] {
        let refusal = scene
            .spawn(json!({"queue_capacity": wrong}))
            .await
            .unwrap_err();
        assert!(refusal.starts_with("daemon_spawn: `queue_capacity` must be a positive integer"));
    }
}

/// A daemon whose time to wait is over at the very moment an event comes.
#[tokio::test(start_paused = true)]
async fn an_event_that_comes_too_late_waits_for_the_next_time() {
    let scene = Scene::new();
    scene.program.mock("Waiting.");
    let watchdog = json!({"idle_watchdog_attempts": 1});
    let daemon = scene.spawn(watchdog).await.unwrap();
    // The event is handed over, and the loop is gone before it looks.
    let kept = scene.program.runtime.daemons.named(&daemon).unwrap();
    let trigger = kept.trigger(&json!("knock"), 0);
    trigger.unwrap();
    let result = scene.program.runtime.run(crate::LoopRequest {
        options: json!({"provider": "mock", "model": "m", "max_iterations": 0})
            .as_object()
            .cloned()
            .unwrap(),
        ..crate::LoopRequest::default()
    });
    let result = result.await.unwrap();
    kept.ended(super::daemon::Ended::Done(Box::new(result)));
    let meta = scene.file("daemon.meta.json");
    assert_eq!(meta["pending_events"][0]["payload"], "knock");
    assert_eq!(meta["inflight_event"], Value::Null);
}
