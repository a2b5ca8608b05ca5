//! 9: which error comes first.

use crate::support::{check, check_body};

#[test]
fn from_the_inside_out() {
    check_body(
        "let n: string = 1 + (1 - nil)",
        &["error: can't use '-' on int and nil (needs numeric operands)"],
    );
    check_body(
        "let n: string = (1 + nil) ?? 2",
        &[
            "error: can't add int and nil",
            "error: 'n' declared as string, but assigned int",
        ],
    );
}

#[test]
fn the_condition_before_the_branches() {
    check_body(
        "if (1 + nil) == 2 { 1 - nil } else { 1 * nil }",
        &[
            "error: can't add int and nil",
            "error: can't use '-' on int and nil (needs numeric operands)",
            "error: can't multiply int and nil (try string * int)",
        ],
    );
}

#[test]
fn the_matched_value_then_the_arms_then_exhaustiveness() {
    check(
        "enum E { A, B }\nfn g(x) -> E { return E.A }\n\
         fn f() { match g(1 + nil) { E.A -> { 1 - nil } } }",
        &[
            "error: can't add int and nil",
            "error: can't use '-' on int and nil (needs numeric operands)",
            "error: Non-exhaustive match on enum E: missing variants \"B\"",
        ],
    );
}

#[test]
fn calls() {
    check(
        "interface I { fn m() }\n\
         fn f<T>(a: T, b: T, c: int) where T: I { }\n\
         fn g() { f<int, int>(1, \"a\", nil, nope_at_all()) }",
        &[
            "warning: Function 'f' expects 3 arguments, got 4",
            "error: Function 'f' expects 1 type arguments, got 2",
            "error: type parameter 'T' was inferred as both int and string",
            "error: Argument 3 ('c'): expected int, got nil",
            "error: Type 'int' does not satisfy interface 'I': missing method(s): m (required by \
             constraint `where T: I`)",
            "error: call target `nope_at_all` is not defined or imported",
        ],
    );
    check(
        "fn g() { nope_at_all(1 + nil) }",
        &[
            "error: call target `nope_at_all` is not defined or imported",
            "error: can't add int and nil",
        ],
    );
}

#[test]
fn bodies_before_returns() {
    check(
        "fn f(c) -> int { if c { return \"a\" }\n let n = 1 + nil\n return n }",
        &[
            "error: can't add int and nil",
            "error: return type doesn't match: expected int, got string",
        ],
    );
}

#[test]
fn items_in_source_order() {
    check(
        "fn f() { 1 + nil }\nlet x: int = \"a\"\nfn g() { 1 - nil }",
        &[
            "error: can't add int and nil",
            "error: 'x' declared as int, but assigned string",
            "error: can't use '-' on int and nil (needs numeric operands)",
        ],
    );
}
