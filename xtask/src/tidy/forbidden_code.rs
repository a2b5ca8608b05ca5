//! Code that must not stay: unfinished, left over from debugging, or skipped.

use super::rust_code::{RustCode, Word};
use crate::finding::Finding;
use crate::sources::SourceFile;

/// Macros nobody may call, and why.
const MACROS: &[(&str, &str)] = &[
    ("todo", "finish it, or leave it out"),
    ("unimplemented", "finish it, or leave it out"),
    ("dbg", "left over from debugging"),
    ("thread_local", "pass what a function needs as an argument"),
];

/// They count for a test what each thread allocates. Nothing can be handed to an allocator, and they
/// must not count what the tests beside it do.
pub(super) const COUNTING_ALLOCATORS: [&str; 2] = [
    "crates/harn-agent/tests/long_sessions/heap.rs",
    "crates/harn-vm/tests/limits/heap.rs",
];

/// Every call of a forbidden macro.
pub(super) fn macros(files: &[SourceFile]) -> Vec<Finding> {
    let files = files
        .iter()
        .filter(|file| !COUNTING_ALLOCATORS.contains(&file.path.as_str()));
    in_rust(files, |word| {
        let (name, why) = MACROS.iter().find(|(name, _)| *name == word.text)?;
        calls_a_macro(word).then(|| format!("`{name}!`: {why}"))
    })
}

/// Every test that is switched off.
pub(super) fn ignored_tests(files: &[SourceFile]) -> Vec<Finding> {
    in_rust(files.iter(), |word| {
        let is_ignored = word.text == "ignore" && is_attribute(word.before);
        is_ignored.then(|| "assert today's behaviour instead of ignoring the test".to_string())
    })
}

/// Asks about every word of every Rust file.
fn in_rust<'a>(
    files: impl Iterator<Item = &'a SourceFile>,
    complaint: impl Fn(&Word<'_>) -> Option<String>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.filter(|file| file.has_extension("rs")) {
        for word in RustCode::of(&file.text).words() {
            if let Some(message) = complaint(&word) {
                findings.push(Finding::at(&file.path, word.line, message));
            }
        }
    }
    findings
}

/// `todo!(…)` and not `todo != …`.
fn calls_a_macro(word: &Word<'_>) -> bool {
    let Some(after) = word.after.trim_start().strip_prefix('!') else {
        return false;
    };
    after.trim_start().starts_with(['(', '[', '{'])
}

/// Whether the word behind this code is an attribute of its own, or one that
/// `cfg_attr` brings in.
fn is_attribute(before: &str) -> bool {
    let Some((_, opened)) = before.rsplit_once("#[") else {
        return false;
    };
    let opened = opened.trim();
    opened.is_empty() || (opened.starts_with("cfg_attr") && !opened.contains(']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: fn(&[SourceFile]) -> Vec<Finding>, source: &str, lines: &[usize]) {
        let findings = rule(&[SourceFile::new("crates/a/src/lib.rs", source)]);
        let found: Vec<usize> = findings.iter().filter_map(|one| one.line).collect();
        assert_eq!(found, lines, "{findings:?}");
    }

    #[test]
    fn forbidden_macros_are_found_wherever_they_hide() {
        check(macros, "fn f() {\n    todo!()\n}", &[2]);
        check(macros, "let x = std::dbg ! (y);", &[1]);
        check(macros, "unimplemented!{}", &[1]);
        check(macros, "thread_local! {\n static A: u8 = 0; }", &[1]);
    }

    #[test]
    fn talking_about_a_macro_is_fine() {
        check(macros, "// todo!()\nlet s = \"dbg!(x)\";", &[]);
        check(macros, "if todo != done { my_todo!() }", &[]);
        check(macros, "let todo = r#\"todo!()\"#;", &[]);
    }

    #[test]
    fn ignored_tests_are_found() {
        check(ignored_tests, "#[test]\n#[ignore]\nfn f() {}", &[2]);
        check(ignored_tests, "#[ignore = \"slow\"]", &[1]);
        check(ignored_tests, "#[cfg_attr(windows, ignore)]", &[1]);
    }

    #[test]
    fn other_uses_of_the_word_are_fine() {
        check(ignored_tests, "// #[ignore]\nlet ignore = 1;", &[]);
        check(ignored_tests, "#[cfg_attr(a, b)]\nfn ignore() {}", &[]);
    }

    #[test]
    fn only_rust_is_read() {
        let files = [SourceFile::new("docs/src/a.md", "todo!()")];
        assert_eq!(macros(&files), []);
    }
}
