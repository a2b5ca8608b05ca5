//! What went wrong, in one line.
//!
//! What a command or a compiler writes begins with what it tried, and often only its last line
//! says what came of it. So both are told, and each is cut before the other is left out.

use crate::columns::{fit, width};

const BETWEEN: &str = " … ";

/// In fewer columns there is no room for both ends.
const COLUMNS_MIN: usize = 24;

/// `told: first line … last line` of why it failed, in so many columns. Both texts are clean.
pub(crate) fn failure_line(told: &str, why: &str, columns: usize) -> String {
    let told = told.trim_end();
    let (first, last) = ends(why);
    let whole = match (first, last) {
        ("", _) => told.to_owned(),
        (first, None) => format!("{told}: {first}"),
        (first, Some(last)) => format!("{told}: {first}{BETWEEN}{last}"),
    };
    if columns < COLUMNS_MIN || width(&whole) <= columns {
        return fit(&whole, columns);
    }
    let room = columns - width(": ");
    let why_columns = width(&whole) - width(told) - width(": ");
    let told = fit(told, share(room, why_columns));
    let why = fit_ends(first, last, room - width(&told));
    format!("{told}: {why}")
}

/// The first line that is not blank, and the last one where that is another.
pub(crate) fn ends(text: &str) -> (&str, Option<&str>) {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    (first, lines.next_back().filter(|last| *last != first))
}

fn fit_ends(first: &str, last: Option<&str>, columns: usize) -> String {
    let Some(last) = last else {
        return fit(first, columns);
    };
    let room = columns.saturating_sub(width(BETWEEN));
    let last = fit(last, share(room, width(first)));
    let first = fit(first, room - width(&last));
    match first.strip_suffix('…') {
        Some(first) => format!("{}{BETWEEN}{last}", first.trim_end()),
        None => format!("{first}{BETWEEN}{last}"),
    }
}

/// How much of the room one of two texts may have: half of it, or what the other leaves.
fn share(room: usize, other: usize) -> usize {
    (room / 2).max(room.saturating_sub(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(why: &str, columns: usize, expected: &str) {
        let line = failure_line("run cargo test", why, columns);
        assert!(width(&line) <= columns, "{line} in {columns}");
        assert_eq!(line, expected);
    }

    #[test]
    fn the_first_and_the_last_line_are_told() {
        check("status 1", 80, "run cargo test: status 1");
        check("status 1\n\n", 80, "run cargo test: status 1");
        check(
            "\nstatus 1\nCompiling\nerror: no such crate\n",
            80,
            "run cargo test: status 1 … error: no such crate",
        );
        check("again\nand\nagain", 80, "run cargo test: again");
        check("", 80, "run cargo test");
    }

    /// The call needs less than half of the 38 columns beside the colon; of the 21 that it leaves
    /// beside the sign in the middle, each line has half.
    #[test]
    fn where_there_is_less_room_each_of_them_is_cut() {
        let why = "the command was stopped\nmuch\nerror: it could not be linked";
        check(why, 40, "run cargo test: the comman … error: it…");
        check(why, 20, "run cargo test: the…");
    }

    #[test]
    fn a_short_line_leaves_its_room_to_the_other() {
        let why = "status 1\nmuch\nerror: it could not be linked";
        check(why, 47, "run cargo test: status 1 … error: it could not…");
    }
}
