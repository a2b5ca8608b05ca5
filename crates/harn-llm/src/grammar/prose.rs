//! What is left of a text once the calls are taken out.

/// Whether a line begins or ends fenced code.
pub(super) fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// Takes out fences that enclose nothing, shrinks runs of blank lines to one, and trims.
pub(super) fn tidy(text: &str) -> String {
    if !text.contains('\n') && !is_fence(text) {
        return text.trim().to_owned();
    }
    let mut lines: Vec<&str> = Vec::new();
    // Where the open fence stands, as long as only blank lines followed it.
    let mut empty_fence: Option<usize> = None;
    let mut is_open = false;
    for line in text.split('\n') {
        if is_fence(line) {
            is_open = !is_open;
            match empty_fence.take() {
                Some(opened) if !is_open => {
                    lines.truncate(opened);
                    continue;
                }
                _ if is_open => empty_fence = Some(lines.len()),
                _ => {}
            }
        } else if !line.trim().is_empty() {
            empty_fence = None;
        } else if !is_open && lines.last().is_some_and(|last| last.trim().is_empty()) {
            continue;
        }
        lines.push(line);
    }
    if let Some(opened) = empty_fence {
        lines.truncate(opened);
    }
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_fences_and_runs_of_blank_lines_go() {
        for (text, expected) in [
            ("a\n```\n\n```\nb", "a\nb"),
            ("a\n```js\nx\n```\nb", "a\n```js\nx\n```\nb"),
            ("a\n\n\n \nb", "a\n\nb"),
            (" a \n", "a"),
            ("```tool_code\n", ""),
            ("```\n```", ""),
            ("```js", ""),
            (" a ", "a"),
            ("", ""),
        ] {
            assert_eq!(tidy(text), expected, "{text:?}");
        }
    }
}
