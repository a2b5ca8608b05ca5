//! No source file is longer than a person can hold in mind.

use crate::finding::Finding;
use crate::sources::SourceFile;

/// Most files are a third of this. At the limit there is always a seam.
const LINES_MAX: usize = 900;

const EXTENSIONS: &[&str] = &["rs", "harn", "ts", "tsx", "js", "py"];

/// Every source file over the limit.
pub(super) fn findings(files: &[SourceFile]) -> Vec<Finding> {
    let is_source = |file: &&SourceFile| EXTENSIONS.iter().any(|end| file.has_extension(end));
    files
        .iter()
        .filter(is_source)
        .map(|file| (file, file.text.lines().count()))
        .filter(|(_, lines)| *lines > LINES_MAX)
        .map(|(file, lines)| {
            let message = format!("{lines} lines; look for the seam above {LINES_MAX}");
            Finding::in_file(&file.path, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_file_over_the_limit_is_found() {
        let files = [
            SourceFile::new("crates/a/src/long.rs", &"\n".repeat(LINES_MAX + 1)),
            SourceFile::new("crates/a/src/fits.rs", &"\n".repeat(LINES_MAX)),
            SourceFile::new("docs/src/long.md", &"\n".repeat(LINES_MAX + 1)),
            SourceFile::new("portal/long.tsx", &"\n".repeat(LINES_MAX * 2)),
        ];
        let findings = findings(&files);
        let found: Vec<&str> = findings.iter().map(|one| one.file.as_str()).collect();
        assert_eq!(found, ["crates/a/src/long.rs", "portal/long.tsx"]);
    }
}
