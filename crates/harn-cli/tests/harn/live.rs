//! What `harn run` shows of agents while they run, on a real terminal and elsewhere.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use crate::program::{finished, program};
use crate::pseudo_terminal::{OnTerminal, shown};

/// An agent that reads a file, which takes a while, and fails at something.
const SLOW: &str = r#"
pipeline default() {
  llm_mock({tool_calls: [{name: "read_it", arguments: {path: "a.txt"}}]})
  llm_mock({tool_calls: [{name: "break_it", arguments: {path: "b.txt"}}]})
  llm_mock({text: "All done."})
  var tools = tool_registry()
  tools = tool_define(tools, "read_it", "Reads", {
    parameters: {path: "string"},
    annotations: {kind: "read"},
    handler: { a ->
      sleep(800ms)
      println("reading " + a.path)
      "text"
    },
  })
  tools = tool_define(tools, "break_it", "Breaks", {
    parameters: {path: "string"},
    annotations: {kind: "edit"},
    handler: { a -> throw "it is stuck" },
  })
  let result = agent_loop("Go", nil, {
    provider: "mock", model: "gpt-4o", tools: tools, session_id: "s1", tool_format: "native",
  })
  print("ended: ")
  println(result.status)
}
"#;

/// An agent that is done at once.
const FAST: &str = r#"
pipeline default() {
  llm_mock({text: "Hello."})
  println(agent_loop("Go", nil, {provider: "mock", session_id: "s1"}).status)
}
"#;

fn run(text: &str, arguments: &[&str]) -> (TempDir, Command) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    fs::write(folder.path().join("main.harn"), text).expect("the folder is ours");
    let mut program = program();
    program.current_dir(folder.path()).env("TERM", "xterm");
    program.env("NO_COLOR", "1");
    program.args(["run", "main.harn"]).args(arguments);
    (folder, program)
}

/// Whether a line is one that a person should see at the end: not a warning about the program.
fn is_told(line: &str) -> bool {
    !line.is_empty() && !line.starts_with("warning: ")
}

#[test]
fn a_line_changes_in_place_and_leaves_only_the_calls_behind() {
    let (_folder, mut program) = run(SLOW, &[]);
    let (code, written) = OnTerminal::start(&mut program, 79).end();
    assert_eq!(code, Some(0), "{written}");
    let (lines, erased) = shown(&written);
    let lines: Vec<String> = lines.into_iter().filter(|line| is_told(line)).collect();
    let [reading, read, broken, ended] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert_eq!(reading, "reading a.txt");
    assert!(read.starts_with("✓ read_it a.txt  "), "{read}");
    assert!(broken.starts_with("✗ break_it b.txt: "), "{broken}");
    assert_eq!(ended, "ended: done");
    assert!(
        erased
            .iter()
            .any(|line| line == "turn 1 · read_it a.txt · 0s"),
        "{erased:?}"
    );
}

#[test]
fn a_narrow_terminal_gets_a_short_line() {
    let (_folder, mut program) = run(SLOW, &[]);
    let (_, written) = OnTerminal::start(&mut program, 20).end();
    let (lines, erased) = shown(&written);
    assert!(
        erased.iter().all(|line| line.chars().count() < 20),
        "{erased:?}"
    );
    let mut calls = lines.iter().filter(|line| line.starts_with(['✓', '✗']));
    assert!(calls.all(|line| line.chars().count() < 20), "{lines:?}");
}

#[test]
fn what_is_over_at_once_does_not_flicker() {
    let (_folder, mut program) = run(FAST, &[]);
    let (code, written) = OnTerminal::start(&mut program, 79).end();
    assert_eq!((code, &*written), (Some(0), "done\r\n"));
}

#[test]
fn nothing_is_shown_to_those_who_do_not_want_it() {
    let (_folder, mut quiet) = run(SLOW, &["--progress", "none"]);
    let (_, written) = OnTerminal::start(&mut quiet, 79).end();
    assert!(
        !written.contains('\u{1b}') && !written.contains("turn"),
        "{written}"
    );
    let (_folder, mut piped) = run(FAST, &["--progress", "none"]);
    let call = finished(&mut piped).exits_with(0);
    assert_eq!((&*call.stdout, &*call.stderr), ("done\n", ""));
}

#[test]
fn a_terminal_that_cannot_change_a_line_shows_plain_ones() {
    let (_folder, mut dumb) = run(SLOW, &[]);
    let (_, written) = OnTerminal::start(dumb.env("TERM", "dumb"), 79).end();
    assert!(!written.contains('\u{1b}'), "{written}");
    assert!(written.contains("turn 1 · "), "{written}");
    assert!(written.contains("ended after 3 turns · "), "{written}");
}

#[test]
fn lines_are_plain_where_there_is_no_terminal() {
    check_plain_lines(&[]);
}

#[test]
fn plain_lines_can_be_asked_for() {
    check_plain_lines(&["--progress", "plain"]);
}

#[track_caller]
fn check_plain_lines(options: &[&str]) {
    let (_folder, mut program) = run(SLOW, options);
    let call = finished(&mut program).exits_with(0);
    assert_eq!(call.stdout, "reading a.txt\nended: done\n");
    let lines: Vec<&str> = call.stderr.lines().collect();
    let lines: Vec<&&str> = lines
        .iter()
        .filter(|line| !line.starts_with("warning"))
        .collect();
    let starts = [
        "✓ read_it a.txt  ",
        "turn 1 · ",
        "✗ break_it b.txt: ",
        "turn 2 · ",
        "turn 3 · ",
        "ended after 3 turns · ",
    ];
    assert_eq!(lines.len(), starts.len(), "{lines:?}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}");
    }
    assert!(!call.stderr.contains('\u{1b}'));
}
