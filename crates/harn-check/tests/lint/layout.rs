//! Rules about how a file is laid out.

use super::{findings, finds, fixes, leaves, of_rule, silent};
use harn_check::LintOptions;

#[test]
fn blank_line_between_items() {
    const RULE: &str = "blank-line-between-items";
    let f = "fn f() {\n  return 1\n}";
    fixes(RULE, &format!("{f}\n{f}"), &format!("{f}\n\n{f}"));
    fixes(
        RULE,
        &format!("{f} // f\n// g\n{f}"),
        &format!("{f} // f\n\n// g\n{f}"),
    );
    finds(RULE, &format!("let x = 1\n{f}\ng()"), &["2:1", "5:1"]);
    silent(RULE, &format!("{f}\n\n{f}"));
    silent(RULE, &format!("{f}\n\n/** g */\n{f}"));
    silent(RULE, &format!("{f}\n// about f\n\n{f}"));
    silent(RULE, "type A = int\ntype B = int\nstruct P { x: int }");
    silent(
        RULE,
        "import \"a\"\nimport {\n  b,\n} from \"b\"\nlet x = [\n  1,\n]\ng()",
    );
}

#[test]
fn import_order() {
    const RULE: &str = "import-order";
    fixes(
        RULE,
        "import \"b\"\nimport { z, a } from \"std/x\"\nimport { q } from \"a\"\nimport \"a\"\n",
        "import { a, z } from \"std/x\"\nimport \"a\"\nimport { q } from \"a\"\nimport \"b\"\n",
    );
    fixes(
        RULE,
        "import { b, a } from \"m\"",
        "import { a, b } from \"m\"",
    );
    finds(RULE, "import \"b\"\nimport \"a\"\nimport \"a2\"", &["2:1"]);
    leaves(RULE, "import \"b\" // first\nimport \"a\"");
    leaves(RULE, "f()\nimport \"a\"");
    silent(
        RULE,
        "import \"std/z\"\nimport \"a\"\nimport { a, b } from \"a\"\nimport \"b\"\nf()",
    );
}

#[test]
fn legacy_doc_comment() {
    const RULE: &str = "legacy-doc-comment";
    fixes(RULE, "/// One.\nfn f() { }", "/** One. */\nfn f() { }");
    fixes(
        RULE,
        "impl P {\n  /// One.\n  ///\n  ///   Two.\n  fn f() { }\n}",
        "impl P {\n  /**\n   * One.\n   *\n   *   Two.\n   */\n  fn f() { }\n}",
    );
    finds(RULE, "/// One.\n\n/// Two.\nfn f() { }", &["1:1", "3:1"]);
    leaves(RULE, "/// a */ b\nfn f() { }");
    silent(RULE, "// One.\n//// Two.\n/** Three. */\nfn f() { }");
}

#[test]
fn missing_harndoc() {
    const RULE: &str = "missing-harndoc";
    finds(RULE, "pub fn f() { }", &["1:8"]);
    finds(
        RULE,
        "/** About nothing. */\n\npub struct P { x: int }",
        &["3:12"],
    );
    finds(RULE, "// no doc\npub enum E { A }", &["2:10"]);
    finds(RULE, "pub skill s {\n  paths []\n}", &["1:11"]);
    silent(RULE, "/** F. */\npub fn f() { }");
    silent(RULE, "/// F.\npub gen fn f() { }");
    silent(RULE, "/** F. */\n@deprecated\npub fn f() { }");
    silent(RULE, "@deprecated\n/** F. */\npub fn f() { }");
    silent(RULE, "/** F. */\n// lint: something\npub fn f() { }");
    silent(RULE, "fn f() { }\npub import \"m\"");
    silent(RULE, "pub tool t() {\n  description \"T\"\n  1\n}");
    silent(RULE, "pub skill s {\n  description \"S\"\n}");
    silent(RULE, "pub pipeline test_a(t) { }");
}

#[test]
fn require_file_header() {
    const RULE: &str = "require-file-header";
    let options = LintOptions {
        require_file_header: true,
        ..LintOptions::default()
    };
    let count = |text: &str| of_rule(RULE, text, &options).len();
    assert_eq!(count("f()"), 1);
    assert_eq!(count("#!/usr/bin/env harn\nf()\n// too late"), 1);
    assert_eq!(count("/** F. */\nfn f() { }"), 1);
    assert_eq!(count("/** A file. */\n\nfn f() { }"), 0);
    assert_eq!(count("/** A file. */\n\n/** F. */\nfn f() { }"), 0);
    assert_eq!(count("#!/usr/bin/env harn\n// A file.\nf()"), 0);
    assert_eq!(count(""), 0);
    silent(RULE, "f()");
}

#[test]
fn trailing_comma() {
    const RULE: &str = "trailing-comma";
    for (before, after) in [
        ("f(\n  1,\n  2\n)", "f(\n  1,\n  2,\n)"),
        ("x.m(\n  1 // one\n)", "x.m(\n  1, // one\n)"),
        ("let x = [\n  1\n]", "let x = [\n  1,\n]"),
        ("let x = {\n  a: 1\n}", "let x = {\n  a: 1,\n}"),
        ("let x = P {\n  a: 1\n}", "let x = P {\n  a: 1,\n}"),
        ("let {\n  a\n} = x", "let {\n  a,\n} = x"),
        (
            "fn f(\n  a,\n  b = (1)\n) { }",
            "fn f(\n  a,\n  b = (1),\n) { }",
        ),
        (
            "enum E {\n  A,\n  B(x: int)\n}",
            "enum E {\n  A,\n  B(x: int),\n}",
        ),
        ("struct S {\n  a: int\n}", "struct S {\n  a: int,\n}"),
        (
            "import {\n  a,\n  b\n} from \"m\"",
            "import {\n  a,\n  b,\n} from \"m\"",
        ),
        ("f(1, 2,)", "f(1, 2)"),
        ("let x = [1,]", "let x = [1]"),
        ("let x = {a: 1, }", "let x = {a: 1 }"),
        ("fn f(a, b,) { }", "fn f(a, b) { }"),
        ("enum E { A(x,) }", "enum E { A(x) }"),
        ("tool t(a,) { 1 }", "tool t(a) { 1 }"),
    ] {
        fixes(RULE, before, after);
    }
    silent(RULE, "f(1, {x ->\n  g(x)\n})");
    silent(
        RULE,
        "let x = [\n  1,\n  2,\n]\nlet y = []\nf()\nlet z = {\n}",
    );
    silent(RULE, "f(\n)\nlet y = x[\n  1\n]");
    silent(RULE, "fn f(\n) { g() }\nlet {\n} = x");
    silent(RULE, "fn f() {\n  g()\n}\n\nlet h = { a, b ->\n  a\n}");
}

#[test]
fn pipeline_return_type() {
    const RULE: &str = "pipeline-return-type";
    finds(RULE, "pub pipeline p(t) { }", &["1:14"]);
    silent(RULE, "pub pipeline p(t) -> nil { }\npipeline q(t) { }");
    silent(RULE, "@test\npub pipeline p(t) { }");
}

#[test]
fn an_unfinished_file_is_looked_at_too() {
    for text in ["", "\n", "// only a comment", "/** only a doc */\n"] {
        assert_eq!(findings(text, &LintOptions::default()), []);
    }
}
