//! Finding the end of what needs no attention in a string, eight octets at a time.

/// How many octets come before a quote, a backslash or a control character.
pub(super) fn plain_length(octets: &[u8]) -> usize {
    let mut chunks = octets.chunks_exact(8);
    let mut at = 0;
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(chunk.try_into().expect("a chunk has eight octets"));
        let marks = below_space(word) | equal(word, b'"') | equal(word, b'\\');
        if marks != 0 {
            return at + marks.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = chunks.remainder();
    let is_special = |octet: &u8| matches!(octet, b'"' | b'\\' | 0..0x20);
    at + rest.iter().position(is_special).unwrap_or(rest.len())
}

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Marks the high bit of each octet that is less than a space. Marks above the lowest one may
/// be wrong, because subtracting borrows.
fn below_space(word: u64) -> u64 {
    word.wrapping_sub(LOW * 0x20) & !word & HIGH
}

/// The same for octets that are equal to one.
fn equal(word: u64, octet: u8) -> u64 {
    let difference = word ^ (LOW * u64::from(octet));
    difference.wrapping_sub(LOW) & !difference & HIGH
}

#[cfg(test)]
mod tests {
    use super::plain_length;

    #[test]
    fn the_first_special_octet_is_found() {
        let is_special = |octet: u8| matches!(octet, b'"' | b'\\' | 0..0x20);
        for octet in 0..=255 {
            for at in 0..20 {
                let mut octets = [b'a'; 20];
                octets[at] = octet;
                octets[19] = b'"';
                let expected = if is_special(octet) { at } else { 19 };
                assert_eq!(plain_length(&octets), expected.min(19), "{octet} at {at}");
            }
        }
        assert_eq!(plain_length(b""), 0);
        assert_eq!(plain_length(&[b' '; 17]), 17);
        assert_eq!(
            plain_length(&[0x80, 0x81, 0xff, 0xa2, 0xdc, 0x9f, 0x8a, 0x80, b'\n']),
            8
        );
    }
}
