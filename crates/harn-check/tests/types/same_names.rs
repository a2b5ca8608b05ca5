//! Types of the same name: in different bodies, and imported next to the file's own.

use std::sync::Arc;

use harn_check::{CheckOptions, Imported};
use harn_syntax::tree::{Item, StatementKind};

use crate::support::{check, inspect, lines};

/// Nothing is said about uses of two types that are called the same.
#[track_caller]
fn accept_both(one: &str, other: &str) {
    check(
        &format!("fn a() {{\n{one}\n}}\nfn b() {{\n{other}\n}}"),
        &[],
    );
    check(
        &format!("fn b() {{\n{other}\n}}\nfn a() {{\n{one}\n}}"),
        &[],
    );
}

#[test]
fn structs_of_different_bodies() {
    accept_both(
        "struct S { x: int }\nlet s = S {x: 1}\nlet t: S = s",
        "struct S { y: string }\nlet s = S {y: \"a\"}\nlet t: S = s",
    );
    accept_both(
        "struct S<T> { x: T }\nimpl S { fn get(self, x: T) -> T { return x } }\n\
         let s: S<int> = S {x: 1}",
        "struct S { y: string }\nlet s = S {y: \"a\"}\nlet t: S = s",
    );
    accept_both(
        "struct S<out T> { }\ntype A<out T> = S<T>",
        "struct S<T> { x: T }",
    );
    let same = "struct S { x: int }\nlet s = S {x: \"a\"}";
    let message = "error: Field 'x' in struct 'S' expects int, got string";
    check(
        &format!("fn a() {{\n{same}\n}}\nfn b() {{\n{same}\n}}"),
        &[message, message],
    );
}

#[test]
fn enums_of_different_bodies() {
    accept_both(
        "enum E { A, B }\nlet e = E.A\nmatch e { E.A -> { 1 } E.B -> { 2 } }",
        "enum E { C(n: int) }\nlet e: E = E.C(1)\nlet n = \"a\"\n\
         match e { E.C(n) -> { let m: int = n } }",
    );
    accept_both(
        "enum E { A, B }\nlet e = E.A\nmatch e.variant { \"A\" -> { 1 } \"B\" -> { 2 } }",
        "struct E { x: int }\nlet e: E = E {x: 1}",
    );
}

#[test]
fn interfaces_and_aliases_of_different_bodies() {
    accept_both(
        "interface I { fn m() -> int }\nstruct S { }\n\
         impl S { fn m(self) -> int { return 1 } }\nlet i: I = S { }",
        "interface I { fn k() }\nstruct U { }\nimpl U { fn k(self) { } }\nlet i: I = U { }\n\
         fn bounded<T>(x: T) where T: I { x.k() }\nbounded(U { })",
    );
    accept_both(
        "type A = int\nlet a: A = 1",
        "struct A { x: int }\nlet a: A = A {x: 1}",
    );
    accept_both(
        "struct S { }\nimpl S { fn m(self) -> int { return 1 } }\n\
         interface I { fn m() -> int }\nlet i: I = S { }",
        "struct S { }\nimpl S { fn m(self) -> string { return \"\" } }\n\
         interface J { fn m() -> string }\nlet i: J = S { }",
    );
}

/// Checks a program that imports these types.
#[track_caller]
fn check_importing(types: &str, source: &str, expected: &[&str]) {
    let parsed = harn_syntax::parse(types);
    let items = parsed
        .module
        .statements
        .iter()
        .filter_map(|one| match &one.kind {
            StatementKind::Item(item) => Some(item),
            _ => None,
        });
    let imported = Imported {
        types: items.map(|item| Arc::new(Item::clone(item))).collect(),
        ..Imported::default()
    };
    let checked = inspect(source, &imported, CheckOptions::default());
    assert_eq!(lines(&checked), expected, "{source}");
}

#[test]
fn types_of_the_file_hide_imported_ones() {
    let wrong = "error: 'b' declared as A, but assigned string";
    check_importing(
        "type A = string",
        "type A = int\nlet a: A = 1\nlet b: A = \"x\"",
        &[wrong],
    );
    check_importing(
        "struct A { x: int }",
        "type A = int\nlet b: A = \"x\"",
        &[wrong],
    );
    check_importing(
        "type A = string",
        "struct A { x: int }\nlet a = A {x: \"a\"}",
        &["error: Field 'x' in struct 'A' expects int, got string"],
    );
    check_importing("type A = int", "let b: A = \"x\"", &[wrong]);
    check_importing(
        "type A = int",
        "let b: A = 1\nfn f() { type A = string\nlet a: A = \"x\" }",
        &[],
    );
}
