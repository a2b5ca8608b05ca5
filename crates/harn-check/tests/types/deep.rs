//! Programs that are large, deep or circular on purpose.

use std::fmt::Write as _;

use harn_check::{CheckOptions, Imported, check_types};

use crate::support::check;

#[test]
fn circular_aliases_are_dynamic() {
    check(
        "type A = B\ntype B = A\nfn f(a: A) { let n: int = a\n let s: B = 1 }",
        &[],
    );
    check(
        "type A = A | int\nfn f(a: A) { match a { 1 -> { 1 } } }",
        &[],
    );
    check(
        "type L<T> = {v: T, next: L<list<T>> | nil}\ntype M<T> = {v: T, next: M<list<T>> | nil}\n\
         fn f(a: L<int>) { let b: M<int> = a }",
        &[],
    );
}

/// Each type is twice as large as the one before it.
#[test]
fn types_do_not_explode() {
    let mut source = String::from("fn f() {\nlet a0 = {x: 1}\n");
    let mut aliases = String::from("type A0 = {x: int}\ntype B0 = {x: int}\n");
    for n in 1..60 {
        let m = n - 1;
        let _ = writeln!(source, "let a{n} = {{x: a{m}, y: a{m}}}");
        let _ = writeln!(aliases, "type A{n} = {{x: A{m}, y: A{m}}}");
        let _ = writeln!(aliases, "type B{n} = {{x: B{m}, y: B{m}}}");
    }
    source += "let n: int = a59\nlet s = [a59]\n}\nfn g(a: A59) { let b: B59 = a }";
    let parsed = harn_syntax::parse(&(aliases + &source));
    let said = check_types(
        &parsed.module,
        &Imported::default(),
        CheckOptions::default(),
    );
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].message.len() < 100_000);
}

/// Each step of a comparison leads to two larger ones.
#[test]
fn comparisons_come_to_an_end() {
    let large: String = (0..300).map(|n| format!(", z{n}: int")).collect();
    let mut source = String::new();
    for name in ["G", "H"] {
        let _ = writeln!(
            source,
            "type {name}<T> = {{l: {name}<list<T>>, r: {name}<iter<T>>{large}}}"
        );
    }
    source += "fn f<U>(g: G<int>) {\n";
    for n in 0..10 {
        let _ = writeln!(source, "let h{n}: H<int> = g");
    }
    check(&(source + "}"), &[]);
}

#[test]
fn types_do_not_get_too_deep() {
    let mut source = String::from("fn f() {\nlet a0 = [1]\n");
    for n in 1..5_000 {
        let _ = writeln!(source, "let a{n} = [a{}]", n - 1);
    }
    source += "let n: int = a4999\n}";
    let parsed = harn_syntax::parse(&source);
    check_types(
        &parsed.module,
        &Imported::default(),
        CheckOptions::default(),
    );
}

#[test]
fn deep_programs_are_checked() {
    for (open, inside, close) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{a: ", "1", "}"),
        ("println(", "1", ")"),
        ("if true { ", "1", " }"),
        ("{ x: int -> ", "x", " }"),
        ("try { ", "1", " }"),
        ("true ? (", "1", ") : 2"),
        ("match 1 { _ -> { ", "1", " } }"),
        ("!", "true", ""),
    ] {
        for depth in [20, 60, 100, 150, 190, 250] {
            let value = format!("{}{inside}{}", open.repeat(depth), close.repeat(depth));
            let source = format!("fn f() {{ let probe: never = {value} }}");
            let parsed = harn_syntax::parse(&source);
            check_types(
                &parsed.module,
                &Imported::default(),
                CheckOptions::default(),
            );
        }
    }
}

/// A file of a hundred thousand lines takes well under a second when optimised; here we only
/// make sure that nothing grows with its square.
#[test]
fn long_files_are_checked_in_one_go() {
    let mut source = String::new();
    for n in 0..8_000 {
        let _ = writeln!(
            source,
            "fn f{n}(a: int, b: string | nil) -> int {{\n  if b == nil {{ return a }}\n  \
             let c: int = a + 1\n  return f{}(c, b)\n}}",
            (n + 1) % 8_000
        );
    }
    check(&source, &[]);
    let mut calls = String::from("fn g() {\n");
    for n in 0..3_000 {
        let _ = writeln!(calls, "undefined_name_{n}()");
    }
    let parsed = harn_syntax::parse(&(source + &calls + "}"));
    let said = check_types(
        &parsed.module,
        &Imported::default(),
        CheckOptions::default(),
    );
    assert_eq!(said.len(), 3_000);
}
