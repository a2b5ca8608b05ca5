//! Workers outlive the process that has started them.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::language::Programs;
use crate::program::{finished, program};

/// Four workers: one that works, one that waits for a task, one that pauses, and one that is
/// done. The program never ends by itself.
const BEFORE: &str = r#"
fn start(task, more) {
  return sub_agent_run(task, {provider: "mock", tool_format: "native", background: true} + more)
}

fn reach(handle, status) {
  while list_agents().filter({ worker -> worker.id == handle.id })[0].status != status {
    sleep(1ms)
  }
}

pipeline default() {
  let gate = channel("gate")
  let reached = channel("reached")
  let hold = { args ->
    send(reached, true)
    receive(gate)
  }
  let tools = tool_registry() |> tool_define(_, "hold", "Waits.", {handler: hold})
  llm_mock({match: "*work*", tool_calls: [{name: "hold", arguments: {}}]})
  llm_mock(
    {
      match: "*pause*",
      tool_calls: [{name: "agent_await_resumption", arguments: {reason: "review"}}],
      consume_match: true,
    },
  )
  llm_mock({match: "*", text: "So."})
  let working = start("work", {tools: tools})
  receive(reached)
  let waiting = start("wait", {carry: {retriggerable: true}})
  reach(waiting, "awaiting")
  let pausing = start("pause", {agent_await_resumption: true})
  reach(pausing, "suspended")
  let done = start("end", {})
  wait_agent(done)
  println(json_stringify([working, waiting, pausing, done].map({ worker -> worker.id })))
  receive(gate)
}
"#;

/// Takes them up again, and lets each of them go on.
const AFTER: &str = r#"
fn reach(handle, status) {
  while list_agents().filter({ worker -> worker.id == handle.id })[0].status != status {
    sleep(1ms)
  }
}

pipeline default() {
  let ids = json_parse(read_file("ids.json"))
  tool_bind(tool_registry() |> tool_define(_, "hold", "Waits.", {handler: { args -> "held" }}))
  let workers = ids.map({ id -> resume_agent(id) })
  println(workers.map({ worker -> worker.status }).join(" "))
  llm_mock({match: "*", text: "Again."})
  let [working, waiting, pausing, done] = workers
  send_input(working, "work on")
  println(wait_agent(working).result.summary)
  worker_trigger(waiting, "more")
  reach(waiting, "awaiting")
  println(list_agents().filter({ worker -> worker.id == waiting.id })[0].result.summary)
  resume_agent(pausing, "It is fine.")
  println(wait_agent(pausing).result.summary)
  send_input(done, "once more")
  let last = wait_agent(done)
  println("${last.result.summary} ${last.history}")
  let said = last.result.transcript.messages.map({ message -> message.content })
  println(said)
}
"#;

#[test]
fn a_killed_process_leaves_its_workers_to_the_next_one() {
    let programs = Programs::new(&[("before.harn", BEFORE), ("after.harn", AFTER)]);
    let mut child = program()
        .current_dir(programs.root())
        .env("HARN_WORKER_STATE_DIR", "kept")
        .args(["run", "before.harn"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut told = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut ids = String::new();
    told.read_line(&mut ids).expect("it tells the ids");
    // There is no chance to tidy up.
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
    let parsed: Value = serde_json::from_str(&ids).expect("it tells JSON");
    for id in parsed.as_array().expect("it tells a list") {
        let file = format!("kept/{}.json", id.as_str().expect("an id is a text"));
        assert!(programs.path(&file).is_file(), "{file}");
    }
    programs.add("ids.json", &ids);
    let mut after = program();
    let after = after
        .current_dir(programs.root())
        .env("HARN_WORKER_STATE_DIR", "kept")
        .args(["run", "after.harn"]);
    let call = finished(after).exits_with(0);
    let lines: Vec<&str> = call.stdout.lines().collect();
    let expected = [
        "interrupted awaiting suspended completed",
        "Again.",
        "Again.",
        "Again.",
        "Again. [end, once more]",
        "[end, So., once more, Again.]",
    ];
    assert_eq!(lines, expected, "{call:?}");
}
