//! `harn check` with one program.

use serde_json::json;

use super::Programs;
use crate::program::{Call, finished};

/// Checks one program called `demo.harn`.
fn check(text: &str) -> Call {
    Programs::new(&[("demo.harn", text)]).harn(&["check", "demo.harn"])
}

/// 18.2: `FILE: ok`.
#[test]
fn a_program_without_problems_is_ok() {
    check("println(1)\n")
        .exits_with(0)
        .says("demo.harn: ok\n", "");
    check("").exits_with(0).says("demo.harn: ok\n", "");
}

/// 18.2, the example, without a help that does not exist.
#[test]
fn an_error_is_told_with_its_line() {
    check("pipeline default() {\n  let n: int = \"x\"\n}\n")
        .exits_with(1)
        .says(
            "",
            concat!(
                "error: 'n' declared as int, but assigned string\n",
                "  --> demo.harn:2:3\n",
                "   |\n",
                " 2 |   let n: int = \"x\"\n",
            ),
        );
}

/// 18.2: the margin grows with the line number.
#[test]
fn lines_with_two_digits_have_a_wider_margin() {
    let text = "\n".repeat(11) + "let n: int = \"x\"\n";
    check(&text).exits_with(1).says(
        "",
        concat!(
            "error: 'n' declared as int, but assigned string\n",
            "   --> demo.harn:12:1\n",
            "    |\n",
            " 12 | let n: int = \"x\"\n",
        ),
    );
}

/// 18.2: parse errors, their labels and their help.
#[test]
fn what_cannot_be_parsed_is_pointed_at() {
    check("let = 1\n").exits_with(1).says(
        "",
        concat!(
            "error: Expected variable name or destructuring pattern, found =\n",
            "  --> demo.harn:1:5\n",
            "   |\n",
            " 1 | let = 1\n",
            "   |     ^ unexpected token\n",
        ),
    );
    let call = check("println(1").exits_with(1);
    let (first, rest) = call.stderr.split_once('\n').unwrap();
    assert_eq!(first, "error: Unexpected end of file, expected )");
    assert!(rest.contains("^ file ends here\n"), "{call:?}");
    let help = "= help: add a closing `)` to finish this expression or parameter list\n";
    assert!(rest.ends_with(help), "{call:?}");
}

/// 9.10: the missing cases are told as a warning or as an error, 15.4: an unknown attribute is
/// a warning.
#[test]
fn warnings_do_not_fail_and_are_not_ok_either() {
    let call = check("@nonsense\nfn f() {\n  return 1\n}\n\nprintln(f())\n").exits_with(0);
    assert_eq!(call.stdout, "");
    assert!(call.stderr.starts_with("warning: "), "{call:?}");
    assert!(call.stderr.contains("\n  --> demo.harn:1:1\n"), "{call:?}");
}

#[test]
fn all_errors_of_a_program_are_told_in_order() {
    let call = check("let a: int = \"x\"\nlet b: string = 1\n").exits_with(1);
    let titles: Vec<_> = call
        .stderr
        .lines()
        .filter(|line| line.starts_with("error"))
        .collect();
    assert_eq!(
        titles,
        [
            "error: 'a' declared as int, but assigned string",
            "error: 'b' declared as string, but assigned int",
        ]
    );
}

/// 6.13.
#[test]
fn what_cannot_be_compiled_is_an_error() {
    let call = check("break\n").exits_with(1);
    assert!(call.stderr.starts_with("error: "), "{call:?}");
    assert!(call.stderr.contains("\n  --> demo.harn:1:1\n"), "{call:?}");
}

/// 11.6 and 18.2: preflight diagnostics carry the label `preflight`.
#[test]
fn an_import_that_leads_nowhere_is_told_before_the_program_runs() {
    check("import \"std/nowhere\"\n").exits_with(1).says(
        "",
        concat!(
            "error: Unknown stdlib module: std/nowhere\n",
            "  --> demo.harn:1:8\n",
            "   |\n",
            " 1 | import \"std/nowhere\"\n",
            "   |        ^^^^^^^^^^^^^ preflight\n",
        ),
    );
    let call = check("import \"./nowhere\"\n").exits_with(1);
    assert!(
        call.stderr
            .starts_with("error: Import error: cannot read '"),
        "{call:?}"
    );
    assert!(
        call.stderr.ends_with("   |        ^^^^^^^^^^^ preflight\n"),
        "{call:?}"
    );
}

#[test]
fn imported_functions_are_known() {
    let programs = Programs::new(&[
        (
            "lib/text.harn",
            "pub fn shout(text: string) -> string {\n  return text + \"!\"\n}\n",
        ),
        (
            "main.harn",
            "import { shout } from \"./lib/text\"\n\nprintln(shout(\"a\"))\n",
        ),
        (
            "wrong.harn",
            "import { shout } from \"./lib/text\"\n\nprintln(shot(\"a\"))\n",
        ),
    ]);
    programs
        .harn(&["check", "main.harn"])
        .exits_with(0)
        .says("main.harn: ok\n", "");
    let call = programs.harn(&["check", "wrong.harn"]).exits_with(1);
    assert!(call.stderr.contains("`shot`"), "{call:?}");
}

/// 9.16: a value from outside that is used without validation.
const UNVALIDATED: &str = concat!(
    "pipeline default() {\n",
    "  let data = json_parse(\"{}\")\n",
    "  println(data.name)\n",
    "}\n",
);

#[test]
fn strict_types_are_asked_for_on_the_command_line() {
    let programs = Programs::new(&[("demo.harn", UNVALIDATED)]);
    programs
        .harn(&["check", "demo.harn"])
        .exits_with(0)
        .says("demo.harn: ok\n", "");
    let call = programs
        .harn(&["check", "--strict-types", "demo.harn"])
        .exits_with(0);
    assert_eq!(call.stdout, "");
    assert!(call.stderr.starts_with("warning: "), "{call:?}");
    assert!(call.stderr.contains("\n  --> demo.harn:3:"), "{call:?}");
}

#[test]
fn strict_types_are_asked_for_by_the_nearest_project() {
    let strict = "[check]\nstrict_types = true\n";
    let programs = Programs::new(&[
        ("harn.toml", strict),
        ("src/deep/demo.harn", UNVALIDATED),
        ("lax/harn.toml", "[package]\nname = \"lax\"\n"),
        ("lax/demo.harn", UNVALIDATED),
    ]);
    let call = programs
        .harn(&["check", "src/deep/demo.harn"])
        .exits_with(0);
    assert!(call.stderr.starts_with("warning: "), "{call:?}");
    programs
        .harn(&["check", "lax/demo.harn"])
        .exits_with(0)
        .says("lax/demo.harn: ok\n", "");
}

#[test]
fn json_has_everything_a_diagnostic_knows() {
    let text = "let n: int = \"é\"\nlet x = 1 ?? unknown_thing()\n";
    let programs = Programs::new(&[("demo.harn", text), ("fine.harn", "")]);
    let call = programs
        .harn(&["check", "--json", "demo.harn", "fine.harn"])
        .exits_with(1);
    assert_eq!(call.stderr, "");
    let answer = call.json();
    assert_eq!(
        answer["files"][1],
        json!({"file": "fine.harn", "diagnostics": []})
    );
    assert_eq!(answer["files"][0]["file"], "demo.harn");
    assert_eq!(
        answer["files"][0]["diagnostics"][0],
        json!({
            "severity": "error", "code": "binding-type",
            "message": "'n' declared as int, but assigned string",
            "line": 1, "column": 1, "end_line": 1, "end_column": 17,
            "label": null, "secondary": [], "notes": [], "help": null, "fix": null,
        })
    );
    let found = answer["files"][0]["diagnostics"].as_array().unwrap();
    assert_eq!(answer["errors"], found.len());
    assert_eq!(answer["warnings"], 0);
}

#[test]
fn colours_are_for_those_who_ask() {
    let programs = Programs::new(&[("demo.harn", "let n: int = \"x\"\n")]);
    let plain = programs.harn(&["check", "demo.harn"]);
    assert!(!plain.stderr.contains('\u{1b}'), "{plain:?}");
    let mut colourful = programs.command(&["check", "--color", "always", "demo.harn"]);
    let colourful = finished(colourful.env("NO_COLOR", "1")).exits_with(1);
    let expected = "\u{1b}[1;31merror\u{1b}[0m: 'n' declared as int";
    assert!(colourful.stderr.starts_with(expected), "{colourful:?}");
}

/// A file that somebody sent must not be able to repaint the terminal.
#[test]
fn programs_cannot_control_the_terminal() {
    let programs = Programs::new(&[]);
    programs.add("a\u{1b}[31m.harn", "let n: int = \"\u{1b}[2J\u{202e}\"\n");
    programs.add("b\u{1b}.harn", "let \u{1b} = 1\n");
    programs.add("c\u{1b}.harn", "import \"./\u{1b}[2J\"\n");
    programs.add("d\u{1b}.harn", "");
    let call = programs.harn(&["check", "."]).exits_with(1);
    let text = call.stdout.clone() + &call.stderr;
    let is_harmful = |one: char| one != '\n' && (one.is_control() || one == '\u{202e}');
    assert!(!text.contains(is_harmful), "{call:?}");
    assert!(text.contains("  --> ./a\\u{1b}[31m.harn:1:1\n"), "{text}");
    assert!(
        text.contains(" 1 | let n: int = \"␛[2J\u{fffd}\"\n"),
        "{text}"
    );
    assert!(
        text.contains("error: Unexpected character '␛' at 1:5\n"),
        "{text}"
    );
    assert!(text.contains("./d\\u{1b}.harn: ok\n"), "{text}");
}

/// JSON escapes what it has to, and leaves the rest to its reader.
#[test]
fn json_is_free_of_raw_control_characters() {
    let programs = Programs::new(&[]);
    programs.add("a\u{1b}.harn", "let \u{1b} = 1\n");
    let call = programs.harn(&["check", "--json", "."]).exits_with(1);
    assert!(!call.stdout.contains('\u{1b}'), "{call:?}");
    assert_eq!(call.json()["files"][0]["file"], "./a\u{1b}.harn");
}
