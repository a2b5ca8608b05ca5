//! Base32 (RFC 4648), padded.

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Octets written in Base32.
pub(super) fn encode(octets: &[u8]) -> String {
    let mut out = String::with_capacity(octets.len().div_ceil(5) * 8);
    for chunk in octets.chunks(5) {
        let mut group = [0; 8];
        group[3..3 + chunk.len()].copy_from_slice(chunk);
        let bits = u64::from_be_bytes(group);
        let letters = (chunk.len() * 8).div_ceil(5);
        for at in 0..8 {
            let digit = (bits >> (35 - 5 * at)) & 31;
            out.push(match at < letters {
                true => char::from(ALPHABET[digit as usize]),
                false => '=',
            });
        }
    }
    out
}

/// The octets of a text in Base32, or what is wrong with it.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, String> {
    if !text.len().is_multiple_of(8) {
        let whole = text.len() - text.len() % 8;
        return Err(format!("invalid length at {whole}"));
    }
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    if !matches!(padding, 0 | 1 | 3 | 4 | 6) {
        return Err(format!("invalid padding at {}", digits.len()));
    }
    let mut out = Vec::with_capacity(digits.len() * 5 / 8);
    let (mut bits, mut count) = (0_u32, 0);
    for (at, letter) in digits.bytes().enumerate() {
        let digit = ALPHABET.iter().position(|one| *one == letter);
        let Some(digit) = digit.and_then(|digit| u32::try_from(digit).ok()) else {
            return Err(format!("invalid symbol at {at}"));
        };
        bits = (bits << 5 | digit) & 0xfff;
        count += 5;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xff) as u8);
        }
    }
    // Two texts for the same octets would be one too many where texts are compared.
    match bits & ((1 << count) - 1) {
        0 => Ok(out),
        _ => Err(format!("non-zero trailing bits at {}", digits.len() - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_the_rfc() {
        for (text, encoded) in [
            ("", ""),
            ("f", "MY======"),
            ("fo", "MZXQ===="),
            ("foo", "MZXW6==="),
            ("foob", "MZXW6YQ="),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI======"),
        ] {
            assert_eq!(encode(text.as_bytes()), encoded);
            assert_eq!(decode(encoded).as_deref(), Ok(text.as_bytes()));
        }
    }

    #[test]
    fn what_is_no_base32_is_refused() {
        for text in [
            "M",
            "M1======",
            "MZXW6===========",
            "=======A",
            "mzxw6ytb",
            "MY=====é",
            "MZ======",
        ] {
            assert!(decode(text).is_err(), "{text}");
        }
    }
}
