//! Texts that may be programs.
//!
//! Random bytes rarely get past the first token. So the first byte of an input says what
//! the others are, and mutations of each kind stay of that kind:
//!
//! | first byte | the others |
//! |---|---|
//! | 0 | words of the language, one byte each |
//! | 1 | choices that make a program without mistakes |
//! | any other | text, and this byte is its first |

use std::borrow::Cow;

use crate::format::program::program;
use crate::words;

/// The program that an input stands for.
pub fn program_text(input: &[u8]) -> Cow<'_, str> {
    match input.split_first() {
        Some((0, choices)) => Cow::Owned(soup(words::PROGRAM, choices)),
        Some((1, choices)) => {
            let pairs = choices.chunks_exact(2);
            let choices: Vec<_> = pairs
                .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
                .collect();
            Cow::Owned(program(&choices))
        }
        _ => String::from_utf8_lossy(input),
    }
}

/// The template that an input stands for.
pub fn template_text(input: &[u8]) -> Cow<'_, str> {
    match input.split_first() {
        Some((0, choices)) => Cow::Owned(soup(words::TEMPLATE, choices)),
        _ => String::from_utf8_lossy(input),
    }
}

/// Words with spaces between them. The table ends with what makes a difference without
/// them, so large numbers stick together.
fn soup(words: &[&str], choices: &[u8]) -> String {
    let mut text = String::new();
    for choice in choices {
        let at = usize::from(*choice);
        text.push_str(words[at % words.len()]);
        if at < words.len() {
            text.push(' ');
        }
    }
    text
}
