//! No file contains a path that exists on one machine only.

use crate::finding::Finding;
use crate::sources::SourceFile;

/// Folders in which people check things out and build servers work. Put
/// together here so that this file does not find itself.
const FOLDERS: &[&str] = &[concat!("/", "work/"), concat!("/", "root/")];

/// Every line with such a path.
pub(super) fn findings(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        for (index, line) in file.text.lines().enumerate() {
            for folder in FOLDERS.iter().filter(|folder| names(line, folder)) {
                let message = format!("`{folder}` is a place on one machine only");
                findings.push(Finding::at(&file.path, index + 1, message));
            }
        }
    }
    findings
}

/// Whether an absolute path in this line begins with the folder. In `a/work/b`
/// and in a URL the same letters are the middle of something else.
fn names(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.~/}*".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: usize) {
        let line = line.replace('§', "/");
        let findings = findings(&[SourceFile::new("notes.md", &line)]);
        assert_eq!(findings.len(), expected, "{line}: {findings:?}");
    }

    #[test]
    fn an_absolute_path_is_found() {
        check("see §work§main for more", 1);
        check("path = \"§root§.cargo\"", 1);
        check("§work§a and (§root§b)", 2);
    }

    #[test]
    fn the_middle_of_another_path_is_fine() {
        check("src§work§mod.rs and https:§§example.org§root§a", 0);
        check("$HOME§work is not a folder of the machine", 0);
        check("§workspace§a §rooted", 0);
    }
}
