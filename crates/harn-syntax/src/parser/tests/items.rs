use super::*;

#[test]
fn functions() {
    check(&[
        ("fn f() { }", "(fn f () (do))"),
        (
            "pub fn f(a, b: int = 1, ...c: list) -> int { return a }",
            "(pub (fn f (a (b (: int) (= 1)) (...c (: list))) (: int) (do (return a))))",
        ),
        (
            "gen fn f() -> Stream<int> { emit 1 }",
            "(gen-fn f () (: Stream<int>) (do (emit 1)))",
        ),
        ("pub gen fn f() { }", "(pub (gen-fn f () (do)))"),
        (
            "fn f<T, in U, out V>(a: T) where T: A, U: B { }",
            "(fn f (<> T in U out V) ((a (: T))) (where T A) (where U B) (do))",
        ),
        (
            "fn f<out>(a: out) { }",
            "(fn f (<> out) ((a (: out))) (do))",
        ),
        ("let gen = 1", "(let gen 1)"),
    ]);
}

#[test]
fn pipelines_and_overrides() {
    check(&[
        (
            "pipeline default(task) { a }",
            "(pipeline default (task) (do a))",
        ),
        (
            "pub pipeline p() -> int extends q { }",
            "(pub (pipeline p () (: int) (extends q) (do)))",
        ),
        (
            "pipeline p() { override step(a) { b } }",
            "(pipeline p () (do (override step (a) (do b))))",
        ),
    ]);
    check_errors(&[
        (
            "fn f() { pipeline p() { } }",
            "Expected expression, got pipeline at 1:10",
        ),
        (
            "fn f() { import \"m\" }",
            "Expected expression, got import at 1:10",
        ),
    ]);
}

#[test]
fn imports() {
    check(&[
        ("import \"a/b\"", "(import \"a/b\")"),
        ("import { a, b } from \"m\"", "(import (a b) \"m\")"),
        ("pub import { a } from \"m\"", "(pub (import (a) \"m\"))"),
    ]);
}

#[test]
fn structs_enums_types_interfaces_impls() {
    check(&[
        (
            "struct Point<T> { x: int, y?: T, z }",
            "(struct Point (<> T) (x (: int)) (y? (: T)) z)",
        ),
        (
            "pub enum Shape { Circle(r: float), Unit }",
            "(pub (enum Shape (Circle (r (: float))) Unit))",
        ),
        (
            "type A<T> = [T] | {a?: \"x\", if: -1} | nil | true",
            "(type A (<> T) list<T> | {a?: \"x\", if: -1} | nil | bool)",
        ),
        (
            "interface I<T> { type Item type Id = int fn get(self) -> Item fn put<U>(x: U) }",
            "(interface I (<> T) (type Item) (type Id (: int)) (fn get (self) (: Item)) (fn put (<> U) ((x (: U)))))",
        ),
        (
            "impl Point { fn a(self) { } pub fn b() { } }",
            "(impl Point (fn a (self) (do)) (pub (fn b () (do))))",
        ),
    ]);
}

#[test]
fn tools_skills_and_eval_packs() {
    check(&[
        (
            "tool search(query: string, limit: int = 20) -> list<string> {\n  description \"Find\"\n  [query]\n}",
            "(tool search ((query (: string)) (limit (: int) (= 20))) (: list<string>) \"Find\" (do (list query)))",
        ),
        ("tool t() { description }", "(tool t () (do description))"),
    ]);
    check(&[
        (
            "skill deploy {\n description \"Ship\"; paths [\"a\"]\n on fn() { go() }\n}",
            "(skill deploy (description \"Ship\") (paths (list \"a\")) (on (fn () (do (call go)))))",
        ),
        (
            "eval_pack p \"id\" { a: 1; log(1)\n summarize { b } }",
            "(eval_pack p \"id\" (field a 1) (call log 1) (summarize (do b)))",
        ),
        ("eval_pack \"id\" { }", "(eval_pack \"id\")"),
        (
            "eval_pack p { summarize: 1 }",
            "(eval_pack p (field summarize 1))",
        ),
    ]);
}

#[test]
fn attributes() {
    check(&[
        (
            "@test\n@deprecated(since: \"1\", use: g)\nfn f() { }",
            "(@ test (@ (deprecated (since \"1\") (use g)) (fn f () (do))))",
        ),
        (
            "@a(1, -2, 1.5, -1.5, true, nil, x, r\"y\", [1, [z]],) struct S { }",
            "(@ (a 1 -2 1.5 -1.5 true nil x \"y\" (list 1 (list z))) (struct S))",
        ),
        ("@a() pub fn f() { }", "(@ (a) (pub (fn f () (do))))"),
    ]);
}
