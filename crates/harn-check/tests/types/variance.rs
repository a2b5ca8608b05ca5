//! 9.6: where type parameters may stand.

use crate::support::check;

#[track_caller]
fn violates(source: &str, expected: &str) {
    check(
        source,
        &[&format!("error: type parameter 'T' is declared {expected}")],
    );
}

#[test]
fn functions_in_bodies() {
    violates(
        "fn o() { fn f<out T>(x: T) { } }",
        "'out' (covariant) but appears in a contravariant position in function 'f'",
    );
    violates(
        "fn o() { fn f<in T>() -> T { } }",
        "'in' (contravariant) but appears in a covariant position in function 'f'",
    );
    check(
        "fn o() { fn f<in T, out U>(x: T) -> U { }\n fn g<T>(x: T) -> T { } }",
        &[],
    );
    check("fn f<out T>(x: T) { }", &[]);
}

#[test]
fn aliases_enums_structs_and_interfaces() {
    check("type A<out T> = {v: T}\nenum E<out T> { V(x: T) }", &[]);
    violates(
        "type A<in T> = {v: T}",
        "'in' (contravariant) but appears in a covariant position in type alias 'A'",
    );
    violates(
        "enum E<in T> { V(x: T) }",
        "'in' (contravariant) but appears in a covariant position in enum 'E'",
    );
    violates(
        "struct S<out T> { v: T }",
        "'out' (covariant) but appears in an invariant position in struct 'S'",
    );
    violates(
        "interface I<out T> { fn put(x: T) }",
        "'out' (covariant) but appears in a contravariant position in interface 'I'",
    );
    check(
        "interface I<out T, in U> { fn get() -> T\n fn put(x: U) }",
        &[],
    );
}

#[test]
fn positions_compose() {
    let alias = |written: &str, position: &str| {
        let source = format!(
            "type Source<out T> = iter<T>\ntype Sink<in T> = fn(T) -> nil\n\
             type A<out T> = {written}"
        );
        if position.is_empty() {
            check(&source, &[]);
        } else {
            violates(
                &source,
                &format!("'out' (covariant) but appears in {position} position in type alias 'A'"),
            );
        }
    };
    alias("list<T>", "an invariant");
    alias("dict<string, T>", "an invariant");
    alias("iter<T>", "");
    alias("Generator<T> | Stream<T>", "");
    alias("{a: {b: T}}", "");
    alias("fn(int) -> T", "");
    alias("fn(T) -> int", "a contravariant");
    alias("fn(fn(T) -> int) -> int", "");
    alias("Source<T>", "");
    alias("Sink<T>", "a contravariant");
    alias("Sink<Sink<T>>", "");
    alias("Result<T, int>", "");
}
