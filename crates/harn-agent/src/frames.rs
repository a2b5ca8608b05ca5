//! The frames that the runtime puts around what it tells a model.
//!
//! ```text
//! <runtime_feedback kind="tool_results">     made by us
//! [result of read]                           made by us
//! … [end of read result] …                   from a file: a backslash goes before the bracket
//! [end of read result]                       made by us
//! </runtime_feedback>
//! ```
//!
//! A file, a page or a server can hold the words that end a frame and begin another one, and a
//! model would take what follows for the words of the runtime. So a mark inside of a content has
//! a backslash before its bracket. It is a help and no guarantee: a model decides what it
//! believes.

use std::borrow::Cow;

/// How the frames begin and end that stand around one result.
const RESULTS: [&str; 2] = ["[result of ", "[end of "];

/// How all other frames begin and end.
const OTHERS: [&str; 16] = [
    "<runtime_feedback",
    "</runtime_feedback",
    "<runtime_injection",
    "</runtime_injection",
    "<tool_result",
    "</tool_result",
    "<task_ledger",
    "</task_ledger",
    "<handoff>",
    "</handoff>",
    "<workflow_task",
    "</workflow_task",
    "<workflow_context",
    "</workflow_context",
    "<data-",
    "</data-",
];

/// A content that cannot end the frame around it, nor begin one.
pub(crate) fn inside(content: &str) -> Cow<'_, str> {
    escaped(content, &|rest| {
        is_mark(rest, &RESULTS) || is_mark(rest, &OTHERS)
    })
}

/// The same for a content that is made of results in frames of their own.
pub(crate) fn around_results(content: &str) -> Cow<'_, str> {
    escaped(content, &|rest| is_mark(rest, &OTHERS))
}

/// The same for what stands in an element of one of these names. Other brackets stay: it may be
/// a program.
pub(crate) fn inside_elements<'a>(content: &'a str, names: &[&str]) -> Cow<'a, str> {
    escaped(content, &|rest| {
        let name = rest.strip_prefix("</").unwrap_or(&rest[1..]);
        names.iter().any(|one| starts_with(name, one))
    })
}

/// Puts a backslash before each bracket where a mark begins, unless there is one.
fn escaped<'a>(content: &'a str, is_mark: &dyn Fn(&str) -> bool) -> Cow<'a, str> {
    let mut escaped = String::new();
    let mut copied = 0;
    for (at, _) in content.match_indices(['[', '<']) {
        if content[..at].ends_with('\\') || !is_mark(&content[at..]) {
            continue;
        }
        escaped.push_str(&content[copied..at]);
        escaped.push('\\');
        copied = at;
    }
    match copied {
        0 if escaped.is_empty() => Cow::Borrowed(content),
        _ => {
            escaped.push_str(&content[copied..]);
            Cow::Owned(escaped)
        }
    }
}

fn is_mark(rest: &str, marks: &[&str]) -> bool {
    marks.iter().any(|mark| starts_with(rest, mark))
}

/// Models do not mind how letters are written.
fn starts_with(text: &str, mark: &str) -> bool {
    let start = text.as_bytes().get(..mark.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(mark.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_cannot_end_the_frame_around_it() {
        for (content, expected) in [
            ("plain [text] <b>", "plain [text] <b>"),
            ("[end of read result]", "\\[end of read result]"),
            ("a[Result Of x]b", "a\\[Result Of x]b"),
            ("</runtime_feedback>\nnow", "\\</runtime_feedback>\nnow"),
            (
                "<runtime_feedback kind=\"x\">",
                "\\<runtime_feedback kind=\"x\">",
            ),
            ("</data-a1b2c3d4>", "\\</data-a1b2c3d4>"),
            ("é[end of é", "é\\[end of é"),
            ("\\[end of read]", "\\[end of read]"),
            ("<<data-x>", "<\\<data-x>"),
        ] {
            assert_eq!(inside(content), expected);
        }
    }

    #[test]
    fn the_frames_of_results_stay_in_what_is_made_of_them() {
        let results = "[result of read]\n\\[end of x]\n[end of read result]";
        assert_eq!(around_results(results), results);
        assert_eq!(
            around_results("</runtime_feedback>"),
            "\\</runtime_feedback>"
        );
    }

    #[test]
    fn elements_are_ended_by_nothing_inside() {
        let body = "let x = <b> </body></Artifact><artifact> </bodyguard>";
        let escaped = inside_elements(body, &["body>", "artifact>"]);
        let expected = "let x = <b> \\</body>\\</Artifact>\\<artifact> </bodyguard>";
        assert_eq!(escaped, expected);
    }
}
