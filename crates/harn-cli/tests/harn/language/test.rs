//! `harn test`: section 16 of the language.

use std::process::Stdio;

use regex::Regex;
use serde_json::json;

use super::Programs;
use super::watch::Watching;
use crate::program::Call;

/// What is printed, with every time replaced by `N ms`.
fn timeless(text: &str) -> String {
    let time = Regex::new(r"\(\d+ ms\)").expect("it is one");
    time.replace_all(text, "(N ms)").into_owned()
}

impl Call {
    #[track_caller]
    fn reports(&self, expected: &str) {
        assert_eq!(timeless(&self.stdout), expected, "{self:#?}");
    }
}

const TWO: &str = "\
pipeline test_a() {
  assert_eq(1 + 1, 2)
}

pipeline test_b() {
  println(\"so far\")
  assert_eq(1, 2)
}
";

#[test]
fn passes_and_failures_are_reported_in_order() {
    let programs = Programs::new(&[("path/file.harn", TWO)]);
    let call = programs.harn(&["test", "path/file.harn"]).exits_with(1);
    call.reports(
        "\
Running 2 tests from 1 file...

  PASS  test_a [path/file.harn] (N ms)
  FAIL  test_b [path/file.harn]
        error: Thrown: Assertion failed: expected 2, got 1
          --> path/file.harn:7:3
           |
         7 |   assert_eq(1, 2)
           |   ^^^^^^^^^

1 passed, 1 failed, 2 total (N ms)
",
    );
    assert_eq!(call.stderr, "        output of test_b:\n          so far\n");
}

#[test]
fn without_failures_the_summary_is_short() {
    let programs = Programs::new(&[("a.harn", "pipeline test_a() {\n}\n")]);
    let call = programs.harn(&["test", "a.harn"]).exits_with(0);
    call.reports(
        "Running 1 test from 1 file...\n\n  PASS  test_a [a.harn] (N ms)\n\n\
         1 passed, 1 total (N ms)\n",
    );
    assert_eq!(call.stderr, "");
}

#[test]
fn without_tests_that_is_said() {
    let programs = Programs::new(&[("a.harn", "println(1)\n")]);
    let call = programs.harn(&["test"]).exits_with(0);
    call.says("No test pipelines found\n", "");
}

#[test]
fn folders_are_searched_in_the_order_of_paths() {
    let test = |name: &str| format!("pipeline {name}() {{\n}}\n");
    let programs = Programs::new(&[
        ("b.harn", &test("test_b")),
        ("a/z.harn", &test("test_z")),
        (
            "a/y.harn",
            "@test\npipeline y() {\n}\n\npipeline other() {\n  throw 1\n}\n",
        ),
        ("c.harn", &test("testing")),
        // It is no program, but nothing says that it has tests.
        ("broken.harn", "let = 1\n"),
    ]);
    let call = programs.harn(&["test"]).exits_with(0);
    call.reports(
        "\
Running 3 tests from 3 files...

  PASS  y [a/y.harn] (N ms)
  PASS  test_z [a/z.harn] (N ms)
  PASS  test_b [b.harn] (N ms)

3 passed, 3 total (N ms)
",
    );
}

#[test]
fn a_filter_chooses_by_name() {
    let programs = Programs::new(&[("a.harn", TWO)]);
    let call = programs
        .harn(&["test", "--filter", "_a", "a.harn"])
        .exits_with(0);
    call.reports(
        "Running 1 test from 1 file...\n\n  PASS  test_a [a.harn] (N ms)\n\n\
         1 passed, 1 total (N ms)\n",
    );
    let call = programs
        .harn(&["test", "--filter", "none", "a.harn"])
        .exits_with(0);
    call.reports("No test pipelines found\n");
}

#[test]
fn a_file_that_cannot_be_parsed_fails() {
    let programs = Programs::new(&[("a.harn", "pipeline test_a( {\n}\n")]);
    let call = programs.harn(&["test"]).exits_with(1);
    let report = timeless(&call.stdout);
    let start = "Running 1 test from 1 file...\n\n  FAIL  (file) [a.harn]\n        error: ";
    assert!(report.starts_with(start), "{report}");
    let end = "\n\n0 passed, 1 failed, 1 total (N ms)\n";
    assert!(report.ends_with(end), "{report}");
}

/// Static checking is not part of a test run.
#[test]
fn types_are_not_checked() {
    let text = "pipeline test_a() {\n  let n: int = \"x\"\n}\n";
    let programs = Programs::new(&[("a.harn", text)]);
    programs.harn(&["check", "a.harn"]).exits_with(1);
    programs.harn(&["test", "a.harn"]).exits_with(0);
}

#[test]
fn a_test_that_takes_too_long_is_stopped() {
    let text = "pipeline test_a() {\n  while true {\n  }\n}\n";
    let programs = Programs::new(&[("a.harn", text)]);
    let call = programs
        .harn(&["test", "--timeout", "50", "a.harn"])
        .exits_with(1);
    call.reports(
        "Running 1 test from 1 file...\n\n  FAIL  test_a [a.harn]\n        timed out after 50ms\n\n\
         0 passed, 1 failed, 1 total (N ms)\n",
    );
}

#[test]
fn what_cannot_be_compiled_is_told() {
    let text = "pipeline test_a() {\n  break\n}\n";
    let programs = Programs::new(&[("a.harn", text)]);
    let call = programs.harn(&["test", "a.harn"]).exits_with(1);
    let report = timeless(&call.stdout);
    let part = "  FAIL  test_a [a.harn]\n        Compile error: ";
    assert!(report.contains(part), "{report}");
}

/// Every test starts with new state, and nothing else of the file runs.
#[test]
fn tests_do_not_see_each_other() {
    let library = "var count = 0\n\npub fn next() {\n  count = count + 1\n  return count\n}\n";
    let tests = "\
import { next } from \"./library\"

println(\"not run\")

pipeline default() {
  throw \"not run\"
}

pipeline test_a() {
  assert_eq(next(), 1)
  assert_eq(next(), 2)
}

pipeline test_b() {
  assert_eq(next(), 1)
}
";
    let programs = Programs::new(&[("library.harn", library), ("a.harn", tests)]);
    for jobs in ["1", "4"] {
        let call = programs
            .harn(&["test", "--jobs", jobs, "a.harn"])
            .exits_with(0);
        assert!(call.stdout.contains("2 passed, 2 total"), "{call:?}");
    }
}

#[test]
fn a_test_works_in_the_folder_of_its_file() {
    let text = "pipeline test_a() {\n  assert_eq(read_file(\"data.txt\"), \"here\")\n}\n";
    let programs = Programs::new(&[
        ("one/a.harn", text),
        ("one/data.txt", "here"),
        ("data.txt", "there"),
    ]);
    programs.harn(&["test", "one"]).exits_with(0);
}

/// Tests run beside each other, and whoever started them may not be there.
#[test]
fn a_test_has_nothing_to_read() {
    let text = "pipeline test_a() {\n  assert_eq(read_line(), nil)\n  assert(!is_stdin_tty())\n}\n";
    let programs = Programs::new(&[("a.harn", text)]);
    let mut command = programs.command(&["test", "a.harn"]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.expect("the program was built with the tests");
    let input = child.stdin.take();
    assert!(child.wait().expect("it is our child").success());
    // It has ended although its input was open until now.
    drop(input);
}

#[test]
fn leaving_early_passes_if_the_status_is_fine() {
    let text = "pipeline test_a() {\n  exit(0)\n}\n\npipeline test_b() {\n  exit(3)\n}\n";
    let programs = Programs::new(&[("a.harn", text)]);
    let call = programs.harn(&["test", "a.harn"]).exits_with(1);
    let report = timeless(&call.stdout);
    assert!(
        report.contains("  PASS  test_a [a.harn] (N ms)\n"),
        "{report}"
    );
    let failure = "  FAIL  test_b [a.harn]\n        error: it ended with exit(3)\n";
    assert!(report.contains(failure), "{report}");
}

#[test]
fn json_tells_the_same() {
    let programs = Programs::new(&[("a.harn", TWO)]);
    let mut answer = programs
        .harn(&["test", "--json", "a.harn"])
        .exits_with(1)
        .json();
    assert!(answer["duration_ms"].take().is_u64());
    let tests = answer["tests"].as_array_mut().unwrap();
    for test in tests.iter_mut() {
        assert!(test["duration_ms"].take().is_u64());
    }
    let error = "error: Thrown: Assertion failed: expected 2, got 1\n  --> a.harn:7:3\n   |\n \
                 7 |   assert_eq(1, 2)\n   |   ^^^^^^^^^";
    let expected = json!({
        "passed": 1,
        "failed": 1,
        "total": 2,
        "duration_ms": null,
        "tests": [
            {"name": "test_a", "file": "a.harn", "passed": true, "duration_ms": null,
             "error": null, "output": ""},
            {"name": "test_b", "file": "a.harn", "passed": false, "duration_ms": null,
             "error": error, "output": "so far\n"},
        ],
    });
    assert_eq!(answer, expected);
}

#[test]
fn a_report_for_build_servers_can_be_written() {
    let programs = Programs::new(&[("a.harn", TWO)]);
    let arguments = ["test", "--junit", "report.xml", "a.harn"];
    programs.harn(&arguments).exits_with(1);
    let report = programs.text("report.xml");
    for part in [
        "<testsuites tests=\"2\" failures=\"1\" time=",
        "<testsuite name=\"a.harn\" tests=\"2\" failures=\"1\" time=",
        "<testcase name=\"test_a\" classname=\"a.harn\" time=",
        "<failure message=\"error: Thrown: Assertion failed: expected 2, got 1\">",
    ] {
        assert!(report.contains(part), "{report}");
    }
    let call = programs.harn(&["test", "--junit", "no/such/folder.xml", "--filter", "_a"]);
    let call = call.exits_with(1);
    assert!(
        call.stderr.starts_with("error: no/such/folder.xml: "),
        "{call:?}"
    );
}

#[test]
fn a_path_that_does_not_exist_is_a_problem() {
    let programs = Programs::new(&[]);
    let call = programs.harn(&["test", "nowhere.harn"]).exits_with(1);
    assert!(call.stderr.starts_with("error: nowhere.harn: "), "{call:?}");
}

#[test]
fn a_change_runs_the_tests_again() {
    let text = "pipeline test_a() {\n}\n";
    let programs = Programs::new(&[("a.harn", text)]);
    let mut watching = Watching::start(&programs, &["test", "--json", "--watch", "a.harn"]);
    let mut passed = || {
        let answer: serde_json::Value = serde_json::from_str(&watching.answer()).unwrap();
        answer["passed"].as_u64().unwrap()
    };
    assert_eq!(passed(), 1);
    programs.add("a.harn", format!("{text}\npipeline test_b() {{\n}}\n"));
    // The file may have been seen before its text was there.
    while passed() != 2 {}
}

const SIGN: &str = "\
pub fn sign(n) {
  if n < 0 {
    return \"minus\"
  }
  return \"plus\"
}
";

const SIGN_TEST: &str = "\
import { sign } from \"../lib/sign\"

pipeline test_plus() {
  assert_eq(sign(1), \"plus\")
}
";

#[test]
fn lines_that_have_run_are_told() {
    let files = [("lib/sign.harn", SIGN), ("tests/sign_test.harn", SIGN_TEST)];
    let programs = Programs::new(&files);
    let call = programs.harn(&["test", "--coverage"]).exits_with(0);
    let (_, coverage) = call.stdout.split_once("\n\nCoverage by line\n\n").unwrap();
    assert_eq!(
        coverage,
        "  lib/sign.harn   66 %  2 of 3  not run: 3\n  total           66 %  2 of 3\n"
    );
    let answer = programs
        .harn(&["test", "--coverage", "--json"])
        .exits_with(0)
        .json();
    let expected = json!({"covered": 2, "lines": 3, "files": [
        {"file": "lib/sign.harn", "covered": 2, "lines": 3, "missing": [[3, 3]]},
    ]});
    assert_eq!(answer["coverage"], expected);
    assert!(!programs.path("coverage.html").exists());
}

#[test]
fn lines_that_have_run_can_be_a_page() {
    let files = [("lib/sign.harn", SIGN), ("tests/sign_test.harn", SIGN_TEST)];
    let programs = Programs::new(&files);
    programs.harn(&["test", "--coverage=html"]).exits_with(0);
    let page = programs.text("coverage.html");
    let missing = "<span data-line=\"3\" class=\"missing\">    return &quot;minus&quot;\n</span>";
    assert!(page.contains(missing), "{page}");
    let arguments = ["test", "--coverage=html", "--coverage-file", "out.html"];
    programs.harn(&arguments).exits_with(0);
    assert_eq!(programs.text("out.html"), page);
}
