//! Shells that are given a text.

use super::{Inner, Unwrapped};
use crate::word::Word;

/// `sh -c TEXT`, with the flags that change nothing about how it is read. A shell that reads a
/// file, or its input, is judged by its words.
pub(super) fn unwrap(words: &[Word]) -> Result<Unwrapped, String> {
    let mut has_text = false;
    let mut next = 0;
    let nothing = Ok(Unwrapped {
        inner: Inner::Nothing,
        own: None,
    });
    while let Some(word) = words.get(next) {
        let prefix = word.literal_prefix();
        if !prefix.starts_with(['-', '+']) {
            if word.is_dynamic() && (has_text || prefix.is_empty()) {
                return Err("a command that only the shell knows".into());
            }
            break;
        }
        next += 1;
        match word.literal() {
            None => return Err("an option that only the shell knows".into()),
            Some("-" | "--") => break,
            Some("--login" | "--noprofile" | "--norc" | "--posix" | "--restricted") => {}
            Some(text) if text.starts_with("--") => return Err(format!("the option `{text}`")),
            Some(text) => {
                for letter in text[1..].chars() {
                    match letter {
                        'c' => has_text = true,
                        'o' => {
                            let name = words.get(next).and_then(Word::literal);
                            next += 1;
                            if !name.is_some_and(is_harmless) {
                                return Err("the option `-o`".into());
                            }
                        }
                        'e' | 'u' | 'x' | 'v' | 'f' | 'l' | 's' | 'C' | 'n' | 'E' => {}
                        other => return Err(format!("the option `-{other}`")),
                    }
                }
            }
        }
    }
    if !has_text {
        return nothing;
    }
    let text = words.get(next).ok_or("no command")?;
    let text = text
        .literal()
        .ok_or("a command that only the shell knows")?;
    Ok(Unwrapped {
        inner: Inner::Text(text.to_owned()),
        own: None,
    })
}

fn is_harmless(name: &str) -> bool {
    matches!(
        name,
        "errexit" | "nounset" | "pipefail" | "xtrace" | "verbose" | "noglob" | "noclobber"
    )
}
