//! An agent that is killed in the middle of a turn, and its editors afterwards.

use serde_json::json;

use crate::acpx::Acpx;
use crate::stage::{Editor, Stage};

/// Kills the agent while a tool runs, and gives the id of the session.
fn killed_in_a_turn(stage: &Stage, editor: Editor) -> String {
    let at = stage.project().join("begun");
    let steps = [
        json!({"do": "initialize"}),
        json!({"do": "new", "cwd": stage.project()}),
        json!({"do": "kill_at", "text": "run slowly", "at": at}),
    ];
    let outcomes = stage.editor(editor, &steps);
    let id = outcomes[1]["sessionId"].as_str();
    id.expect("the session has an id").to_owned()
}

#[test]
fn what_was_kept_is_replayed_and_no_tool_runs_twice() {
    for editor in [Editor::Python, Editor::TypeScript] {
        let stage = Stage::new();
        let id = killed_in_a_turn(&stage, editor);
        let steps = [
            json!({"do": "initialize"}),
            json!({"do": "use", "session": id}),
            json!({"do": "load", "cwd": stage.project()}),
            json!({"do": "prompt", "text": "hello"}),
        ];
        let outcomes = stage.editor(editor, &steps);
        let replayed = outcomes[2]["updates"].as_array().unwrap();
        let calls = replayed
            .iter()
            .filter(|update| update["sessionUpdate"] == "tool_call");
        assert_eq!(calls.count(), 1, "{editor:?}");
        let ends = replayed
            .iter()
            .filter(|update| update["status"] == "failed" || update["status"] == "completed");
        assert_eq!(ends.count(), 1, "{editor:?}: each start reaches one end");
        assert_eq!(outcomes[3]["text"], "Hello from Harn.");
        assert_eq!(stage.read("runs.txt"), "begun\n", "{editor:?}");
        stage.check_wire();
    }
}

#[test]
fn the_command_line_client_goes_on_too() {
    let stage = Stage::new();
    let acpx = Acpx::new(&stage);
    acpx.open_session("t");
    acpx.run(&["--approve-all", "prompt", "-s", "t", "hello"])
        .exits_with(0);
    acpx.kill_agents();
    let answer = acpx.run(&["--format", "quiet", "prompt", "-s", "t", "read the notes"]);
    answer.exits_with(0).says("It is about milk.");
    acpx.close_session("t");
}
