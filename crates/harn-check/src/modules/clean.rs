//! Paths without detours.

use std::path::{Component, Path, PathBuf};

/// A path without `.` and `..`, as far as one can tell without looking at the disk.
pub(super) fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match cleaned.components().next_back() {
                Some(Component::Normal(_)) => {
                    cleaned.pop();
                }
                // Nothing is above the root.
                Some(Component::RootDir | Component::Prefix(_)) => {}
                Some(Component::CurDir | Component::ParentDir) | None => cleaned.push(".."),
            },
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                cleaned.push(component);
            }
        }
    }
    cleaned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: &str) {
        assert_eq!(clean(Path::new(path)), Path::new(expected));
    }

    #[test]
    fn detours_are_left_out() {
        check("/a/./b/../c", "/a/c");
        check("/../a", "/a");
        check("a/..", "");
        check("../../a", "../../a");
        check("a/../../b", "../b");
    }
}
