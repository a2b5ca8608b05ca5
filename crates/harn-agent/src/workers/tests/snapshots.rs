use serde_json::json;

use super::*;
use crate::ambient::tests::check_narrower;
use crate::policy::{ApprovalPolicy, CapabilityPolicy, Permissions};
use crate::runtime::Ambient;

/// A worker of one process, started where something holds.
async fn start_in(folder: &std::path::Path, ambient: &Ambient, more: Value) -> (Program, Value) {
    let program = program_in(folder);
    program.runtime.enter("parent", ambient);
    program.mock("Dug.");
    let mut config = json!({
        "task": "dig", "node": {"id": "s", "model_policy": {"provider": "mock"}}, "wait": true,
    });
    for (key, value) in more.as_object().expect("it is a dict") {
        config[key] = value.clone();
    }
    let started = program.answer(
        "spawn_agent",
        json!([config]),
        Some("parent"),
        Functions::default(),
    );
    let handle = started.await.expect("it starts");
    (program, handle)
}

#[test]
fn a_worker_goes_on_in_another_process() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let (before, handle) = start_in(folder.path(), &Ambient::default(), json!({})).await;
        drop(before);
        let after = program_in(folder.path());
        let found = after.done("resume_agent", json!([handle["id"]])).await;
        assert_eq!(found["status"], "completed");
        assert_eq!(found["result"], handle["result"]);
        assert_eq!(
            found["provenance"]["snapshot_path"],
            handle["snapshot_path"]
        );
        after.mock("Deeper.");
        after.done("send_input", json!([found, "deeper"])).await;
        let done = after.done("wait_agent", json!([found])).await;
        assert_eq!(done["history"], json!(["dig", "deeper"]));
        assert_eq!(done["result"]["artifacts"][0]["text"], "Deeper.");
        let messages = done["result"]["transcript"]["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 4, "the first cycle is remembered");
    });
}

#[test]
fn a_worker_that_ran_when_its_process_ended_is_interrupted() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let before = program_in(folder.path());
        let hold = Hold::new();
        before.mock_call("hold");
        let options = json!({"tools": tools(&["hold"]), "carry": {}});
        let handle = before.start(options, hold.functions()).await;
        hold.called.notified().await;
        let after = program_in(folder.path());
        let found = after
            .done("resume_agent", json!([handle["snapshot_path"]]))
            .await;
        assert_eq!(found["status"], "interrupted");
        let waited = after.done("wait_agent", json!([found["id"]])).await;
        assert_eq!(waited["status"], "interrupted");
        // Its tool has no handler here, which the next cycle says.
        after.mock("Deeper.");
        after.done("send_input", json!([found, "deeper"])).await;
        let done = after.done("wait_agent", json!([found])).await;
        assert_eq!(done["result"]["ok"], false);
        let message = done["result"]["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("tool 'hold' has no executable backend"),
            "{message}"
        );
    });
}

#[test]
fn tools_at_hand_stand_for_those_that_did_not_survive() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let before = program_in(folder.path());
        before.mock("Dug.");
        let mut functions = Functions::default();
        let lost = |_: Vec<Value>| Ok(json!("lost"));
        functions.insert(
            "/1/tools/tools/0/handler",
            Arc::new(lost) as Arc<dyn Callback>,
        );
        let options = json!({"tools": tools(&["look"]), "carry": {}});
        let handle = before.start(options, functions).await;
        before.done("wait_agent", json!([handle])).await;
        let after = program_in(folder.path());
        let mut functions = Functions::default();
        let found = |_: Vec<Value>| Ok(json!("found again"));
        functions.insert("/2/tools/1/handler", Arc::new(found) as Arc<dyn Callback>);
        let at_hand = tools(&["other", "look"]);
        let arguments = json!([handle["id"], null, at_hand]);
        let resumed = after.answer("resume_agent", arguments, None, functions);
        let resumed = resumed.await.unwrap();
        after.mock_call("look");
        after.mock("So.");
        after.done("send_input", json!([resumed, "deeper"])).await;
        let done = after.done("wait_agent", json!([resumed])).await;
        let transcript = done["result"]["transcript"]["messages"].to_string();
        assert!(transcript.contains("found again"), "{transcript}");
    });
}

#[test]
fn a_resumed_worker_may_do_no_more_than_before() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let policy = |value: Value| CapabilityPolicy::read("policy", &value).unwrap();
        let approval = |value: Value| ApprovalPolicy::read("approval", &value).unwrap();
        let mut ambient = Ambient::default();
        let outer = policy(json!({"tools": ["look", "write"], "workspace_roots": ["/a"]}));
        let asks = approval(json!({"require_approval": ["write"]}));
        ambient.narrow(Some(&outer), Some(&asks)).unwrap();
        let inner = policy(json!({
            "workspace_roots": ["/b"],
            "tool_annotations": {"write": {"kind": "read"}},
        }));
        let approves = approval(json!({"auto_approve": ["*"]}));
        ambient.narrow(Some(&inner), Some(&approves)).unwrap();
        let mut functions = Functions::default();
        let never = |_: Vec<Value>| Ok(json!(false));
        functions.insert("/deny/run", Arc::new(never) as Arc<dyn Callback>);
        let level = json!({"allow": ["look", "run"], "deny": {"run": null}});
        let level = Permissions::read("permissions", &level, &functions).unwrap();
        ambient.permissions.extend(level);
        ambient.depth = 3;
        let more = json!({"policy": {"tools": ["look"]}});
        let (before, handle) = start_in(folder.path(), &ambient, more).await;
        let id = handle["id"].as_str().unwrap();
        let original = before.runtime.workers.get(id).unwrap();
        let original = original.read(|inner| inner.ambient.clone());
        let after = program_in(folder.path());
        after.done("resume_agent", json!([id])).await;
        let restored = after.runtime.workers.get(id).unwrap();
        let restored = restored.read(|inner| inner.ambient.clone());
        check_narrower(&original, &restored).unwrap();
        assert_eq!(restored.depth, original.depth);
        // A rule that asked a function denies whatever it is about.
        let level = restored.permissions[0].to_value();
        assert_eq!(level["deny"], json!({"run": true}));
        assert_eq!(level["allow"], json!({"look": true, "run": true}));
    });
}

#[test]
fn a_worker_is_not_resumed_where_less_is_allowed_than_it_asks_for() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let more = json!({"policy": {"tools": ["shell"]}});
        let (_before, handle) = start_in(folder.path(), &Ambient::default(), more).await;
        let after = program_in(folder.path());
        let mut ambient = Ambient::default();
        let policy = CapabilityPolicy::read("policy", &json!({"tools": ["look"]})).unwrap();
        ambient.narrow(Some(&policy), None).unwrap();
        after.runtime.enter("parent", &ambient);
        let arguments = json!([handle["id"]]);
        let resumed = after.answer(
            "resume_agent",
            arguments,
            Some("parent"),
            Functions::default(),
        );
        let text = "resume_agent: requested tools exceed host ceiling: shell";
        assert_eq!(resumed.await, Err(Thrown::Runtime(text.to_owned())));
    });
}

#[test]
fn files_that_are_none_are_refused() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let program = program_in(folder.path());
        let text = program.refused("resume_agent", json!(["nobody"])).await;
        assert!(text.starts_with("worker snapshot read error: "), "{text}");
        let place = folder.path().join("odd.json");
        let rows = [
            ("nothing", "worker snapshot parse error: "),
            (
                "{}",
                "worker snapshot parse error: it is no snapshot of a worker",
            ),
            (
                "{\"_type\": \"worker_snapshot\", \"mode\": \"sub_agent\"}",
                "worker snapshot parse error: it has no id or no status",
            ),
        ];
        for (content, expected) in rows {
            std::fs::write(&place, content).unwrap();
            let text = program.refused("resume_agent", json!([place])).await;
            assert!(text.starts_with(expected), "{text}");
        }
    });
}

#[test]
fn a_snapshot_is_replaced_as_a_whole() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let (_program, handle) = start_in(folder.path(), &Ambient::default(), json!({})).await;
        let path = handle["snapshot_path"].as_str().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.starts_with("{\n  \"_type\": \"worker_snapshot\",\n"));
        let files = std::fs::read_dir(folder.path().join("workers")).unwrap();
        assert_eq!(files.count(), 1, "nothing temporary is left");
    });
}
