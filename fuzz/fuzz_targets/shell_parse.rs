//! Any text is a command with parts or is not understood; what a part prints is that part again.

#![no_main]

use harn_shell::{NotUnderstood, PARTS_MAX, parse};

harn_fuzz::target!(|bytes| {
    let text = String::from_utf8_lossy(bytes);
    match parse(&text) {
        Ok(script) => {
            assert!((1..=PARTS_MAX).contains(&script.parts.len()), "{text:?}");
            for part in &script.parts {
                assert!(part.position <= text.len(), "{text:?}");
            }
        }
        Err(NotUnderstood { reason, .. }) => assert!(!reason.is_empty(), "{text:?}"),
    }
});
