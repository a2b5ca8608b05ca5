//! 9.9, 9.11 and 9.15: struct literals.

use harn_check::{CheckOptions, Imported};

use crate::support::{check, inspect};

const DECLARED: &str =
    "struct P { x: int, y: int, label?: string, any }\nstruct Box<T> { a: T, b: list<T> }\n";

#[track_caller]
fn literal(literal: &str, expected: &[&str]) {
    check(&format!("{DECLARED}fn f() {{ {literal} }}"), expected);
}

#[test]
fn fields_must_fit() {
    literal("P { x: 1, y: 2, any: nil }", &[]);
    literal("P { x: 1, y: 2, label: \"a\", any: 1 }", &[]);
    literal(
        "P { x: \"a\", y: 1.5, label: 3, any: 1 }",
        &[
            "error: Field 'x' in struct 'P' expects int, got string",
            "error: Field 'y' in struct 'P' expects int, got float",
            "error: Field 'label' in struct 'P' expects string, got int",
        ],
    );
    literal("Box { a: 1, b: [2] }", &[]);
    literal(
        "Box { a: 1, b: [\"x\"] }",
        &["error: Field 'b' in struct 'Box' expects list<int>, got list<string>"],
    );
}

#[test]
fn unknown_and_missing_fields() {
    literal(
        "P { x: 1, z: 2 }",
        &[
            "warning: Unknown field 'z' in struct 'P'",
            "warning: Missing field 'y' in struct 'P' construction",
            "warning: Missing field 'any' in struct 'P' construction",
        ],
    );
    literal("P { x: 1, ...{y: 2} }", &[]);
    literal("P({x: 1})", &[]);
}

#[test]
fn unknown_structs() {
    let said = |source: &str| {
        let checked = inspect(source, &Imported::default(), CheckOptions::default());
        let one = checked.diagnostics.into_iter().next().unwrap();
        (one.message, one.help.unwrap())
    };
    assert_eq!(
        said("let p = Nowhere { x: 1 }"),
        (
            "unknown struct type `Nowhere`".to_owned(),
            "declare `struct Nowhere { ... }` before constructing it".to_owned(),
        ),
    );
    assert_eq!(
        said("struct Point { x }\nlet p = Pont { x: 1 }"),
        (
            "unknown struct type `Pont` — did you mean `Point`?".to_owned(),
            "declare `struct Point { ... }` or fix the type name".to_owned(),
        ),
    );
    check(
        "fn f() { struct Inner { x } }\nfn g() { Inner { x: 1 } }",
        &[],
    );
}

#[test]
fn enums_are_not_checked() {
    check(
        "enum E { A(x: int) }\nlet a = E.A(\"x\", 2)\nlet b = E.Nowhere",
        &[],
    );
}
