//! A chat without a terminal.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use tempfile::TempDir;

use crate::program::program;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("the folder is ours");
    }
    folder
}

/// The status, what is data, and what is talk.
fn chat(folder: &TempDir, arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut program = program();
    program
        .current_dir(folder.path())
        .arg("chat")
        .args(arguments);
    program.stdin(Stdio::piped());
    program.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program.spawn().expect("it was built with the tests");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    // It may have left before it has read everything.
    let _it_may_have_left = stdin.write_all(input.as_bytes());
    drop(stdin);
    let ended = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("it is text");
    (ended.status.code(), text(ended.stdout), text(ended.stderr))
}

const SCENARIO: &str = r#"
[[turn]]
when = "hello"
text = "Hello.\u001b[2J"
[[turn]]
when = "write"
call = [{ tool = "write", arguments = { path = "a.txt", content = "x" } }]
[[turn]]
when = "*nobody is there*"
text = "I may not."
"#;

#[test]
fn lines_are_prompts_and_nobody_is_asked() {
    let folder = folder(&[("s.toml", SCENARIO)]);
    let input = "hello\n\nwrite\n";
    let (status, data, talk) = chat(&folder, &["--scenario", "s.toml"], input);
    assert_eq!(status, Some(0), "{talk}");
    assert_eq!(data, "Hello.\\u{1b}[2J\nI may not.\n");
    assert!(talk.contains("✗ write a.txt: "), "{talk}");
    assert!(!folder.path().join("a.txt").exists());
}

#[test]
fn what_goes_wrong_is_told_with_a_status() {
    let silent = ("silent.harn", "pipeline main() { println(1) }\n");
    let broken = ("broken.harn", "pipeline chat(prompt) { throw \"no\" }\n");
    let wrong = ("wrong.harn", "pipeline chat(prompt) { prompt( }\n");
    let folder = folder(&[silent, broken, wrong]);
    let (status, _, talk) = chat(&folder, &["silent.harn"], "hello\n");
    assert_eq!(status, Some(1));
    assert!(
        talk.contains("has no pipeline that takes a `prompt`"),
        "{talk}"
    );
    let (status, _, talk) = chat(&folder, &["broken.harn"], "hello\nagain\n");
    assert_eq!(status, Some(1));
    assert_eq!(talk.matches("error: Thrown: no").count(), 1, "{talk}");
    assert!(!talk.contains("error: error: "), "{talk}");
    let (status, _, _) = chat(&folder, &["wrong.harn"], "hello\n");
    assert_eq!(status, Some(1));
    let (status, _, talk) = chat(&folder, &["missing.harn"], "hello\n");
    assert_eq!(status, Some(1));
    assert!(talk.contains("missing.harn"), "{talk}");
    let (status, _, talk) = chat(&folder, &["--session", "nobody"], "hello\n");
    assert_eq!(status, Some(1));
    assert!(talk.contains("no session 'nobody'"), "{talk}");
    let (status, _, talk) = chat(&folder, &["--continue"], "hello\n");
    assert_eq!(status, Some(1));
    assert!(talk.contains("there is no session to go on with"), "{talk}");
}
