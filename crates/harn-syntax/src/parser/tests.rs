use proptest::prelude::*;

use super::*;

/// Each source and what it is read as.
#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        let parsed = parse(source);
        let errors: Vec<_> = parsed.errors.iter().map(|error| &error.message).collect();
        assert!(errors.is_empty(), "{source}: {errors:?}");
        assert_eq!(print(&parsed.module), *expected, "{source}");
    }
}

/// The tree with one statement a line, however long.
fn print(module: &Module) -> String {
    let printed = module.to_string();
    let lines = printed.trim_end().split("\n  ");
    lines.map(str::trim_start).collect::<Vec<_>>().join(" ")
}

/// Each source and its first error.
#[track_caller]
fn check_errors(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        let parsed = parse(source);
        let first = parsed.errors.first().map(|error| error.message.as_str());
        assert_eq!(first, Some(*expected), "{source}");
    }
}

fn all_errors(source: &str) -> Vec<String> {
    let errors = parse(source).errors.into_iter();
    errors.map(|error| error.message).collect()
}

mod expressions;
mod items;
mod messages;
mod newlines;
mod recovery;
mod statements;
