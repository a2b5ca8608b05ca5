//! Lines of keys without the words around them.
//!
//! Who reads a key file from its second line on sees nothing but base64 in lines of one width, and
//! no word announces it. The token of a bot is as silent: three runs of digits with dots between.

/// How wide programs write the lines of keys.
const WIDTHS: [usize; 3] = [64, 70, 76];

/// Every run that is worth a look is at least this long, so one place in each stretch of this
/// length is enough to see it.
const RUN_BYTES_MIN: usize = 22;

/// Whether a text, or serialised JSON, has a run of base64 as wide as a line of a key, or one
/// that could begin the token of a bot. Says "no" quickly.
pub(super) fn may_be_in(text: &[u8]) -> bool {
    let mut at = RUN_BYTES_MIN - 1;
    while let Some(&byte) = text.get(at) {
        if !is_digit(byte) {
            at += RUN_BYTES_MIN;
            continue;
        }
        let before = text[..at].iter().rev().take_while(|byte| is_digit(**byte));
        let mut start = at - before.count();
        // The letter of `\n` in JSON is no digit of the line after it.
        if start > 0 && text[start - 1] == b'\\' {
            start += 1;
        }
        let after = text[at..].iter().take_while(|byte| is_digit(**byte));
        let end = at + after.count();
        if is_suspicious(&text[start..end], text.get(end)) {
            return true;
        }
        at = end.max(at) + RUN_BYTES_MIN;
    }
    false
}

fn is_suspicious(run: &[u8], next: Option<&u8>) -> bool {
    let is_bot = (23..=28).contains(&run.len())
        && matches!(run[0], b'M' | b'N' | b'O')
        && next == Some(&b'.');
    let has = |is: fn(&u8) -> bool| run.iter().any(is);
    let is_line = || {
        WIDTHS.contains(&run.len()) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
    };
    is_bot || is_line()
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_keys_are_seen_wherever_they_are() {
        let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
        for before in 0..70 {
            let before = " ".repeat(before);
            assert!(may_be_in(format!("{before}{line}\nx").as_bytes()));
            assert!(may_be_in(
                format!("{{\"a\":\"{before}\\n{line}\\n\"}}").as_bytes()
            ));
        }
    }

    #[test]
    fn digests_and_prose_are_not() {
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert!(!may_be_in(format!("sha256:{digest}\n").as_bytes()));
        assert!(!may_be_in(
            b"Nothing that is said here, however long it is, looks like a line of a key."
        ));
    }
}
