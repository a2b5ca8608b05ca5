//! JSON found in what a model said.

use serde_json::Value;

/// The value that a text is, or that it contains: all of it, what a fence encloses, the first
/// braces that match, or the first brackets that match.
pub fn extract(text: &str) -> Option<Value> {
    let text = text.trim();
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let found = fenced(text)
        .or_else(|| balanced(text, b'{', b'}'))
        .or_else(|| balanced(text, b'[', b']'))?;
    serde_json::from_str(found).ok()
}

/// What follows the line of the first fence, up to the next one.
fn fenced(text: &str) -> Option<&str> {
    let (_, after) = text.split_once("```")?;
    let (_, inside) = after.split_once('\n')?;
    let (inside, _) = inside.split_once("```")?;
    Some(inside.trim())
}

/// From the first opening mark to the one that closes it, strings left out of account.
pub(super) fn balanced(text: &str, open: u8, close: u8) -> Option<&str> {
    let start = text.bytes().position(|octet| octet == open)?;
    let mut depth = 0_usize;
    let mut octets = text.bytes().enumerate().skip(start);
    while let Some((at, octet)) = octets.next() {
        match octet {
            b'"' => skip_string(&mut octets),
            _ if octet == open => depth += 1,
            _ if octet == close => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[start..=at]);
                }
            }
            _ => {}
        }
    }
    None
}

/// Passes the rest of a string.
fn skip_string(octets: &mut impl Iterator<Item = (usize, u8)>) {
    while let Some((_, octet)) = octets.next() {
        match octet {
            b'"' => return,
            b'\\' => {
                octets.next();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_whole_comes_before_fences_and_fences_before_braces() {
        for (text, expected) in [
            (" [{\"a\": 1}] ", Some(json!([{"a": 1}]))),
            ("42", Some(json!(42))),
            (
                "x\n```json\n{\"a\": 1}\n```\n{\"b\": 2}",
                Some(json!({"a": 1})),
            ),
            (
                "It is [1, {\"a\": \"}\\\"}\"}] ok",
                Some(json!({"a": "}\"}"})),
            ),
            ("list: [1, [2]] done", Some(json!([1, [2]]))),
            ("```json {\"a\": 1}", Some(json!({"a": 1}))),
            ("{\"a\": 1", None),
            ("no", None),
            ("", None),
        ] {
            assert_eq!(extract(text), expected, "{text}");
        }
    }
}
