//! What editors and `harn explain` are told.

use harn_check::{CheckOptions, Imported, TYPE_CODES};

use crate::support::inspect;

#[track_caller]
fn at(source: &str, needle: &str, expected: Option<&str>) {
    let checked = inspect(source, &Imported::default(), CheckOptions::default());
    let place = source.find(needle).expect("it is there");
    let offset = u32::try_from(place).expect("sources are short here");
    let found = checked.type_at(offset).map(|(_, ty)| ty.to_string());
    assert_eq!(found.as_deref(), expected, "{needle}");
}

#[test]
fn names_have_types() {
    let source = "fn f(x: int | nil, y) {\n let total = 1.5\n if x != nil { log(x + 1) }\n g(y)\n}\n\
                  fn g(z: string) -> int { return 1 }";
    at(source, "x: int", Some("int | nil"));
    at(source, "total", Some("float"));
    at(source, "x + 1", Some("int"));
    at(source, "y)\n", None);
    at(source, "g(y)", Some("fn(string) -> int"));
    at(source, "if", None);
    at(source, "}\n", None);
}

#[test]
fn codes_are_words_and_each_is_there_once() {
    let mut names: Vec<&str> = TYPE_CODES.iter().map(|(code, _)| code.0).collect();
    for name in &names {
        assert!(
            name.chars()
                .all(|one| one.is_ascii_lowercase() || one == '-'),
            "{name}"
        );
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), TYPE_CODES.len());
}

#[test]
fn everything_said_has_a_code_of_the_table() {
    let source = "let n: int = \"a\"\nnope_at_all()\nfn f(x: int) { x = 1\n return 1\n f() }";
    let checked = inspect(source, &Imported::default(), CheckOptions::default());
    let codes: Vec<&str> = checked.diagnostics.iter().map(|one| one.code.0).collect();
    assert_eq!(
        codes,
        [
            "binding-type",
            "undefined-call",
            "immutable-assignment",
            "unreachable-code",
            "argument-count"
        ],
    );
}

/// 18.2: static type diagnostics have no label, and bindings are shown from `let` on.
#[test]
fn diagnostics_point_without_labels() {
    let source = "fn f() {\n  let n: int = \"x\"\n}";
    let checked = inspect(source, &Imported::default(), CheckOptions::default());
    let error = &checked.diagnostics[0];
    assert_eq!(error.label, None);
    assert!(error.secondary.is_empty() && error.notes.is_empty() && error.help.is_none());
    assert_eq!(error.span.of(source), "let n: int = \"x\"");
}
