//! Header values with parameters: `form-data; name="a"`.

/// The word that a header value begins with.
pub(super) fn head(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim()
}

/// A parameter of a header value, with its quotes removed.
pub(super) fn parameter(value: &str, wanted: &str) -> Option<String> {
    let (_, mut rest) = value.split_once(';')?;
    loop {
        let (name, after) = rest.split_once('=')?;
        // Parameters without a value are passed.
        let name = name.rsplit(';').next().unwrap_or_default().trim();
        let (text, after) = match after.trim_start().strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let (text, _) = after.split_once(';').unwrap_or((after, ""));
                (text.trim().to_owned(), &after[text.len()..])
            }
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(text);
        }
        rest = after.split_once(';')?.1;
    }
}

/// A text up to its closing quote, and what follows that. Old browsers write paths with
/// backslashes that escape nothing.
fn unquoted(quoted: &str) -> (String, &str) {
    let mut text = String::new();
    let mut letters = quoted.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (text, &quoted[at + 1..]),
            '\\' => match letters.next_if(|(_, next)| matches!(next, '"' | '\\')) {
                Some((_, escaped)) => text.push(escaped),
                None => text.push('\\'),
            },
            letter => text.push(letter),
        }
    }
    (text, "")
}

/// A text in quotes.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
