//! Characters that are not seen, or that change what is seen.
//!
//! A text from a model or a file can hold sequences that a terminal obeys, marks that turn the
//! direction of writing, and characters that look like nothing at all. What is shown to people
//! shows them in letters; what is written as JSON escapes them, which changes no value.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character is one of them: all control characters but the end of a line and the tab,
/// all that format, separate or are blank without being the space, and the tags.
pub(crate) fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{20}'..='\u{7e}' => false,
        other => other.is_control() || is_invisible(other) || is_blank(other),
    }
}

/// Whether a line on a terminal shows a character in letters: ends of lines and tabs too, which
/// texts of several lines keep. Spaces of other widths are seen
/// as spaces, and joiners hold scripts and emoji together, so these stay as they are.
pub(crate) fn misleads(character: char) -> bool {
    let is_part_of_a_text = matches!(
        character,
        '\u{a0}' | '\u{ad}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{200c}' | '\u{200d}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    );
    matches!(character, '\n' | '\t') || (is_hidden(character) && !is_part_of_a_text)
}

/// The characters that format others, and those that separate lines and paragraphs.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{110bd}'
            | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// What is blank without being the space.
fn is_blank(character: char) -> bool {
    matches!(
        character,
        '\u{a0}' | '\u{115f}' | '\u{1160}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}'
                | '\u{202f}'
                | '\u{205f}'
                | '\u{2800}'
                | '\u{3000}'
                | '\u{3164}'
                | '\u{ffa0}'
    )
}

/// JSON in which they are escaped. They stand in texts only, so that it says what it said.
pub(crate) fn escaped_json(json: &str) -> Cow<'_, str> {
    let is_plain = json.bytes().all(|octet| octet < 0x7f);
    if is_plain || !json.contains(is_hidden) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 64);
    for character in json.chars() {
        match is_hidden(character) {
            true => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(escaped, "\\u{unit:04x}").expect("a text has room for more");
                }
            }
            false => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

/// What a program writes, as a terminal may have it: control sequences and what turns the
/// direction of writing are in letters. The looks that `color`, `bold` and `dim` give stay, and
/// so do the ends of lines.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let is_special = |character: char| {
        !matches!(character, '\n' | '\t')
            && (character.is_control() || crate::output::is_direction(character))
    };
    if !text.contains(is_special) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("\r\n") {
            shown.push_str("\r\n");
            rest = after;
            continue;
        }
        if let Some(looks) = looks(rest) {
            shown.push_str(looks);
            rest = &rest[looks.len()..];
            continue;
        }
        match is_special(character) {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
        rest = &rest[character.len_utf8()..];
    }
    Cow::Owned(shown)
}

/// The sequence that a text begins with, if it is one that `color`, `bold`, `dim` and their end
/// are made of.
fn looks(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("\u{1b}[")?;
    let end = inside.find(|character: char| !character.is_ascii_digit())?;
    if !inside[end..].starts_with('m') || end > 2 {
        return None;
    }
    let code: u8 = inside[..end].parse().ok()?;
    let is_known = matches!(code, 0..=2 | 30..=37 | 90..=97);
    is_known.then(|| &text[..end + 3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_with_escapes_has_the_same_value() {
        let text = "a\u{1b}[2J\u{9b}2J\u{202e}b\u{200b}c\u{e0041}d\u{a0}e\u{7f}é😀\n";
        let json = serde_json::to_string(text).unwrap();
        let escaped = escaped_json(&json);
        assert!(!escaped.contains(is_hidden), "{escaped:?}");
        assert!(escaped.contains("\\u009b2J\\u202eb\\u200bc\\udb40\\udc41d\\u00a0e\\u007fé😀"));
        let read: String = serde_json::from_str(&escaped).unwrap();
        assert_eq!(read, text);
    }

    #[test]
    fn a_terminal_gets_the_looks_of_a_program_and_no_other_sequence() {
        for (text, expected) in [
            ("plain é\n\tx\r\n", "plain é\n\tx\r\n"),
            ("\u{1b}[31mred\u{1b}[0m", "\u{1b}[31mred\u{1b}[0m"),
            ("\u{1b}[2J\u{1b}[8mhid", "\\u{1b}[2J\\u{1b}[8mhid"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("safe\rover", "safe\\rover"),
            ("\u{9b}2J\u{202e}x", "\\u{9b}2J\\u{202e}x"),
            ("\u{1b}", "\\u{1b}"),
        ] {
            assert_eq!(visible(text), expected);
        }
    }

    #[test]
    fn spaces_and_joiners_of_a_text_mislead_nobody() {
        for fine in ['a', 'é', '\u{a0}', '\u{3000}', '\u{200d}'] {
            assert!(!misleads(fine), "{fine:?}");
        }
        for bad in [
            '\u{1b}',
            '\u{85}',
            '\u{202e}',
            '\u{200b}',
            '\u{e0041}',
            '\u{3164}',
        ] {
            assert!(misleads(bad), "{bad:?}");
        }
    }
}
