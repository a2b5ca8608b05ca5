//! No file names a package mirror.
//!
//! A lock file written behind a company's mirror works there and nowhere else,
//! and tells the world where it was written.

use crate::finding::Finding;
use crate::sources::SourceFile;

/// Put together here so that this file does not find itself.
const MIRROR: &str = concat!("arti", "factory");

/// How Cargo.lock names the registry everybody uses.
const CRATES_IO: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";

/// Every line that names a mirror, or a registry where none is needed.
pub(super) fn findings(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        for (index, line) in file.text.lines().enumerate() {
            if let Some(message) = complaint(file, line.trim()) {
                findings.push(Finding::at(&file.path, index + 1, message));
            }
        }
    }
    findings
}

fn complaint(file: &SourceFile, line: &str) -> Option<&'static str> {
    let name = file.path.rsplit('/').next();
    if line.to_ascii_lowercase().contains(MIRROR) {
        return Some("names a package mirror");
    }
    match name {
        Some("package-lock.json") if line.starts_with("\"resolved\": \"http") => {
            Some("pins a registry; write the lock file with `omit-lockfile-registry-resolved`")
        }
        Some("Cargo.lock") if line.starts_with("source = ") && line != CRATES_IO => {
            Some("a package that does not come from crates.io")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, lines: &[usize]) {
        let findings = findings(&[SourceFile::new(path, text)]);
        let found: Vec<usize> = findings.iter().filter_map(|one| one.line).collect();
        assert_eq!(found, lines, "{findings:?}");
    }

    #[test]
    fn a_mirror_is_found_in_any_file_and_any_case() {
        let host = MIRROR.to_uppercase();
        check(
            "README.md",
            &format!("fine\nhttps://{host}.example/x"),
            &[2],
        );
    }

    #[test]
    fn a_pinned_registry_is_found_in_a_lock_file_only() {
        let line = "{\n  \"resolved\": \"https://registry.example/a.tgz\"\n}";
        check("portal/package-lock.json", line, &[2]);
        check("portal/package.json", line, &[]);
    }

    #[test]
    fn cargo_may_name_crates_io_and_nothing_else() {
        check("Cargo.lock", CRATES_IO, &[]);
        check(
            "fuzz/Cargo.lock",
            "\nsource = \"git+https://example.org/a\"",
            &[2],
        );
    }
}
