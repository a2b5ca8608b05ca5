//! Several files in one input.
//!
//! ```text
//! what comes first belongs to the file without a name
//! -- locks/t.lock --
//! change 1 …
//! -- topics/t.jsonl --
//! {"id":1, …
//! ```
//!
//! The line break before a name is not part of the file before it, so that a file can end
//! without one.

const BEFORE_NAME: &[u8] = b"\n-- ";
const AFTER_NAME: &[u8] = b" --\n";

/// The files of an input with their names, in order. The first has none.
pub fn split(input: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut name = String::new();
    let mut rest = input;
    while let Some((content, next_name, next)) = next_file(rest) {
        files.push((std::mem::replace(&mut name, next_name), content.to_vec()));
        rest = next;
    }
    files.push((name, rest.to_vec()));
    files
}

/// The content up to the next name, that name, and what comes after it.
fn next_file(input: &[u8]) -> Option<(&[u8], String, &[u8])> {
    let start = find(input, BEFORE_NAME)?;
    let name = start + BEFORE_NAME.len();
    let length = find(&input[name..], AFTER_NAME)?;
    let text = String::from_utf8_lossy(&input[name..name + length]);
    let next = &input[name + length + AFTER_NAME.len()..];
    Some((&input[..start], text.into_owned(), next))
}

/// Where a needle is.
pub fn find(hay: &[u8], needle: &[u8]) -> Option<usize> {
    hay.windows(needle.len()).position(|part| part == needle)
}
