//! `harn fmt`.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Stdio;

use serde_json::json;

use super::Programs;
use crate::program::{Call, finished};

/// 17: one space around operators, two per level, one newline at the end.
const UNTIDY: &str = "fn f(a,b){\nreturn a+b}";
const TIDY: &str = "fn f(a, b) {\n  return a + b\n}\n";

/// One that has no canonical form.
const BROKEN: &str = "fn f( {\n";

/// Gives a text to `harn fmt -`.
fn format_input(programs: &Programs, arguments: &[&str], text: &str) -> Call {
    programs.add("input", text);
    let input = fs::File::open(programs.path("input")).expect("it was just written");
    let mut command = programs.command(&[&["fmt", "-"], arguments].concat());
    finished(command.stdin(input))
}

#[test]
fn programs_are_changed_in_place() {
    let programs = Programs::new(&[("a.harn", UNTIDY), ("b.harn", TIDY)]);
    programs
        .harn(&["fmt", "."])
        .exits_with(0)
        .says("./a.harn: formatted\n", "");
    assert_eq!(programs.text("a.harn"), TIDY);
    assert_eq!(programs.text("b.harn"), TIDY);
    programs.harn(&["fmt", "."]).exits_with(0).says("", "");
}

#[test]
fn a_program_that_is_in_form_is_not_written() {
    let programs = Programs::new(&[("a.harn", TIDY)]);
    let path = programs.path("a.harn");
    let before = fs::metadata(&path).unwrap();
    programs.harn(&["fmt", "a.harn"]).exits_with(0);
    assert_eq!(fs::metadata(&path).unwrap().ino(), before.ino());
}

#[test]
fn checking_changes_nothing_and_fails_if_something_would_change() {
    let programs = Programs::new(&[("a.harn", UNTIDY), ("b.harn", TIDY)]);
    programs
        .harn(&["fmt", "--check", "."])
        .exits_with(1)
        .says("./a.harn: would change\n", "");
    assert_eq!(programs.text("a.harn"), UNTIDY);
    programs
        .harn(&["fmt", "--check", "b.harn"])
        .exits_with(0)
        .says("", "");
}

#[test]
fn what_cannot_be_parsed_is_left_alone() {
    let programs = Programs::new(&[("a.harn", BROKEN), ("b.harn", UNTIDY)]);
    let call = programs.harn(&["fmt", "a.harn", "b.harn"]).exits_with(1);
    assert_eq!(call.stdout, "b.harn: formatted\n");
    assert!(call.stderr.starts_with("error: Expected "), "{call:?}");
    assert!(call.stderr.contains("  --> a.harn:1:"), "{call:?}");
    assert_eq!(programs.text("a.harn"), BROKEN);
    assert_eq!(programs.text("b.harn"), TIDY);
}

#[test]
fn what_cannot_be_read_is_a_problem() {
    let programs = Programs::new(&[]);
    programs.add("a.harn", b"\xff");
    let call = programs.harn(&["fmt", "a.harn", "b.harn"]).exits_with(1);
    let lines: Vec<_> = call.stderr.lines().collect();
    assert_eq!(
        lines[0],
        "error: b.harn: No such file or directory (os error 2)"
    );
    assert!(lines[1].starts_with("error: a.harn: "), "{call:?}");
    assert_eq!(lines.len(), 2);
    assert_eq!(fs::read(programs.path("a.harn")).unwrap(), b"\xff");
}

#[test]
fn standard_input_goes_to_standard_output() {
    let programs = Programs::new(&[]);
    format_input(&programs, &[], UNTIDY)
        .exits_with(0)
        .says(TIDY, "");
    format_input(&programs, &[], TIDY)
        .exits_with(0)
        .says(TIDY, "");
    format_input(&programs, &["--check"], TIDY)
        .exits_with(0)
        .says("", "");
    format_input(&programs, &["--check"], UNTIDY)
        .exits_with(1)
        .says("<stdin>: would change\n", "");
    let call = format_input(&programs, &[], BROKEN).exits_with(1);
    assert_eq!(call.stdout, "");
    assert!(call.stderr.contains("  --> <stdin>:1:"), "{call:?}");
}

#[test]
fn standard_input_may_come_in_pieces() {
    let mut command = Programs::new(&[]).command(&["fmt", "-"]);
    command.current_dir("/");
    let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = started.unwrap();
    let mut input = child.stdin.take().unwrap();
    for piece in UNTIDY.split_inclusive('\n') {
        input.write_all(piece.as_bytes()).unwrap();
        input.flush().unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), TIDY);
}

/// 17: a sequence stays on one line if it fits, else each element has its own.
const CALL: &str = "print(first_argument, second_argument)\n";
const NARROW: &str = "print(\n  first_argument,\n  second_argument,\n)\n";

#[test]
fn the_width_is_chosen_by_argument_project_and_default() {
    let programs = Programs::new(&[("a.harn", CALL)]);
    programs.harn(&["fmt", "a.harn"]).exits_with(0).says("", "");

    programs.add("harn.toml", "[fmt]\nline_width = 30\n");
    programs
        .harn(&["fmt", "a.harn"])
        .exits_with(0)
        .says("a.harn: formatted\n", "");
    assert_eq!(programs.text("a.harn"), NARROW);
    format_input(&programs, &[], CALL)
        .exits_with(0)
        .says(NARROW, "");

    programs
        .harn(&["fmt", "--width", "60", "a.harn"])
        .exits_with(0)
        .says("a.harn: formatted\n", "");
    assert_eq!(programs.text("a.harn"), CALL);
    format_input(&programs, &["--width", "60"], CALL)
        .exits_with(0)
        .says(CALL, "");
}

#[test]
fn permissions_stay_as_they_are() {
    let programs = Programs::new(&[("a.harn", UNTIDY)]);
    let path = programs.path("a.harn");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o754)).unwrap();
    programs.harn(&["fmt", "a.harn"]).exits_with(0);
    assert_eq!(programs.text("a.harn"), TIDY);
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o754
    );
}

#[test]
fn a_link_stays_a_link() {
    let programs = Programs::new(&[("real/a.harn", UNTIDY)]);
    symlink("real/a.harn", programs.path("link.harn")).unwrap();
    programs
        .harn(&["fmt", "link.harn"])
        .exits_with(0)
        .says("link.harn: formatted\n", "");
    assert!(
        fs::symlink_metadata(programs.path("link.harn"))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(programs.text("real/a.harn"), TIDY);
}

#[test]
fn nothing_is_left_beside_a_program() {
    let programs = Programs::new(&[("a.harn", UNTIDY), ("b.harn", BROKEN)]);
    programs.harn(&["fmt", "."]).exits_with(1);
    let names = fs::read_dir(programs.root()).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.harn", "b.harn"]);
}

#[test]
fn json_counts_and_names() {
    let files = [("a.harn", UNTIDY), ("b.harn", TIDY), ("c.harn", BROKEN)];
    let programs = Programs::new(&files);
    for arguments in [
        &["fmt", "--json", "--check", "."][..],
        &["fmt", "--json", "."],
    ] {
        let answer = programs.harn(arguments).exits_with(1).json();
        let expected = json!({"changed": ["./a.harn"], "unchanged": 1, "failed": ["./c.harn"]});
        assert_eq!(answer, expected, "{arguments:?}");
    }
}

#[test]
fn json_about_standard_input_has_the_text() {
    let programs = Programs::new(&[]);
    assert_eq!(
        format_input(&programs, &["--json"], UNTIDY)
            .exits_with(0)
            .json(),
        json!({"changed": ["<stdin>"], "unchanged": 0, "failed": [], "text": TIDY})
    );
    assert_eq!(
        format_input(&programs, &["--json", "--check"], TIDY)
            .exits_with(0)
            .json(),
        json!({"changed": [], "unchanged": 1, "failed": []})
    );
    assert_eq!(
        format_input(&programs, &["--json"], BROKEN)
            .exits_with(1)
            .json(),
        json!({"changed": [], "unchanged": 0, "failed": ["<stdin>"]})
    );
}
