//! How much room text takes on a terminal.

/// The text, or as much of it as fits into so many columns with a `…` at its end.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    cut(text.chars(), columns).map_or_else(|| text.to_owned(), |kept| kept.chain(['…']).collect())
}

/// The same, keeping the end of the text.
pub(crate) fn fit_end(text: &str, columns: usize) -> String {
    match cut(text.chars().rev(), columns) {
        None => text.to_owned(),
        Some(kept) => {
            let kept: Vec<char> = kept.collect();
            std::iter::once('…').chain(kept.into_iter().rev()).collect()
        }
    }
}

/// How many columns the text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The characters that fit beside a `…`; `None` if all of them fit without.
fn cut(
    characters: impl Iterator<Item = char> + Clone,
    columns: usize,
) -> Option<impl Iterator<Item = char>> {
    let (mut used, mut kept) = (0, 0);
    let mut is_longer = false;
    for character in characters.clone() {
        used += columns_of(character);
        kept += usize::from(used < columns);
        if used > columns {
            is_longer = true;
            break;
        }
    }
    // With no room at all there is none for a sign that something is missing.
    is_longer.then(|| characters.take(kept))
}

/// Columns of one character. Terminals disagree about rare ones; for these a line
/// may be cut a little early or late.
fn columns_of(character: char) -> usize {
    match u32::from(character) {
        // Marks that combine with what is before them, and joiners.
        0x300..=0x36f | 0x1ab0..=0x1aff | 0x20d0..=0x20ff | 0x200b..=0x200d | 0xfe00..=0xfe0f => 0,
        // Hangul, CJK and its punctuation, full-width forms, pictures.
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1f6ff
        | 0x1f900..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_left_alone_and_the_rest_is_cut() {
        for (text, columns, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("", 0, ""),
            ("abc", 1, "…"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("e\u{301}e\u{301}e\u{301}", 3, "e\u{301}e\u{301}e\u{301}"),
        ] {
            assert_eq!(fit(text, columns), expected, "{text} in {columns}");
            assert!(width(&fit(text, columns)) <= columns.max(width(text).min(1)));
        }
    }

    #[test]
    fn the_end_of_a_name_can_be_what_matters() {
        assert_eq!(fit_end("observability.orders", 8), "….orders");
        assert_eq!(fit_end("orders", 8), "orders");
    }
}
