//! Small pieces of Markdown that say what the data says, whatever is in it.
//!
//! The catalogue is prose and pseudo-code written without Markdown in mind:
//! `session_<id>` must not become an HTML tag, nor `a | b` two cells.

/// Prose outside of tables. Code between backticks is left as it is.
pub(super) fn prose(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    // Odd pieces are inside backticks, unless the last one is never closed.
    let pieces: Vec<&str> = text.split('`').collect();
    for (index, piece) in pieces.iter().enumerate() {
        let is_code = index % 2 == 1;
        let is_closed = index + 1 < pieces.len();
        match (is_code, is_closed) {
            (true, true) => escaped += &format!("`{piece}`"),
            (true, false) => escaped += &format!("\\`{}", plain(piece)),
            (false, _) => escaped += &plain(piece),
        }
    }
    escaped
}

/// Prose in a cell of a table.
pub(super) fn cell(text: &str) -> String {
    in_cell(&prose(text))
}

/// Text set as code. No name in the catalogue contains a backtick.
pub(super) fn code(text: &str) -> String {
    format!("`{text}`")
}

/// Any Markdown made fit for a cell; GitHub and mdBook also split code at a bar.
pub(super) fn in_cell(markdown: &str) -> String {
    markdown.replace('|', "\\|").replace('\n', " ")
}

/// A whole table: the header, the rule, the rows.
pub(super) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = line(header.iter().copied());
    table += &line(header.iter().map(|_| "---"));
    for row in rows {
        table += &line(row.iter().map(String::as_str));
    }
    table
}

fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let mut line = String::from("|");
    for cell in cells {
        line += &format!(" {cell} |");
    }
    line.push('\n');
    line
}

fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            '*' | '[' | ']' | '\\' => escaped.extend(['\\', c]),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angle_brackets_are_shown_and_not_taken_for_tags() {
        assert_eq!(prose("mints session_<id>"), "mints session_&lt;id&gt;");
    }

    #[test]
    fn code_keeps_its_brackets() {
        assert_eq!(
            prose("ids `tool-<n>` or <n>"),
            "ids `tool-<n>` or &lt;n&gt;"
        );
    }

    #[test]
    fn a_lonely_backtick_opens_nothing() {
        assert_eq!(prose("a ` and <b>"), "a \\` and &lt;b&gt;");
    }

    #[test]
    fn stars_do_not_become_emphasis() {
        assert_eq!(prose("(a)* -> (b)*"), "(a)\\* -&gt; (b)\\*");
    }

    #[test]
    fn a_bar_does_not_split_a_cell() {
        assert_eq!(cell("completed | failed"), "completed \\| failed");
        assert_eq!(cell("`a|b`"), "`a\\|b`");
    }

    #[test]
    fn a_table_has_a_rule_under_its_header() {
        let rows = [vec!["1".to_string(), "2".to_string()]];
        assert_eq!(
            table(&["a", "b"], &rows),
            "| a | b |\n| --- | --- |\n| 1 | 2 |\n"
        );
    }
}
