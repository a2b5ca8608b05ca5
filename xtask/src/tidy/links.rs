//! Relative links in Markdown lead to files that exist.

use std::collections::HashSet;

use crate::book::fences;
use crate::finding::Finding;
use crate::relative;
use crate::sources::Sources;

/// A link as written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Counted from one.
    pub(super) line: usize,
    pub(super) target: String,
}

/// Every relative link that leads nowhere.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let places = places(&sources.paths);
    let mut findings = Vec::new();
    for page in sources.files.iter().filter(|file| file.has_extension("md")) {
        for link in links(&page.text) {
            if let Some(message) = complaint(&places, &page.path, &link.target) {
                findings.push(Finding::at(&page.path, link.line, message));
            }
        }
    }
    findings
}

/// All links of a page, in order; code is left out, as it links to nothing.
pub(super) fn links(page: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (index, line) in without_fences(page).into_iter().enumerate() {
        let line = without_code_spans(line);
        for target in targets(&line) {
            links.push(Link {
                line: index + 1,
                target: target.to_string(),
            });
        }
    }
    links
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

fn complaint(places: &HashSet<&str>, page: &str, target: &str) -> Option<String> {
    let path = target.split(['#', '?']).next().unwrap_or_default();
    let is_elsewhere = path
        .split('/')
        .next()
        .is_some_and(|head| head.contains(':'));
    let is_same_page = path.is_empty() && !target.is_empty();
    if is_elsewhere || is_same_page {
        return None;
    }
    if target.is_empty() {
        return Some("a link without a target".to_string());
    }
    if path.starts_with('/') {
        return Some(format!(
            "`{target}` only works where the book is at the root"
        ));
    }
    match relative::resolve(page, path) {
        Some(place) if place.is_empty() || places.contains(place.as_str()) => None,
        _ => Some(format!("`{target}` leads nowhere")),
    }
}

/// The lines of a page, with those of code blocks emptied.
fn without_fences(page: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = page.lines().collect();
    for block in fences::blocks(page) {
        let first = block.line - 1;
        let fences = if block.closed { 2 } else { 1 };
        let length = block.text.lines().count() + fences;
        for line in lines.iter_mut().skip(first).take(length) {
            *line = "";
        }
    }
    lines
}

fn without_code_spans(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// `[text](target)`, `![picture](target "title")` and `[label]: target`.
fn targets(line: &str) -> Vec<&str> {
    let mut targets: Vec<&str> = line.split("](").skip(1).map(up_to_parenthesis).collect();
    if let Some(definition) = line.trim_start().strip_prefix('[')
        && let Some((label, target)) = definition.split_once("]:")
        && !label.starts_with('^')
        && !label.contains(']')
    {
        targets.push(target.trim());
    }
    targets.into_iter().map(without_title).collect()
}

fn up_to_parenthesis(text: &str) -> &str {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return &text[..at],
            ')' => depth -= 1,
            _ => {}
        }
    }
    text
}

fn without_title(target: &str) -> &str {
    let target = target.trim();
    if let Some((inside, _)) = target
        .strip_prefix('<')
        .and_then(|rest| rest.split_once('>'))
    {
        return inside;
    }
    target.split_whitespace().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::SourceFile;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let page = "docs/src/page.md";
        let paths = [
            "README.md",
            "docs/src/other.md",
            "docs/src/sub/deep.md",
            page,
        ];
        let sources = Sources {
            files: vec![SourceFile::new(page, text)],
            paths: paths.map(ToString::to_string).to_vec(),
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
        check("[a](../../README.md) ![b](<sub/deep.md>) [c](sub/)", &[]);
        check(
            "[a](#here) [b](https://example.org/x) [c](mailto:a@b.c)",
            &[],
        );
        check("[label]: other.md\n[^note]: words", &[]);
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

    #[test]
    fn code_links_to_nothing() {
        check("`[a](gone.md)`\n```text\n[a](gone.md)\n```\n", &[]);
        check(
            "```text\n[a](gone.md)\n```\n[b](gone.md)",
            &["4 `gone.md` leads nowhere"],
        );
    }

    #[test]
    fn parentheses_may_be_part_of_a_target() {
        assert_eq!(targets("([a](x_(y).md))"), ["x_(y).md"]);
    }
}
