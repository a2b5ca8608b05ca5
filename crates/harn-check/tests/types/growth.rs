//! Programs in which something comes thousands of times. The work must not grow with the
//! square of it; a test that takes many seconds says that it does.

use harn_check::{CheckOptions, Imported, check_types};

/// `part` for every number below `count`, joined.
fn each(count: usize, between: &str, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(between)
}

/// What is said about a program.
#[track_caller]
fn said(source: &str) -> Vec<String> {
    let parsed = harn_syntax::parse(source);
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors.first());
    let options = CheckOptions::default();
    let diagnostics = check_types(&parsed.module, &Imported::default(), options);
    diagnostics.into_iter().map(|one| one.message).collect()
}

#[test]
fn many_kinds_of_errors() {
    let thrown = each(20_000, "\n", |n| format!("if c {{ throw {{f{n}: 1}} }}"));
    let source = format!("fn f(c) {{ let probe: never = try {{ {thrown}\n 1 }} }}");
    let message = "'probe' declared as never, but assigned Result<int, _>";
    assert_eq!(said(&source), [message]);
}

#[test]
fn many_type_parameters() {
    let count = 8_000;
    let names = each(count, ", ", |n| format!("T{n}"));
    let parameters = each(count, ", ", |n| format!("a{n}: T{n}"));
    let arguments = each(count, ", ", |_| "1".to_owned());
    let uses = each(count, "\n", |n| format!("let b{n}: int = a{n}"));
    let source = format!("fn f<{names}>({parameters}) {{\n{uses}\n}}\nfn g() {{ f({arguments}) }}");
    assert_eq!(said(&source), Vec::<String>::new());
    let marked = each(count, ", ", |n| format!("out T{n}"));
    let fields = each(3_000, ", ", |n| format!("f{n}: T{n}"));
    let alias =
        format!("type A<{marked}> = {{{fields}}}\nfn f(a: A<int>) {{ let b: {{f1: int}} = a }}");
    assert_eq!(said(&alias), Vec::<String>::new());
}

#[test]
fn many_optional_fields() {
    let count = 3_500;
    let fields = each(count, ", ", |n| format!("f{n}?: int"));
    let one_by_one = each(count, "\n", |n| format!("if x.has(\"f{n}\") {{ }}"));
    let guards = each(count, "\n", |n| {
        format!("guard x.has(\"f{n}\") else {{ return }}")
    });
    let together = each(count, " && ", |n| format!("x.has(\"f{n}\")"));
    for statements in [one_by_one, guards, format!("let c = {together}")] {
        let source = format!("fn f(x: {{{fields}}}) {{\n{statements}\n}}");
        assert_eq!(said(&source), Vec::<String>::new());
    }
}

#[test]
fn many_tagged_shapes() {
    let count = 900;
    let shapes = each(count, " | ", |n| format!("{{kind: \"k{n}\", n: int}}"));
    let branches = each(count, " else ", |n| {
        format!("if s.kind == \"k{n}\" {{ 1 }}")
    });
    let chain = format!("{branches} else {{ unreachable(s) }}");
    for (declared, statements) in [
        (&*shapes, chain.clone()),
        ("S", chain.clone()),
        ("S", format!("let x = {chain}")),
    ] {
        let source = format!("type S = {shapes}\nfn f(s: {declared}) {{ {statements} }}");
        assert_eq!(said(&source), Vec::<String>::new());
    }
}
