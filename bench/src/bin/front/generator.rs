//! Large programs, the same in three languages.
//!
//! ```text
//! pieces/program.{harn,py,js} ──► Pieces ──► program(lines) ──► text
//! ```
//!
//! The three files hold the same pieces in the same order, line for line, as far as the
//! languages have the same constructs. A program is a series of pieces, each with names,
//! words and numbers of its own, chosen by a seed: which pieces, and therefore how
//! many lines, is the same in every language.

/// A language programs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Harn,
    Python,
    JavaScript,
}

impl Language {
    fn pieces(self) -> Vec<&'static str> {
        let (text, separator) = match self {
            Self::Harn => (include_str!("pieces/program.harn"), "//====\n"),
            Self::Python => (include_str!("pieces/program.py"), "#====\n"),
            Self::JavaScript => (include_str!("pieces/program.js"), "//====\n"),
        };
        text.split(separator).collect()
    }

    fn comment(self) -> &'static str {
        match self {
            Self::Harn | Self::JavaScript => "//",
            Self::Python => "#",
        }
    }
}

/// What programs are about.
const NOUNS: &[&str] = &[
    "account",
    "order",
    "invoice",
    "customer",
    "ticket",
    "session",
    "message",
    "document",
    "payment",
    "shipment",
    "product",
    "review",
    "branch",
    "deployment",
    "workflow",
    "region",
];

/// What strings are made of.
const WORDS: &[&str] = &[
    "amber", "brook", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty",
];

/// A program of exactly so many lines. The same seed gives the same text every time.
pub(crate) fn program(language: Language, lines: usize, seed: u64) -> String {
    let pieces = language.pieces();
    let mut random = Random(seed);
    let mut text = String::new();
    let mut left = lines;
    for number in 0.. {
        let piece = pieces[random.below(pieces.len())];
        // One more for the blank line after it.
        let size = piece.lines().count() + 1;
        if size > left {
            break;
        }
        text += &fill(piece, number, &mut random);
        text.push('\n');
        left -= size;
    }
    for line in 0..left {
        text += &format!("{} The last page, line {line}.\n", language.comment());
    }
    text
}

/// Gives a piece its own names, words and numbers.
fn fill(piece: &str, number: usize, random: &mut Random) -> String {
    let noun = NOUNS[random.below(NOUNS.len())];
    let (initial, rest) = noun.split_at(1);
    let pascal = format!("{}{rest}{number}", initial.to_uppercase());
    piece
        .replace("Thing", &pascal)
        .replace("_thing", &format!("_{noun}_{number}"))
        .replace("thing", noun)
        .replace("WORD", WORDS[random.below(WORDS.len())])
        .replace("1009", &random.below(10_000).to_string())
        .replace("2003", &random.below(100).to_string())
}

/// A small generator of numbers, so that every run has the same programs.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_the_same_lines_in_every_language() {
        let languages = [Language::Harn, Language::Python, Language::JavaScript];
        for language in languages {
            assert_eq!(
                program(language, 1000, 42).lines().count(),
                1000,
                "{language:?}"
            );
            let sizes = |language: Language| -> Vec<usize> {
                let pieces = language.pieces().into_iter();
                pieces.map(|piece| piece.lines().count()).collect()
            };
            assert_eq!(sizes(language), sizes(Language::Harn), "{language:?}");
        }
    }

    #[test]
    fn lines_are_about_as_long_in_every_language() {
        let size = |language| program(language, 10_000, 42).len() as f64;
        for other in [Language::Python, Language::JavaScript] {
            let ratio = size(other) / size(Language::Harn);
            assert!((0.9..1.1).contains(&ratio), "{other:?}: {ratio}");
        }
    }
}
