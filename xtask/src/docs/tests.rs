use std::collections::HashSet;

use super::*;
use crate::relative;
use crate::sources::SourceFile;

fn sources(files: &[(&str, &str)]) -> Sources {
    let files = files.iter();
    let files: Vec<SourceFile> = files
        .map(|(path, text)| SourceFile::new(path, text))
        .collect();
    Sources {
        paths: files.iter().map(|file| file.path.clone()).collect(),
        files,
    }
}

fn small_book() -> Sources {
    sources(&[
        (
            SUMMARY,
            "# Summary\n\n[Start](start.md)\n\n# More\n\n- [Deep](a/deep.md)\n  - [a & x](a/x.md)\n",
        ),
        (
            "docs/src/start.md",
            "# Start\n\n## One\n\n[go](a/deep.md#two)\n",
        ),
        (
            "docs/src/a/deep.md",
            "# Deep\n\n## Two\n\n## Three\n\n[back](../start.md)\n",
        ),
        ("docs/src/a/x.md", "# x\n"),
    ])
}

fn rendered(sources: &Sources) -> Vec<(String, String)> {
    Book::read(sources).unwrap().render()
}

fn file<'a>(files: &'a [(String, String)], name: &str) -> &'a str {
    let found = files.iter().find(|(file, _)| file == name);
    &found.unwrap_or_else(|| panic!("there is no {name}")).1
}

#[test]
fn every_chapter_is_a_file_and_the_first_one_is_the_front_door() {
    let files = rendered(&small_book());
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "start.html",
            "a/deep.html",
            "a/x.html",
            "index.html",
            "search.js",
            "book.css",
            "book.js"
        ]
    );
    assert_eq!(file(&files, "index.html"), file(&files, "start.html"));
}

#[test]
fn a_page_knows_its_place() {
    let files = rendered(&small_book());
    let page = file(&files, "a/deep.html");
    assert!(page.contains("<link rel=\"stylesheet\" href=\"../book.css\">"));
    assert!(page.contains("<a href=\"../a/deep.html\" aria-current=\"page\">Deep</a>"));
    assert!(page.contains("<details open><summary>1 pages"), "{page}");
    assert!(page.contains("<a href=\"../start.html\" rel=\"prev\">Start</a>"));
    assert!(page.contains("<a href=\"../a/x.html\" rel=\"next\">a &amp; x</a>"));
    assert!(page.contains("<li class=\"level2\"><a href=\"#three\">Three</a></li>"));
    let first = file(&files, "start.html");
    assert!(!first.contains("rel=\"prev\""));
    assert!(first.contains("<details><summary>"));
}

#[test]
fn headings_can_be_searched() {
    let files = rendered(&small_book());
    let index = file(&files, "search.js");
    assert!(
        index.contains("[\"Deep\",\"Deep\",\"a/deep.html\"],"),
        "{index}"
    );
    assert!(
        index.contains("[\"Two\",\"Deep\",\"a/deep.html#two\"],"),
        "{index}"
    );
}

#[test]
fn dead_links_and_lost_pages_stop_the_build() {
    let mut book = small_book();
    book.files
        .push(SourceFile::new("docs/src/lost.md", "[a](gone.md)"));
    book.files
        .push(SourceFile::new("README.md", "[a](gone.md)"));
    let findings = findings(&book);
    let found: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "docs/src/lost.md: not in the summary of the book",
            "docs/src/lost.md:1: `gone.md` leads nowhere",
        ]
    );
}

/// Looks at the result as a browser would: what a page of our own book names must be there.
#[test]
fn everything_that_our_pages_name_is_in_the_book() {
    let repo = Repo::find().unwrap();
    let sources = Sources::read(&repo).unwrap();
    let files = rendered(&sources);
    let names: HashSet<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let pages = files.iter().filter(|(name, _)| name.ends_with(".html"));
    for (name, text) in pages {
        for attribute in [" href=\"", " src=\""] {
            for rest in text.split(attribute).skip(1) {
                let target = rest.split('"').next().unwrap_or_default();
                let path = target.split('#').next().unwrap_or_default();
                if path.is_empty() || path.contains(':') {
                    continue;
                }
                let place = relative::resolve(name, path);
                let is_there = place.is_some_and(|place| names.contains(place.as_str()));
                assert!(is_there, "{name} names {target}");
            }
        }
    }
}
