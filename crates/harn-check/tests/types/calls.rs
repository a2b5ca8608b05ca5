//! 9.8 and 9.9: calls.

use std::sync::Arc;

use harn_check::{CheckOptions, Imported};
use harn_syntax::tree::StatementKind;

use crate::support::{accept, check, check_body, inspect, lines};

#[test]
fn arguments_must_fit_their_parameters() {
    check(
        "fn f(a: int, b: string) { }\nfn g() { f(\"x\", 1) }",
        &[
            "error: Argument 1 ('a'): expected int, got string",
            "error: Argument 2 ('b'): expected string, got int",
        ],
    );
    check("fn f(a: int, b) { }\nfn g(x) { f(1, nil)\n f(x, x) }", &[]);
    check("fn f(a: float) { }\nf(1)", &[]);
    check("fn f(...xs: list) { }\nf(1, 2)", &[]);
    check("fn f(a: int, b: int) { }\nf(1, ...[\"a\"])", &[]);
    check(
        "fn f(a: int, b: int) { }\nf(\"a\", ...[1])",
        &["error: Argument 1 ('a'): expected int, got string"],
    );
}

/// What the other documents define can be called, though Appendix B does not list it.
#[test]
fn every_builtin_can_be_called() {
    check("agent_turn(\"hello\")", &[]);
}

#[test]
fn functions_in_blocks_are_known_in_them() {
    check_body(
        "fn inner(a: int) { }\ninner(\"x\")",
        &["error: Argument 1 ('a'): expected int, got string"],
    );
    check_body(
        "inner(\"x\")\nfn inner(a: int) { }",
        &["error: Argument 1 ('a'): expected int, got string"],
    );
}

#[test]
fn variables_and_builtins_take_anything() {
    accept("let f = { a: int -> a }\nf(\"x\", 1, 2)\ntrim(1)\nlen()");
}

#[test]
fn the_number_of_arguments() {
    let declared = "fn f(a, b) { }\nfn g(a, b = 1, c = 2) { }\nfn h(a, ...b) { }\n";
    check(
        &format!("{declared}f(1)\nf(1, 2, 3)\ng()\ng(1, 2, 3, 4)\nf(1, 2)\ng(1)\nh()\nf(...[1])"),
        &[
            "warning: Function 'f' expects 2 arguments, got 1",
            "warning: Function 'f' expects 2 arguments, got 3",
            "warning: Function 'g' expects 1-3 arguments, got 0",
            "warning: Function 'g' expects 1-3 arguments, got 4",
        ],
    );
    check("fn trim(a, b) { }\ntrim(1)", &[]);
    check("struct S { a }\nS()\nenum E { A(x) }\nE.A()", &[]);
}

#[test]
fn type_arguments() {
    check(
        "fn f(a) { }\nfn g<T>(a: T) { }\nf<int>(1)\ng<int, string>(1)\ng<int>(1)",
        &[
            "error: Function 'f' does not declare type parameters",
            "error: Function 'g' expects 1 type arguments, got 2",
        ],
    );
    check(
        "trim<int>(\"\")\nschema_expect<int, int>(1)\nschema_expect<int>(1)",
        &[
            "error: Builtin function 'trim' does not declare type parameters",
            "error: Builtin function 'schema_expect' expects 1 type arguments, got 2",
        ],
    );
}

#[test]
fn undefined_targets() {
    let missing = |name: &str, suggestion: &str| {
        let message = format!("error: call target `{name}` is not defined or imported{suggestion}");
        check_body(&format!("{name}(1)"), &[&message]);
    };
    missing("completely_unknown", "");
    missing("printn", " — did you mean `print`?");
    missing("printlnn", " — did you mean `println`?");
    missing("bodi", " — did you mean `body`?");
}

#[test]
fn everything_that_can_be_called() {
    check(
        "fn f() { }\ntool t() { }\npipeline p() { }\nstruct S { }\nenum E { A }\nlet v = 1\n\
         fn g<T>(x) { f() t() p() S() E() v() x() T() __y() hostlib_z() Ok(1) Err(1) Some(1) \
         None() println() inside() deep() }\n\
         fn h() { let inside = 1\n fn deep() { } }"
            .replace(") ", ")\n")
            .as_str(),
        &[],
    );
    check(
        "fn f(c) { if c { let hidden = 1 } }\nfn g() { hidden() }",
        &["error: call target `hidden` is not defined or imported"],
    );
    check("fn f() { let x = 1 |> trim(_) }", &[]);
    check("for [f, x = f(1)] in [] { x() }", &[]);
    check(
        "for {f, g: x = f(1), ...r} in [] { let [y = x(), z = y()] = r }",
        &[],
    );
}

#[test]
fn imports() {
    let imported = |unresolved: bool, names: &[&str]| Imported {
        unresolved,
        names: names.iter().map(|name| (*name).into()).collect(),
        types: Vec::new(),
    };
    let said = |source: &str, imported: &Imported| {
        lines(&inspect(source, imported, CheckOptions::default()))
    };
    let source = "import \"m\"\nfn f() { helper(1)\n helpr(1)\n let n: int = helper(1) }";
    assert_eq!(
        said(source, &imported(false, &["helper"])),
        ["error: call target `helpr` is not defined or imported — did you mean `helper`?"],
    );
    assert!(said(source, &imported(true, &[])).is_empty());
    assert!(said("fn f() { Unknown { a: 1 } }", &imported(true, &[])).is_empty());
}

#[test]
fn imported_types_are_known() {
    let module = harn_syntax::parse(
        "type P = {x: int}\npub struct S { a: int }\npub enum E { A, B }\n\
         interface I { fn m() -> int }",
    )
    .module;
    let items = module
        .statements
        .into_iter()
        .map(|statement| match statement.kind {
            StatementKind::Item(item) => Arc::new(*item),
            other => panic!("not an item: {other:?}"),
        });
    let imported = Imported {
        unresolved: false,
        names: ["P", "S", "E", "I"].map(Into::into).to_vec(),
        types: items.collect(),
    };
    let source = "import \"m\"\nfn f(e: E, i: I) { let p: P = {y: 1}\n let s = S { a: \"x\" }\n\
                  match e { E.A -> { 1 } }\n let j: I = s }";
    let checked = inspect(source, &imported, CheckOptions::default());
    assert_eq!(
        lines(&checked),
        [
            "error: 'p' declared as P, but assigned {y: int} (missing field 'x' (int))",
            "error: Field 'a' in struct 'S' expects int, got string",
            "error: Non-exhaustive match on enum E: missing variants \"B\"",
            "error: 'j' declared as I, but assigned S",
        ],
    );
}

/// The same mistake twice, and what was meant the first time is not there the second time.
#[test]
fn suggestions_are_in_scope() {
    let undefined = "error: call target `frobnicat` is not defined or imported";
    let meant = |name: &str| format!("{undefined} — did you mean `{name}`?");
    let local = "fn frobnicate() { }\n frobnicat()\n frobnicat()";
    check(
        &format!("fn a() {{ {local} }}\nfn b() {{ frobnicat() }}"),
        &[&meant("frobnicate"), &meant("frobnicate"), undefined],
    );
    check(
        &format!("fn b() {{ frobnicat() }}\nfn a() {{ {local} }}"),
        &[undefined, &meant("frobnicate"), &meant("frobnicate")],
    );
    check(
        &format!("fn a() {{ {local} }}\nfn b() {{ fn frobnicats() {{ }}\n frobnicat() }}"),
        &[
            &meant("frobnicate"),
            &meant("frobnicate"),
            &meant("frobnicats"),
        ],
    );
}

#[test]
fn suggestions_offer_a_change() {
    let checked = inspect("printn(1)", &Imported::default(), CheckOptions::default());
    let fix = checked.diagnostics[0].fix.as_ref().unwrap();
    assert_eq!(fix.edits[0].text, "print");
    assert_eq!((fix.edits[0].span.start, fix.edits[0].span.end), (0, 6));
}

/// 9.9: what is declared anywhere may be called, even in the shortest expression.
#[test]
fn a_declaration_in_a_short_expression_counts() {
    check("let f = {->fn g(){}}\nfn body() {\n  g()\n}", &[]);
}
