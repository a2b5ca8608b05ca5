//! What a Markdown page says about itself: its headings, their anchors, its links.
//!
//! One reading serves the check of links, the book and whoever writes pages, so that a link
//! which is checked is the link that a reader follows.

use std::collections::HashMap;

use pulldown_cmark::{Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};

/// A heading of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    /// From 1, the title of the page, to 6.
    pub(crate) level: usize,
    /// Without what makes it code or strong.
    pub(crate) text: String,
    /// What a link to it ends in, unique in its page.
    pub(crate) anchor: String,
}

/// A link as written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// Counted from one.
    pub(crate) line: usize,
    pub(crate) target: String,
}

/// A page as a list of what is in it, each with its place in the text.
pub(crate) fn parser(page: &str) -> Parser<'_> {
    let tables = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    Parser::new_ext(page, tables | Options::ENABLE_STRIKETHROUGH)
}

/// All headings of a page, in order.
pub(crate) fn headings(page: &str) -> Vec<Heading> {
    let mut anchors = Anchors::default();
    let mut headings: Vec<Heading> = Vec::new();
    let mut text: Option<String> = None;
    for event in parser(page) {
        match event {
            Event::Start(Tag::Heading { .. }) => text = Some(String::new()),
            Event::End(TagEnd::Heading(level)) => {
                let text = text.take().unwrap_or_default();
                headings.push(Heading {
                    level: depth(level),
                    anchor: anchors.of(&text),
                    text,
                });
            }
            Event::Text(piece) | Event::Code(piece) => {
                if let Some(text) = &mut text {
                    *text += &piece;
                }
            }
            _ => {}
        }
    }
    headings
}

/// All links and pictures of a page, in order; code is left out, as it links to nothing.
pub(crate) fn links(page: &str) -> Vec<Link> {
    let line = |at: usize| page[..at].matches('\n').count() + 1;
    let parser = parser(page);
    let definitions = parser.reference_definitions().iter();
    // A definition counts where it stands, whether somebody uses it or not.
    let mut links: Vec<Link> = definitions
        .map(|(_, definition)| Link {
            line: line(definition.span.start),
            target: definition.dest.to_string(),
        })
        .collect();
    for (event, place) in parser.into_offset_iter() {
        if let Event::Start(
            Tag::Link {
                link_type: LinkType::Inline | LinkType::Autolink,
                dest_url,
                ..
            }
            | Tag::Image {
                link_type: LinkType::Inline,
                dest_url,
                ..
            },
        ) = event
        {
            links.push(Link {
                line: line(place.start),
                target: dest_url.into_string(),
            });
        }
    }
    links.sort_by_key(|link| link.line);
    links
}

/// The anchors of a page: the second heading of a name gets a number.
#[derive(Debug, Default)]
pub(crate) struct Anchors(HashMap<String, usize>);

impl Anchors {
    /// The anchor of the next heading.
    pub(crate) fn of(&mut self, heading: &str) -> String {
        let anchor = anchor(heading);
        let seen = self.0.entry(anchor.clone()).or_default();
        *seen += 1;
        match *seen {
            1 => anchor,
            again => format!("{anchor}-{}", again - 1),
        }
    }
}

/// The anchor that mdBook and GitHub give to a heading.
pub(crate) fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            _ if c.is_alphanumeric() => Some(c.to_ascii_lowercase()),
            _ => None,
        })
        .collect()
}

fn depth(level: HeadingLevel) -> usize {
    level as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_links(page: &str, expected: &[(usize, &str)]) {
        let links = links(page);
        let links: Vec<_> = links
            .iter()
            .map(|link| (link.line, link.target.as_str()))
            .collect();
        assert_eq!(links, expected);
    }

    #[test]
    fn links_and_pictures_are_found_with_their_lines() {
        check_links(
            "[a](x.md)\n\n![b](y.png \"title\")",
            &[(1, "x.md"), (3, "y.png")],
        );
        check_links("a [link\nover lines](x.md)", &[(1, "x.md")]);
        check_links(
            "([a](x_(y).md)) [b](<z.md>)",
            &[(1, "x_(y).md"), (1, "z.md")],
        );
    }

    #[test]
    fn a_definition_is_a_link_whether_it_is_used_or_not() {
        check_links("[a][label]\n\n[label]: x.md\n", &[(3, "x.md")]);
        check_links("[label]: x.md\n", &[(1, "x.md")]);
    }

    #[test]
    fn code_links_to_nothing() {
        check_links("`[a](x.md)`\n\n```text\n[a](x.md)\n```\n", &[]);
    }

    #[test]
    fn headings_have_anchors_of_their_own() {
        let page = "# Title\n\n## `tool_call`\n\n### Some *words*\n\n## Title\n";
        let headings = headings(page);
        let found: Vec<_> = headings
            .iter()
            .map(|one| (one.level, one.text.as_str(), one.anchor.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                (1, "Title", "title"),
                (2, "tool_call", "tool_call"),
                (3, "Some words", "some-words"),
                (2, "Title", "title-1"),
            ]
        );
    }

    #[test]
    fn anchors_are_those_of_the_book() {
        assert_eq!(anchor("Message stream"), "message-stream");
        assert_eq!(anchor("`tool_call`"), "tool_call");
        assert_eq!(anchor("`ToolKind`"), "toolkind");
    }
}
