//! Every program means the same formatted, keeps its comments, and stays as it is when it
//! is formatted again.

#![no_main]

use harn_fuzz::check_format;
use harn_fuzz::source::program_text;
use harn_syntax::parse;

harn_fuzz::target!(|bytes| {
    // The last byte chooses how narrow the lines are; of a text it is nearly always the
    // line break.
    let width = match bytes.last() {
        Some(b'\n') | None => 100,
        Some(last) => usize::from(*last),
    };
    let text = program_text(bytes);
    if parse(&text).errors.is_empty() {
        check_format(&text, width);
    }
});
