//! The book's summary lists every page, and every page it lists exists.
//!
//! mdBook leaves out a page that is not in the summary without a word.

use crate::docs::{SUMMARY, is_page};
use crate::finding::Finding;
use crate::markdown;
use crate::relative;
use crate::sources::SourceFile;

/// Every chapter without a page and every page without a chapter.
pub(crate) fn findings(files: &[SourceFile]) -> Vec<Finding> {
    let pages: Vec<&str> = files
        .iter()
        .filter(|file| is_page(&file.path))
        .map(|file| file.path.as_str())
        .collect();
    let summary = files.iter().find(|file| file.path == SUMMARY);
    let chapters = summary.map_or_else(Vec::new, |summary| markdown::links(&summary.text));
    let listed: Vec<Option<String>> = chapters
        .iter()
        .map(|chapter| relative::resolve(SUMMARY, &chapter.target))
        .collect();

    let mut findings = Vec::new();
    for (chapter, page) in chapters.iter().zip(&listed) {
        if !page.as_deref().is_some_and(|page| pages.contains(&page)) {
            let message = format!("the chapter `{}` has no page", chapter.target);
            findings.push(Finding::at(SUMMARY, chapter.line, message));
        }
    }
    for page in pages {
        if !listed.iter().any(|one| one.as_deref() == Some(page)) {
            findings.push(Finding::in_file(page, "not in the summary of the book"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let files: Vec<SourceFile> = files
            .iter()
            .map(|(path, text)| SourceFile::new(path, text))
            .collect();
        let texts: Vec<String> = findings(&files).iter().map(ToString::to_string).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_summary_that_agrees_with_the_pages_is_fine() {
        check(
            &[
                (
                    SUMMARY,
                    "# Summary\n\n- [Start](start.md)\n  - [Deep](./a/deep.md)\n",
                ),
                ("docs/src/start.md", ""),
                ("docs/src/a/deep.md", ""),
                ("docs/adr/0001.md", ""),
            ],
            &[],
        );
    }

    #[test]
    fn a_chapter_without_a_page_is_found() {
        check(
            &[(SUMMARY, "- [Start](start.md)\n- [Draft]()\n")],
            &[
                "docs/src/SUMMARY.md:1: the chapter `start.md` has no page",
                "docs/src/SUMMARY.md:2: the chapter `` has no page",
            ],
        );
    }

    #[test]
    fn a_page_without_a_chapter_is_found() {
        check(
            &[(SUMMARY, ""), ("docs/src/lost.md", "")],
            &["docs/src/lost.md: not in the summary of the book"],
        );
    }

    #[test]
    fn a_book_without_a_summary_is_found() {
        check(
            &[("docs/src/start.md", "")],
            &["docs/src/start.md: not in the summary of the book"],
        );
    }
}
