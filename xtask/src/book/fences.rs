//! Finds the fenced code blocks of a Markdown page.

/// One fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The line of the opening fence, counted from one.
    pub(crate) line: usize,
    /// What follows the opening fence, trimmed.
    pub(crate) info: String,
    /// The lines between the fences, without the indentation of the fence.
    pub(crate) text: String,
    /// False when the page ends first.
    pub(crate) closed: bool,
}

/// The fence that opened a block.
struct Fence<'a> {
    indent: usize,
    mark: char,
    length: usize,
    info: &'a str,
}

/// All blocks of a page, in order.
pub(crate) fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<Fence<'_>> = None;
    for (index, line) in page.lines().enumerate() {
        match (&open, blocks.last_mut()) {
            (Some(fence), Some(block)) if closes(line, fence) => {
                block.closed = true;
                open = None;
            }
            (Some(fence), Some(block)) => {
                block.text += without_indent(line, fence.indent);
                block.text.push('\n');
            }
            _ => {
                open = opening(line);
                blocks.extend(open.as_ref().map(|fence| Block {
                    line: index + 1,
                    info: fence.info.to_string(),
                    text: String::new(),
                    closed: false,
                }));
            }
        }
    }
    blocks
}

/// A fence is three or more backticks or tildes. We accept any indentation, as
/// a block inside a list is indented with its item.
fn opening(line: &str) -> Option<Fence<'_>> {
    let trimmed = line.trim_start();
    let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = trimmed.trim_start_matches(mark);
    let length = trimmed.len() - info.len();
    // "```code``` in a sentence" is inline code, not a fence.
    let is_inline = mark == '`' && info.contains('`');
    (length >= 3 && !is_inline).then(|| Fence {
        indent: line.len() - trimmed.len(),
        mark,
        length,
        info: info.trim(),
    })
}

fn closes(line: &str, fence: &Fence<'_>) -> bool {
    let line = line.trim();
    line.len() >= fence.length && line.chars().all(|c| c == fence.mark)
}

fn without_indent(line: &str, indent: usize) -> &str {
    let present = line.len() - line.trim_start_matches(' ').len();
    &line[indent.min(present)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(page: &str, expected: &[(usize, &str, &str, bool)]) {
        let found = blocks(page);
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.line, one.info.as_str(), one.text.as_str(), one.closed))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_block_knows_its_line_info_and_text() {
        check(
            "# Title\n\n```json\n{}\n```\n\nend\n",
            &[(3, "json", "{}\n", true)],
        );
    }

    #[test]
    fn a_block_in_a_list_loses_the_indentation_of_its_fence() {
        check(
            "- item\n\n  ```text\n  a\n    b\n  ```\n",
            &[(3, "text", "a\n  b\n", true)],
        );
    }

    #[test]
    fn a_longer_fence_may_hold_a_shorter_one() {
        check(
            "````text\n```rust\n```\n````\n",
            &[(1, "text", "```rust\n```\n", true)],
        );
        check("~~~text\n```\n~~~\n", &[(1, "text", "```\n", true)]);
    }

    #[test]
    fn inline_code_is_not_a_fence() {
        check("```a``` and ```b```\n", &[]);
    }

    #[test]
    fn a_page_that_ends_inside_a_block_says_so() {
        check("```text\na\n", &[(1, "text", "a\n", false)]);
    }
}
