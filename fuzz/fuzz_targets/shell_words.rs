//! A text in single quotes is one word with exactly this text, wherever it stands.

#![no_main]

use harn_shell::{parse, parse_argv};

harn_fuzz::target!(|bytes| {
    let text = String::from_utf8_lossy(bytes).replace('\0', "");
    let quoted = format!("show '{}'", text.replace('\'', "'\\''"));
    let Ok(script) = parse(&quoted) else {
        return;
    };
    assert_eq!(script.parts.len(), 1, "{text:?}");
    let words = &script.parts[0].words;
    assert_eq!(words.len(), 1, "{text:?}");
    assert_eq!(words[0].literal(), Some(&*text), "{text:?}");
    assert_eq!(
        parse_argv(&["show".to_owned(), text.clone()]),
        Ok(script),
        "{text:?}"
    );
});
