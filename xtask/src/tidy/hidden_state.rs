//! What ARCHITECTURE.md says about state that is no argument.
//!
//! The page lists the statics that can change and the tables that are kept by thread, because a
//! reader who believes that there are none looks in the wrong place. A file that has such a thing
//! and is not named there, or is named and has none, makes the page untrue.

use super::mutable_statics;
use crate::finding::Finding;
use crate::sources::SourceFile;

const PAGE: &str = "ARCHITECTURE.md";

/// How a table is written whose entries are found by the thread that asks.
const BY_THREAD: &str = "HashMap<ThreadId";

/// Every file with hidden state that the page is silent about, and every one that it names for
/// nothing.
pub(super) fn findings(files: &[SourceFile]) -> Vec<Finding> {
    let page = files.iter().find(|file| file.path == PAGE);
    let page = page.map_or("", |file| file.text.as_str());
    let ours = files.iter().filter(|file| {
        file.path.starts_with("crates/") && file.path.contains("/src/") && file.has_extension("rs")
    });
    let mut findings = Vec::new();
    for file in ours {
        let state = hidden_state(file);
        let is_named = page.contains(&format!("`{}`", file.path));
        match (state, is_named) {
            (Some(state), false) => {
                let message = format!("it has {state}, and {PAGE} does not name it");
                findings.push(Finding::in_file(&file.path, message));
            }
            (None, true) => {
                let message = format!("it names `{}`, which has no hidden state", file.path);
                findings.push(Finding::in_file(PAGE, message));
            }
            (Some(_), true) | (None, false) => {}
        }
    }
    findings
}

/// What a file has that no caller hands over.
fn hidden_state(file: &SourceFile) -> Option<&'static str> {
    if mutable_statics::is_exception(file) {
        Some("a static that can change")
    } else if file.text.contains(BY_THREAD) {
        Some("a table by thread")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(page: &str, file: (&str, &str), expected: &[&str]) {
        let files = [SourceFile::new(PAGE, page), SourceFile::new(file.0, file.1)];
        let findings: Vec<String> = findings(&files).iter().map(ToString::to_string).collect();
        assert_eq!(findings, expected);
    }

    #[test]
    fn state_that_the_page_does_not_name_is_found() {
        let table = (
            "crates/a/src/b.rs",
            "threads: Mutex<HashMap<ThreadId, u8>>,",
        );
        let told =
            "crates/a/src/b.rs: it has a table by thread, and ARCHITECTURE.md does not name it";
        check("No state.", table, &[told]);
        check("But `crates/a/src/b.rs`.", table, &[]);
        let bus = (
            "crates/harn-events/src/default_bus.rs",
            "static BUS: LazyLock<Bus> = LazyLock::new(Bus::new);",
        );
        let told = "crates/harn-events/src/default_bus.rs: it has a static that can change, and \
                    ARCHITECTURE.md does not name it";
        check("No state.", bus, &[told]);
    }

    #[test]
    fn a_file_that_is_named_for_nothing_is_found() {
        let told = "ARCHITECTURE.md: it names `crates/a/src/b.rs`, which has no hidden state";
        check(
            "But `crates/a/src/b.rs`.",
            ("crates/a/src/b.rs", "fn f() {}"),
            &[told],
        );
        let bus = ("crates/harn-events/src/default_bus.rs", "fn f() {}");
        check("No state.", bus, &[]);
    }

    #[test]
    fn tests_may_keep_what_they_like() {
        let table = ("crates/a/tests/b.rs", "HashMap<ThreadId, u8>");
        check("No state.", table, &[]);
    }
}
