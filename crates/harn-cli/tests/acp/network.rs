//! Both client libraries over HTTP and over web sockets.
//!
//! One agent listens for one library. Each library has both transports.

use serde_json::{Value, json};

use crate::sdk::{assert_updates, in_project, methods, prompt, statuses};
use crate::stage::{Editor, Listening, Stage};

const KEY: &str = "0123456789abcdef";

/// A place to connect to, with a key.
fn at(agent: &Listening, transport: &str, step: &str, key: Option<&str>) -> Value {
    let mut step = json!({"do": step, "transport": transport, "url": agent.url(transport)});
    if let Some(key) = key {
        step["token"] = json!(key);
    }
    step
}

/// Everything that an editor does: it knocks, works, leaves, and comes back.
fn visit(stage: &Stage, agent: &Listening, transport: &str) -> Vec<Value> {
    let busy = json!({"sessionUpdate": "tool_call_update", "status": "in_progress"});
    vec![
        at(agent, transport, "knock", None),
        at(agent, transport, "knock", Some("fedcba9876543210")),
        at(agent, transport, "connect", Some(KEY)),
        json!({"do": "initialize", "fs": true, "terminal": true}),
        in_project(stage, "new"),
        prompt("read the notes"),
        prompt("show it"),
        json!({"do": "answer", "with": "reject_once"}),
        prompt("write it"),
        json!({"do": "answer", "with": "allow_once"}),
        prompt("write it"),
        json!({"do": "prompt", "text": "run slowly", "cancel_at": busy}),
        json!({"do": "mode", "mode": "trusting"}),
        in_project(stage, "list"),
        at(agent, transport, "connect", Some(KEY)),
        json!({"do": "initialize"}),
        in_project(stage, "load"),
        prompt("write it"),
        in_project(stage, "resume"),
        in_project(stage, "fork"),
        prompt("hello"),
        json!({"do": "close"}),
    ]
}

#[track_caller]
fn check(editor: Editor) {
    let stage = Stage::new();
    let agent = stage.listen(Some(KEY));
    for transport in ["http", "ws"] {
        stage.write("notes.txt", "remember the milk\n");
        let outcomes = stage.editor_on_network(editor, &visit(&stage, &agent, transport));
        let [out, wrong, rest @ ..] = &outcomes[..] else {
            panic!("it has knocked twice");
        };
        assert_eq!(
            (&out["status"], &wrong["status"]),
            (&json!(401), &json!(401))
        );
        for outcome in rest {
            assert_eq!(outcome["error"], Value::Null, "{editor:?} {transport}");
            assert_updates(outcome);
        }
        let [
            _,
            able,
            new,
            read,
            shown,
            _,
            denied,
            _,
            written,
            cancelled,
            mode,
            list,
            back @ ..,
        ] = rest
        else {
            panic!("it has worked");
        };
        assert_eq!(able["agentCapabilities"]["loadSession"], true);
        assert_work(&stage, [read, shown, denied, written, cancelled]);
        assert_eq!(mode["updates"][0]["currentModeId"], "trusting");
        let id = &new["sessionId"];
        assert_eq!(list["sessions"][0]["sessionId"], *id);
        assert_return(id, back);
    }
    stage.check_wire();
}

/// What the editor saw of its turns, and was asked in them.
#[track_caller]
fn assert_work(stage: &Stage, turns: [&Value; 5]) {
    let [read, shown, denied, written, cancelled] = turns;
    assert_eq!(read["text"], "Let me look.It is about milk.");
    assert_eq!(methods(read), ["fs/read_text_file"]);
    assert_eq!(methods(shown), ["terminal/create"]);
    let once = json!({"made": ["terminal-0"], "released": ["terminal-0"]});
    assert_eq!(shown["terminals"], once);
    assert_eq!(methods(denied), ["session/request_permission"]);
    assert_eq!(statuses(denied).last(), Some(&"failed"));
    assert_eq!(denied["text"], "I may not.");
    assert_eq!(methods(written)[0], "session/request_permission");
    assert!(methods(written).contains(&"fs/write_text_file"));
    assert_eq!(statuses(written).last(), Some(&"completed"));
    assert_eq!(stage.read("notes.txt"), "new\n");
    assert_eq!(cancelled["stopReason"], "cancelled");
    assert_eq!(statuses(cancelled).last(), Some(&"failed"));
    for turn in [read, shown, denied, written] {
        assert_eq!(turn["stopReason"], "end_turn");
    }
}

/// What the editor saw when it had come back.
#[track_caller]
fn assert_return(id: &Value, outcomes: &[Value]) {
    let [_, _, load, written, resumed, fork, forked, _] = outcomes else {
        panic!("it has come back");
    };
    // Five turns, the last of which was cancelled before anything was said.
    let said = "Let me look.It is about milk.Done.I may not.Done.";
    assert_eq!(load["text"], said);
    let replayed = load["updates"].as_array().expect("there are updates");
    for update in replayed {
        assert_eq!(update["_meta"]["harn"]["replayed"], true, "{update}");
    }
    let ends = replayed
        .iter()
        .filter_map(|update| update["status"].as_str());
    let ends = ends.filter(|status| ["completed", "failed"].contains(status));
    let ends: Vec<&str> = ends.collect();
    let expected = ["completed", "completed", "failed", "completed", "failed"];
    assert_eq!(ends, expected);
    assert_eq!(load["modes"]["currentModeId"], "trusting");
    assert_eq!(methods(written), Vec::<&str>::new(), "it is trusted");
    assert_eq!(written["stopReason"], "end_turn");
    assert_eq!(resumed["modes"]["currentModeId"], "trusting");
    assert_ne!(fork["sessionId"], *id);
    assert_eq!(fork["_meta"]["harn"]["parentId"], *id);
    assert_eq!(forked["text"], "Hello from Harn.");
}

#[test]
fn the_python_library_works_over_both_transports() {
    check(Editor::Python);
}

#[test]
fn the_typescript_library_works_over_both_transports() {
    check(Editor::TypeScript);
}
