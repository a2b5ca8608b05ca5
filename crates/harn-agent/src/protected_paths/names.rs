//! When two names mean the same file.
//!
//! File systems differ in what they take for one name: some fold case, some normalise, some
//! leave out what cannot be seen, some drop dots and spaces at the end. Names of protected files
//! are compared as the most lenient of them would, so that no other spelling gets past.

use std::ffi::OsStr;
use std::path::{Component, Path};

use unicode_normalization::UnicodeNormalization;

/// A name as it is compared.
pub(super) fn folded(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    if name.is_ascii() {
        let name = name.trim_end_matches(['.', ' ']);
        return name.to_ascii_lowercase();
    }
    // Upper and then lower case folds more than either: `ß`, ligatures, the long `ſ`.
    let folded = name.nfc().filter(|character| !is_ignorable(*character));
    let folded = folded.flat_map(char::to_uppercase);
    let folded: String = folded.flat_map(char::to_lowercase).nfc().collect();
    folded.trim_end_matches(['.', ' ']).to_owned()
}

/// The names of a path as they are compared.
pub(super) fn folded_names(path: &Path) -> Vec<String> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(folded(name)),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            None
        }
    });
    names.collect()
}

/// Whether some file systems leave a character out of a name: the default-ignorable code points.
fn is_ignorable(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a name fits a pattern that has at most one star. Both are as they are compared.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => {
            name.len() >= before.len() + after.len()
                && name.starts_with(before)
                && name.ends_with(after)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_spelling_gets_past() {
        for (spelling, name) in [
            (".GIT", ".git"),
            (".git.", ".git"),
            (".git. . ", ".git"),
            (".g\u{200c}it", ".git"),
            (".hArN\u{feff}", ".harn"),
            ("AGENT\u{17f}.md", "agents.md"),
            ("ma\u{fb01}le", "mafile"),
            ("\u{212a}ey", "key"),
            ("cafe\u{301}", "caf\u{e9}"),
            ("\u{e0067}.git", ".git"),
        ] {
            assert_eq!(folded(OsStr::new(spelling)), name, "{spelling:?}");
        }
        assert_ne!(folded(OsStr::new(".gitx")), ".git");
        assert_ne!(folded(OsStr::new("git")), ".git");
    }

    #[test]
    fn a_star_stands_for_anything() {
        assert!(fits("*.pem", "a.pem") && fits(".env.*", ".env.local") && fits("x", "x"));
        assert!(!fits("*.pem", "pem") && !fits(".env.*", ".env") && !fits("x", "xy"));
        assert!(fits("service-account*.json", "service-account.json"));
    }
}
