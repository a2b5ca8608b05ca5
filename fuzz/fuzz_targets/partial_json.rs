//! JSON that is still being written reads the same however it comes, and whole JSON reads as
//! everybody reads it.

#![no_main]

use harn_llm::partial_json::{PartialJson, Snapshot};
use serde_json::Value;

harn_fuzz::target!(|bytes| {
    let text = String::from_utf8_lossy(bytes);
    let mut whole = PartialJson::default();
    whole.push(&text);
    assert_eq!(whole.raw(), text);

    let mut pieces = PartialJson::default();
    for (count, piece) in text.char_indices().enumerate() {
        let (at, character) = piece;
        pieces.push(&text[at..at + character.len_utf8()]);
        // Looking costs as much as there is to see.
        if count % 64 == 0 {
            pieces.snapshot();
        }
    }
    assert_eq!(pieces.snapshot(), whole.snapshot(), "{text:?}");

    // Half of a character is written as an escape that stands for none.
    if let Ok(value) = serde_json::from_str::<Value>(&text) {
        assert_eq!(whole.snapshot(), Snapshot::Parsed(value), "{text:?}");
    }
});
