//! `harn run`.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::Command;

use super::Programs;
use crate::program::harn;

#[track_caller]
fn check(code: &str, status: i32) {
    let call = harn(&["run", "-e", code]).exits_with(status);
    assert_eq!((call.stdout.as_str(), call.stderr.as_str()), ("", ""));
}

#[test]
fn a_program_chooses_the_status_it_exits_with() {
    check("exit()", 0);
    check("exit(7)", 7);
    check("exit(255)", 255);
    check("try { exit(4) } finally { println(1) }", 4);
}

#[test]
fn the_system_shows_eight_bits_of_a_status() {
    check("exit(-1)", 255);
    check("exit(256)", 0);
    check("exit(263)", 7);
}

#[test]
fn the_value_of_an_entry_is_clamped() {
    check("pipeline main() { return 263 }", 255);
    check("pipeline main() { return -1 }", 0);
}

/// Section 0: what an entry gives that failed is rendered, and rendering leaves a text as it is.
#[test]
fn a_failed_result_is_rendered_as_it_is() {
    let programs = Programs::new(&[
        ("lines.harn", r#"pipeline p() { Err("a\tb\nc") }"#),
        ("empty.harn", r#"pipeline p() { Err("") }"#),
        ("dict.harn", "pipeline p() { Err({code: 7}) }"),
    ]);
    let run = |name| programs.harn(&["run", name]).exits_with(1);
    run("lines.harn").says("", "a\tb\nc\n");
    run("empty.harn").says("", "error\n");
    run("dict.harn").says("", "{code: 7}\n");
}

/// Section 18.3: the line is shown as it is written, also if it is indented with tabs.
#[test]
fn an_uncaught_error_shows_its_line() {
    let text = "fn helper() {\n\tthrow \"a\\tb\"\n}\n\nhelper()\n";
    let programs = Programs::new(&[("demo.harn", text)]);
    programs
        .harn(&["run", "demo.harn"])
        .exits_with(1)
        .says("", "error: Thrown: a\tb\n  --> demo.harn:2:2\n   |\n 2 | \tthrow \"a\\tb\"\n   |  ^^^^^\n  = note: called from pipeline at demo.harn:5\n");
}

/// Sections 11.6 and 18.3: an import that fails is an error of the file it is in, which has
/// the name that was given.
#[test]
fn a_failed_import_is_shown_where_it_is() {
    let programs = Programs::new(&[
        ("main.harn", "println(1)\nimport \"./library\"\n"),
        ("library.harn", "pub fn add(a) { break }\n"),
    ]);
    programs
        .harn(&["run", "main.harn"])
        .exits_with(1)
        .says("", "error: Runtime error: Import compile error: break outside of loop (line 2)\n  --> main.harn:2:1\n   |\n 2 | import \"./library\"\n   | ^^^^^^\n");
    programs.add("main.harn", "import { sub } from \"./gone\"\n");
    let call = programs.harn(&["run", "main.harn"]).exits_with(1);
    assert!(call.stderr.contains("\n  --> main.harn:1:1\n"), "{call:?}");
}

/// What the types of a module are that cannot be read is not known, so the module is the error.
#[test]
fn types_of_a_failed_import_fit_everything() {
    let program = "import { Id, Point, id_of } from \"./broken\"\n\
                   fn show(id: Id) -> Point {\n  return {x: id_of(id)}\n}\n\
                   let ids: list<Id> = [1, \"a\"]\nprintln(show(ids[0]))\n";
    let programs = Programs::new(&[("a.harn", program), ("broken.harn", "pub type Id = int\n")]);
    let call = programs.harn(&["run", "a.harn"]).exits_with(1);
    let error = "error: Runtime error: Import parse error: Expected fn, tool, ";
    assert!(call.stderr.starts_with(error), "{call:?}");
    let call = programs.harn(&["check", "a.harn"]).exits_with(1);
    let errors = call
        .stderr
        .lines()
        .filter(|line| line.starts_with("error: "));
    assert_eq!(errors.count(), 1, "{call:?}");
}

/// Builtins 16.2: the system knows the user also where no variable does.
#[cfg(target_os = "linux")]
#[test]
fn the_system_names_the_user_where_no_variable_does() {
    let programs = Programs::new(&[("a.harn", "println(username())\n")]);
    let mut id = Command::new("id");
    let user = id.arg("-un").output().expect("the system has `id`");
    let user = String::from_utf8(user.stdout).expect("names are UTF-8");
    let call = programs.harn(&["run", "a.harn"]).exits_with(0);
    assert_eq!(call.stdout, user);
}

/// A process leads a group of its own, so it hears nothing of what ends the program.
#[test]
fn an_interrupt_ends_what_the_program_has_started() {
    let programs = Programs::new(&[(
        "main.harn",
        "shell(\"sh -c 'exec 3>pipe; echo there >&3; sleep 600' & wait\")\n",
    )]);
    let pipe = programs.path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("every system has mkfifo").success());
    let mut program = Command::new("/usr/bin/env");
    let mut child = program
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir(programs.root())
        .arg("--default-signal=INT")
        .arg(env!("CARGO_BIN_EXE_harn"))
        .args(["run", "main.harn"])
        .spawn()
        .expect("it runs");
    let mut heard = BufReader::new(File::open(&pipe).expect("it is there"));
    let mut line = String::new();
    heard.read_line(&mut line).expect("the grandchild writes");
    assert_eq!(line, "there\n");
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.expect("every system has kill").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    // The pipe ends when everybody who holds it is gone.
    let mut rest = String::new();
    heard.read_to_string(&mut rest).expect("it ends");
    assert_eq!(rest, "");
}
