//! The text of a page as HTML.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Tag, TagEnd};

use super::highlight;
use crate::markdown::{self, Anchors};

/// The page without what is around it on every page.
pub(super) fn body(page: &str) -> String {
    let events = markdown::parser(page).collect();
    let events = with_anchors(events);
    let events = with_code(events);
    let events = events.into_iter().flat_map(adapted);
    let mut body = String::with_capacity(page.len() * 2);
    pulldown_cmark::html::push_html(&mut body, events);
    body
}

/// Text that stands for itself in HTML, also in an attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            '"' => escaped += "&quot;",
            _ => escaped.push(c),
        }
    }
    escaped
}

/// Gives each heading its anchor and a link to itself, so that readers can pass it on.
fn with_anchors(events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    let mut anchors = Anchors::default();
    let mut result: Vec<Event<'_>> = Vec::with_capacity(events.len());
    let mut start = 0;
    for mut event in events {
        match &mut event {
            Event::Start(Tag::Heading { .. }) => start = result.len(),
            Event::End(TagEnd::Heading(_)) => {
                let text = result[start..].iter().filter_map(words).collect::<String>();
                let anchor = anchors.of(&text);
                let link = format!("<a class=\"anchor\" href=\"#{anchor}\">");
                if let Event::Start(Tag::Heading { id, .. }) = &mut result[start] {
                    *id = Some(CowStr::from(anchor));
                }
                result.insert(start + 1, Event::InlineHtml(link.into()));
                result.push(Event::InlineHtml("</a>".into()));
            }
            _ => {}
        }
        result.push(event);
    }
    result
}

fn words<'a>(event: &'a Event<'_>) -> Option<&'a str> {
    match event {
        Event::Text(text) | Event::Code(text) => Some(text),
        _ => None,
    }
}

/// Replaces each block of code by what it looks like.
fn with_code(events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    let mut result = Vec::with_capacity(events.len());
    let mut block: Option<(String, String)> = None;
    for event in events {
        match (event, &mut block) {
            (Event::Start(Tag::CodeBlock(kind)), _) => {
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                block = Some((info, String::new()));
            }
            (Event::Text(piece), Some((_, text))) => *text += &piece,
            (Event::End(TagEnd::CodeBlock), Some((info, text))) => {
                result.push(Event::Html(highlight::block(info, text).into()));
                block = None;
            }
            (event, _) => result.push(event),
        }
    }
    result
}

/// What the book shows otherwise than any Markdown would.
fn adapted(event: Event<'_>) -> Vec<Event<'_>> {
    match event {
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) => vec![Event::Start(Tag::Link {
            link_type,
            dest_url: rendered_address(&dest_url).into(),
            title,
            id,
        })],
        // Wide tables scroll by themselves instead of widening the page.
        table @ Event::Start(Tag::Table(_)) => {
            vec![Event::Html("<div class=\"table\">".into()), table]
        }
        table @ Event::End(TagEnd::Table) => vec![table, Event::Html("</div>\n".into())],
        event => vec![event],
    }
}

/// Where a link leads once pages are files of HTML.
fn rendered_address(target: &str) -> String {
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, format!("#{anchor}")),
        None => (target, String::new()),
    };
    let is_elsewhere = path.contains(':');
    match path.strip_suffix(".md") {
        Some(page) if !is_elsewhere => format!("{page}.html{anchor}"),
        _ => target.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(page: &str, expected: &str) {
        assert_eq!(body(page).trim_end(), expected);
    }

    #[test]
    fn links_lead_to_rendered_pages() {
        check(
            "[a](../x.md#part) [b](https://example.org/y.md) [c](#here)",
            "<p><a href=\"../x.html#part\">a</a> <a href=\"https://example.org/y.md\">b</a> \
             <a href=\"#here\">c</a></p>",
        );
    }

    #[test]
    fn a_heading_can_be_linked_to() {
        check(
            "## The `loop`",
            "<h2 id=\"the-loop\"><a class=\"anchor\" href=\"#the-loop\">The \
             <code>loop</code></a></h2>",
        );
        let twice = body("# A\n\n# A\n");
        assert!(
            twice.contains("id=\"a\"") && twice.contains("id=\"a-1\""),
            "{twice}"
        );
    }

    #[test]
    fn tables_scroll_by_themselves() {
        let table = body("| a |\n|---|\n| `x` |\n");
        assert!(table.starts_with("<div class=\"table\"><table>"), "{table}");
        assert!(table.trim_end().ends_with("</table>\n</div>"), "{table}");
    }

    #[test]
    fn code_is_shown_and_not_obeyed() {
        check(
            "```text\n<b> & </b>\n```",
            "<pre class=\"code\" data-language=\"text\"><code>&lt;b&gt; &amp; \
             &lt;/b&gt;\n</code></pre>",
        );
    }
}
