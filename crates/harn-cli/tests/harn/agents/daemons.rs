//! A daemon whose process is killed goes on in another one.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use tempfile::TempDir;

use crate::program::{finished, program};

/// What both programs share: the tools of the daemon, and how to wait for it.
const SHARED: &str = r#"
fn tools(work) {
  return tool_registry() |> tool_define(_, "work", "Works.", {handler: work})
}

fn settle(daemon) {
  while daemon_snapshot(daemon).queued_event_count > 0 {
    sleep(5ms)
  }
}

fn asked(daemon) {
  return daemon_snapshot(daemon).visible_messages
    .filter({ it -> it.role == "user" && !it.content.contains("runtime_feedback") })
    .map({ it -> it.content })
}
"#;

/// Handles one event, and is killed while it works on the second and has the third waiting.
const KILLED: &str = r#"
pipeline default() {
  llm_mock({text: "Waiting."})
  llm_mock({text: "Seen."})
  llm_mock({tool_calls: [{name: "work", arguments: {}}]})
  let work = { args ->
    println("working")
    sleep(60s)
  }
  let daemon = daemon_spawn(
    {task: "watch", persist_path: "state", session_id: "d", provider: "mock", tools: tools(work), tool_format: "native"},
  )
  daemon_trigger(daemon, "one")
  settle(daemon)
  daemon_trigger(daemon, "two")
  daemon_trigger(daemon, {n: 3})
  sleep(60s)
}
"#;

/// Takes it up with tools of its own.
const RESUMED: &str = r#"
pipeline default() {
  llm_mock({tool_calls: [{name: "work", arguments: {}}]})
  llm_mock({match: "*", text: "Seen."})
  tool_bind(tools({ args -> "worked" }))
  let daemon = daemon_resume("state")
  println("${daemon.status} ${daemon.session_id}")
  settle(daemon)
  println(asked(daemon))
  println(daemon_snapshot(daemon).all_tools_used)
  daemon_stop(daemon)
}
"#;

struct Project {
    folder: TempDir,
}

impl Project {
    fn write(&self, text: &str) {
        let text = format!("{SHARED}{text}");
        fs::write(self.folder.path().join("main.harn"), text).expect("the folder is ours");
    }

    fn start(&self, text: &str) -> Child {
        self.write(text);
        let mut program = program();
        program.current_dir(self.folder.path());
        program.args(["run", "main.harn"]).stdout(Stdio::piped());
        program.spawn().expect("it was built with the tests")
    }
}

#[test]
fn a_daemon_survives_its_process() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let project = Project { folder };
    let mut first = project.start(KILLED);
    let stdout = first.stdout.take().expect("it is piped");
    let line = BufReader::new(stdout).lines().next();
    assert_eq!(line.and_then(Result::ok).as_deref(), Some("working"));
    first.kill().expect("it runs");
    first.wait().expect("it has ended");
    project.write(RESUMED);
    let mut second = program();
    second.current_dir(project.folder.path());
    let call = finished(second.args(["run", "main.harn"])).exits_with(0);
    let lines: Vec<&str> = call.stdout.lines().collect();
    assert_eq!(
        lines,
        ["running d", r#"[watch, one, two, {"n":3}]"#, "[work]"]
    );
}
