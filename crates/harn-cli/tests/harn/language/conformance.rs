//! `harn test conformance`.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::Programs;
use crate::program::{finished, program};

const WRONG: &str = "let n: int = \"x\"\n";

/// Tests one program with an expectation.
fn check(text: &str, kind: &str, expectation: &str) -> crate::program::Call {
    let programs = Programs::new(&[("conformance/a.harn", text)]);
    programs.add(&format!("conformance/a.{kind}"), expectation);
    programs.harn(&["test", "conformance"])
}

/// 0: the error matches one line, or a regular expression is found in it.
#[test]
fn a_program_that_fails_as_expected_passes() {
    for error in [
        "'n' declared as int, but assigned string\n",
        "declared as int",
        "something else\n\ndeclared as int\n",
        "re:^'n' declared as \\w+,",
    ] {
        check(WRONG, "error", error)
            .exits_with(0)
            .says("1 passed\n", "");
    }
}

#[test]
fn a_program_that_fails_otherwise_fails() {
    check(WRONG, "error", "'n' declared as bool\n")
        .exits_with(1)
        .says(
            concat!(
                "FAIL  conformance/a.harn\n",
                "      expected: 'n' declared as bool\n",
                "      found:    'n' declared as int, but assigned string\n",
                "0 passed, 1 failed\n",
            ),
            "",
        );
    let call = check("println(1)\n", "error", "'n' declared as bool\n").exits_with(1);
    assert!(call.stdout.contains("found nothing wrong\n"), "{call:?}");
    let call = check(WRONG, "expected", "1\n").exits_with(1);
    assert!(
        call.stdout
            .contains("it should succeed, but fails with: 'n' declared"),
        "{call:?}"
    );
}

#[test]
fn a_program_is_run() {
    for (kind, text, expectation) in [
        ("expected", "println(1)\n", "1\n"),
        ("expected", "println(1)\n", "1"),
        ("error", "throw \"x\"\n", "Thrown: x\n"),
    ] {
        check(text, kind, expectation)
            .exits_with(0)
            .says("1 passed\n", "");
    }
    for (kind, text, expectation) in [
        ("expected", "println(1)\n", "2\n"),
        ("expected", "println(1)\nthrow 1\n", "1\n"),
        ("error", "throw \"x\"\n", "Thrown: y\n"),
    ] {
        check(text, kind, expectation)
            .exits_with(1)
            .prints("0 passed, 1 failed");
    }
}

/// 0: every warning is a line of the expected text.
#[test]
fn warnings_are_part_of_what_is_expected() {
    let text = "@nonsense\nfn f() {\n  return 1\n}\n\nprintln(f())\n";
    let call = check(text, "expected", "1\n").exits_with(1);
    let warning = "warning: unknown attribute `@nonsense`";
    assert!(call.stdout.contains(warning), "{call:?}");
    check(text, "expected", &format!("{warning}\n1\n")).exits_with(0);
    check("println(1)\n", "expected", &format!("{warning}\n1\n")).exits_with(1);
}

#[test]
fn expectations_have_to_make_sense() {
    let programs = Programs::new(&[
        ("conformance/both.harn", WRONG),
        ("conformance/both.expected", ""),
        ("conformance/both.error", "declared"),
        ("conformance/pattern.harn", WRONG),
        ("conformance/pattern.error", "re:("),
        ("conformance/text.harn", WRONG),
    ]);
    programs.add("conformance/text.error", b"\xff");
    let call = programs.harn(&["test", "conformance"]).exits_with(1);
    let call = call
        .prints("      it has both .expected and .error")
        .prints("0 passed, 3 failed");
    for name in ["both", "pattern", "text"] {
        let line = format!("FAIL  conformance/{name}.harn\n");
        assert!(call.stdout.contains(&line), "{call:?}");
    }
}

fn several() -> Programs {
    Programs::new(&[
        ("lang/a/fails.harn", WRONG),
        ("lang/a/fails.error", "declared as bool"),
        ("lang/a/passes.harn", WRONG),
        ("lang/a/passes.error", "declared as int"),
        ("lang/b/runs.harn", "println(1)\n"),
        ("lang/b/runs.expected", "1\n"),
        ("lang/b/helper.harn", WRONG),
    ])
}

#[test]
fn programs_are_chosen_by_folder_and_filter() {
    let programs = several();
    let summary = "2 passed, 1 failed";
    programs
        .harn(&["test", "conformance", "lang"])
        .exits_with(1)
        .prints(summary);
    programs
        .harn(&["test", "conformance", "lang/b"])
        .exits_with(0)
        .says("1 passed\n", "");
    programs
        .harn(&["test", "conformance", "lang", "--filter", "passes"])
        .exits_with(0)
        .says("1 passed\n", "");
    programs
        .harn(&["test", "conformance", "lang/a/passes.harn"])
        .exits_with(0)
        .says("1 passed\n", "");
}

#[test]
fn json_counts_and_says_why() {
    let answer = several()
        .harn(&["test", "--json", "conformance", "lang"])
        .exits_with(1)
        .json();
    let why = "expected: declared as bool\nfound:    'n' declared as int, but assigned string";
    assert_eq!(
        answer,
        json!({
            "passed": 2,
            "failed": [{"program": "lang/a/fails.harn", "why": why}],
        })
    );
}

/// A folder that was moved should not look like success.
#[test]
fn nothing_to_test_is_a_problem() {
    let nothing = "No programs with an expectation found\n";
    let programs = several();
    programs
        .harn(&["test", "conformance", "lang", "--filter", "nowhere"])
        .exits_with(1)
        .says(nothing, "");
    programs
        .harn(&["test", "conformance", "lang/b/helper.harn"])
        .exits_with(1)
        .says(nothing, "");
    let call = programs.harn(&["test", "conformance"]).exits_with(1);
    assert_eq!(
        call.stderr,
        "error: conformance: No such file or directory (os error 2)\n"
    );
}

/// Formatting changes neither what a program means nor what is said about it, so the programs
/// that define the language keep their promises in canonical form. Only lines move, so programs
/// whose promise names one stay at home.
#[test]
fn our_own_programs_pass_when_they_are_formatted() {
    let programs = Programs::new(&[]);
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    copy(&ours, &programs.path("conformance"));
    leave_out_lines(&programs.path("conformance"));
    let before = programs.harn(&["test", "conformance"]).exits_with(0);
    let first = programs.harn(&["fmt", "--json", "conformance"]).json();
    assert!(first["changed"].as_array().unwrap().len() > 100, "{first}");
    let second = programs.harn(&["fmt", "--json", "conformance"]).json();
    assert_eq!(second["changed"], json!([]));
    let after = programs.harn(&["test", "conformance"]).exits_with(0);
    assert_eq!(after.stdout, before.stdout);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder is ours");
    for entry in fs::read_dir(from).expect("it is there") {
        let path = entry.expect("it is there").path();
        let copy_path = to.join(path.file_name().expect("it has one"));
        match path.is_dir() {
            true => copy(&path, &copy_path),
            false => drop(fs::copy(&path, &copy_path).expect("the folder is ours")),
        }
    }
}

/// Removes the programs in a folder that promise to say `(line N)`.
fn leave_out_lines(folder: &Path) {
    for entry in fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it is there").path();
        if path.is_dir() {
            leave_out_lines(&path);
        } else if path.extension().is_some_and(|kind| kind != "harn")
            && fs::read_to_string(&path).is_ok_and(|promise| promise.contains("(line "))
        {
            fs::remove_file(path.with_extension("harn")).expect("the folder is ours");
            fs::remove_file(path).expect("the folder is ours");
        }
    }
}

/// The promises of the language.
#[test]
fn our_own_programs_pass() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut command = program();
    command.current_dir(root).args(["test", "conformance"]);
    let call = finished(&mut command).exits_with(0);
    assert_eq!(call.stderr, "");
    let passed = call.stdout.strip_suffix(" passed\n").unwrap();
    assert!(passed.parse::<u64>().unwrap() > 500, "{call:?}");
}
