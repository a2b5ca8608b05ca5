//! What an edit changes, line by line.

use serde_json::Value;

use super::clean::clean_line;

/// Lines that stay are shown only so far around those that change.
const AROUND: usize = 2;

/// Longer texts and lines are cut: nobody reads them in a chat.
const LINES_MAX: usize = 400;
const LINE_CHARACTERS_MAX: usize = 400;

/// The names that tools have for what they replace, for what takes its place, and for all that
/// a file is to contain.
const OLD: [&str; 5] = ["old_text", "old_string", "old_str", "search", "oldText"];
const NEW: [&str; 5] = ["new_text", "new_string", "new_str", "replace", "newText"];
const WHOLE: [&str; 2] = ["content", "text"];

/// A line of a difference, [cleaned](super::clean).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Kept(String),
    Removed(String),
    Added(String),
}

/// What a call changes, by its arguments; nothing if it does not look like an edit.
pub(super) fn of_call(arguments: &Value) -> Vec<Line> {
    let text = |names: &[&str]| names.iter().find_map(|name| arguments[*name].as_str());
    match (text(&OLD), text(&NEW)) {
        (Some(old), Some(new)) => between(old, new),
        _ => text(&WHOLE).map_or_else(Vec::new, |new| between("", new)),
    }
}

/// The lines that differ, with some of those around them.
fn between(old: &str, new: &str) -> Vec<Line> {
    let (old, new) = (lines(old), lines(new));
    let pairs = old.iter().zip(&new);
    let before = pairs.take_while(|(one, other)| one == other).count();
    let room = old.len().min(new.len()) - before;
    let pairs = old.iter().rev().zip(new.iter().rev());
    let same = pairs.take_while(|(one, other)| one == other).count();
    let after = same.min(room);
    let first = before.saturating_sub(AROUND);
    let kept = old[first..before]
        .iter()
        .map(|line| Line::Kept(short(line)));
    let removed = &old[before..old.len() - after];
    let added = &new[before..new.len() - after];
    let rest = &new[new.len() - after..];
    let rest = rest.iter().take(AROUND).map(|line| Line::Kept(short(line)));
    kept.chain(removed.iter().map(|line| Line::Removed(short(line))))
        .chain(added.iter().map(|line| Line::Added(short(line))))
        .chain(rest)
        .collect()
}

fn short(line: &str) -> String {
    let kept: String = line.chars().take(LINE_CHARACTERS_MAX).collect();
    clean_line(&kept)
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().take(LINES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(arguments: &Value, expected: &str) {
        let lines = of_call(arguments).into_iter().map(|line| match line {
            Line::Kept(text) => format!(" {text}"),
            Line::Removed(text) => format!("-{text}"),
            Line::Added(text) => format!("+{text}"),
        });
        assert_eq!(lines.collect::<Vec<_>>().join("|"), expected);
    }

    #[test]
    fn only_what_differs_is_shown_with_a_little_around_it() {
        let edit = |old: &str, new: &str| json!({"path": "a", "old_text": old, "new_text": new});
        check(&edit("a\nb\nc", "a\nx\nc"), " a|-b|+x| c");
        check(&edit("1\n2\n3\nb", "1\n2\n3\nx\ny"), " 2| 3|-b|+x|+y");
        check(&edit("a\na", "a\na\na"), " a| a|+a");
        check(&edit("a", ""), "-a");
        check(&edit("same", "same"), " same");
    }

    #[test]
    fn a_new_file_is_all_new_and_other_calls_change_nothing() {
        check(&json!({"path": "a", "content": "x\ny\n"}), "+x|+y");
        check(&json!({"command": "ls"}), "");
        check(&json!(null), "");
    }
}
