//! The globs of policies: one star, at one end.

/// Whether a glob matches: `*` matches all, `prefix*` and `*suffix` what they say, and anything
/// else only itself.
pub fn glob_matches(glob: &str, text: &str) -> bool {
    if let Some(prefix) = glob.strip_suffix('*') {
        return text.starts_with(prefix);
    }
    match glob.strip_prefix('*') {
        Some(suffix) => text.ends_with(suffix),
        None => glob == text,
    }
}

/// Whether one of the globs matches.
pub fn any_glob_matches<S: AsRef<str>>(globs: &[S], text: &str) -> bool {
    globs.iter().any(|glob| glob_matches(glob.as_ref(), text))
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
    fn a_star_stands_at_one_end() {
        let rows = [
            ("*", "anything", true),
            ("*", "", true),
            ("read*", "read_file", true),
            ("read*", "read", true),
            ("read*", "thread", false),
            ("*_file", "read_file", true),
            ("*_file", "read_files", false),
            ("read", "read", true),
            ("read", "read_file", false),
            ("", "", true),
            ("", "read", false),
            ("a*b", "axb", false),
            ("a*b", "a*b", true),
            ("*b*", "abc", false),
            // The star at the end is looked at first, so the one in front is itself.
            ("*a*", "xay", false),
            ("*a*", "*ab", true),
        ];
        for (glob, text, expected) in rows {
            assert_eq!(glob_matches(glob, text), expected, "{glob} {text}");
        }
        assert!(any_glob_matches(&["a", "b*"], "bee"));
        assert!(!any_glob_matches::<&str>(&[], "bee"));
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
        assert!(any_glob_matches_path(&["../shared/*"], "../shared/a"));
        assert!(any_glob_matches_path(&["/etc/*"], "/a/../../etc/b"));
    }
}
