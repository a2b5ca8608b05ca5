//! Relative links in Markdown lead to files that exist, and to headings that exist in them.
//!
//! A page of the book may only link to pages of the book: what stands beside it in the
//! repository is not there where the book is read.

use std::collections::{HashMap, HashSet};

use crate::docs::{BOOK, is_page};
use crate::finding::Finding;
use crate::markdown::{self, Link};
use crate::relative;
use crate::sources::Sources;

/// Every relative link that leads nowhere.
pub(crate) fn findings(sources: &Sources) -> Vec<Finding> {
    let map = Map::of(sources);
    let mut findings = Vec::new();
    for page in sources.files.iter().filter(|file| file.has_extension("md")) {
        for link in markdown::links(&page.text) {
            if let Some(message) = map.complaint(&page.path, &link) {
                findings.push(Finding::at(&page.path, link.line, message));
            }
        }
    }
    findings
}

/// Where a link can lead.
struct Map<'a> {
    /// The files and the folders they are in.
    places: HashSet<&'a str>,
    /// The anchors of each page.
    anchors: HashMap<&'a str, HashSet<String>>,
}

impl<'a> Map<'a> {
    fn of(sources: &'a Sources) -> Self {
        let pages = sources.files.iter().filter(|file| file.has_extension("md"));
        let anchors = pages.map(|page| {
            let headings = markdown::headings(&page.text);
            let anchors = headings.into_iter().map(|heading| heading.anchor);
            (page.path.as_str(), anchors.collect())
        });
        Self {
            places: places(&sources.paths),
            anchors: anchors.collect(),
        }
    }

    fn complaint(&self, page: &str, link: &Link) -> Option<String> {
        let target = link.target.as_str();
        let (path, anchor) = match target.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor)),
            None => (target, None),
        };
        if target.is_empty() {
            return Some("a link without a target".to_string());
        }
        let head = path.split('/').next().unwrap_or_default();
        if head.contains(':') {
            return None;
        }
        if path.starts_with('/') {
            return Some(format!(
                "`{target}` only works where the book is at the root"
            ));
        }
        let place = match path {
            "" => Some(page.to_string()),
            _ => relative::resolve(page, path),
        };
        let Some(place) = place.filter(|place| self.is_there(place)) else {
            return Some(format!("`{target}` leads nowhere"));
        };
        if page.starts_with(BOOK) && !is_page(&place) {
            return Some(format!("`{target}` leads out of the book"));
        }
        self.heading_complaint(&place, anchor?, target)
    }

    fn is_there(&self, place: &str) -> bool {
        place.is_empty() || self.places.contains(place)
    }

    /// Only pages have headings; what follows `#` elsewhere is somebody else's business.
    fn heading_complaint(&self, place: &str, anchor: &str, target: &str) -> Option<String> {
        let anchors = self.anchors.get(place)?;
        let is_known = anchors.contains(anchor);
        (!is_known).then(|| format!("`{target}`: there is no such heading in {place}"))
    }
}

/// The files and the folders they are in.
fn places(paths: &[String]) -> HashSet<&str> {
    let mut places = HashSet::new();
    for path in paths {
        let mut place = path.as_str();
        places.insert(place);
        while let Some((folder, _)) = place.rsplit_once('/') {
            places.insert(folder);
            place = folder;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::SourceFile;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        check_in("docs/src/page.md", text, expected);
    }

    #[track_caller]
    fn check_in(page: &str, text: &str, expected: &[&str]) {
        let files = vec![
            SourceFile::new("README.md", "# Harn\n"),
            SourceFile::new("docs/src/other.md", ""),
            SourceFile::new("docs/src/sub/deep.md", "# Deep\n\n## Part\n\n## Part\n"),
            SourceFile::new(page, text),
        ];
        let sources = Sources {
            paths: files.iter().map(|file| file.path.clone()).collect(),
            files,
        };
        let findings = findings(&sources);
        let texts: Vec<String> = findings
            .iter()
            .map(|one| format!("{} {}", one.line.unwrap_or(0), one.message))
            .collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn links_to_files_folders_headings_and_elsewhere_are_fine() {
        check("[a](other.md) and [b](sub/deep.md#part \"title\")", &[]);
        check("![b](<sub/deep.md>) [c](sub/deep.md#part-1)", &[]);
        check(
            "# Here\n[a](#here) [b](https://example.org/x) [c](mailto:a@b.c)",
            &[],
        );
        check("[label]: other.md\n\n[^note]: words", &[]);
        check_in("CONTRIBUTING.md", "[a](README.md#harn) [b](docs/src/)", &[]);
    }

    #[test]
    fn a_heading_that_is_not_there_is_found() {
        check(
            "# Here\n[a](#there)\n[b](sub/deep.md#whole)",
            &[
                "2 `#there`: there is no such heading in docs/src/page.md",
                "3 `sub/deep.md#whole`: there is no such heading in docs/src/sub/deep.md",
            ],
        );
    }

    #[test]
    fn a_page_of_the_book_links_to_pages_of_the_book() {
        check(
            "[a](../../README.md) [b](sub/)",
            &[
                "1 `../../README.md` leads out of the book",
                "1 `sub/` leads out of the book",
            ],
        );
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        check("ok\n[a](gone.md)", &["2 `gone.md` leads nowhere"]);
        check("[label]: gone.md#x", &["1 `gone.md#x` leads nowhere"]);
        check("[a](../../../up.md)", &["1 `../../../up.md` leads nowhere"]);
        check("[a]()", &["1 a link without a target"]);
        check(
            "[a](/x.md)",
            &["1 `/x.md` only works where the book is at the root"],
        );
    }
}
