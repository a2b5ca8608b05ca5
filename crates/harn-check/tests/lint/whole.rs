//! What holds for all rules together.

use super::findings;
use harn_check::{Imported, LintOptions, lint, rules};
use harn_syntax::{Code, parse};
use proptest::prelude::*;

fn codes(text: &str, options: &LintOptions) -> Vec<&'static str> {
    let found = findings(text, options);
    found.iter().map(|finding| finding.code.0).collect()
}

#[test]
fn there_are_thirty_seven_rules_in_order() {
    let names: Vec<&str> = rules().iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), 37);
    assert!(names.is_sorted_by(|left, right| left < right));
    let quiet = rules().iter().filter(|rule| !rule.on_by_default);
    let quiet: Vec<&str> = quiet.map(|rule| rule.name).collect();
    assert_eq!(quiet, ["require-file-header"]);
}

#[test]
fn findings_come_in_the_order_of_the_text() {
    let text = "var x = 1\nif x == x { }\nvar y = [...z]\nf(1,)\n";
    let found = findings(text, &LintOptions::default());
    let places: Vec<(u32, u32, Code)> = found
        .iter()
        .map(|one| (one.span.start, one.span.end, one.code))
        .collect();
    assert!(places.is_sorted());
    assert_eq!(
        codes(text, &LintOptions::default()),
        [
            "mutable-never-reassigned",
            "pointless-comparison",
            "empty-block",
            "mutable-never-reassigned",
            "redundant-clone",
            "undefined-function",
            "trailing-comma",
        ]
    );
}

#[test]
fn rules_can_be_disabled() {
    let options = LintOptions {
        disabled: vec!["empty-block".to_owned(), "no-such-rule".to_owned()],
        ..LintOptions::default()
    };
    assert_eq!(codes("if x == x { }", &options), ["pointless-comparison"]);
}

#[test]
fn comments_silence_rules() {
    let options = LintOptions::default();
    let silent = [
        "let y = x == x // lint: allow(pointless-comparison)",
        "// lint: allow(pointless-comparison)\nlet y = x == x",
        "if x == x { g = 1 } // lint: allow(empty-block, pointless-comparison)",
    ];
    for text in silent {
        assert_eq!(codes(text, &options), Vec::<&str>::new(), "{text}");
    }
    let heard = [
        "// lint: allow(pointless-comparison)\n\nlet y = x == x",
        "f = 1 // lint: allow(pointless-comparison)\nlet y = x == x",
        "let y = x == x // lint: allow(empty-block)",
        "let y = x == x // allow(pointless-comparison)",
    ];
    for text in heard {
        assert_eq!(codes(text, &options), ["pointless-comparison"], "{text}");
    }
}

#[test]
fn nothing_is_said_about_names_if_an_import_is_missing() {
    let parsed = parse("import \"gone\"\nsomething()");
    let imported = Imported {
        unresolved: true,
        ..Imported::default()
    };
    let found = lint(
        "import \"gone\"\nsomething()",
        &parsed.module,
        &imported,
        &LintOptions::default(),
    );
    assert_eq!(found, []);
}

/// One of everything that is slow if it is looked at more than once.
fn long_program(parts: usize) -> String {
    let part = |at: usize| {
        format!(
            "/// Part {at}.\nfn part_{at}(value, unused) {{\n  var total = 0\n  let data = json_parse(value)\n  \
             for item in data.items {{\n    if item == true {{\n      total = total + [...item]\n    }} \
             else {{\n    }}\n    let client = mcp_connect(\"x\")\n  }}\n  let y = undefined_{at}(total,)\n  \
             match y {{\n    1 -> {{ f(1) }}\n    1 -> {{ f(2) }}\n    _ -> {{ }}\n  }}\n  return y\n}}\n"
        )
    };
    (0..parts).map(part).collect()
}

#[test]
fn a_long_program_is_linted() {
    let text = long_program(5_500);
    assert!(text.lines().count() > 100_000);
    let parsed = parse(&text);
    assert_eq!(parsed.errors, []);
    let found = lint(
        &text,
        &parsed.module,
        &Imported::default(),
        &LintOptions::default(),
    );
    // Something quadratic would take minutes, and the run would be stopped.
    assert!(found.len() > 50_000);
}

#[test]
fn one_long_line_is_linted() {
    let text = format!("let x = [{}]\nf(x)", "a == a, [...b,], ".repeat(20_000));
    let parsed = parse(&text);
    let found = lint(
        &text,
        &parsed.module,
        &Imported::default(),
        &LintOptions::default(),
    );
    assert!(found.len() > 60_000);
}

/// The parser bounds how deeply a program is nested; the walks must bear what it lets through.
#[test]
fn a_deep_program_is_linted() {
    for (open, close) in [
        ("[", "]"),
        ("f(", ")"),
        ("{ x -> ", " }"),
        ("{a: ", "}"),
        ("if c { ", " }"),
        ("match c { _ -> { ", " } }"),
        ("!", ""),
        ("c ? (", ") : 1"),
        ("spawn { ", " }"),
        ("try { ", " }"),
    ] {
        let nested = |depth: usize| {
            let (open, close) = (open.repeat(depth), close.repeat(depth));
            format!("fn f(c) {{\n  return {open}1{close}\n}}\n")
        };
        let depths = (1..1_000).rev();
        let deepest = depths
            .map(nested)
            .find(|text| parse(text).errors.is_empty());
        let text = deepest.expect("some depth is fine");
        let parsed = parse(&text);
        lint(
            &text,
            &parsed.module,
            &Imported::default(),
            &LintOptions::default(),
        );
    }
}

const PIECES: &[&str] = &[
    "fn f(a, b,) {",
    "}",
    "if x == true {",
    "} else {",
    "return x",
    "let y = ",
    "var z = 1\n",
    "\n",
    "[...xs]",
    "{...d}",
    "match x {",
    "1 -> {",
    "E.A(v) -> {",
    "import { b, a } from \"m\"\n",
    "// lint: allow(empty-block)\n",
    "/// doc\n",
    "pub ",
    "pipeline test_a(t) {",
    "assert(x)",
    "require x, y\n",
    "x.to_list().first()",
    "\"${to_string(x)} é\"",
    "(a == nil ? nil : a.b)",
    "break\n",
    "@test\n",
    "struct S {",
    "x: int",
    "for i in xs {",
    "try {",
    "} catch (e) {",
    ";",
    "f(",
    ")",
    ",",
    "é",
    "\"",
    "spawn {",
    "impl P {",
    "defer {",
    "json_parse(s).a",
    " + ",
    "nil",
];

proptest! {
    /// Whatever the text is, the lint says what it can, and every place is one in the text.
    #[test]
    fn any_text_can_be_linted(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        let text = pieces.concat();
        let parsed = parse(&text);
        let options = LintOptions { require_file_header: true, complexity_max: 2, ..LintOptions::default() };
        for finding in lint(&text, &parsed.module, &Imported::default(), &options) {
            prop_assert!(text.get(finding.span.range()).is_some());
            for edit in finding.fix.iter().flat_map(|fix| &fix.edits) {
                prop_assert!(text.get(edit.span.range()).is_some());
            }
        }
    }
}
