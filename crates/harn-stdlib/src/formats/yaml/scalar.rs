//! What a word means that stands without quotes.

use harn_machine::Value;

/// The value of a plain scalar.
pub(super) fn resolve(word: &str) -> Value {
    match word {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Nil,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    number(word).unwrap_or_else(|| word.into())
}

/// The number that a word is. Digits after a leading zero are a text, because in YAML 1.1 they
/// were octal, and because zip codes have them.
pub(super) fn number(word: &str) -> Option<Value> {
    if !word.starts_with([
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+', '-', '.',
    ]) {
        return None;
    }
    let (is_negative, digits) = match word.as_bytes().first() {
        Some(b'-') => (true, &word[1..]),
        Some(b'+') => (false, &word[1..]),
        _ => (false, word),
    };
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = digits.strip_prefix(prefix) {
            return based(digits, radix, is_negative);
        }
    }
    if has_leading_zero(word) {
        return None;
    }
    match digits {
        ".inf" | ".Inf" | ".INF" if is_negative => return Some(f64::NEG_INFINITY.into()),
        ".inf" | ".Inf" | ".INF" => return Some(f64::INFINITY.into()),
        ".nan" | ".NaN" | ".NAN" if digits == word => return Some(f64::NAN.into()),
        _ => {}
    }
    if !digits.starts_with(|first: char| first == '.' || first.is_ascii_digit()) {
        return None;
    }
    if let Ok(number) = word.parse::<i64>() {
        return Some(Value::Int(number));
    }
    let number = word.parse::<f64>().ok();
    number.filter(|number| number.is_finite()).map(Value::Float)
}

/// A whole number in another base; as a float if it is too large.
fn based(digits: &str, radix: u32, is_negative: bool) -> Option<Value> {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let size = match u64::from_str_radix(digits, radix) {
        Ok(size) => i128::from(size),
        Err(_) => {
            let digits = digits.chars().filter_map(|digit| digit.to_digit(radix));
            let size = digits.fold(0.0, |size, digit| {
                size * f64::from(radix) + f64::from(digit)
            });
            let number = if is_negative { -size } else { size };
            return number.is_finite().then_some(Value::Float(number));
        }
    };
    let number = if is_negative { -size } else { size };
    Some(match i64::try_from(number) {
        Ok(number) => Value::Int(number),
        Err(_) => Value::Float(number as f64),
    })
}

/// Whether a word consists of digits that begin with a zero.
pub(super) fn has_leading_zero(word: &str) -> bool {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    digits.len() > 1
        && digits.starts_with('0')
        && digits.bytes().all(|octet| octet.is_ascii_digit())
}
