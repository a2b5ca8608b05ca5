//! `harn lint`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::Programs;

/// `mutable-never-reassigned`: what never changes is bound with `let`.
const MUTABLE: &str = "var n = 1\nprintln(n)\n";
const MUTABLE_FIXED: &str = "let n = 1\nprintln(n)\n";

/// `comparison-to-bool`, twice.
const COMPARED: &str =
    "fn f(a: bool, b: bool) {\n  return a == true && b == true\n}\n\nprintln(f(true, true))\n";

#[test]
fn a_program_without_findings_is_ok() {
    let programs = Programs::new(&[("a.harn", MUTABLE_FIXED)]);
    programs
        .harn(&["lint", "a.harn"])
        .exits_with(0)
        .says("a.harn: ok\n", "");
}

/// 18.2: lint diagnostics carry the label `lint[RULE]`.
#[test]
fn a_finding_names_its_rule() {
    let programs = Programs::new(&[("a.harn", MUTABLE)]);
    let call = programs.harn(&["lint", "a.harn"]).exits_with(0);
    assert_eq!(call.stdout, "");
    assert!(call.stderr.starts_with("warning: "), "{call:?}");
    assert!(call.stderr.contains(" 1 | var n = 1\n"), "{call:?}");
    assert!(
        call.stderr.contains("^ lint[mutable-never-reassigned]\n"),
        "{call:?}"
    );
}

/// 18.4: some rules find what cannot run.
#[test]
fn an_error_among_the_findings_fails() {
    let programs = Programs::new(&[("a.harn", "no_such_function()\n")]);
    let call = programs.harn(&["lint", "a.harn"]).exits_with(1);
    assert!(call.stderr.starts_with("error: "), "{call:?}");
    assert!(
        call.stderr.contains("^ lint[undefined-function]\n"),
        "{call:?}"
    );
}

#[test]
fn what_cannot_be_parsed_is_told_instead() {
    let programs = Programs::new(&[("a.harn", "let = 1\n")]);
    let call = programs.harn(&["lint", "--fix", "a.harn"]).exits_with(1);
    assert!(call.stderr.starts_with("error: Expected "), "{call:?}");
    assert_eq!(programs.text("a.harn"), "let = 1\n");
}

#[test]
fn fixes_are_made_only_when_asked_for() {
    let programs = Programs::new(&[("a.harn", MUTABLE)]);
    programs.harn(&["lint", "a.harn"]).exits_with(0);
    assert_eq!(programs.text("a.harn"), MUTABLE);
    programs
        .harn(&["lint", "--fix", "a.harn"])
        .exits_with(0)
        .says("a.harn: ok\n", "");
    assert_eq!(programs.text("a.harn"), MUTABLE_FIXED);
}

#[test]
fn all_findings_of_a_line_are_fixed() {
    let programs = Programs::new(&[("a.harn", COMPARED)]);
    programs
        .harn(&["lint", "--fix", "a.harn"])
        .exits_with(0)
        .says("a.harn: ok\n", "");
    assert_eq!(programs.text("a.harn"), COMPARED.replace(" == true", ""));
}

/// 9.7: local variables are dynamic where results are compared, so returning the value itself
/// would turn a program that runs into one that does not.
#[test]
fn a_program_that_runs_still_runs_after_fixing() {
    let text = "fn f() -> int {\n  let text = \"1\"\n  return text\n}\n\nvar n = f()\nprintln(n)\n";
    let programs = Programs::new(&[("a.harn", text)]);
    let call = programs.harn(&["lint", "--fix", "a.harn"]).exits_with(0);
    assert!(call.stderr.contains("lint[let-then-return]\n"), "{call:?}");
    assert_eq!(programs.text("a.harn"), text.replace("var n", "let n"));
    programs.harn(&["check", "a.harn"]).exits_with(0);
}

#[test]
fn fixing_keeps_permissions_and_links() {
    let programs = Programs::new(&[("real/a.harn", MUTABLE)]);
    let path = programs.path("real/a.harn");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    symlink("real/a.harn", programs.path("link.harn")).unwrap();
    programs.harn(&["lint", "--fix", "link.harn"]).exits_with(0);
    assert_eq!(programs.text("real/a.harn"), MUTABLE_FIXED);
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o750
    );
    assert!(
        fs::symlink_metadata(programs.path("link.harn"))
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn a_project_switches_rules_off() {
    let programs = Programs::new(&[
        ("a.harn", MUTABLE),
        (
            "harn.toml",
            "[lint]\ndisabled = [\"mutable-never-reassigned\"]\n",
        ),
    ]);
    programs
        .harn(&["lint", "--fix", "a.harn"])
        .exits_with(0)
        .says("a.harn: ok\n", "");
    assert_eq!(programs.text("a.harn"), MUTABLE);
}

#[test]
fn a_project_asks_for_a_header_and_simple_functions() {
    let branches = "fn f(a) {\n  if a == 1 {\n    return 1\n  }\n  return 2\n}\n\nprintln(f(1))\n";
    let programs = Programs::new(&[("a.harn", branches)]);
    programs
        .harn(&["lint", "a.harn"])
        .exits_with(0)
        .says("a.harn: ok\n", "");
    programs.add(
        "harn.toml",
        "[lint]\ncomplexity_max = 1\nrequire_file_header = true\n",
    );
    let call = programs.harn(&["lint", "a.harn"]).exits_with(0);
    assert!(
        call.stderr.contains("lint[cyclomatic-complexity]\n"),
        "{call:?}"
    );
    assert!(
        call.stderr.contains("lint[require-file-header]\n"),
        "{call:?}"
    );
}

#[test]
fn a_project_cannot_switch_off_what_is_no_rule() {
    let programs = Programs::new(&[
        ("a.harn", MUTABLE),
        ("b.harn", MUTABLE),
        ("harn.toml", "[lint]\ndisabled = [\"shadow-variables\"]\n"),
    ]);
    let root = fs::canonicalize(programs.root()).unwrap();
    let expected = format!(
        "error: {}/harn.toml: there is no lint rule `shadow-variables` to disable; \
         did you mean `shadow-variable`?\n",
        root.display()
    );
    programs
        .harn(&["lint", "."])
        .exits_with(1)
        .says("", &expected);
}

#[test]
fn a_comment_silences_a_rule() {
    let text = "var n = 1 // lint: allow(mutable-never-reassigned)\nprintln(n)\n";
    let programs = Programs::new(&[("a.harn", text)]);
    programs
        .harn(&["lint", "a.harn"])
        .exits_with(0)
        .says("a.harn: ok\n", "");
}

#[test]
fn json_has_the_fix() {
    let programs = Programs::new(&[("a.harn", MUTABLE)]);
    let answer = programs
        .harn(&["lint", "--json", "a.harn"])
        .exits_with(0)
        .json();
    assert_eq!(
        (&answer["errors"], &answer["warnings"]),
        (&0.into(), &1.into())
    );
    let found = &answer["files"][0]["diagnostics"][0];
    assert_eq!(found["code"], "mutable-never-reassigned");
    assert_eq!(found["label"], "lint[mutable-never-reassigned]");
    let edit = &found["fix"]["edits"][0];
    assert_eq!(edit["text"], "let");
    assert_eq!((&edit["line"], &edit["column"]), (&1.into(), &1.into()));
    assert_eq!(
        (&edit["end_line"], &edit["end_column"]),
        (&1.into(), &4.into())
    );
}
