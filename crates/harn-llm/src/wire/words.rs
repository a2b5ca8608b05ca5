//! Looks for bytes, eight at a time.

const ONES: u64 = u64::from_le_bytes([1; 8]);
const TOP_BITS: u64 = ONES << 7;

/// Where the first byte is that `marks` marks: given eight bytes as a word, it sets the top bit
/// of every byte that is looked for. See [`equal`] and [`below`].
pub(super) fn position(bytes: &[u8], marks: impl Fn(u64) -> u64) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let found = marks(u64::from_le_bytes(*word));
        if found != 0 {
            return Some(index * 8 + first(found));
        }
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let at = words.len() * 8 + first(marks(u64::from_le_bytes(last)));
    // What the last word was filled up with does not count.
    (at < bytes.len()).then_some(at)
}

/// Marks the bytes that are `byte`. Those after the first one may be marked without being it.
pub(super) fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ (ONES * u64::from(byte)), 1)
}

/// Marks the bytes that are less than `limit`, which is at most 128. Those after the first one
/// may be marked without being less, because each borrows from the next.
pub(super) fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(limit)) & !word & TOP_BITS
}

/// The index of the first byte that is marked; 8 if none is.
fn first(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_byte_is_found_wherever_it_is(
            bytes in prop::collection::vec(prop_oneof![0_u8..40, any::<u8>()], 0..40),
            byte in 0_u8..40,
            limit in 1_u8..=128,
        ) {
            let expected = bytes.iter().position(|one| *one == byte);
            prop_assert_eq!(position(&bytes, |word| equal(word, byte)), expected);
            let expected = bytes.iter().position(|one| *one < limit);
            prop_assert_eq!(position(&bytes, |word| below(word, limit)), expected);
            let expected = bytes.iter().position(|one| *one == byte || *one < limit);
            let either = |word| equal(word, byte) | below(word, limit);
            prop_assert_eq!(position(&bytes, either), expected);
        }
    }
}
