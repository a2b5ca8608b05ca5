//! `harn check` with several programs, with folders, and with what cannot be read.

use std::fs;
use std::os::unix::fs::symlink;

use super::Programs;

const WRONG: &str = "let n: int = \"x\"\n";

#[test]
fn programs_are_checked_in_the_order_of_the_arguments() {
    let programs = Programs::new(&[("a.harn", ""), ("b.harn", "")]);
    programs
        .harn(&["check", "b.harn", "a.harn"])
        .exits_with(0)
        .says("b.harn: ok\na.harn: ok\n", "");
}

#[test]
fn one_error_fails_them_all_and_the_others_are_still_told() {
    let programs = Programs::new(&[("a.harn", WRONG), ("b.harn", "")]);
    let call = programs.harn(&["check", "a.harn", "b.harn"]).exits_with(1);
    assert_eq!(call.stdout, "b.harn: ok\n");
    assert!(call.stderr.contains(" --> a.harn:1:1\n"), "{call:?}");
}

#[test]
fn a_folder_stands_for_the_programs_below_it() {
    let programs = Programs::new(&[
        ("src/b.harn", ""),
        ("src/a/deep.harn", ""),
        ("src/notes.txt", "no program"),
        ("src/.git/hidden.harn", WRONG),
        ("src/target/built.harn", WRONG),
        ("src/vendor/theirs.harn", WRONG),
        ("src/node_modules/theirs.harn", WRONG),
    ]);
    programs
        .harn(&["check", "src"])
        .exits_with(0)
        .says("src/a/deep.harn: ok\nsrc/b.harn: ok\n", "");
}

#[test]
fn a_program_that_is_named_twice_is_checked_once() {
    let programs = Programs::new(&[("a.harn", "")]);
    programs
        .harn(&["check", "a.harn", ".", "./a.harn"])
        .exits_with(0)
        .says("a.harn: ok\n", "");
}

/// Links to folders are not followed below a folder, so circles do no harm.
#[test]
fn links_that_lead_in_circles_are_harmless() {
    let programs = Programs::new(&[("src/a.harn", "")]);
    symlink(programs.path("src"), programs.path("src/one")).unwrap();
    symlink(programs.path("src"), programs.path("src/two")).unwrap();
    programs
        .harn(&["check", "src"])
        .exits_with(0)
        .says("src/a.harn: ok\n", "");
    programs
        .harn(&["check", "src/one"])
        .exits_with(0)
        .says("src/one/a.harn: ok\n", "");
}

#[test]
fn a_missing_path_is_a_problem_and_the_others_are_still_checked() {
    let programs = Programs::new(&[("a.harn", "")]);
    programs
        .harn(&["check", "b.harn", "a.harn"])
        .exits_with(1)
        .says(
            "a.harn: ok\n",
            "error: b.harn: No such file or directory (os error 2)\n",
        );
}

#[test]
fn a_file_that_is_not_text_is_a_problem() {
    let programs = Programs::new(&[("b.harn", "")]);
    programs.add("a.harn", b"let a = \"\xff\"\n");
    let call = programs.harn(&["check", "."]).exits_with(1);
    assert_eq!(call.stdout, "./b.harn: ok\n");
    assert!(call.stderr.starts_with("error: ./a.harn: "), "{call:?}");
    assert_eq!(call.stderr.lines().count(), 1, "{call:?}");
}

#[test]
fn an_empty_folder_is_no_problem() {
    Programs::new(&[])
        .harn(&["check", "."])
        .exits_with(0)
        .says("", "");
    let call = Programs::new(&[])
        .harn(&["check", "--json", "."])
        .exits_with(0);
    assert_eq!(
        call.json(),
        serde_json::json!({"files": [], "errors": 0, "warnings": 0})
    );
}

/// A mistake of the project is told once, with its place, whatever the number of programs.
#[test]
fn a_project_that_cannot_be_understood_is_a_problem() {
    for (manifest, place) in [
        ("[check\n", "1:7: "),
        ("\n[check]\nstrict_types = 1\n", "3:16: "),
        ("[check]\nstrict_type = true\n", "2:1: "),
    ] {
        let programs = Programs::new(&[("harn.toml", manifest), ("a.harn", ""), ("b.harn", "")]);
        let root = fs::canonicalize(programs.root()).unwrap();
        for command in ["check", "fmt", "lint"] {
            let call = programs.harn(&[command, "a.harn", "b.harn"]).exits_with(1);
            let start = format!("error: {}/harn.toml:{place}", root.display());
            assert!(call.stderr.starts_with(&start), "{start}: {call:?}");
            assert_eq!(call.stderr.lines().count(), 1, "{call:?}");
            assert_eq!(call.stdout, "");
        }
    }
}
