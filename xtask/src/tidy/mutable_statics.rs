//! No state that everybody shares.
//!
//! A static that can change is an argument nobody sees: two programs in one
//! process notice each other, and a test needs a reset function. The exceptions
//! are documented.

use super::forbidden_code::COUNTING_ALLOCATORS;
use super::rust_code::{RustCode, words};
use crate::finding::Finding;
use crate::sources::SourceFile;

/// The process-wide defaults, which embedders of one program rely on: the bus, and
/// the log that is active. The process that ends what this one leaves behind: it is about
/// the process, not about a program; so is what the process was told in confidence, and the chance that its hashes begin with. And how
/// far a fuzzer is, which calls us with an input and nothing else.
const EXCEPTIONS: &[&str] = &[
    "crates/harn-agent/src/process_guard/watchdog.rs",
    "crates/harn-cli/src/environment/withheld.rs",
    "crates/harn-events/src/default_bus.rs",
    "crates/harn-events/src/redact/known/process.rs",
    "crates/harn-log/src/active.rs",
    "crates/harn-machine/src/value/hash.rs",
    "fuzz/src/repeat.rs",
];

/// Types whose value changes behind a shared reference. All names that begin
/// with `Atomic` belong here too.
const CHANGEABLE: &[&str] = &[
    "Cell",
    "LazyCell",
    "LazyLock",
    "Mutex",
    "OnceCell",
    "OnceLock",
    "RefCell",
    "RwLock",
    "SyncUnsafeCell",
    "UnsafeCell",
];

/// Every static that can change.
pub(super) fn findings(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let files = files
        .iter()
        .filter(|file| !COUNTING_ALLOCATORS.contains(&file.path.as_str()));
    for file in files.filter(|file| file.has_extension("rs")) {
        for word in RustCode::of(&file.text).words() {
            let is_lifetime = word.before.ends_with('\'');
            if word.text != "static" || is_lifetime {
                continue;
            }
            if let Some(message) = complaint(word.after, EXCEPTIONS.contains(&file.path.as_str())) {
                findings.push(Finding::at(&file.path, word.line, message));
            }
        }
    }
    findings
}

/// Whether a file has a static that can change, as one of the exceptions.
pub(super) fn is_exception(file: &SourceFile) -> bool {
    EXCEPTIONS.contains(&file.path.as_str())
        && RustCode::of(&file.text).words().any(|word| {
            let is_lifetime = word.before.ends_with('\'');
            word.text == "static" && !is_lifetime && complaint(word.after, false).is_some()
        })
}

/// What is wrong with the static whose declaration goes on like this.
fn complaint(declaration: &str, is_exception: bool) -> Option<String> {
    let mut declared = words(declaration);
    let name = declared.next()?;
    match name.text {
        "mut" => return Some("`static mut`: pass it as an argument".to_string()),
        "ref" => return Some("a lazy static: pass it as an argument".to_string()),
        _ => {}
    }
    let has_type = name.after.trim_start().strip_prefix(':')?;
    let changeable = words(type_of(has_type))
        .map(|word| word.text)
        .find(|text| CHANGEABLE.contains(text) || text.starts_with("Atomic"))?;
    if is_exception {
        return None;
    }
    Some(format!(
        "the static `{}` is a `{changeable}`: pass it as an argument",
        name.text
    ))
}

/// The text up to the `=` or `;` that ends a type, which may itself contain
/// either one between brackets.
fn type_of(text: &str) -> &str {
    let mut depth = 0;
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if previous == '-' => {}
            '>' | ')' | ']' => depth -= 1,
            '=' | ';' if depth <= 0 => return &text[..at],
            _ => {}
        }
        previous = c;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, source: &str, expected: &[&str]) {
        let findings = findings(&[SourceFile::new(path, source)]);
        let messages: Vec<&str> = findings.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(messages, expected);
    }

    #[test]
    fn a_static_that_can_change_is_found() {
        check(
            "a.rs",
            "static SINKS: Mutex<Vec<u8>> = Mutex::new(Vec::new());",
            &["the static `SINKS` is a `Mutex`: pass it as an argument"],
        );
        check(
            "a.rs",
            "pub static COUNTS: [std::sync::atomic::AtomicU64; 4] = X;",
            &["the static `COUNTS` is a `AtomicU64`: pass it as an argument"],
        );
        check(
            "a.rs",
            "fn f() {\n    static ONCE: OnceLock<Box<dyn Fn() -> u8>> = OnceLock::new();\n}",
            &["the static `ONCE` is a `OnceLock`: pass it as an argument"],
        );
    }

    #[test]
    fn a_constant_static_is_fine() {
        check("a.rs", "static NAMES: [&str; 2] = [\"a\", \"Mutex\"];", &[]);
        check("a.rs", "static F: fn(u8) -> u8 = Mutex::new;", &[]);
    }

    #[test]
    fn lifetimes_comments_and_strings_are_not_statics() {
        check(
            "a.rs",
            "fn f(x: &'static Mutex<u8>, y: &'static mut u8) {}",
            &[],
        );
        check(
            "a.rs",
            "// static mut A: u8 = 0;\nlet s = \"static mut\";",
            &[],
        );
    }

    #[test]
    fn the_documented_exception_may_share_but_not_race() {
        check(
            EXCEPTIONS[0],
            "static BUS: LazyLock<Bus> = LazyLock::new(Bus::new);",
            &[],
        );
        check(
            EXCEPTIONS[0],
            "static mut BUS: Option<Bus> = None;",
            &["`static mut`: pass it as an argument"],
        );
    }
}
