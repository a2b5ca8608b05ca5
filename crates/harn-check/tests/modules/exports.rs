//! 11.3 and 9.9: what a module exports, and what an import brings.

use harn_check::Imported;
use harn_syntax::tree::ItemKind;

use crate::files::{shown, workspace};

/// What `/main.harn` gets, as `name name | Type Type`, with a `?` in front if something is
/// not resolved.
fn render(imported: &Imported) -> String {
    let types: Vec<_> = imported
        .types
        .iter()
        .map(|item| match &item.kind {
            ItemKind::Type(it) => it.name.text.as_str(),
            ItemKind::Interface(it) => it.name.text.as_str(),
            ItemKind::Struct(it) => it.name.text.as_str(),
            ItemKind::Enum(it) => it.name.text.as_str(),
            other => panic!("{other:?} is no type"),
        })
        .collect();
    let mark = if imported.unresolved { "? " } else { "" };
    format!("{mark}{} | {}", imported.names.join(" "), types.join(" "))
}

#[track_caller]
fn check(main: &str, files: &[(&str, &str)], expected: &str) {
    let mut files = files.to_vec();
    files.push(("/main.harn", main));
    let (mut workspace, _) = workspace(&files);
    assert_eq!(render(&workspace.imported("/main.harn")), expected);
}

#[test]
fn public_functions_are_exported() {
    let a =
        "pub fn one() {}\nfn two() {}\n@deprecated\npub gen fn three() -> Stream<int> { emit 1 }";
    check("import \"a\"", &[("/a.harn", a)], "one three | ");
}

#[test]
fn without_a_public_function_all_are_exported() {
    let a = "fn one() {}\nfn two() {}\nlet x = 1\nfn outer() { fn inner() {} }";
    check("import \"a\"", &[("/a.harn", a)], "one two outer | ");
    // A public declaration of another kind changes nothing.
    let a = "pub struct S { x: int }\nfn one() {}";
    check("import \"a\"", &[("/a.harn", a)], "one S | S");
}

#[test]
fn the_checker_gets_types_pipelines_tools_and_skills() {
    let a = "\
type Alias = int
interface Named { fn name() -> string }
struct Hidden { x: int }
pub struct Open { x: int }
enum Closed { A }
pub enum Colour { Red }
pub pipeline main(task) { }
pipeline private(task) { }
pub tool search(q: string) { q }
pub skill writing { description \"x\" }
pub fn f() {}";
    check(
        "import \"a\"",
        &[("/a.harn", a)],
        "f Alias Named Open Colour main search writing | Alias Named Open Colour",
    );
}

#[test]
fn a_selective_import_may_name_any_function_and_any_type() {
    let a = "pub fn open() {}\nfn closed() {}\nstruct Hidden { x: int }\ntype T = int";
    check(
        "import { closed, Hidden } from \"a\"",
        &[("/a.harn", a)],
        "closed Hidden | Hidden",
    );
    // What is named counts as imported even if it is not there; that fails when it runs.
    check("import { nope } from \"a\"", &[("/a.harn", a)], "nope | ");
}

#[test]
fn imports_are_passed_on_only_if_they_are_public() {
    let files = [
        ("/a.harn", "import \"b\"\npub fn a() {}"),
        ("/b.harn", "pub fn b() {}"),
    ];
    check("import \"a\"", &files, "a | ");
    let files = [("/a.harn", "pub import \"b\"\npub fn a() {}"), files[1]];
    check("import \"a\"", &files, "a b | ");
}

#[test]
fn what_is_passed_on_does_not_hide_private_functions_of_a_module_without_public_ones() {
    let files = [
        ("/a.harn", "pub import \"b\"\nfn own() {}"),
        ("/b.harn", "pub fn b() {}"),
    ];
    check("import \"a\"", &files, "own b | ");
}

#[test]
fn chains_are_followed_for_functions_and_types() {
    let files = [
        ("/a.harn", "pub import \"b\""),
        ("/b.harn", "pub import { f, T } from \"c\"\npub fn b() {}"),
        (
            "/c.harn",
            "pub fn f() {}\npub fn g() {}\ntype T = int\ntype U = int",
        ),
    ];
    check("import \"a\"", &files, "b f T | T");
    check("import { f, T } from \"a\"", &files, "f T | T");
    check("import { U } from \"a\"", &files, "U | ");
}

#[test]
fn chains_may_go_in_circles() {
    let files = [
        ("/a.harn", "pub import \"b\"\npub fn a() {}"),
        (
            "/b.harn",
            "pub import \"a\"\npub import { c } from \"c\"\npub fn b() {}",
        ),
        (
            "/c.harn",
            "pub import \"a\"\npub import \"c\"\npub fn c() {}",
        ),
    ];
    check("import \"a\"", &files, "a b c | ");
    check("import \"c\"", &files, "c a b | ");
    check("import { c } from \"a\"", &files, "c | ");
    check("import { nope } from \"a\"", &files, "nope | ");
}

#[test]
fn a_type_brings_along_what_it_is_made_of() {
    let files = [
        (
            "/a.harn",
            "import { Far } from \"b\"\ntype Near = int\ntype Whole = {near: Near, far: list<Far>, odd: Odd}",
        ),
        (
            "/b.harn",
            "type Far = Deep\ntype Deep = string\ntype Other = int",
        ),
    ];
    // `Odd` is declared nowhere.
    let whole = "import { Whole } from \"a\"";
    check(whole, &files, "Whole | Whole Near Far Deep");
    // A type of the file itself is not replaced.
    let own = format!("{whole}\ntype Near = bool");
    check(&own, &files, "Whole | Whole Far Deep");
}

#[test]
fn nothing_can_be_said_if_an_import_does_not_resolve() {
    let a = ("/a.harn", "pub fn a() {}");
    check("import \"a\"\nimport \"nope\"", &[a], "? a | ");
    check("import \"std/nope\"", &[a], "?  | ");
    check("import { x } from \"nope\"", &[a], "? x | ");
    // A module that is no program says nothing either, however it is reached.
    check("import \"b\"", &[("/b.harn", "fn (")], "?  | ");
    check("import { x } from \"b\"", &[("/b.harn", "fn (")], "? x | ");
    let chain = [("/a.harn", "pub import \"nope\"\npub fn a() {}")];
    check("import \"a\"", &chain, "? a | ");
    // What the module only uses itself is its own business.
    let inner = [("/a.harn", "import \"nope\"\npub fn a() {}")];
    check("import \"a\"", &inner, "a | ");
}

#[test]
fn names_come_once_and_in_order() {
    let files = [
        ("/a.harn", "pub fn x() {}\npub fn y() {}\ntype T = int"),
        ("/b.harn", "pub fn y() {}\npub fn z() {}\ntype T = bool"),
    ];
    check("import \"b\"\nimport \"a\"", &files, "y z T x | T");
}

#[test]
fn a_function_is_known_by_the_module_that_declares_it() {
    let (mut workspace, _) = workspace(&[
        ("/a.harn", "pub import \"lib/b\"\npub fn own() {}"),
        ("/lib/b.harn", "pub fn passed() {}"),
    ]);
    let exports = workspace.exports("/a.harn");
    let functions = exports.functions.iter();
    let functions: Vec<_> = functions
        .map(|it| format!("{} of {}", it.name, shown(&it.module)))
        .collect();
    assert_eq!(functions, ["own of /a.harn", "passed of /lib/b.harn"]);
    assert!(exports.complete);
}

#[test]
fn bindings_name_each_function_and_its_home() {
    let (mut workspace, _) = workspace(&[
        (
            "/main.harn",
            "import { hidden, passed, T, nope } from \"a\"\nimport \"gone\"\nimport \"b\"",
        ),
        (
            "/a.harn",
            "pub import \"b\"\npub fn open() {}\nfn hidden() {}\ntype T = int",
        ),
        ("/b.harn", "pub fn passed() {}\npub fn other() {}"),
    ]);
    let bindings = workspace.bindings("/main.harn");
    let bound: Vec<_> = bindings
        .iter()
        .map(|it| {
            format!(
                "{} {} {}",
                it.import,
                it.function.name,
                shown(&it.function.module)
            )
        })
        .collect();
    assert_eq!(
        bound,
        [
            "0 hidden /a.harn",
            "0 passed /b.harn",
            "2 passed /b.harn",
            "2 other /b.harn"
        ]
    );
}
