//! The patterns of rules, as lists of policies hold them: texts that are read when they are
//! asked.
//!
//! A list that came from a program was read when the policy was, and threw if it could not be.
//! A pattern that still cannot be read was put there by a Rust program or by an older journal.
//! It allows nothing, and what forbids by it forbids everything, because nobody knows what it
//! was to forbid.

use harn_llm::desk::Thrown;
use harn_options::TextPattern;

/// Fails unless a pattern can be read. `place` is the way to the list that it stands in.
///
/// # Errors
/// What is wrong with it, and where it stands.
pub(crate) fn check_pattern(place: &str, pattern: &str) -> Result<(), Thrown> {
    match TextPattern::read(pattern) {
        Ok(_) => Ok(()),
        Err(unreadable) => Err(Thrown::Plain(format!("{unreadable} (in {place})"))),
    }
}

/// Whether a pattern that allows something is about a text.
pub fn glob_matches(glob: &str, text: &str) -> bool {
    TextPattern::read(glob).is_ok_and(|pattern| pattern.matches(text))
}

/// Whether a pattern that forbids something, or asks for it, is about a text.
pub fn glob_forbids(glob: &str, text: &str) -> bool {
    TextPattern::read(glob).map_or(true, |pattern| pattern.matches(text))
}

/// Whether one of the patterns that allow something is about a text.
pub fn any_glob_matches<S: AsRef<str>>(globs: &[S], text: &str) -> bool {
    globs.iter().any(|glob| glob_matches(glob.as_ref(), text))
}

/// The first of the patterns that forbid something, or ask for it, that is about a text.
pub fn first_forbidding<'a, S: AsRef<str>>(globs: &'a [S], text: &str) -> Option<&'a str> {
    let mut globs = globs.iter().map(AsRef::as_ref);
    globs.find(|glob| glob_forbids(glob, text))
}

/// Whether one of the globs matches a path.
///
/// `src/../secret` begins with `src/` and yet lies elsewhere, so a path that goes up is matched
/// as the path it leads to.
pub(super) fn any_glob_matches_path<S: AsRef<str>>(globs: &[S], path: &str) -> bool {
    match path.split('/').any(|part| part == "..") {
        true => any_glob_matches(globs, &without_detours(path)),
        false => any_glob_matches(globs, path),
    }
}

/// Whether one of the patterns that forbid something is about a path, as it is written or as the
/// path that it leads to.
pub(super) fn any_glob_forbids_path<S: AsRef<str>>(globs: &[S], path: &str) -> bool {
    first_forbidding(globs, path).is_some()
        || first_forbidding(globs, &without_detours(path)).is_some()
}

fn without_detours(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            ".." if absolute => {}
            part => kept.push(part),
        }
    }
    let joined = kept.join("/");
    if absolute {
        format!("/{joined}")
    } else {
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_allows_nothing_and_forbids_everything() {
        assert!(!glob_matches("ru[", "run") && !any_glob_matches(&["ru["], "ru["));
        assert!(glob_forbids("ru[", "run"));
        assert_eq!(first_forbidding(&["write", "ru[", "*"], "run"), Some("ru["));
        assert!(any_glob_matches(&["a", "b*"], "bee"));
        assert!(!any_glob_matches::<&str>(&[], "bee"));
        assert_eq!(first_forbidding::<&str>(&[], "bee"), None);
        let thrown = check_pattern("policy.tools", "ru[");
        let text = "pattern 'ru[' cannot be read: a '[' is not closed (in policy.tools)";
        assert_eq!(thrown, Err(Thrown::Plain(text.to_owned())));
    }

    #[test]
    fn a_path_cannot_leave_by_going_up() {
        let rows = [
            ("src/a.rs", true),
            ("src/sub/../a.rs", true),
            ("src/../secret", false),
            ("src/../../secret", false),
            ("lib/../src/a.rs", true),
            ("../src/a.rs", false),
            ("src/..hidden", true),
        ];
        for (path, expected) in rows {
            assert_eq!(any_glob_matches_path(&["src/*"], path), expected, "{path}");
        }
        for path in [
            "src/a.rs",
            "lib/../src/a.rs",
            "./src/a.rs",
            "src/../a.rs",
            "src//a.rs",
        ] {
            assert!(any_glob_forbids_path(&["src/*"], path), "{path}");
        }
        assert!(!any_glob_forbids_path(&["src/*"], "lib/a.rs"));
        assert!(any_glob_matches_path(&["../shared/*"], "../shared/a"));
        assert!(any_glob_matches_path(&["/etc/*"], "/a/../../etc/b"));
    }
}
