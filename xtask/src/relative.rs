//! Paths within the repository, written with `/` and relative to its root.

/// What `path` means when written in the file `from`; `None` if it leaves the
/// repository.
pub(crate) fn resolve(from: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[track_caller]
    fn check(from: &str, path: &str, expected: Option<&str>) {
        assert_eq!(resolve(from, path).as_deref(), expected);
    }

    #[test]
    fn a_path_is_seen_from_the_folder_of_the_file() {
        check("docs/src/a.md", "b.md", Some("docs/src/b.md"));
        check("docs/src/a.md", "./sub/", Some("docs/src/sub"));
        check("docs/src/a.md", "../../README.md", Some("README.md"));
        check("README.md", "../other", None);
    }
}
