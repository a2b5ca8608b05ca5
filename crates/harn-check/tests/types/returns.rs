//! 9.7: what functions return.

use crate::support::check;

const MISMATCH: &str = "error: return type doesn't match: expected int, got string";

#[test]
fn a_returned_value_must_fit_the_result() {
    check("fn f() -> int { return \"a\" }", &[MISMATCH]);
    check(
        "fn f() -> int { return 1 }\nfn g() -> float { return 1 }",
        &[],
    );
    check("fn f() -> int { return }", &[]);
    check("fn f() -> int { \"a\" }", &[]);
    check("fn f() { return \"a\" }", &[]);
}

#[test]
fn branches_of_if_are_looked_at() {
    check(
        "fn f(c) -> int { if c { return \"a\" }; return 1 }",
        &[MISMATCH],
    );
    check(
        "fn f(c) -> int { if c { return 1 } else { return \"a\" } }",
        &[MISMATCH],
    );
    check(
        "fn f(c) -> int { if c { return 1 } else if c { return \"a\" }; return 1 }",
        &[MISMATCH],
    );
    check(
        "fn f(c) -> int { if c { if c { return \"a\" } }; return 1 }",
        &[MISMATCH],
    );
}

#[test]
fn loops_matches_and_tries_are_not_looked_at() {
    check(
        "fn f(c) -> int { for x in [1] { return \"a\" }; return 1 }",
        &[],
    );
    check("fn f(c) -> int { while c { return \"a\" }; return 1 }", &[]);
    check(
        "fn f(c) -> int { match c { _ -> { return \"a\" } }; return 1 }",
        &[],
    );
    check("fn f(c) -> int { try { return \"a\" }; return 1 }", &[]);
    check(
        "fn f(c) -> int { let g = { -> return \"a\" }\n return 1 }",
        &[],
    );
}

#[test]
fn parameters_have_their_types_and_locals_none() {
    check("fn f(s: string) -> int { return s }", &[MISMATCH]);
    check("fn f() -> int { let s = \"a\"\n return s }", &[]);
    check("fn f(s: string) -> int { let s = 1\n return s }", &[]);
    check(
        "fn f(s: string) -> int { let {s} = {s: 1}\n return s }",
        &[],
    );
    check(
        "fn f(x: int | nil) -> int { if x != nil { return x }; return 0 }",
        &[],
    );
    check(
        "fn f(x: int | nil) -> int { if x == nil { return 0 }; return x }",
        &[],
    );
    check(
        "fn f(x: int | nil) -> int { guard x != nil else { return 0 }\n return x }",
        &[],
    );
    check(
        "fn f(x: int | nil) -> int { return x }",
        &["error: return type doesn't match: expected int, got int | nil"],
    );
}

#[test]
fn calls_in_returns_are_known() {
    check(
        "fn f() -> int { return g() }\nfn g() -> string { return \"\" }",
        &[MISMATCH],
    );
    check("fn f() -> int { return g() }\nfn g() { }", &[]);
    check(
        "fn f<T>(x: T) -> T { return x }\nfn g<T>(x: int) -> T { return x }",
        &[],
    );
}

#[test]
fn pipelines_tools_and_methods_return_too() {
    check("pipeline p() -> int { return \"a\" }", &[MISMATCH]);
    check("tool t() -> int { return \"a\" }", &[MISMATCH]);
    check(
        "struct S {}\nimpl S { fn m(self) -> int { return \"a\" } }",
        &[MISMATCH],
    );
    check("fn o() { fn f() -> int { return \"a\" } }", &[MISMATCH]);
    check("pipeline p() { return \"a\" }", &[]);
}

#[test]
fn what_generators_return_is_discarded() {
    check("fn f() -> Generator<int> { yield 1\n return nil }", &[]);
    check("gen fn f() -> Stream<int> { emit 1\n return nil }", &[]);
}
