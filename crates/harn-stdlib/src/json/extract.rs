//! JSON found in prose.

/// The part of a text that is most likely JSON: what a fence encloses, else the first braces
/// that match, else the first brackets, else everything.
pub(super) fn found(prose: &str) -> &str {
    let prose = prose.trim();
    fenced(prose)
        .or_else(|| balanced(prose, b'{', b'}'))
        .or_else(|| balanced(prose, b'[', b']'))
        .unwrap_or(prose)
}

/// What follows the line of the first fence, up to the next one.
fn fenced(prose: &str) -> Option<&str> {
    let (_, after) = prose.split_once("```")?;
    let (_, inside) = after.split_once('\n')?;
    let (inside, _) = inside.split_once("```")?;
    Some(inside.trim())
}

/// From the first opening mark to the one that closes it, strings left out of account.
fn balanced(prose: &str, open: u8, close: u8) -> Option<&str> {
    let start = prose.bytes().position(|octet| octet == open)?;
    let mut depth = 0_usize;
    let mut octets = prose.bytes().enumerate().skip(start);
    while let Some((at, octet)) = octets.next() {
        match octet {
            b'"' => skip_string(&mut octets),
            _ if octet == open => depth += 1,
            _ if octet == close => {
                depth -= 1;
                if depth == 0 {
                    return Some(&prose[start..=at]);
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
    use super::found;

    #[test]
    fn fences_come_before_braces_and_braces_before_brackets() {
        for (prose, expected) in [
            (
                "Here:\n```json\n{\"a\": 1}\n```\nand {\"b\": 2}",
                "{\"a\": 1}",
            ),
            ("```\n[1]\n```", "[1]"),
            ("It is [1, {\"a\": \"}\\\"}\"}] ok", "{\"a\": \"}\\\"}\"}"),
            ("list: [1, [2]] done", "[1, [2]]"),
            ("  42 ", "42"),
            ("{\"a\": 1", "{\"a\": 1"),
            ("```json {\"a\": 1}", "{\"a\": 1}"),
        ] {
            assert_eq!(found(prose), expected, "{prose}");
        }
    }
}
