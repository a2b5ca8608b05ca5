//! 9.7: bindings.

use crate::support::{accept, check, check_body};

#[test]
fn an_initialiser_must_fit_its_annotation() {
    check_body(
        "let n: int = \"x\"",
        &["error: 'n' declared as int, but assigned string"],
    );
    accept("let n: int = 1\nlet f: float = 1\nvar s: string | nil = nil\nlet d: dict = {a: 1}");
    accept("let n: int = json_parse(\"1\")");
    accept("let xs: list<int> = [1, 2]\nlet ys: list<int> = []\nlet d: dict<string, int> = {a: 1}");
}

#[test]
fn top_level_bindings_are_checked() {
    check(
        "let n: int = \"x\"",
        &["error: 'n' declared as int, but assigned string"],
    );
}

#[test]
fn shapes_say_in_what_they_differ() {
    check_body(
        "let p: {x: int, y: string, z?: int, w: bool} = {x: \"a\", z: nil, w: true}",
        &[
            "error: 'p' declared as {x: int, y: string, z?: int, w: bool}, but assigned \
           {x: string, z: nil, w: bool} (field 'x' has type string, expected int; \
           missing field 'y' (string))",
        ],
    );
    check(
        "type P = {x: int}\nfn f() { let p: P = {y: 1} }",
        &["error: 'p' declared as P, but assigned {y: int} (missing field 'x' (int))"],
    );
    check_body(
        "let p: {x: int} = 1",
        &["error: 'p' declared as {x: int}, but assigned int"],
    );
}

#[test]
fn destructured_names_are_dynamic() {
    accept("let {a, b} = {a: 1, b: 2}\nlet s: string = a\nlet [c] = [1]\nlet t: string = c");
}

#[test]
fn defaults_of_patterns_are_checked() {
    check_body(
        "let {a = 1 + nil} = {b: 2}\nlet [c = nope()] = []",
        &[
            "error: can't add int and nil",
            "error: call target `nope` is not defined or imported",
        ],
    );
}

#[test]
fn interpolated_expressions_are_not_checked() {
    accept("let s = \"${1 + nil} ${nowhere_to_be_found()}\"");
}

#[test]
fn max_concurrent_must_be_an_int() {
    check_body(
        "parallel each [1] with { max_concurrent: \"a\" } { x -> x }",
        &["error: `max_concurrent` on `parallel` must be int, got Named(\"string\")"],
    );
    check_body(
        "parallel 3 with { max_concurrent: 1.5 } { x -> x }",
        &["error: `max_concurrent` on `parallel` must be int, got Named(\"float\")"],
    );
    accept("parallel each [1] with { max_concurrent: 2 } { x -> x }");
    accept("parallel each [1] with { max_concurrent: len([]) } { x -> x }");
}

#[test]
fn try_star_needs_a_function() {
    let message = "error: try* requires an enclosing function (fn, tool, or pipeline) so the \
                   rethrow has a target";
    check("let x = try* 1", &[message]);
    check("if true { try* 1 }", &[message]);
    check(
        "fn f() { try* 1 }\npipeline p() { try* 1 }\ntool t() { try* 1 }",
        &[],
    );
    check(
        "let f = { -> try* 1 }\nimpl S { fn m(self) { try* 1 } }",
        &[],
    );
}

#[test]
fn streams() {
    check(
        "gen fn f() -> Stream<int> { emit \"a\" }",
        &["error: emit type doesn't match: expected int, got string"],
    );
    check(
        "gen fn f() -> Stream<int> { emit 1\n for x in [1] { emit x } }",
        &[],
    );
    check("gen fn f() { emit \"a\"\n emit 1 }", &[]);
    check("gen fn f() -> stream<float> { emit 1 }", &[]);
    check(
        "gen fn f() -> int { emit 1 }",
        &["error: `gen fn` must return Stream<T>, got int"],
    );
    check(
        "gen fn f() -> list<int> { emit 1 }",
        &["error: `gen fn` must return Stream<T>, got list<int>"],
    );
    check(
        "fn f() { emit 1 }",
        &["error: `emit` can only be used inside a `gen fn`"],
    );
    check(
        "emit 1",
        &["error: `emit` can only be used inside a `gen fn`"],
    );
    check(
        "gen fn f() { let g = { -> emit 1 } }",
        &["error: `emit` can only be used inside a `gen fn`"],
    );
    check(
        "gen fn f() { yield 1 }",
        &["error: `yield` is not a stream emit; use `emit` inside `gen fn`"],
    );
    check(
        "gen fn f() { let g = { -> yield 1 } }\nfn h() { yield 1 }",
        &[],
    );
}
