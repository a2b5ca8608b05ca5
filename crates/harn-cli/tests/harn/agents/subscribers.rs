//! What is said about closures that read events.

use std::fs;

use crate::program::{finished, program};

const THROWS: &str = r#"
pipeline default() {
  agent_subscribe("s", { event -> throw "boom\nbang" })
  agent_emit_event("s", "progress_reported", {})
  println("over")
}
"#;

#[test]
fn a_closure_that_throws_is_reported_with_its_session_and_event() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("main.harn"), THROWS).unwrap();
    let mut run = program();
    run.args(["run", "main.harn", "--progress", "none"]);
    let call = finished(run.current_dir(folder.path())).exits_with(0);
    assert_eq!(call.stdout, "over\n", "warnings are no data");
    assert_eq!(
        call.stderr,
        concat!(
            "warning: agent.subscriber: a subscriber failed (session: s, ",
            "event: progress_reported, subscriber: closure, error: boom\\nbang)\n",
        )
    );
}
