//! `harn repl`, as a script sees it.

use std::io::Write;
use std::process::{Command, Stdio};

use super::Programs;
use crate::program::Call;

/// What the prompt says to some lines.
fn typed(programs: &Programs, lines: &str) -> Call {
    let mut command = programs.command(&["repl", "--", "one"]);
    typed_bytes(&mut command, lines.as_bytes())
}

pub(super) fn typed_bytes(command: &mut Command, lines: &[u8]) -> Call {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .expect("the program was built with the tests");
    let mut input = child.stdin.take().expect("it is piped");
    input.write_all(lines).expect("it reads");
    drop(input);
    Call::of(child.wait_with_output().expect("it ends"))
}

#[track_caller]
fn check(lines: &str, stdout: &str) {
    typed(&Programs::new(&[]), lines)
        .exits_with(0)
        .says(stdout, "");
}

#[test]
fn values_are_shown() {
    check("1 + 2\nlet a = [1]\na\n\nargv\n", "3\n[1]\n[one]\n");
    check(
        "\"two\\nlines\"\nnil\nprintln(\"x\")\n",
        "\"two\\nlines\"\nx\n",
    );
}

#[test]
fn an_entry_can_have_several_lines() {
    check(
        "fn double(n) {\n  return n * 2\n}\ndouble(\n  4\n)\n",
        "8\n",
    );
}

#[test]
fn a_pipeline_does_not_run() {
    let call = typed(&Programs::new(&[]), "pipeline p() {\n  println(1)\n}\n");
    call.exits_with(0)
        .says("", "note: pipelines do not run at a prompt\n");
}

/// Both read the same lines.
#[test]
fn a_program_can_read_what_follows() {
    check("let name = read_line()\nAda\nname\n", "\"Ada\"\n");
}

#[test]
fn what_is_no_text_is_told() {
    let programs = Programs::new(&[]);
    let mut command = programs.command(&["repl"]);
    let call = typed_bytes(&mut command, b"\xff\n1\n").exits_with(1);
    assert_eq!(call.stdout, "1\n");
    assert!(call.stderr.starts_with("error: "), "{call:?}");
}

#[test]
fn commands_answer() {
    check(":type 1 + 2.5\n", "float\n");
    check(
        ":doc list.tally\n",
        "list.tally() -> dict\n    Counts how often each item occurs.\n\n  area    list methods\n",
    );
    check(":quit\n1\n", "");
    let call = typed(&Programs::new(&[]), ":help\n").exits_with(0);
    assert!(call.stdout.contains(":type EXPRESSION"), "{call:?}");
}

#[test]
fn what_is_wrong_is_told_and_the_conversation_goes_on() {
    let call = typed(
        &Programs::new(&[]),
        "let n: int = \"x\"\nthrow \"boom\"\n1\n",
    );
    call.exits_with(1).says(
        "1\n",
        "\
error: 'n' declared as int, but assigned string
  --> <1>:1:1
   |
 1 | let n: int = \"x\"
error: Thrown: boom
  --> <2>:1:1
   |
 1 | throw \"boom\"
   | ^^^^^
",
    );
    let call = typed(&Programs::new(&[]), ":typo 1\n:doc uppercas\n:type 1 +\n").exits_with(1);
    let lines: Vec<_> = call.stderr.lines().collect();
    assert_eq!(
        lines[0],
        "error: there is no command `:typo`; did you mean `:type`?"
    );
    assert_eq!(
        lines[1],
        "error: there is no `uppercas`; did you mean `uppercase`?"
    );
    assert!(lines[2].starts_with("error: "), "{call:?}");
}

#[test]
fn imports_start_in_the_folder_we_are_in() {
    let programs = Programs::new(&[("lib.harn", "pub fn one() {\n  return 1\n}\n")]);
    let call = typed(&programs, "import { one } from \"./lib\"\none()\n");
    call.exits_with(0).says("1\n", "");
}
