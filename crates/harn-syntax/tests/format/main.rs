//! Section 17 of the specification, sentence by sentence, and what holds for every program.

mod blocks;
mod chains;
mod collections;
mod comments;
mod conformance;
mod imports;
mod layout;
mod literals;
mod operators;
mod parentheses;
mod placement;
mod program;
mod promises;
mod properties;
mod sequences;

use promises::formatted;

/// Checks that a text is formatted as expected, and that what is expected stays as it is.
#[track_caller]
fn check(source: &str, expected: &str) {
    check_width(100, source, expected);
}

#[track_caller]
fn check_width(width: usize, source: &str, expected: &str) {
    assert_eq!(formatted(source, width), expected, "of\n{source}");
}

/// Checks the body of a function, without its indentation.
#[track_caller]
fn check_body(source: &str, expected: &str) {
    let lines = expected.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("  {line}\n"),
    });
    let expected = format!("fn body() {{\n{}}}\n", lines.collect::<String>());
    check(&format!("fn body() {{\n{source}\n}}"), &expected);
}

/// Checks that each text stays as it is, as the value of a binding.
#[track_caller]
fn check_values(values: &[&str]) {
    for value in values {
        let source = format!("let value = {value}\n");
        check(&source, &source);
    }
}

/// Checks values of bindings.
#[track_caller]
fn check_value(source: &str, expected: &str) {
    check(
        &format!("let value = {source}"),
        &format!("let value = {expected}\n"),
    );
}
