//! `cargo xtask docs`: the book as pages for a browser, with its links checked.
//!
//! ```text
//! SUMMARY.md ──► Summary ──► the order of the chapters, the list beside every page
//!                               │
//! pages ──► markdown ──► html ──┴──► layout ──► target/book/*.html
//!             └──► links, headings ──► findings: file, line, what is wrong
//! ```
//!
//! mdBook would do as well, and `docs/book.toml` is kept for those who have it. It takes
//! longer to build than everything else here together, and a newcomer should need nothing
//! but cargo, so we render with the parser alone. Nothing of the result is fetched from
//! elsewhere: it works from a folder, without a server and without a network.

mod highlight;
mod html;
mod layout;
mod summary;

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use crate::error::Error;
use crate::finding::Finding;
use crate::markdown::{self, Heading};
use crate::repo::Repo;
use crate::sources::Sources;
use crate::tidy;

use summary::{Chapter, Summary};

/// Where the pages of the book are.
pub(crate) const BOOK: &str = "docs/src/";

/// The order of the pages.
pub(crate) const SUMMARY: &str = "docs/src/SUMMARY.md";

/// What is beside the pages and the same for all of them.
const ASSETS: &[(&str, &str)] = &[
    ("book.css", include_str!("docs/book.css")),
    ("book.js", include_str!("docs/book.js")),
];

/// Whether a file is a page of the book.
pub(crate) fn is_page(path: &str) -> bool {
    path.starts_with(BOOK) && path.ends_with(".md") && path != SUMMARY
}

/// Builds the book, unless a link in it is dead.
pub(crate) fn run(repo: &Repo, arguments: &[String]) -> Result<ExitCode, Error> {
    if !arguments.is_empty() {
        return Err(Error::usage("`docs` takes no arguments"));
    }
    let sources = Sources::read(repo)?;
    let findings = findings(&sources);
    if !findings.is_empty() {
        for finding in &findings {
            println!("{finding}");
        }
        println!("{} to fix before the book can be built", findings.len());
        return Ok(ExitCode::FAILURE);
    }
    let folder = repo.target_dir().join("book");
    let files = Book::read(&sources)?.render();
    write(&folder, &files)?;
    let pages = files.iter().filter(|(name, _)| name.ends_with(".html"));
    println!("{} pages in {}", pages.count(), folder.display());
    println!("open {}", folder.join("index.html").display());
    Ok(ExitCode::SUCCESS)
}

/// What is wrong with the links and the chapters of the book.
fn findings(sources: &Sources) -> Vec<Finding> {
    let mut findings = tidy::chapters::findings(&sources.files);
    let links = tidy::links::findings(sources);
    findings.extend(links.into_iter().filter(|one| one.file.starts_with(BOOK)));
    findings
}

/// Replaces what an earlier build left: a page that was renamed must not stay.
fn write(folder: &Path, files: &[(String, String)]) -> Result<(), Error> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(Error::file(folder))?;
    }
    for (name, text) in files {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(Error::file(parent))?;
        fs::write(&path, text).map_err(Error::file(&path))?;
    }
    Ok(())
}

/// Everything that is needed to render any page.
struct Book<'a> {
    summary: Summary,
    /// The text of each page by its path below [`BOOK`].
    texts: HashMap<&'a str, &'a str>,
}

impl<'a> Book<'a> {
    fn read(sources: &'a Sources) -> Result<Self, Error> {
        let mut texts = HashMap::new();
        for file in &sources.files {
            if let Some(path) = file.path.strip_prefix(BOOK) {
                texts.insert(path, file.text.as_str());
            }
        }
        let summary = texts.get("SUMMARY.md").copied().unwrap_or_default();
        let summary = Summary::parse(summary);
        if summary.chapters().next().is_none() {
            return Err(Error::malformed(SUMMARY, "it lists no chapter"));
        }
        Ok(Self { summary, texts })
    }

    /// Every file of the rendered book: its name and what is in it.
    fn render(&self) -> Vec<(String, String)> {
        let chapters: Vec<&Chapter> = self.summary.chapters().collect();
        let mut files: Vec<(String, String)> = Vec::new();
        let mut index = String::from("const HEADINGS = [\n");
        for (at, chapter) in chapters.iter().enumerate() {
            let text = self.texts.get(chapter.path.as_str()).unwrap_or(&"");
            let headings = markdown::headings(text);
            index += &search_entries(chapter, &headings);
            let page = layout::Page {
                summary: &self.summary,
                chapter,
                previous: at.checked_sub(1).map(|at| chapters[at]),
                next: chapters.get(at + 1).copied(),
                headings: &headings,
                body: &html::body(text),
            };
            files.push((html_name(&chapter.path), page.render()));
        }
        index += "];\n";
        // The first page is also where somebody arrives who names none.
        if let Some(first) = chapters.iter().find(|one| !one.path.contains('/')) {
            let name = html_name(&first.path);
            let page = files.iter().find(|(file, _)| *file == name);
            let page = page.map(|(_, text)| text.clone());
            files.extend(page.map(|text| ("index.html".to_string(), text)));
        }
        files.push(("search.js".to_string(), index));
        let assets = ASSETS.iter();
        files.extend(assets.map(|(name, text)| (name.to_string(), text.to_string())));
        files
    }
}

/// Lines of the list that the search field looks through: what, on which page, where.
fn search_entries(chapter: &Chapter, headings: &[Heading]) -> String {
    let mut entries = String::new();
    for (at, heading) in headings.iter().enumerate() {
        let address = match at {
            0 => html_name(&chapter.path),
            _ => format!("{}#{}", html_name(&chapter.path), heading.anchor),
        };
        let entry = serde_json::json!([heading.text, chapter.title, address]);
        entries += &format!("{entry},\n");
    }
    entries
}

/// The name of the file that a page is rendered to.
fn html_name(page: &str) -> String {
    format!("{}.html", page.strip_suffix(".md").unwrap_or(page))
}

#[cfg(test)]
mod tests;
