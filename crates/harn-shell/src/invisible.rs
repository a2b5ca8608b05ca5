//! Characters that people do not see, and that a command must not hide anything behind.

/// Whether a character outside quotes makes a command one that nobody can read.
pub(crate) fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        character if character.is_control() => true,
        // Spaces that no shell takes for one, and characters without a shape.
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}' => true,
        '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' => true,
        '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' => true,
        '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' => true,
        '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_hidden() {
        for character in ['\0', '\r', '\u{1b}', '\u{200b}', '\u{202e}', '\u{e0041}'] {
            assert!(is_hidden(character), "{character:?}");
        }
        for character in ['a', ' ', '\n', '\t', 'ü', '✓', '界'] {
            assert!(!is_hidden(character), "{character:?}");
        }
    }
}
