//! The options that are refused, as the programs of conformance have them refused.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Error;
use crate::sources::SourceFile;

/// What is said of an option behind its name.
const REFUSAL: &str = "` is not available in this build";

/// The options that are refused, by the builtin that refuses them.
///
/// This is the one place that knows where they are found: what a program of conformance must
/// print is what the program prints, whichever table of options it comes from.
///
/// # Errors
/// There are none: then the text that says so has changed, or they are all built.
pub(super) fn refused(files: &[SourceFile]) -> Result<BTreeMap<String, Vec<String>>, Error> {
    let is_expectation = |file: &&SourceFile| {
        file.path.starts_with("conformance/")
            && (file.has_extension("expected") || file.has_extension("error"))
    };
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let lines = files
        .iter()
        .filter(is_expectation)
        .flat_map(|file| file.text.lines());
    for (builtin, option) in lines.filter_map(refusal) {
        found
            .entry(builtin.to_owned())
            .or_default()
            .insert(option.to_owned());
    }
    if found.is_empty() {
        let why = format!("no program of conformance has an option refused with `…{REFUSAL}`");
        return Err(Error::malformed("conformance", why));
    }
    let sorted = found.into_iter();
    Ok(sorted
        .map(|(builtin, options)| (builtin, options.into_iter().collect()))
        .collect())
}

/// The builtin and the option of `Runtime error: agent_loop: `compass` is not …`.
fn refusal(line: &str) -> Option<(&str, &str)> {
    let (before, _) = line.split_once(REFUSAL)?;
    let (before, option) = before.rsplit_once('`')?;
    let words = before.trim_end().strip_suffix(':')?;
    let builtin = words.rsplit_once(' ').map_or(words, |(_, builtin)| builtin);
    Some((builtin, option))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_where_a_program_has_them_refused() {
        let expected = "1\nRuntime error: agent_loop: `compass` is not available in this build\n\
                        ran\nagent_loop: `compass` is not available in this build\n\
                        std/agents: x is not available in this build\n";
        let error = "llm_call: `vision` is not available in this build";
        let files = [
            SourceFile::new("conformance/a/b.expected", expected),
            SourceFile::new("conformance/a/c.error", error),
            SourceFile::new(
                "docs/src/page.md",
                "chat: `page` is not available in this build",
            ),
        ];
        let refused = refused(&files).unwrap();
        let told: Vec<String> = refused.iter().map(|one| format!("{one:?}")).collect();
        assert_eq!(
            told,
            [
                r#"("agent_loop", ["compass"])"#,
                r#"("llm_call", ["vision"])"#
            ]
        );
    }

    #[test]
    fn a_text_that_has_changed_is_noticed() {
        assert!(refused(&[SourceFile::new("conformance/a/b.expected", "ran\n")]).is_err());
    }
}
