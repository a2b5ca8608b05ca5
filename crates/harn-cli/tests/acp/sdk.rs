//! What both client libraries see of an agent.

use serde_json::{Value, json};

use crate::stage::{Editor, Stage, check_wires};

/// The kinds of updates that every client understands.
const KINDS: [&str; 11] = [
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
];

/// Lets each editor do the same on a stage of its own, then looks at the wire.
#[track_caller]
fn check(steps: impl Fn(&Stage) -> Vec<Value>, look: impl Fn(&Stage, &[Value])) {
    let stages = Editor::ALL.map(|editor| {
        let stage = Stage::new();
        let outcomes = stage.editor(editor, &steps(&stage));
        for outcome in &outcomes {
            assert_eq!(outcome["error"], Value::Null, "{editor:?}: {outcome}");
            assert_updates(outcome);
        }
        look(&stage, &outcomes);
        stage
    });
    check_wires(&stages);
}

/// All updates are of a known kind, and their indices never go back.
#[track_caller]
pub(crate) fn assert_updates(outcome: &Value) {
    let mut last = 0;
    for update in outcome["updates"].as_array().into_iter().flatten() {
        let kind = update["sessionUpdate"]
            .as_str()
            .expect("an update has a kind");
        assert!(KINDS.contains(&kind), "{update}");
        if update.get("_meta").is_none() && is_no_event(update) {
            continue;
        }
        let index = update["_meta"]["harn"]["index"].as_u64();
        let index = index.unwrap_or_else(|| panic!("no index in {update}"));
        assert!(index >= last, "{index} after {last}: {update}");
        last = index;
    }
}

/// Whether an update was made from nothing that the journal has: a choice before anything has
/// happened in the session, and the terminal that a command is shown in.
fn is_no_event(update: &Value) -> bool {
    update["sessionUpdate"] == "current_mode_update" || update["content"][0]["type"] == "terminal"
}

fn begin(stage: &Stage) -> Vec<Value> {
    vec![json!({"do": "initialize"}), new(stage)]
}

fn new(stage: &Stage) -> Value {
    json!({"do": "new", "cwd": stage.project()})
}

pub(crate) fn prompt(text: &str) -> Value {
    json!({"do": "prompt", "text": text})
}

pub(crate) fn in_project(stage: &Stage, step: &str) -> Value {
    json!({"do": step, "cwd": stage.project()})
}

/// The states a call goes through, repetitions left out.
pub(crate) fn statuses(outcome: &Value) -> Vec<&str> {
    let updates = outcome["updates"].as_array().expect("a turn has updates");
    let statuses = updates
        .iter()
        .filter(|update| {
            let kind = update["sessionUpdate"].as_str().unwrap_or_default();
            kind.starts_with("tool_call")
        })
        .filter_map(|update| update["status"].as_str());
    let mut statuses: Vec<&str> = statuses.collect();
    statuses.dedup();
    statuses
}

pub(crate) fn methods(outcome: &Value) -> Vec<&str> {
    let asked = outcome["asked"].as_array().expect("a turn has questions");
    let methods = asked.iter().map(|one| one["method"].as_str());
    methods
        .map(|method| method.expect("it has a method"))
        .collect()
}

#[test]
fn an_agent_introduces_itself_and_answers() {
    check(
        |stage| {
            let mut steps = begin(stage);
            steps.push(prompt("hello"));
            steps
        },
        |_, outcomes| {
            let agent = &outcomes[0];
            assert_eq!(agent["protocolVersion"], 1);
            assert_eq!(agent["agentInfo"]["name"], "harn");
            let able = &agent["agentCapabilities"];
            assert_eq!(able["loadSession"], true);
            assert_eq!(able["promptCapabilities"]["embeddedContext"], true);
            assert_eq!(able["mcpCapabilities"]["http"], true);
            for capability in ["list", "resume", "close", "delete", "fork"] {
                let found = &able["sessionCapabilities"][capability];
                assert!(found.is_object(), "{capability}: {able}");
            }
            assert!(outcomes[1]["sessionId"].is_string());
            assert_eq!(outcomes[2]["stopReason"], "end_turn");
            assert_eq!(outcomes[2]["text"], "Hello from Harn.");
        },
    );
}

#[test]
fn a_call_is_shown_from_its_start_to_its_end() {
    check(
        |stage| {
            let mut steps = begin(stage);
            steps.push(prompt("read the notes"));
            steps
        },
        |_, outcomes| {
            let turn = &outcomes[2];
            assert_eq!(turn["text"], "Let me look.It is about milk.");
            assert_eq!(statuses(turn).last(), Some(&"completed"));
            let updates = turn["updates"].as_array().unwrap();
            let is_start = |update: &&Value| update["sessionUpdate"] == "tool_call";
            let starts: Vec<&Value> = updates.iter().filter(is_start).collect();
            assert_eq!(starts.len(), 1);
            assert_eq!(starts[0]["kind"], "read");
            let messages = updates
                .iter()
                .filter(|update| update["sessionUpdate"] == "agent_message_chunk");
            let mut ids: Vec<&str> = messages
                .map(|chunk| chunk["messageId"].as_str().expect("a chunk has an id"))
                .collect();
            ids.dedup();
            assert_eq!(ids.len(), 2, "one id for each message");
        },
    );
}

#[test]
fn permission_decides() {
    check(
        |stage| {
            let mut steps = begin(stage);
            steps.push(json!({"do": "answer", "with": "reject_once"}));
            steps.push(prompt("write it"));
            steps
        },
        |stage, outcomes| {
            let turn = &outcomes[3];
            assert_eq!(methods(turn), ["session/request_permission"]);
            let kinds = turn["asked"][0]["kinds"].as_array().unwrap();
            assert!(kinds.contains(&json!("allow_once")));
            assert!(kinds.contains(&json!("reject_once")));
            assert_eq!(statuses(turn).last(), Some(&"failed"));
            assert_eq!(turn["stopReason"], "end_turn");
            assert_eq!(turn["text"], "I may not.");
            assert_eq!(stage.read("notes.txt"), "remember the milk\n");
        },
    );
    check(
        |stage| {
            let mut steps = begin(stage);
            steps.push(prompt("write it"));
            steps
        },
        |stage, outcomes| {
            let turn = &outcomes[2];
            assert_eq!(methods(turn), ["session/request_permission"]);
            assert_eq!(statuses(turn).last(), Some(&"completed"));
            assert_eq!(stage.read("notes.txt"), "new\n");
        },
    );
}

#[test]
fn files_are_read_and_written_by_the_editor_that_offers_it() {
    check(
        |stage| {
            vec![
                json!({"do": "initialize", "fs": true}),
                new(stage),
                prompt("read the notes"),
                prompt("write it"),
            ]
        },
        |stage, outcomes| {
            let notes = json!(stage.project().join("notes.txt"));
            let reads = &outcomes[2]["asked"];
            assert_eq!(
                reads[0],
                json!({"method": "fs/read_text_file", "path": notes})
            );
            let asked = outcomes[3]["asked"].as_array().unwrap();
            let write = json!({"method": "fs/write_text_file", "path": notes});
            assert!(asked.contains(&write), "{asked:?}");
            assert_eq!(stage.read("notes.txt"), "new\n");
        },
    );
}

#[test]
fn commands_run_in_the_terminals_of_the_editor_that_has_them() {
    check(
        |stage| {
            vec![
                json!({"do": "initialize", "terminal": true}),
                new(stage),
                prompt("show it"),
                json!({"do": "prompt", "text": "show slowly", "cancel_at": {"content": [
                    {"type": "terminal", "terminalId": "terminal-1"},
                ]}}),
                json!({"do": "released", "count": 2}),
            ]
        },
        |_, outcomes| {
            let turn = &outcomes[2];
            assert_eq!(methods(turn), ["terminal/create"]);
            assert_eq!(turn["asked"][0]["args"], json!(["-c", "echo shown"]));
            let once = json!({"made": ["terminal-0"], "released": ["terminal-0"]});
            assert_eq!(turn["terminals"], once);
            assert_eq!(statuses(turn).last(), Some(&"completed"));
            let shown = json!([{"type": "terminal", "terminalId": "terminal-0"}]);
            let updates = turn["updates"].as_array().unwrap();
            assert!(updates.iter().any(|update| update["content"] == shown));
            // One that is not over in time is killed.
            let cancelled = &outcomes[3];
            assert_eq!(cancelled["stopReason"], "cancelled");
            // The turn need not wait for that.
            let asked = methods(&outcomes[4]);
            assert_eq!(asked, ["terminal/create", "terminal/kill"]);
            let both = json!(["terminal-0", "terminal-1"]);
            assert_eq!(outcomes[4]["released"], both);
        },
    );
}

#[test]
fn modes_take_effect_and_stay() {
    check(
        |stage| {
            let mut steps = begin(stage);
            steps.push(json!({"do": "mode", "mode": "trusting"}));
            steps.push(prompt("write it"));
            steps.push(in_project(stage, "load"));
            steps.push(json!({"do": "config", "option": "mode", "value": "careful"}));
            steps.push(prompt("write it"));
            steps
        },
        |_, outcomes| {
            let modes = &outcomes[1]["modes"];
            assert_eq!(modes["currentModeId"], "careful");
            let ids = |at: usize| modes["availableModes"][at]["id"].as_str();
            assert_eq!([ids(0), ids(1)], [Some("careful"), Some("trusting")]);
            let told = &outcomes[2]["updates"];
            assert_eq!(told[0]["sessionUpdate"], "current_mode_update");
            assert_eq!(told[0]["currentModeId"], "trusting");
            // Now nobody is asked, and everybody is again after the next choice.
            assert_eq!(methods(&outcomes[3]), Vec::<&str>::new());
            assert_eq!(statuses(&outcomes[3]).last(), Some(&"completed"));
            assert_eq!(outcomes[4]["modes"]["currentModeId"], "trusting");
            let options = outcomes[5]["configOptions"].as_array().unwrap();
            let mode = options.iter().find(|option| option["category"] == "mode");
            assert_eq!(mode.expect("it is an option")["currentValue"], "careful");
            assert_eq!(methods(&outcomes[6]), ["session/request_permission"]);
        },
    );
}

#[test]
fn a_turn_can_be_cancelled_while_a_tool_is_busy() {
    check(
        |stage| {
            let mut steps = begin(stage);
            let at = json!({"sessionUpdate": "tool_call_update", "status": "in_progress"});
            steps.push(json!({"do": "prompt", "text": "run slowly", "cancel_at": at}));
            steps.push(prompt("hello again"));
            steps
        },
        |_, outcomes| {
            assert_eq!(outcomes[2]["stopReason"], "cancelled");
            assert_eq!(statuses(&outcomes[2]).last(), Some(&"failed"));
            assert_eq!(outcomes[3]["stopReason"], "end_turn");
            assert_eq!(outcomes[3]["text"], "Hello from Harn.");
        },
    );
}

#[test]
fn sessions_are_listed_loaded_resumed_forked_and_closed() {
    check(
        |stage| {
            let mut steps = begin(stage);
            steps.push(prompt("hello"));
            for step in ["list", "load", "resume", "fork"] {
                steps.push(in_project(stage, step));
            }
            steps.push(prompt("read the notes"));
            steps.push(json!({"do": "close"}));
            steps
        },
        |stage, outcomes| {
            let id = &outcomes[1]["sessionId"];
            let listed = &outcomes[3]["sessions"][0];
            assert_eq!(listed["sessionId"], *id);
            assert_eq!(listed["cwd"], json!(stage.project()));
            let replayed = outcomes[4]["updates"].as_array().unwrap();
            let user = replayed
                .iter()
                .find(|update| update["sessionUpdate"] == "user_message_chunk");
            assert_eq!(user.expect("it was replayed")["content"]["text"], "hello");
            assert_eq!(outcomes[4]["text"], "Hello from Harn.");
            for update in replayed {
                assert_eq!(update["_meta"]["harn"]["replayed"], true, "{update}");
            }
            let fork = &outcomes[6];
            assert_ne!(fork["sessionId"], *id);
            assert_eq!(fork["_meta"]["harn"]["parentId"], *id);
            assert_eq!(outcomes[7]["text"], "Let me look.It is about milk.");
        },
    );
}

#[test]
fn a_conversation_goes_on_in_another_process() {
    for editor in Editor::ALL {
        let stage = Stage::new();
        let mut steps = begin(&stage);
        steps.push(prompt("hello"));
        let outcomes = stage.editor(editor, &steps);
        let id = &outcomes[1]["sessionId"];
        let seen = outcomes[2]["updates"].as_array().unwrap();
        let last = &seen.last().expect("there were updates")["_meta"]["harn"]["index"];
        let after = json!({"harn": {"after": last}});
        let steps = [
            json!({"do": "initialize"}),
            json!({"do": "use", "session": id}),
            json!({"do": "load", "cwd": stage.project(), "meta": after}),
            prompt("read the notes"),
        ];
        let outcomes = stage.editor(editor, &steps);
        // Nothing was said after what the client has seen.
        assert_eq!(outcomes[2]["text"], "", "{editor:?}");
        assert_eq!(outcomes[3]["text"], "Let me look.It is about milk.");
        stage.check_wire();
    }
}

#[test]
fn mistakes_are_told_with_their_codes() {
    for editor in Editor::ALL {
        let stage = Stage::new();
        let mut steps = begin(&stage);
        steps.push(json!({"do": "new", "cwd": "relative/folder"}));
        steps.push(json!({"do": "new", "cwd": stage.project().join("nowhere")}));
        steps.push(json!({"do": "mode", "mode": "no-such-mode"}));
        steps.push(json!({"do": "use", "session": "no-such-session"}));
        steps.push(in_project(&stage, "load"));
        steps.push(prompt("hello"));
        let outcomes = stage.editor(editor, &steps);
        let code = |at: usize| &outcomes[at]["error"]["code"];
        assert_eq!(*code(2), -32602, "{editor:?}");
        assert_eq!(*code(3), -32602, "{editor:?}");
        assert_eq!(*code(4), -32602, "{editor:?}");
        assert_eq!(*code(6), -32002, "{editor:?}");
        assert_eq!(outcomes[6]["error"]["data"]["sessionId"], "no-such-session");
        assert_eq!(*code(7), -32002, "{editor:?}");
        stage.check_wire();
    }
}
