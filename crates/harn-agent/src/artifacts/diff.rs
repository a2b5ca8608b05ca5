//! The lines that two texts have in common, and those they have not.
//!
//! What both begin and end with is set aside first. What is left is compared line by line where
//! it is small. Where it is large, lines that occur once on both sides cut it into smaller
//! pieces; a large piece without such lines is replaced as a whole. So the work grows with the
//! texts and not with their product, at the price that a diff of large texts without any
//! structure is not the shortest one.

use std::collections::HashMap;

/// Pieces with at most so many pairs of lines are compared line by line.
const PAIRS_MAX: usize = 1 << 20;

/// The change of a file: a header, then every line of both texts after a blank, `-` or `+`.
pub(super) fn diff(path: &str, before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let mut text = format!("--- a/{path}\n+++ b/{path}\n");
    let mut write = |mark: char, line: &str| {
        text.push(mark);
        text.push_str(line);
        text.push('\n');
    };
    let (mut old, mut new) = (0, 0);
    for (kept_old, kept_new) in common(&before, &after) {
        before[old..kept_old]
            .iter()
            .for_each(|line| write('-', line));
        after[new..kept_new]
            .iter()
            .for_each(|line| write('+', line));
        write(' ', before[kept_old]);
        (old, new) = (kept_old + 1, kept_new + 1);
    }
    before[old..].iter().for_each(|line| write('-', line));
    after[new..].iter().for_each(|line| write('+', line));
    text
}

/// How often a piece is cut before it is replaced as a whole. Texts can be made so that every
/// cut takes away one line.
const CUTS_MAX: usize = 16;

/// Two stretches of lines that are compared: where each begins and ends.
#[derive(Clone, Copy)]
struct Piece {
    old: (usize, usize),
    new: (usize, usize),
    /// How often it was cut.
    cuts: usize,
}

/// The lines that stay, as pairs of their places, in order.
fn common(before: &[&str], after: &[&str]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    // A stack of its own: texts decide how often they are cut.
    let mut pieces = vec![Piece {
        old: (0, before.len()),
        new: (0, after.len()),
        cuts: 0,
    }];
    while let Some(piece) = pieces.pop() {
        let inner = without_common_ends(before, after, piece, &mut pairs);
        let (old, new) = (inner.old, inner.new);
        let (count_old, count_new) = (old.1 - old.0, new.1 - new.0);
        if count_old == 0 || count_new == 0 {
            continue;
        }
        if count_old.saturating_mul(count_new) <= PAIRS_MAX {
            let found = longest(&before[old.0..old.1], &after[new.0..new.1]);
            pairs.extend(found.into_iter().map(|(a, b)| (old.0 + a, new.0 + b)));
            continue;
        }
        let anchors = anchors(&before[old.0..old.1], &after[new.0..new.1]);
        if anchors.is_empty() || piece.cuts == CUTS_MAX {
            continue;
        }
        let cuts = piece.cuts + 1;
        let (mut from_old, mut from_new) = (old.0, new.0);
        for (a, b) in anchors {
            let (a, b) = (old.0 + a, new.0 + b);
            pieces.push(Piece {
                old: (from_old, a),
                new: (from_new, b),
                cuts,
            });
            pairs.push((a, b));
            (from_old, from_new) = (a + 1, b + 1);
        }
        pieces.push(Piece {
            old: (from_old, old.1),
            new: (from_new, new.1),
            cuts,
        });
    }
    pairs.sort_unstable();
    pairs
}

/// What is between the lines that both stretches begin and end with.
fn without_common_ends(
    before: &[&str],
    after: &[&str],
    piece: Piece,
    pairs: &mut Vec<(usize, usize)>,
) -> Piece {
    let Piece {
        mut old,
        mut new,
        cuts,
    } = piece;
    while old.0 < old.1 && new.0 < new.1 && before[old.0] == after[new.0] {
        pairs.push((old.0, new.0));
        (old.0, new.0) = (old.0 + 1, new.0 + 1);
    }
    while old.0 < old.1 && new.0 < new.1 && before[old.1 - 1] == after[new.1 - 1] {
        (old.1, new.1) = (old.1 - 1, new.1 - 1);
        pairs.push((old.1, new.1));
    }
    Piece { old, new, cuts }
}

/// The longest run of lines that both have in this order, by a table of all pairs.
fn longest(before: &[&str], after: &[&str]) -> Vec<(usize, usize)> {
    let width = after.len() + 1;
    // How many lines can stay from there on.
    let mut table = vec![0_u32; (before.len() + 1) * width];
    for a in (0..before.len()).rev() {
        for b in (0..after.len()).rev() {
            let at = a * width + b;
            table[at] = match before[a] == after[b] {
                true => table[at + width + 1] + 1,
                false => table[at + width].max(table[at + 1]),
            };
        }
    }
    let (mut a, mut b) = (0, 0);
    let mut pairs = Vec::new();
    while a < before.len() && b < after.len() {
        let at = a * width + b;
        if before[a] == after[b] {
            pairs.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if table[at + width] >= table[at + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    pairs
}

/// Lines that occur once on each side and stand in the same order on both, as many as possible.
fn anchors(before: &[&str], after: &[&str]) -> Vec<(usize, usize)> {
    let (old, new) = (places(before), places(after));
    let unique = |place: Option<&Option<usize>>| place.copied().flatten();
    let both = before.iter().enumerate().filter_map(|(a, line)| {
        unique(old.get(line))?;
        Some((a, unique(new.get(line))?))
    });
    rising(&both.collect::<Vec<_>>())
}

/// Where each line is; `None` if it is there more than once.
fn places<'a>(lines: &[&'a str]) -> HashMap<&'a str, Option<usize>> {
    let mut places = HashMap::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        let place = places.entry(*line).or_insert(Some(at));
        if *place != Some(at) {
            *place = None;
        }
    }
    places
}

/// The longest selection of pairs whose second places rise, by laying them on piles.
fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut tops: Vec<usize> = Vec::new();
    let mut below: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, place)) in pairs.iter().enumerate() {
        let pile = tops.partition_point(|&top| pairs[top].1 < *place);
        below.push(pile.checked_sub(1).map(|left| tops[left]));
        match tops.get_mut(pile) {
            Some(top) => *top = at,
            None => tops.push(at),
        }
    }
    let mut chosen = Vec::with_capacity(tops.len());
    let mut next = tops.last().copied();
    while let Some(at) = next {
        chosen.push(pairs[at]);
        next = below[at];
    }
    chosen.reverse();
    chosen
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The lines of a diff that are there before, and those that are there after.
    fn sides(diff: &str) -> (Vec<String>, Vec<String>) {
        let lines = || diff.lines().skip(2);
        let side = |other: char| {
            let lines = lines().filter(|line| !line.starts_with(other));
            lines.map(|line| line[1..].to_owned()).collect()
        };
        (side('+'), side('-'))
    }

    proptest! {
        #[test]
        fn a_diff_holds_both_texts(
            before in prop::collection::vec("[a-d]", 0..30),
            after in prop::collection::vec("[a-d]", 0..30),
        ) {
            let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            let diff = diff("f", &text(&before), &text(&after));
            prop_assert_eq!(sides(&diff), (before, after));
        }
    }

    #[test]
    fn what_is_taken_out_stands_before_what_is_put_in() {
        assert_eq!(
            diff("f", "a\nb\nc", "a\nx\ny\nc"),
            "--- a/f\n+++ b/f\n a\n-b\n+x\n+y\n c\n"
        );
        assert_eq!(diff("f", "", "a\n"), "--- a/f\n+++ b/f\n+a\n");
        assert_eq!(diff("f", "", ""), "--- a/f\n+++ b/f\n");
    }

    #[test]
    fn large_texts_are_cut_at_lines_that_occur_once() {
        let line = |n: usize| format!("line {n}\n");
        let before: String = (0..20_000).map(line).collect();
        let after: String = (0..20_000)
            .filter(|n| n % 100 != 7)
            .map(|n| match n % 1000 {
                500 => "changed\n".to_owned(),
                _ => line(n),
            })
            .collect();
        let diff = diff("f", &before, &after);
        let count = |mark: char| {
            diff.lines()
                .skip(2)
                .filter(|line| line.starts_with(mark))
                .count()
        };
        assert_eq!((count('-'), count('+')), (220, 20));
    }

    #[test]
    fn large_texts_without_common_lines_are_replaced() {
        let before = "a\n".repeat(5000);
        let after = "b\n".repeat(5000);
        assert_eq!(diff("f", &before, &after).lines().count(), 10_002);
    }
}
