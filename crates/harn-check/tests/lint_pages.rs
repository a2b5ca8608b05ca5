//! Every rule has a page, and what the page shows is true: its wrong example is found by that
//! rule and no other, its right example by none, and applying what the finding offers to the
//! wrong example silences the rule and leaves a program.

use std::collections::BTreeSet;

use harn_check::{Imported, LintOptions, Rule, explain, lint, rules};
use harn_syntax::{Diagnostic, Edit, parse};

const INDEX: &str = include_str!("../../../docs/src/explain/index.md");

/// The names that the modules of the examples bring in.
fn imported() -> Imported {
    let names = ["clamp", "lerp", "parse", "render"];
    Imported {
        names: names.into_iter().map(Into::into).collect(),
        ..Imported::default()
    }
}

fn findings(rule: &Rule, text: &str) -> Vec<Diagnostic> {
    let parsed = parse(text);
    let errors: Vec<&str> = parsed
        .errors
        .iter()
        .map(|one| one.message.as_str())
        .collect();
    assert!(errors.is_empty(), "{}: {errors:?}\n{text}", rule.name);
    let options = LintOptions {
        require_file_header: !rule.on_by_default,
        ..LintOptions::default()
    };
    lint(text, &parsed.module, &imported(), &options)
}

/// The example below a heading.
fn example<'a>(rule: &Rule, page: &'a str, heading: &str) -> &'a str {
    let below = page.split(&format!("### {heading}\n\n```harn\n")).nth(1);
    let example = below.and_then(|below| below.split("```\n").next());
    example.unwrap_or_else(|| panic!("{} has no example `{heading}`", rule.name))
}

fn page(rule: &Rule) -> &'static str {
    explain(rule.name).unwrap_or_else(|| panic!("{} has no page", rule.name))
}

fn codes(findings: &[Diagnostic]) -> BTreeSet<&'static str> {
    findings.iter().map(|finding| finding.code.0).collect()
}

#[test]
fn wrong_examples_are_found_by_their_rule_only() {
    for rule in rules() {
        let text = example(rule, page(rule), "Wrong");
        let found = findings(rule, text);
        assert_eq!(codes(&found), BTreeSet::from([rule.name]), "{found:#?}");
        let label = format!("lint[{}]", rule.name);
        assert!(found.iter().all(|one| one.label.as_deref() == Some(&label)));
        assert!(found.iter().all(|one| one.help.is_some()), "{}", rule.name);
    }
}

#[test]
fn right_examples_are_fine() {
    for rule in rules() {
        let found = findings(rule, example(rule, page(rule), "Right"));
        assert_eq!(found, [], "{}", rule.name);
    }
}

/// Applies edits that do not overlap.
fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
    let mut text = text.to_owned();
    for edit in edits {
        text.replace_range(edit.span.range(), &edit.text);
    }
    text
}

#[test]
fn fixes_silence_their_rule() {
    for rule in rules() {
        let mut text = example(rule, page(rule), "Wrong").to_owned();
        let mut steps = 0;
        while let Some(finding) = findings(rule, &text).first() {
            let Some(fix) = &finding.fix else {
                break;
            };
            text = apply(&text, fix.edits.clone());
            steps += 1;
            assert!(steps < 10, "{}: the fix does not help\n{text}", rule.name);
        }
        let is_silent = findings(rule, &text).is_empty();
        assert!(is_silent || steps == 0, "{}\n{text}", rule.name);
        assert!(rule.fixable || steps == 0, "{} has a fix", rule.name);
    }
}

#[test]
fn the_index_lists_every_rule() {
    for rule in rules() {
        let line = format!("- [`{0}`]({0}.md): {1}\n", rule.name, rule.summary);
        assert!(INDEX.contains(&line), "missing: {line}");
        let says = |text: &str| page(rule).contains(text);
        assert!(
            says("To silence the rule") || says("silenc"),
            "{}",
            rule.name
        );
    }
}
