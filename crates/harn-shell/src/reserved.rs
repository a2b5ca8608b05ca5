//! Words that the grammar of the shell keeps for itself.

/// Words that mean something where a command may begin.
const RESERVED: [&str; 22] = [
    "!", "{", "}", "if", "then", "else", "elif", "fi", "case", "esac", "for", "in", "do", "done",
    "while", "until", "function", "select", "coproc", "[[", "]]", "time",
];

/// Whether a word without quotes is one of the grammar's. `time` is one in bash only; the table
/// of wrappers knows it as a program, which comes to the same.
pub(crate) fn is_reserved(word: &str) -> bool {
    word != "time" && word != "in" && RESERVED.contains(&word)
}

/// Whether a text is a name of variables.
pub(crate) fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next();
    first.is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|next| next.is_ascii_alphanumeric() || next == '_')
}

/// The name and the length of `NAME=` or `NAME+=` at the start of a text.
pub(crate) fn assigned(text: &str) -> Option<(&str, usize)> {
    let (before, _) = text.split_once('=')?;
    let name = before.strip_suffix('+').unwrap_or(before);
    is_name(name).then_some((name, before.len() + 1))
}
