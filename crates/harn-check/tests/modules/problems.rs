//! 11.6: what goes wrong with imports.

use harn_syntax::{LineIndex, Severity};

use crate::files::workspace;

/// Every diagnostic of `/main.harn` as `text under it: message`.
#[track_caller]
fn check(main: &str, files: &[(&str, &str)], expected: &[&str]) {
    let mut files = files.to_vec();
    files.push(("/main.harn", main));
    let (mut workspace, _) = workspace(&files);
    let diagnostics = workspace.import_diagnostics("/main.harn");
    let lines = LineIndex::new(main);
    let shown: Vec<_> = diagnostics
        .iter()
        .map(|it| {
            assert_eq!(it.severity, Severity::Error);
            let place = lines.position(main, it.span.start);
            format!("{place} {}: {}", it.span.of(main), it.message)
        })
        .collect();
    assert_eq!(shown, expected);
}

#[test]
fn good_imports_have_no_problems() {
    let files = [
        (
            "/a.harn",
            "pub fn a() {}\nfn hidden() {}\nstruct S { x: int }",
        ),
        ("/b.harn", "pub fn b() {}"),
    ];
    check(
        "import { a, hidden, S } from \"a\"\nimport \"b\"\npub import \"std/json\"",
        &files,
        &[],
    );
}

#[test]
fn missing_modules_are_named() {
    check(
        "import \"nope\"\nimport { a } from \"std/nope\"",
        &[],
        &[
            "1:8 \"nope\": Import error: cannot read '/nope.harn': entity not found",
            "2:19 \"std/nope\": Unknown stdlib module: std/nope",
        ],
    );
}

#[test]
fn broken_modules_tell_what_is_wrong_with_them() {
    check(
        "import \"lexical\"\nimport \"syntax\"",
        &[
            ("/lexical.harn", "let x = \"abc"),
            ("/syntax.harn", "let = 1"),
        ],
        &[
            "1:8 \"lexical\": Import lex error: Unterminated string at 1:9",
            "2:8 \"syntax\": Import parse error: \
             Expected variable name or destructuring pattern, got = at 1:5",
        ],
    );
}

#[test]
fn unknown_names_are_pointed_at() {
    let a = "pub import \"b\"\nfn f() {}\nlet variable = 1\npub tool t() { }";
    check(
        "import { f, g, variable, passed, t } from \"a\"",
        &[("/a.harn", a), ("/b.harn", "fn passed() {}")],
        &[
            "1:13 g: Import error: 'g' is not defined in /a.harn",
            "1:16 variable: Import error: 'variable' is not defined in /a.harn",
            "1:34 t: Import error: 't' is not defined in /a.harn",
        ],
    );
    check(
        "import { nope } from \"std/json\"",
        &[],
        &["1:10 nope: Import error: 'nope' is not defined in <stdlib>/json.harn"],
    );
}

#[test]
fn a_name_can_be_brought_only_once() {
    let files = [
        ("/a.harn", "fn f() {}\nfn g() {}\ntype T = int"),
        ("/b.harn", "fn f() {}\nfn h() {}\ntype T = int"),
    ];
    let collision = |at: &str, module: &str| {
        format!(
            "{at}: Import collision: 'f' is already defined when importing {module}. \
             Use selective imports to disambiguate: import {{ f }} from \"...\""
        )
    };
    check(
        "import \"a\"\nimport \"b\"",
        &files,
        &[&collision("2:8 \"b\"", "/b.harn")],
    );
    check(
        "import { f } from \"a\"\nimport { f } from \"b\"",
        &files,
        &[&collision("2:10 f", "/b.harn")],
    );
    check("import { g } from \"a\"\nimport \"b\"", &files, &[]);
    // The same function by another way is a collision too.
    let again = [
        ("/a.harn", "pub import \"c\""),
        ("/b.harn", "pub import \"c\""),
        ("/c.harn", "fn f() {}"),
    ];
    check(
        "import \"a\"\nimport \"b\"",
        &again,
        &[&collision("2:8 \"b\"", "/b.harn")],
    );
}

#[test]
fn only_what_is_exported_can_be_passed_on() {
    let a = (
        "/a.harn",
        "pub fn open() {}\nfn hidden() {}\nstruct S { x: int }",
    );
    check(
        "pub import { open, hidden, S } from \"a\"",
        &[a],
        &["1:20 hidden: Re-export error: 'hidden' is not exported by 'a'"],
    );
    check("import { hidden } from \"a\"", &[a], &[]);
}

#[test]
fn what_is_passed_on_must_not_be_declared_here() {
    let files = [
        ("/a.harn", "pub import \"b\""),
        ("/b.harn", "pub fn f() {}\npub fn g() {}"),
    ];
    let collision = "Re-export collision: 'f' is defined here and also re-exported from 'a'";
    check(
        "pub import \"a\"\nfn f() {}",
        &files,
        &[&format!("1:12 \"a\": {collision}")],
    );
    check(
        "pub import { f } from \"a\"\nfn f() {}",
        &files,
        &[&format!("1:14 f: {collision}")],
    );
    check("pub import { g } from \"a\"\nfn f() {}", &files, &[]);
    check("import \"a\"\nfn f() {}", &files, &[]);
}

/// What the file itself declares comes back to it, which is no collision; but a module that is
/// not loaded yet cannot be passed on.
#[test]
fn passing_on_in_a_circle() {
    let files = [
        ("/lib/cy1.harn", "pub import \"cy2\"\npub fn cy1f() {}"),
        ("/lib/cy2.harn", "pub import \"cy1\"\npub fn cy2f() {}"),
    ];
    let not_loaded =
        |path: &str| format!("{path}: Re-export error: imported module 'cy1' was not loaded");
    check(
        "import \"lib/cy1\"",
        &files,
        &[&not_loaded("1:8 \"lib/cy1\"")],
    );
    check(
        "import { cy1f } from \"lib/cy1\"",
        &files,
        &[&not_loaded("1:22 \"lib/cy1\"")],
    );
    // Starting with one of the circle it is closed at itself.
    let circle = |main: &str, other: &str, expected: &[&str]| {
        check(main, &[("/other.harn", other)], expected);
    };
    let in_other = "1:12 \"other\": Re-export error: imported module 'main' was not loaded";
    circle(
        "pub import \"other\"\npub fn f() {}",
        "pub import \"main\"\npub fn g() {}",
        &[in_other],
    );
    circle(
        "pub import \"other\"\npub fn f() {}",
        "import \"main\"\npub fn g() {}",
        &[],
    );
    circle(
        "pub import { f, g } from \"other\"\npub fn f() {}",
        "pub import { f } from \"main\"\npub fn g() {}",
        &["1:26 \"other\": Re-export error: imported module 'main' was not loaded"],
    );
    circle(
        "pub import \"main\"\npub fn f() {}",
        "",
        &["1:12 \"main\": Re-export error: imported module 'main' was not loaded"],
    );
}

#[test]
fn what_ends_the_program_elsewhere_is_shown_where_it_begins() {
    let files = [
        ("/a.harn", "import \"b\"\npub fn a() {}"),
        ("/b.harn", "import \"nope\"\npub fn b() {}"),
        ("/fine.harn", "pub fn fine() {}"),
    ];
    let unreadable = "Import error: cannot read '/nope.harn': entity not found";
    check(
        "import \"fine\"\nimport \"a\"",
        &files,
        &[&format!("2:8 \"a\": {unreadable}")],
    );
    check(
        "import \"b\"\nimport { nope } from \"fine\"",
        &files,
        &[
            &format!("1:8 \"b\": {unreadable}"),
            "2:10 nope: Import error: 'nope' is not defined in /fine.harn",
        ],
    );
    check("import \"fine\"", &files, &[]);
}
