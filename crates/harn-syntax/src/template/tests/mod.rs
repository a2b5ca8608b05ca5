//! Expectations are written as trees in parentheses, see `printer`.

mod directives;
mod errors;
mod expressions;
mod printer;
mod properties;

use super::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(outcome(text), expected, "{text}");
}

/// A template as a tree, or what is wrong with it.
fn outcome(text: &str) -> String {
    match parse_template(text) {
        Ok(template) => printer::nodes(&template.nodes),
        Err(error) => error.to_string(),
    }
}
