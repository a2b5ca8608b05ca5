//! 9.3: what may stand for what.

use crate::support::{check, lines};

const DECLARED: &str = "struct P { x: int }\nstruct Box<T> { v: T }\nstruct Out<out T> { }\n\
    struct In<in T> { }\nenum Color { Red }\ntype Id = int\ntype Name = string\n\
    type Point = {x: int}\ntype Opt<T> = {v: T}\ntype Tree = {next: Tree | nil}\n\
    type Chain = {next: Chain | nil}\ninterface Named { fn name() -> string }\n\
    struct Cat { }\nimpl Cat { fn name(self) -> string { return \"\" } }\n";

#[track_caller]
fn is_compatible(actual: &str, expected: &str) -> bool {
    let source = format!("{DECLARED}fn f(a: {actual}) {{ let b: {expected} = a }}");
    let checked = crate::support::inspect(
        &source,
        &harn_check::Imported::default(),
        harn_check::CheckOptions::default(),
    );
    let found = lines(&checked);
    assert!(found.len() < 2, "{found:?}");
    found.is_empty()
}

#[track_caller]
fn fits(actual: &str, expected: &str) {
    assert!(is_compatible(actual, expected), "{actual} for {expected}");
}

#[track_caller]
fn differs(actual: &str, expected: &str) {
    assert!(!is_compatible(actual, expected), "{actual} for {expected}");
}

#[track_caller]
fn both_ways(one: &str, other: &str) {
    fits(one, other);
    fits(other, one);
}

#[test]
fn type_parameters_fit_everything() {
    check(
        "fn f<T>(a: T, b: int) { let c: string = a\n let d: T = b }",
        &[],
    );
}

#[test]
fn aliases_stand_for_their_definitions() {
    both_ways("Id", "int");
    differs("Id", "string");
    differs("Id", "Name");
    both_ways("Point", "{x: int}");
    both_ways("Opt<int>", "{v: int}");
    differs("Opt<int>", "{v: string}");
    fits("Opt<int | string>", "{v: int} | {v: string}");
    differs("Opt<int | string>", "{v: int}");
    both_ways("Tree", "Chain");
    differs("Tree", "{next: int}");
}

#[test]
fn interfaces_are_satisfied() {
    fits("Cat", "Named");
    differs("P", "Named");
    differs("{x: int}", "Named");
    fits("Named", "Named");
}

#[test]
fn never_any_and_unknown() {
    fits("never", "int");
    differs("int", "never");
    differs("any", "never");
    both_ways("any", "int");
    both_ways("any", "unknown");
    fits("int", "unknown");
    fits("{x: int}", "unknown");
    differs("unknown", "int");
    differs("unknown", "{x: int}");
    fits("unknown", "unknown");
    fits("unknown", "int | unknown");
}

#[test]
fn names() {
    fits("int", "int");
    fits("int", "float");
    differs("float", "int");
    differs("P", "Cat");
    fits("Opaque", "Opaque");
    differs("Opaque", "Other");
    both_ways("Box", "Box<int>");
    differs("P", "dict");
    differs("dict", "P");
    differs("P", "{x: int}");
    differs("{x: int}", "P");
    differs("Color", "string");
}

#[test]
fn generics_by_variance() {
    fits("Box<int>", "Box<int>");
    differs("Box<int>", "Box<float>");
    fits("Out<int>", "Out<float>");
    differs("Out<float>", "Out<int>");
    fits("In<float>", "In<int>");
    differs("In<int>", "In<float>");
    fits("Result<int, string>", "Result<float, string | nil>");
    differs("Result<float, string>", "Result<int, string>");
    differs("Box<int>", "Out<int>");
}

#[test]
fn unions() {
    fits("int", "int | string");
    fits("int | string", "string | int");
    differs("int | string", "int");
    fits("int | string", "int | string | nil");
    fits("int", "float | nil");
    differs("int | nil", "string | nil");
}

#[test]
fn shapes() {
    fits("{a: int, b: string}", "{a: int}");
    differs("{a: int}", "{a: int, b: string}");
    fits("{a: int}", "{a: int, b?: string}");
    fits("{a: int, b: int}", "{a: int, b?: string}");
    differs("{a: int}", "{a: string}");
    fits("{a: int}", "{a: float}");
    both_ways("{a: int}", "dict");
    fits("{a: int, b: int}", "dict<string, int>");
    differs("{a: int, b: string}", "dict<string, int>");
    differs("{a: int}", "dict<int, int>");
    fits("dict<string, int>", "{a: string}");
}

#[test]
fn containers() {
    fits("list<int>", "list<int>");
    fits("list<int>", "[int]");
    differs("list<int>", "list<float>");
    differs("list<int>", "list<int | nil>");
    both_ways("list", "list<int>");
    both_ways("dict", "dict<string, int>");
    differs("dict<string, int>", "dict<string, float>");
    fits("iter<int>", "iter<float>");
    differs("iter<float>", "iter<int>");
    fits("Generator<int>", "Generator<float>");
    fits("Stream<int>", "Stream<float>");
    both_ways("iter", "iter<int>");
    both_ways("generator", "Generator<int>");
    both_ways("stream", "Stream<int>");
    both_ways("list<any>", "list<int>");
    differs("list<int>", "dict");
    differs("list<int>", "set");
}

#[test]
fn functions() {
    fits("fn(int) -> int", "fn(int) -> int");
    differs("fn(int) -> int", "fn(int, int) -> int");
    fits("fn(float) -> int", "fn(int) -> float");
    differs("fn(int) -> int", "fn(float) -> int");
    differs("fn(int) -> float", "fn(int) -> int");
    both_ways("fn(int) -> int", "closure");
    differs("fn(int) -> int", "int");
}

#[test]
fn literals() {
    fits("\"a\"", "\"a\"");
    differs("\"a\"", "\"b\"");
    both_ways("\"a\"", "string");
    both_ways("1", "int");
    fits("1", "float");
    differs("float", "1");
    differs("1", "2");
    fits("\"a\"", "\"a\" | \"b\"");
    differs("\"c\"", "\"a\" | \"b\"");
    fits("string", "\"a\" | \"b\"");
    differs("1", "string");
    fits("-1", "-1");
    both_ways("true", "bool");
}

#[test]
fn printed_forms() {
    let print = |written: &str, printed: &str| {
        let source = format!("fn f(a: {written}) {{ let b: never = a }}");
        let message = format!("error: 'b' declared as never, but assigned {printed}");
        check(&source, &[&message]);
    };
    print("[int]", "list<int>");
    print("{b: int, a?: string}", "{b: int, a?: string}");
    print("int | nil", "int | nil");
    print("\"a\" | 1 | -2", "\"a\" | 1 | -2");
    print(r#""q\"b\\""#, r#""q\"b\\""#);
    print("fn(int, string) -> nil", "fn(int, string) -> nil");
    print("fn() -> list", "fn() -> list");
    print("dict<string, [int]>", "dict<string, list<int>>");
    print("Iter<int>", "iter<int>");
    print("generator<int>", "Generator<int>");
    print("stream<int>", "Stream<int>");
    print("Foo<Bar, _>", "Foo<Bar, _>");
    print("true", "bool");
}
