//! Paths of files in archives.

/// Says what is wrong with the path of a file, if something is: it must lead to a file inside of
/// the folder that the archive is unpacked into, on any system.
pub(super) fn problem(path: &str) -> Option<&'static str> {
    let is_separator = |letter: char| matches!(letter, '/' | '\\');
    let has_drive = path.as_bytes().get(1) == Some(&b':')
        && path.starts_with(|letter: char| letter.is_ascii_alphabetic());
    if path.starts_with(is_separator) || has_drive {
        return Some("paths in archives must be relative");
    }
    if path.split(is_separator).any(|part| part == "..") {
        return Some("paths in archives must not have `..`");
    }
    if path.contains('\0') {
        return Some("paths in archives must not have null characters");
    }
    let last = path.rsplit(is_separator).next();
    matches!(last, Some("" | ".")).then_some("paths in archives must name a file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        for path in ["a", "a/b.txt", "./a", "..a/b..", "ab:c", "é/ü"] {
            assert_eq!(problem(path), None, "{path}");
        }
        for path in [
            "", "/a", "\\a", "C:\\a", "c:a", "..", "a/../b", "a\\..\\b", "a\0", "a/", "a/.",
        ] {
            assert!(problem(path).is_some(), "{path}");
        }
    }
}
