//! What a text that is not in a file may have meant.
//!
//! Models copy a text almost right: with other white space, with the line numbers that `read`
//! shows, or with a line that has changed since. Saying which it was saves a round of guessing.

/// How much of a file is quoted.
const QUOTED_BYTES_MAX: usize = 400;
/// How many pairs of lines may be compared. A hint is not worth minutes.
const PAIRS_MAX: usize = 20_000_000;

/// Where a text almost is, in words for the model.
pub(super) fn near_miss(content: &str, text: &str) -> Option<String> {
    let wanted: Vec<&str> = text.lines().collect();
    if let Some(bare) = without_numbers(&wanted)
        && content.contains(&bare)
    {
        return Some(
            "It would be without the line numbers, which are not part of the file.".to_owned(),
        );
    }
    let lines: Vec<&str> = content.lines().collect();
    let (first, last) = (
        wanted.iter().position(|line| !line.trim().is_empty())?,
        wanted.iter().rposition(|line| !line.trim().is_empty())?,
    );
    let wanted = &wanted[first..=last];
    if lines.len().saturating_mul(wanted.len()) > PAIRS_MAX {
        return None;
    }
    if let Some(at) = spaced_otherwise(&lines, wanted) {
        let there = &lines[at..at + wanted.len()];
        if there == wanted {
            return Some(format!(
                "It is at line {}, but some lines of this file end with CR LF and some with LF.",
                at + 1
            ));
        }
        return Some(format!(
            "At line {} the white space is different. The file has:\n{}",
            at + 1,
            quoted(&there.join("\n"))
        ));
    }
    let (at, same) = longest_start(&lines, wanted)?;
    let found = lines.get(at + same).copied();
    Some(format!(
        "Its first {same} {} at line {}, but then line {} of the file is:\n{}\nwhere old_text has:\n{}",
        if same == 1 { "line is" } else { "lines are" },
        at + 1,
        at + same + 1,
        quoted(found.unwrap_or("[the end of the file]")),
        quoted(wanted[same])
    ))
}

/// The text without the numbers that `read` puts before lines, if all of them have one.
fn without_numbers(lines: &[&str]) -> Option<String> {
    let bare = lines.iter().map(|line| {
        let (number, rest) = line.split_once('\t')?;
        let number = number.trim();
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then_some(rest)
    });
    Some(bare.collect::<Option<Vec<_>>>()?.join("\n"))
}

/// Where the lines are when white space does not count.
fn spaced_otherwise(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let mut windows = lines.windows(wanted.len());
    windows.position(|window| {
        window
            .iter()
            .zip(wanted)
            .all(|(one, other)| is_same(one, other))
    })
}

/// Where most of the first lines are, white space aside, and how many; at least one, not all.
fn longest_start(lines: &[&str], wanted: &[&str]) -> Option<(usize, usize)> {
    let mut best = None;
    for at in 0..lines.len() {
        let pairs = lines[at..].iter().zip(wanted);
        let same = pairs.take_while(|(one, other)| is_same(one, other)).count();
        if same > best.map_or(0, |(_, same)| same) {
            best = Some((at, same));
        }
    }
    best.filter(|(_, same)| *same < wanted.len())
}

fn is_same(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

fn quoted(text: &str) -> String {
    match text.len() > QUOTED_BYTES_MAX {
        true => format!("{}…", &text[..text.floor_char_boundary(QUOTED_BYTES_MAX)]),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, text: &str, expected: Option<&str>) {
        assert!(!content.contains(text), "this would be no miss");
        assert_eq!(near_miss(content, text).as_deref(), expected);
    }

    #[test]
    fn other_white_space_is_noticed() {
        check(
            "fn a() {\n\tlet x = 1;\n}\n",
            "fn a() {\n    let x = 1;\n}",
            Some(
                "At line 1 the white space is different. The file has:\nfn a() {\n\tlet x = 1;\n}",
            ),
        );
        check(
            "a\n  b  c\n",
            "\nb c\n",
            Some("At line 2 the white space is different. The file has:\n  b  c"),
        );
        check(
            "a\r\nb\nc\n",
            "a\nb",
            Some("It is at line 1, but some lines of this file end with CR LF and some with LF."),
        );
    }

    #[test]
    fn line_numbers_are_noticed() {
        check(
            "x\none\ntwo\n",
            "2\tone\n3\ttwo",
            Some("It would be without the line numbers, which are not part of the file."),
        );
        check("x\n", "1\ty", None);
    }

    #[test]
    fn the_line_that_differs_is_shown() {
        check(
            "x\none\none\ntwo\nthree\n",
            "one\ntwo\nfour",
            Some(
                "Its first 2 lines are at line 3, but then line 5 of the file is:\nthree\nwhere old_text has:\nfour",
            ),
        );
        check(
            "x\none",
            "one\ntwo",
            Some(
                "Its first 1 line is at line 2, but then line 3 of the file is:\n[the end of the file]\nwhere old_text has:\ntwo",
            ),
        );
    }

    #[test]
    fn what_is_far_away_is_no_near_miss() {
        check("a\nb\n", "c", None);
        check("", "c", None);
        check("a", "\n \n", None);
    }

    #[test]
    fn long_quotes_are_cut() {
        let line = "ü".repeat(1000);
        let said = near_miss(&format!("a\n{line}"), "a\nb").unwrap();
        assert!(
            said.contains(&format!("\n{}…\n", "ü".repeat(200))),
            "{said}"
        );
    }
}
