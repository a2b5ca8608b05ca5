//! Blocks of Rust: rustdoc compiles and runs them, if a crate asks it to.
//!
//! A crate asks with `#[doc = include_str!("…/page.md")]`, usually on an item
//! that exists under `cfg(doctest)` alone. We make sure that somebody does.

use crate::relative::resolve;
use crate::sources::SourceFile;
use crate::verdict::{Verdict, complain};

/// What may follow `rust,`: attributes with which a block is still compiled.
const ATTRIBUTES: &[&str] = &["no_run", "should_panic", "compile_fail"];

/// The pages that some crate includes, relative to the root.
pub(super) fn pages(files: &[SourceFile]) -> Vec<String> {
    let mut pages = Vec::new();
    for file in files.iter().filter(|file| is_crate_source(&file.path)) {
        for included in included_paths(&file.text) {
            pages.extend(resolve(&file.path, included));
        }
    }
    pages
}

pub(super) fn check(info: &str, page: &str, doctested: &[String]) -> Verdict {
    let mut attributes = info.split(',').skip(1).map(str::trim);
    if let Some(unknown) = attributes.find(|one| !ATTRIBUTES.contains(one)) {
        return complain(format!(
            "`rust,{unknown}` would not be compiled; use `text` for a sketch"
        ));
    }
    if doctested.iter().any(|one| one == page) {
        return Ok(());
    }
    complain("no crate includes this page in its doc tests (`#[doc = include_str!(…)]`)")
}

fn is_crate_source(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs")
}

/// The paths given to `include_str!` in a source file.
fn included_paths(source: &str) -> impl Iterator<Item = &str> {
    source.split("include_str!").skip(1).filter_map(|rest| {
        let rest = rest.trim_start().strip_prefix('(')?;
        let rest = rest.trim_start().strip_prefix('"')?;
        rest.split_once('"').map(|(path, _)| path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn included() -> Vec<String> {
        pages(&[
            SourceFile::new(
                "crates/harn-events/src/lib.rs",
                "#[cfg(doctest)]\n#[doc = include_str!(\"../../../README.md\")]\nstruct Readme;",
            ),
            SourceFile::new("crates/harn-events/tests/t.rs", "include_str!(\"page.md\")"),
        ])
    }

    #[test]
    fn an_included_page_is_covered() {
        assert_eq!(included(), ["README.md"]);
        assert!(check("rust", "README.md", &included()).is_ok());
        assert!(check("rust,no_run", "README.md", &included()).is_ok());
    }

    #[test]
    fn a_page_nobody_includes_is_a_mistake() {
        let why = check("rust", "docs/src/README.md", &included())
            .unwrap_err()
            .to_string();
        assert!(why.starts_with("no crate includes this page"), "{why}");
    }

    #[test]
    fn a_sketch_is_not_rust() {
        let why = check("rust,ignore", "README.md", &included())
            .unwrap_err()
            .to_string();
        assert!(why.contains("use `text` for a sketch"), "{why}");
    }
}
