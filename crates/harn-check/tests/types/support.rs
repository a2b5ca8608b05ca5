//! How programs are checked in these tests.

use harn_check::{CheckOptions, Checked, Imported, inspect_types};

/// What the checker says about a program that can be parsed.
#[track_caller]
pub(crate) fn inspect(source: &str, imported: &Imported, options: CheckOptions) -> Checked {
    let parsed = harn_syntax::parse(source);
    let errors: Vec<_> = parsed.errors.iter().map(|error| &error.message).collect();
    assert!(errors.is_empty(), "{source}\ncan not be parsed: {errors:?}");
    inspect_types(&parsed.module, imported, options)
}

/// Diagnostics as `severity: message`.
pub(crate) fn lines(checked: &Checked) -> Vec<String> {
    let line = |one: &harn_syntax::Diagnostic| format!("{}: {}", one.severity.text(), one.message);
    checked.diagnostics.iter().map(line).collect()
}

/// Checks a program that imports nothing.
#[track_caller]
pub(crate) fn check(source: &str, expected: &[&str]) {
    let checked = inspect(source, &Imported::default(), CheckOptions::default());
    assert_eq!(lines(&checked), expected, "{source}");
}

/// Checks statements in the body of a function.
#[track_caller]
pub(crate) fn check_body(statements: &str, expected: &[&str]) {
    check(&format!("fn body() {{\n{statements}\n}}"), expected);
}

/// Nothing is said about these statements in the body of a function.
#[track_caller]
pub(crate) fn accept(statements: &str) {
    check_body(statements, &[]);
}

/// The expression is inferred to be of that type after the statements; dynamic if it is `""`.
#[track_caller]
pub(crate) fn infers(statements: &str, expression: &str, expected: &str) {
    let source = format!("fn body() {{\n{statements}\nlet probe: never = {expression}\n}}");
    infers_in(&source, expected);
}

/// The only error of the program is that the probe, declared as `never`, has that type.
#[track_caller]
pub(crate) fn infers_in(source: &str, expected: &str) {
    if expected.is_empty() {
        check(source, &[]);
    } else {
        let message = format!("error: 'probe' declared as never, but assigned {expected}");
        check(source, &[&message]);
    }
}
