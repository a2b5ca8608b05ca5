//! What is around the text of every page: the chapters, the headings, the way on.

use super::html::escaped;
use super::html_name;
use super::summary::{Chapter, Part, Summary};
use crate::markdown::Heading;

/// Headings below this are not listed beside the page.
const LISTED_LEVEL_MAX: usize = 3;

/// A page with this many headings or fewer needs no list of them.
const LISTED_HEADINGS_MIN: usize = 2;

/// One page and what is known about its surroundings.
pub(super) struct Page<'a> {
    pub(super) summary: &'a Summary,
    pub(super) chapter: &'a Chapter,
    pub(super) previous: Option<&'a Chapter>,
    pub(super) next: Option<&'a Chapter>,
    pub(super) headings: &'a [Heading],
    pub(super) body: &'a str,
}

impl Page<'_> {
    /// The whole file.
    pub(super) fn render(&self) -> String {
        let root = self.root();
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title} · Harn</title>\n\
             <link rel=\"stylesheet\" href=\"{root}book.css\">\n\
             <script src=\"{root}book.js\"></script>\n\
             <script src=\"{root}search.js\" defer></script>\n</head>\n\
             <body data-root=\"{root}\">\n\
             <a class=\"skip\" href=\"#content\">Skip to the text</a>\n\
             <header><button id=\"menu\" aria-controls=\"chapters\">Chapters</button>\n\
             <a href=\"{root}index.html\">Harn</a>\n\
             <input id=\"search\" type=\"search\" placeholder=\"Find a heading\" \
             aria-label=\"Find a heading\" autocomplete=\"off\">\n\
             <button id=\"theme\">Light or dark</button></header>\n\
             <ul id=\"found\" hidden></ul>\n\
             <nav id=\"chapters\" aria-label=\"Chapters\">\n{chapters}</nav>\n\
             <main id=\"content\">\n<article>\n{body}</article>\n{turn}</main>\n\
             {contents}</body>\n</html>\n",
            title = escaped(&self.chapter.title),
            chapters = self.chapters(),
            body = self.body,
            turn = self.turn(),
            contents = self.contents(),
        )
    }

    /// The way from this page to the folder of the book.
    fn root(&self) -> String {
        "../".repeat(self.chapter.path.matches('/').count())
    }

    fn chapters(&self) -> String {
        let parts = self.summary.parts.iter();
        parts.map(|part| self.part(part)).collect()
    }

    fn part(&self, part: &Part) -> String {
        let mut text = String::new();
        if !part.title.is_empty() {
            text += &format!("<h2>{}</h2>\n", escaped(&part.title));
        }
        text += "<ul>\n";
        for (chapter, children) in part.families() {
            text += &format!("<li>{}", self.chapter_link(chapter));
            if !children.is_empty() {
                text += &self.children(chapter, &children);
            }
            text += "</li>\n";
        }
        text + "</ul>\n"
    }

    /// Folded, unless the reader is on one of these pages.
    fn children(&self, chapter: &Chapter, children: &[&Chapter]) -> String {
        let mut family = children.iter().copied().chain([chapter]);
        let open = match family.any(|one| one == self.chapter) {
            true => " open",
            false => "",
        };
        let links = children
            .iter()
            .map(|child| format!("<li>{}</li>\n", self.chapter_link(child)));
        format!(
            "<details{open}><summary>{} pages</summary>\n<ul>\n{}</ul></details>",
            children.len(),
            links.collect::<String>()
        )
    }

    fn chapter_link(&self, chapter: &Chapter) -> String {
        let current = match chapter == self.chapter {
            true => " aria-current=\"page\"",
            false => "",
        };
        self.link(chapter, current)
    }

    fn link(&self, chapter: &Chapter, attributes: &str) -> String {
        format!(
            "<a href=\"{}{}\"{attributes}>{}</a>",
            self.root(),
            html_name(&chapter.path),
            escaped(&chapter.title)
        )
    }

    fn turn(&self) -> String {
        let previous = self.previous.map(|one| self.link(one, " rel=\"prev\""));
        let next = self.next.map(|one| self.link(one, " rel=\"next\""));
        let links = [previous, next].into_iter().flatten();
        let links: Vec<String> = links.collect();
        format!(
            "<nav class=\"turn\" aria-label=\"Neighbours\">{}</nav>\n",
            links.join("\n")
        )
    }

    fn contents(&self) -> String {
        let headings = self.headings.iter();
        let listed: Vec<&Heading> = headings
            .filter(|one| (2..=LISTED_LEVEL_MAX).contains(&one.level))
            .collect();
        if listed.len() < LISTED_HEADINGS_MIN {
            return String::new();
        }
        let item = |one: &&Heading| {
            format!(
                "<li class=\"level{}\"><a href=\"#{}\">{}</a></li>\n",
                one.level,
                one.anchor,
                escaped(&one.text)
            )
        };
        let items: String = listed.iter().map(item).collect();
        format!("<nav id=\"contents\" aria-label=\"On this page\">\n<ul>\n{items}</ul></nav>\n")
    }
}
