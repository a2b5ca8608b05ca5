//! The order of the book, as its summary tells it.

use pulldown_cmark::{Event, Tag, TagEnd};

use crate::markdown;

/// The whole book.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) parts: Vec<Part>,
}

/// Chapters under a common heading; the first ones may have none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) title: String,
    pub(super) chapters: Vec<Chapter>,
}

/// A page and its place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chapter {
    pub(super) title: String,
    /// Below the folder of the book, with `/` between its parts.
    pub(super) path: String,
    /// 0 for a chapter, 1 for one that belongs to the chapter before it.
    pub(super) depth: usize,
}

impl Summary {
    /// Reads `# Part` headings and lists of `[title](page.md)`; anything else is passed over.
    pub(super) fn parse(text: &str) -> Self {
        let mut parts = vec![Part::default()];
        let mut depth: usize = 0;
        let mut words = String::new();
        for event in markdown::parser(text) {
            match event {
                Event::Start(Tag::List(_)) => depth += 1,
                Event::End(TagEnd::List(_)) => depth -= 1,
                Event::Start(Tag::Heading { .. }) => words.clear(),
                // The first heading is the title of the summary itself.
                Event::End(TagEnd::Heading(_)) if words != "Summary" => parts.push(Part {
                    title: words.clone(),
                    chapters: Vec::new(),
                }),
                Event::Start(Tag::Link { dest_url, .. }) => {
                    words.clear();
                    if let Some(part) = parts.last_mut() {
                        part.chapters.push(Chapter {
                            title: String::new(),
                            path: dest_url.trim_start_matches("./").to_string(),
                            depth: depth.saturating_sub(1),
                        });
                    }
                }
                Event::End(TagEnd::Link) => {
                    let part = parts.last_mut();
                    if let Some(chapter) = part.and_then(|part| part.chapters.last_mut()) {
                        chapter.title = words.clone();
                    }
                }
                Event::Text(piece) | Event::Code(piece) => words += &piece,
                _ => {}
            }
        }
        parts.retain(|part| !part.chapters.is_empty());
        Self { parts }
    }

    /// All chapters from the first page to the last.
    pub(super) fn chapters(&self) -> impl Iterator<Item = &Chapter> {
        self.parts.iter().flat_map(|part| &part.chapters)
    }
}

impl Part {
    /// Each chapter together with those that belong to it.
    pub(super) fn families(&self) -> Vec<(&Chapter, Vec<&Chapter>)> {
        let mut families: Vec<(&Chapter, Vec<&Chapter>)> = Vec::new();
        for chapter in &self.chapters {
            match families.last_mut() {
                Some((_, children)) if chapter.depth > 0 => children.push(chapter),
                _ => families.push((chapter, Vec::new())),
            }
        }
        families
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_chapters_are_read_in_order() {
        let text = "# Summary\n\n[Introduction](introduction.md)\n\n# The language\n\n\
                    - [Tour](language/tour.md)\n- [`Codes`](./explain/index.md)\n  \
                    - [one](explain/one.md)\n\n# Empty\n";
        let summary = Summary::parse(text);
        let titles: Vec<&str> = summary.parts.iter().map(|one| one.title.as_str()).collect();
        assert_eq!(titles, ["", "The language"]);
        let chapters: Vec<_> = summary
            .chapters()
            .map(|one| (one.title.as_str(), one.path.as_str(), one.depth))
            .collect();
        assert_eq!(
            chapters,
            [
                ("Introduction", "introduction.md", 0),
                ("Tour", "language/tour.md", 0),
                ("Codes", "explain/index.md", 0),
                ("one", "explain/one.md", 1),
            ]
        );
        let families = summary.parts[1].families();
        assert_eq!(families.len(), 2);
        assert_eq!(families[1].1[0].title, "one");
    }
}
