//! 9.10: what a `match` must deal with.

use harn_check::{CheckOptions, Imported};

use crate::support::{check, inspect};

const DECLARED: &str = "enum Color { Red, Green, Blue }\nenum Opt<T> { Some(v: T), None }\n\
    type Shape = {kind: \"circle\", r: int} | {kind: \"square\", a: int}\n\
    type Level = \"low\" | \"high\" | 3\n";

#[track_caller]
fn arms(ty: &str, value: &str, arms: &[&str], expected: &str) {
    let arms: Vec<_> = arms
        .iter()
        .map(|arm| format!("{arm} -> {{ nil }}"))
        .collect();
    let arms = arms.join("\n");
    let source = format!("{DECLARED}fn f(x: {ty}) {{ match {value} {{\n{arms}\n}} }}");
    if expected.is_empty() {
        check(&source, &[]);
    } else {
        check(
            &source,
            &[&format!("error: Non-exhaustive match on {expected}")],
        );
    }
}

#[test]
fn enums() {
    arms(
        "Color",
        "x",
        &["Color.Red", "Color.Green", "Color.Blue"],
        "",
    );
    arms(
        "Color",
        "x",
        &["Color.Red"],
        "enum Color: missing variants \"Green\", \"Blue\"",
    );
    arms(
        "Color",
        "x.variant",
        &["\"Red\"", "\"Green\""],
        "enum Color: missing variants \"Blue\"",
    );
    arms("Color", "x", &["Color.Red", "_"], "");
    arms("Color", "x", &["Color.Red", "other"], "");
    arms(
        "Color",
        "x",
        &["Color.Red", "Green"],
        "enum Color: missing variants \"Blue\"",
    );
    arms("Color", "x", &["Color.Red(a)"], "");
    arms(
        "Color",
        "x",
        &["Color.Red if true", "Color.Green", "Color.Blue"],
        "",
    );
    arms("Opt<int>", "x", &["Opt.None"], "");
    arms(
        "Color",
        "Color.Red",
        &["Color.Red"],
        "enum Color: missing variants \"Green\", \"Blue\"",
    );
}

/// What is missing can be added, and then nothing is.
#[test]
fn missing_arms_can_be_added() {
    for (ty, value, arm) in [
        ("Color", "x", "Color.Red -> { 1 }"),
        ("Color", "x.variant", "\"Red\" -> { 1 }"),
        ("Shape", "x.kind", "\"circle\" -> { 1 }"),
        ("Level", "x", "3 -> { 1 }"),
        ("int | nil", "x", "nil -> { 1 }"),
    ] {
        let source = format!("{DECLARED}fn f(x: {ty}) {{ match {value} {{ {arm} }} }}");
        let checked = inspect(&source, &Imported::default(), CheckOptions::default());
        let fix = checked.diagnostics[0].fix.as_ref().unwrap();
        let edit = &fix.edits[0];
        let mut fixed = source.clone();
        fixed.replace_range(edit.span.range(), &edit.text);
        check(&fixed, &[]);
    }
}

#[test]
fn aliases_of_enums() {
    check(
        "enum E { A, B }\ntype Alias = E\nfn f(x: Alias) { match x { E.A -> { 1 } } }",
        &["error: Non-exhaustive match on enum E: missing variants \"B\""],
    );
}

#[test]
fn tagged_shapes() {
    arms("Shape", "x.kind", &["\"circle\"", "\"square\""], "");
    arms(
        "Shape",
        "x.kind",
        &["\"circle\""],
        "tagged shape union: missing variants \"square\"",
    );
    arms("Shape", "x.kind", &["\"circle\"", "_"], "");
    arms("Shape", "x.r", &["1"], "");
    arms(
        "{t: 1, a: int} | {t: 2, b: int}",
        "x.t",
        &["1"],
        "tagged shape union: missing variants 2",
    );
}

#[test]
fn literal_unions() {
    arms("Level", "x", &["\"low\"", "\"high\"", "3"], "");
    arms(
        "Level",
        "x",
        &["\"low\""],
        "literal union: missing \"high\", 3",
    );
    arms("Level", "x", &["\"low\" | 3", "\"high\""], "");
    arms("Level", "x", &["\"low\"", "other"], "");
    arms("Level", "x", &["\"low\"", "_"], "");
    arms("\"a\" | nil", "x", &["\"a\""], "");
}

#[test]
fn unions_of_names() {
    arms("int | string", "x", &["1", "\"a\""], "");
    arms(
        "int | string | nil",
        "x",
        &["1"],
        "union type: missing string, nil",
    );
    arms("bool | nil", "x", &["nil"], "union type: missing bool");
    arms("bool | nil", "x", &["nil", "true"], "");
    arms("float | nil", "x", &["1.5", "nil"], "");
    arms("int | list<int>", "x", &["1"], "");
    arms("int | string", "x", &["1", "{a: 1}"], "");
    arms("int", "x", &["1"], "");
    arms("any", "x", &["1"], "");
}

#[test]
fn or_patterns() {
    let message = "error: Or-pattern alternatives must be literal patterns (string, int, float, \
                   bool, nil, or `_`). Identifier bindings and destructuring patterns are not \
                   allowed inside `|`.";
    check("fn f(x) { match x { a | 1 -> { 1 } } }", &[message]);
    check("fn f(x) { match x { 1 | [2] -> { 1 } } }", &[message]);
    check(
        "fn f(x) { match x { 1 | \"a\" | 2.5 | true | nil | _ | -1 -> { 1 } } }",
        &[],
    );
}

#[test]
fn pattern_types() {
    let warning = |ty: &str, pattern: &str, kind: &str| {
        let source =
            format!("fn f(x: {ty}) {{ match x {{ {pattern} -> {{ 1 }}\n _ -> {{ 2 }} }} }}");
        if kind.is_empty() {
            check(&source, &[]);
        } else {
            let message = format!(
                "warning: Match pattern type mismatch: matching {ty} against {kind} literal"
            );
            check(&source, &[&message]);
        }
    };
    warning("int", "\"a\"", "string");
    warning("string", "1", "int");
    warning("string", "1.5", "float");
    warning("string", "true", "bool");
    warning("bool", "1 | true", "int");
    warning("list<int>", "1", "int");
    warning("int", "1.5", "");
    warning("float", "1", "");
    warning("int", "nil", "");
    warning("int | nil", "\"a\"", "string");
    warning("int | string", "\"a\"", "");
    warning("any", "\"a\"", "");
    warning("unknown", "\"a\"", "");
}

#[test]
fn unreachable_arguments() {
    check(
        "fn f(x: int | string) {\n if type_of(x) == \"int\" { return nil }\n unreachable(x) }",
        &["error: unreachable() argument has type `string` — not all cases are handled"],
    );
    check(
        "fn f(x: int | string) {\n if type_of(x) == \"int\" { return nil }\n\
         if type_of(x) == \"string\" { return nil }\n unreachable(x) }",
        &[],
    );
    check(
        "fn f(x) { unreachable(x)\n unreachable()\n unreachable(\"never here\") }",
        &[],
    );
}

#[test]
fn partly_narrowed_values() {
    let narrowed =
        "if type_of(x) == \"int\" { return nil }\nif type_of(x) == \"list\" { return nil }";
    let left = "string, float, bool, nil, dict, closure, bytes";
    let message = |site: &str| {
        format!(
            "warning: `{site}` reached but `x: unknown` was not fully narrowed — uncovered \
             concrete type(s): {left}"
        )
    };
    check(
        &format!("fn f(x: unknown) {{ {narrowed}\nthrow \"no\" }}"),
        &[&message("throw")],
    );
    check(
        &format!("fn f(x: unknown) {{ {narrowed}\nunreachable() }}"),
        &[&message("unreachable()")],
    );
    check(
        &format!("fn die() -> never {{ throw 1 }}\nfn f(x: unknown) {{ {narrowed}\ndie() }}"),
        &[&message("die()")],
    );
    check("fn f(x: unknown) { throw \"no\" }", &[]);
    check(&format!("fn f(x: any) {{ {narrowed}\nthrow \"no\" }}"), &[]);
    check(
        &format!("fn f(x: unknown, c) {{ if c {{ {narrowed} }}\nthrow \"no\" }}"),
        &[],
    );
    let all = [
        "int", "string", "float", "bool", "nil", "list", "dict", "closure", "bytes",
    ];
    let all = all.map(|kind| format!("if type_of(x) == \"{kind}\" {{ return nil }}\n"));
    check(
        &format!("fn f(x: unknown) {{ {}throw \"no\" }}", all.concat()),
        &[],
    );
}
