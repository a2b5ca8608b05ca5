//! Every text has a tree, and every node and every error of it is inside the text.

#![no_main]

use harn_fuzz::source::program_text;
use harn_fuzz::spans;
use harn_syntax::{LineIndex, parse};

harn_fuzz::target!(|bytes| {
    let text = program_text(bytes);
    let parsed = parse(&text);
    spans::check(&text, &parsed.module);
    let lines = LineIndex::new(&text);
    for error in &parsed.errors {
        assert!(!error.message.is_empty());
        spans::check_diagnostic(&text, &lines, &error.diagnostic);
    }
    let printed = parsed.module.to_string();
    if parsed.errors.is_empty() {
        let longer = parse(&format!("{text}\n"));
        assert_eq!(longer, parsed, "a line break at the end changes {text:?}");
        assert_eq!(longer.module.to_string(), printed);
    }
});
