//! Calls that had no result when their process was killed.

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::program::program;

/// A chat whose second tool says through a pipe that it has begun, and never ends.
const PROGRAM: &str = r#"
fn hold(args) {
  shell("echo begun > holding")
  sleep(1h)
}

pipeline chat(prompt, session_id) {
  let tools = tool_registry()
    |> tool_define(_, "look", "Looks.", {handler: { args -> "a lamp" }})
    |> tool_define(_, "hold", "Holds.", {handler: hold})
    |> tool_define(_, "paint", "Paints.", {handler: { args -> "painted" }})
  let format = env_or("FORMAT", "")
  let options = {provider: "mock", tools: tools, tool_format: format, session_id: session_id}
  let result = agent_loop(prompt, nil, options)
  println("messages ${json_stringify(result.transcript.messages)}")
}
"#;

const NOT_MADE: &str = "Error: the call was not made, because the program ended before. Nothing \
                        has happened; make it again if it is still wanted.";
const INTERRUPTED: &str = "Error: the call was interrupted before it had a result. It may or \
                           may not have taken effect; check before you repeat it.";

fn chat(folder: &TempDir, format: &str, arguments: &[&str], prompt: &str) -> Child {
    let mut program = program();
    program
        .current_dir(folder.path())
        .env("FORMAT", format)
        .args(["chat", "main.harn", "--scenario"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = program.spawn().expect("it was built with the tests");
    let mut stdin = child.stdin.take().expect("it is piped");
    writeln!(stdin, "{prompt}").expect("it reads");
    child
}

/// Kills a chat while its second call runs; gives the messages of the loop that goes on.
#[track_caller]
fn messages_after_a_kill(format: &str, turn: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).expect("the folder is ours");
    };
    write("main.harn", PROGRAM);
    write("one.toml", &format!("[[turn]]\n{turn}\n"));
    write("two.toml", "[[turn]]\ntext = \"I see.\"\n");
    let pipe = folder.path().join("holding");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo is there").success());
    let mut first = chat(&folder, format, &["one.toml"], "go");
    let said = fs::read_to_string(&pipe).expect("the call has begun");
    assert_eq!(said, "begun\n");
    // There is no chance to tidy up.
    first.kill().expect("it runs");
    first.wait().expect("it was killed");
    let second = chat(&folder, format, &["two.toml", "--continue"], "and now");
    let ended = second.wait_with_output().expect("it ends");
    let told = String::from_utf8(ended.stdout).expect("we print UTF-8");
    let mut lines = told.lines();
    let line = lines.find_map(|line| line.strip_prefix("messages "));
    let line = line.unwrap_or_else(|| panic!("no messages in {told}"));
    serde_json::from_str(line).expect("it tells JSON")
}

fn contents(messages: &[Value]) -> Vec<&str> {
    let contents = messages.iter().map(|one| one["content"].as_str());
    contents.map(Option::unwrap_or_default).collect()
}

/// Where calls travel in the text, the results come in one message, as those of any turn.
#[track_caller]
fn check_in_text(format: &str, turn: &str) {
    let messages = messages_after_a_kill(format, turn);
    let told = format!(
        "<runtime_feedback kind=\"tool_results\">\n\
         [result of look]\na lamp\n[end of look result]\n\n\
         [result of hold]\n{INTERRUPTED}\n[end of hold result]\n\n\
         [result of paint]\n{NOT_MADE}\n[end of paint result]\n\
         </runtime_feedback>"
    );
    let contents = contents(&messages);
    assert_eq!(contents.len(), 5, "{contents:#?}");
    assert_eq!(contents[0], "go");
    assert_eq!(contents[2..], [&told, "and now", "I see."]);
}

#[test]
fn results_and_interruptions_are_told_in_the_text_format() {
    let call = |name: &str| format!("<tool_call>\n{name}({{}})\n</tool_call>\n");
    let calls = ["look", "hold", "paint"].map(call).concat();
    check_in_text("text", &format!("text = '''\n{calls}'''"));
}

#[test]
fn results_and_interruptions_are_told_in_the_json_format() {
    let call = |name: &str| format!("{{\"name\": \"{name}\", \"args\": {{}}}}\n");
    let calls = ["look", "hold", "paint"].map(call).concat();
    check_in_text("json", &format!("text = '''\n```tool\n{calls}```\n'''"));
}

#[test]
fn results_and_interruptions_are_told_in_the_native_format() {
    let call = |name: &str| format!("{{ tool = \"{name}\", arguments = {{}} }}");
    let calls = ["look", "hold", "paint"].map(call).join(", ");
    let messages = messages_after_a_kill("native", &format!("text = \"So.\"\ncall = [{calls}]"));
    let expected = ["a lamp", INTERRUPTED, NOT_MADE, "and now", "I see."];
    assert_eq!(contents(&messages)[2..], expected);
}
