//! Hexadecimal digits.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Octets in hexadecimal digits.
pub(crate) fn encode(octets: &[u8]) -> String {
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    let mut out = String::with_capacity(octets.len() * 2);
    for octet in octets {
        out.extend([digit(octet >> 4), digit(octet & 15)]);
    }
    out
}

/// The octets of a text in hexadecimal digits of either case, or what is wrong with it.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, String> {
    let digit = |(at, letter): (usize, char)| {
        let digit = letter
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok());
        digit.ok_or_else(|| format!("Invalid character {letter:?} at position {at}"))
    };
    if !text.len().is_multiple_of(2) {
        return Err("Odd number of digits".to_owned());
    }
    let digits = text
        .char_indices()
        .map(digit)
        .collect::<Result<Vec<u8>, _>>()?;
    Ok(digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_are_two_digits_each() {
        assert_eq!(encode(&[0, 0xab, 255]), "00abff");
        assert_eq!(decode("00aBff"), Ok(vec![0, 0xab, 255]));
        assert_eq!(decode("abc"), Err("Odd number of digits".to_owned()));
        assert_eq!(
            decode("zz"),
            Err("Invalid character 'z' at position 0".to_owned())
        );
        assert_eq!(
            decode("aé1"),
            Err("Invalid character 'é' at position 1".to_owned())
        );
    }
}
