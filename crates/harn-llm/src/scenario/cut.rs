//! Cuts texts into pieces as models do: words, parts of words, now and then two at once.
//!
//! A seed decides, so a failing test fails the same way again. Whatever it decides, the
//! pieces put together are the text.

/// A word of more characters than this is never one piece.
const WORD_CHARS_MAX: usize = 12;
/// A word of more characters than this may become two pieces.
const WHOLE_CHARS_MAX: usize = 4;
/// The longest piece of a call's arguments.
const ARGUMENT_CHARS_MAX: u64 = 12;

/// Chance that a seed decides: SplitMix64.
#[derive(Clone, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    /// Chance for the answer of that number.
    pub(super) fn new(seed: u64, answer: u64) -> Self {
        Self(seed ^ answer.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number below `end`, which is not zero.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// A text in pieces of so many characters, or as words if nobody says how many.
pub(super) fn text(text: &str, chars: Option<usize>, chance: &mut Chance) -> Vec<String> {
    if let Some(chars) = chars {
        return every(text, chars);
    }
    let mut pieces: Vec<String> = Vec::new();
    let mut joins_next = false;
    for word in words(text) {
        for part in parts(word, chance) {
            match pieces.last_mut().filter(|_| joins_next) {
                Some(last) => last.push_str(&part),
                None => pieces.push(part),
            }
            joins_next = false;
        }
        joins_next = chance.below(8) == 0;
    }
    pieces
}

/// The arguments of a call in pieces, which follow no words.
pub(super) fn arguments(text: &str, chars: Option<usize>, chance: &mut Chance) -> Vec<String> {
    if let Some(chars) = chars {
        return every(text, chars);
    }
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let count = 1 + chance.below(ARGUMENT_CHARS_MAX);
        let (piece, after) = split_at_char(rest, usize::try_from(count).unwrap_or(1));
        pieces.push(piece.to_owned());
        rest = after;
    }
    pieces
}

/// The words of a text, each with the blanks before it.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut in_word = false;
    for (at, character) in text.char_indices() {
        if character.is_whitespace() && in_word {
            words.push(&text[start..at]);
            start = at;
        }
        in_word = !character.is_whitespace();
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

/// A word in one piece or more.
fn parts(word: &str, chance: &mut Chance) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = word;
    loop {
        let count = rest.chars().take(WORD_CHARS_MAX + 1).count();
        let is_long = count > WORD_CHARS_MAX;
        let is_cut = is_long || (count > WHOLE_CHARS_MAX && chance.below(3) == 0);
        if !is_cut {
            parts.push(rest.to_owned());
            return parts;
        }
        let at = 2 + chance.below(3);
        let (part, after) = split_at_char(rest, usize::try_from(at).unwrap_or(2));
        parts.push(part.to_owned());
        rest = after;
    }
}

fn every(text: &str, chars: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = split_at_char(rest, chars.max(1));
        pieces.push(piece.to_owned());
        rest = after;
    }
    pieces
}

fn split_at_char(text: &str, chars: usize) -> (&str, &str) {
    let at = text.char_indices().nth(chars).map(|(at, _)| at);
    text.split_at(at.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_put_together_are_the_text(
            whole in "[ a-zé漢\n\"{}]{0,200}", seed in any::<u64>(), chars in 0_usize..4,
        ) {
            let chars = (chars > 0).then_some(chars);
            for cut in [text, arguments] {
                let pieces = cut(&whole, chars, &mut Chance::new(seed, 1));
                prop_assert_eq!(pieces.concat(), whole.as_str());
                prop_assert!(pieces.iter().all(|piece| !piece.is_empty()));
                let again = cut(&whole, chars, &mut Chance::new(seed, 1));
                prop_assert_eq!(pieces, again);
            }
        }
    }

    #[test]
    fn words_keep_the_blanks_before_them() {
        assert_eq!(
            words(" one two\n\nthree "),
            [" one", " two", "\n\nthree", " "]
        );
        assert_eq!(words(""), Vec::<&str>::new());
    }

    #[test]
    fn long_words_are_cut_and_other_seeds_cut_elsewhere() {
        let long = "x".repeat(100);
        let cut = |seed| text(&long, None, &mut Chance::new(seed, 1));
        assert!(cut(1).len() >= 100 / WORD_CHARS_MAX);
        assert_ne!(cut(1), cut(2));
    }

    #[test]
    fn a_given_size_is_kept() {
        let pieces = text("abcdé", Some(2), &mut Chance::new(0, 1));
        assert_eq!(pieces, ["ab", "cd", "é"]);
    }
}
