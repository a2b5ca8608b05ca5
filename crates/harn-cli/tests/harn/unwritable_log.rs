//! A program whose event log cannot be written any more.

use std::fs;
use std::process::Command;

use crate::program::{finished, program};

/// An agent that says so much that the log has no room for it, looks around and then changes
/// something.
const AGENT: &str = r#"
pipeline default() {
  llm_mock({tool_calls: [{name: "look", arguments: {}}]})
  llm_mock({tool_calls: [{name: "change", arguments: {}}]})
  llm_mock({text: "Done."})
  var tools = tool_define(tool_registry(), "look", "Looks", {
    parameters: {},
    annotations: {kind: "read"},
    handler: { a ->
      println("looked")
      "nothing"
    },
  })
  tools = tool_define(tools, "change", "Changes something", {
    parameters: {},
    handler: { a -> write_file("changed.txt", "yes") },
  })
  agent_loop("word ".repeat(200000), nil, {
    provider: "mock", model: "gpt-4o", tools: tools, session_id: "s", tool_format: "native",
  })
}
"#;

/// The program, which may make no file larger than so many kilobytes.
fn limited(kilobytes: u32, arguments: &str) -> Command {
    let harn = program();
    let harn = harn.get_program().to_str().expect("a plain path");
    let mut shell = Command::new("/bin/bash");
    let script = format!("trap '' XFSZ; ulimit -f {kilobytes}; exec {harn} {arguments}");
    shell.env_clear().args(["-c", &script]);
    shell
}

#[test]
fn a_run_whose_journal_cannot_be_written_stops_before_it_changes_something() {
    for (backend, log, reason) in [
        ("sqlite", "events.sqlite", "disk I/O error"),
        ("file", ".harn/events", "File too large"),
    ] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        fs::write(folder.path().join("main.harn"), AGENT).expect("the folder is ours");
        let mut run = limited(300, "run main.harn");
        run.current_dir(folder.path());
        run.env("HARN_EVENT_LOG_BACKEND", backend);
        let call = finished(&mut run).exits_with(1).prints("looked");
        let told = "agent_loop: session 's' cannot be recorded in the event log ";
        assert!(call.stderr.contains(told), "{backend}: {call:?}");
        assert!(call.stderr.contains(log), "{backend}: {call:?}");
        assert!(call.stderr.contains(reason), "{backend}: {call:?}");
        let told = call.stderr.matches("records cannot be written").count();
        assert_eq!(told, 1, "{backend}: {call:?}");
        let stopped = "it stopped before the call of `change`";
        assert!(call.stderr.contains(stopped), "{backend}: {call:?}");
        assert!(!folder.path().join("changed.txt").exists(), "{backend}");
    }
}
