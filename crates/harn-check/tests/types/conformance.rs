//! The checker and the programs that describe the language.
//!
//! Nothing runs here, so only half of each program is looked at: one that is expected to
//! succeed must have exactly the warnings it expects and no error, and one that is expected
//! to fail must not fail for another reason already here.

use std::fs;
use std::path::{Path, PathBuf};

use harn_check::modules::{Disk, Workspace};
use harn_check::{CheckOptions, check_types};
use harn_syntax::{Diagnostic, Severity};
use regex::Regex;

/// How the messages of static errors begin. A program that expects one must get it here.
const STATIC_ERRORS: &[&str] = &[
    "'",
    "can't assign ",
    "can't add ",
    "can't use ",
    "can't multiply ",
    "return type doesn't match",
    "emit type doesn't match",
    "`gen fn` must return",
    "`emit` can only",
    "`yield` is not",
    "`max_concurrent` on",
    "Argument ",
    "type parameter ",
    "Function '",
    "Builtin function '",
    "Type '",
    "call target ",
    "unknown struct type ",
    "Non-exhaustive match",
    "Or-pattern alternatives",
    "unreachable() argument",
    "Field '",
];

/// Where the programs are.
pub(crate) fn conformance() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

/// Every program in a directory.
pub(crate) fn programs(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the programs can be listed") {
        let path = entry.expect("the programs can be listed").path();
        if path.is_dir() {
            programs(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "harn")
        {
            found.push(path);
        }
    }
}

fn messages(diagnostics: &[Diagnostic], severity: Severity) -> Vec<&str> {
    let wanted = diagnostics.iter().filter(|one| one.severity == severity);
    wanted.map(|one| one.message.as_str()).collect()
}

/// What is wrong with a program that is expected to succeed.
fn problem_of_success(expected: &str, diagnostics: &[Diagnostic]) -> Option<String> {
    let errors = messages(diagnostics, Severity::Error);
    let warnings = messages(diagnostics, Severity::Warning);
    let wanted = expected
        .lines()
        .filter_map(|line| line.strip_prefix("warning: "));
    let wanted: Vec<&str> = wanted.collect();
    (!errors.is_empty() || warnings != wanted)
        .then(|| format!("errors {errors:?}, warnings {warnings:?} instead of {wanted:?}"))
}

/// What is wrong with a program that is expected to fail.
fn problem_of_failure(expected: &str, diagnostics: &[Diagnostic]) -> Option<String> {
    let lines: Vec<&str> = expected.lines().filter(|line| !line.is_empty()).collect();
    let Some(first) = messages(diagnostics, Severity::Error).first().copied() else {
        let text = |line: &str| {
            line.trim_start_matches("re:")
                .trim_start_matches('^')
                .to_owned()
        };
        let is_static = |line: &&str| STATIC_ERRORS.iter().any(|own| text(line).starts_with(own));
        return lines
            .iter()
            .any(is_static)
            .then(|| format!("nothing instead of {lines:?}"));
    };
    let matches = |line: &&str| match line.strip_prefix("re:") {
        Some(pattern) => Regex::new(pattern.trim()).is_ok_and(|pattern| pattern.is_match(first)),
        None => first.contains(*line),
    };
    (!lines.iter().any(matches)).then(|| format!("{first:?} instead of {lines:?}"))
}

#[test]
fn programs_are_checked_as_they_expect() {
    let mut found = Vec::new();
    programs(&conformance(), &mut found);
    let mut workspace = Workspace::new(Box::new(Disk));
    let mut problems = Vec::new();
    for path in &found {
        let Ok(file) = workspace.parsed(path) else {
            continue;
        };
        if !file.parsed.errors.is_empty() {
            continue;
        }
        let imported = workspace.imported(path);
        let said = check_types(&file.parsed.module, &imported, CheckOptions::default());
        let expectation = |extension| fs::read_to_string(path.with_extension(extension)).ok();
        let problem = match (expectation("expected"), expectation("error")) {
            (Some(expected), _) => problem_of_success(&expected, &said),
            (None, Some(expected)) => problem_of_failure(&expected, &said),
            (None, None) => None,
        };
        problems.extend(problem.map(|problem| format!("{}: {problem}", path.display())));
    }
    assert!(found.len() > 1_000, "the programs are where they were");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The modules that come with the language are well typed themselves.
#[test]
fn standard_modules_have_no_errors() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("std");
    let mut found = Vec::new();
    programs(&root, &mut found);
    let mut workspace = Workspace::new(Box::new(Disk));
    let mut problems = Vec::new();
    for path in &found {
        let file = workspace.parsed(path).expect("it can be read");
        let imported = workspace.imported(path);
        let said = check_types(&file.parsed.module, &imported, CheckOptions::default());
        let all = said
            .iter()
            .map(|one| format!("{}: {}", path.display(), one.message));
        problems.extend(all);
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
