//! Numbers.

use serde_json::Number;

/// A number as TypeScript writes them, or more loosely.
pub(super) fn read(word: &str) -> Option<Number> {
    let plain = word.replace('_', "");
    let (is_negative, digits) = match plain.as_bytes().first()? {
        b'-' => (true, &plain[1..]),
        b'+' => (false, &plain[1..]),
        _ => (false, plain.as_str()),
    };
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0b", 2), ("0o", 8)] {
        if let Some(digits) = digits.strip_prefix(prefix) {
            if !digits.chars().all(|c| c.is_digit(radix)) {
                return None;
            }
            let number = i64::from_str_radix(digits, radix).ok()?;
            return Some(Number::from(if is_negative { -number } else { number }));
        }
    }
    if !digits.bytes().any(|octet| octet.is_ascii_digit())
        || !digits.bytes().all(|octet| {
            octet.is_ascii_digit() || matches!(octet, b'.' | b'e' | b'E' | b'+' | b'-')
        })
    {
        return None;
    }
    let signed = if is_negative {
        format!("-{digits}")
    } else {
        digits.to_owned()
    };
    if let Ok(number) = signed.parse::<i64>() {
        return Some(Number::from(number));
    }
    if let Ok(number) = signed.parse::<u64>() {
        return Some(Number::from(number));
    }
    Number::from_f64(signed.parse::<f64>().ok()?)
}
