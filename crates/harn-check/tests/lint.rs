//! What each rule finds, what it leaves alone, and what its fixes write.

#[path = "lint/changes.rs"]
mod changes;
#[path = "lint/consequences.rs"]
mod consequences;
#[path = "lint/expressions.rs"]
mod expressions;
#[path = "lint/flow.rs"]
mod flow;
#[path = "lint/layout.rs"]
mod layout;
#[path = "lint/naming.rs"]
mod naming;
#[path = "lint/whole.rs"]
mod whole;

use harn_check::{Imported, LintOptions, lint};
use harn_syntax::{Diagnostic, LineIndex, parse};

/// Everything the rules say about a program.
#[track_caller]
fn findings(text: &str, options: &LintOptions) -> Vec<Diagnostic> {
    let parsed = parse(text);
    let errors: Vec<&str> = parsed
        .errors
        .iter()
        .map(|error| error.message.as_str())
        .collect();
    assert_eq!(errors, Vec::<&str>::new(), "{text}");
    lint(text, &parsed.module, &Imported::default(), options)
}

/// What one rule says, with places as people see them.
#[track_caller]
fn of_rule(rule: &str, text: &str, options: &LintOptions) -> Vec<(String, Diagnostic)> {
    let lines = LineIndex::new(text);
    let all = findings(text, options);
    let own = all.into_iter().filter(|finding| finding.code.0 == rule);
    own.map(|one| (lines.position(text, one.span.start).to_string(), one))
        .collect()
}

/// Where a rule finds something.
#[track_caller]
fn finds(rule: &str, text: &str, expected: &[&str]) {
    let found = of_rule(rule, text, &LintOptions::default());
    let places: Vec<&str> = found.iter().map(|(place, _)| place.as_str()).collect();
    assert_eq!(places, expected, "{rule}\n{text}\n{found:#?}");
}

/// That a rule finds nothing.
#[track_caller]
fn silent(rule: &str, text: &str) {
    finds(rule, text, &[]);
}

/// What a rule says, the first time.
#[track_caller]
fn says(rule: &str, text: &str, expected: &str) {
    let found = of_rule(rule, text, &LintOptions::default());
    let message = found.first().map(|(_, finding)| finding.message.as_str());
    assert_eq!(message, Some(expected), "{rule}\n{text}");
}

/// What becomes of a program when the first fix of a rule is applied. The rule must then find
/// one thing less.
#[track_caller]
fn fixes(rule: &str, text: &str, expected: &str) {
    let found = of_rule(rule, text, &LintOptions::default());
    let fix = found.first().and_then(|(_, finding)| finding.fix.as_ref());
    let Some(fix) = fix else {
        panic!("{rule} offers nothing for\n{text}\n{found:#?}");
    };
    let mut edits = fix.edits.clone();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
    let mut fixed = text.to_owned();
    for edit in edits {
        fixed.replace_range(edit.span.range(), &edit.text);
    }
    assert_eq!(fixed, expected, "{rule}");
    let left = of_rule(rule, &fixed, &LintOptions::default());
    assert!(left.len() < found.len(), "{rule} still finds it\n{fixed}");
}

/// That a rule finds something, and leaves what to do about it to a person.
#[track_caller]
fn leaves(rule: &str, text: &str) {
    let found = of_rule(rule, text, &LintOptions::default());
    let fixes: Vec<bool> = found.iter().map(|(_, one)| one.fix.is_some()).collect();
    assert_eq!(fixes, [false], "{rule}\n{text}\n{found:#?}");
}
