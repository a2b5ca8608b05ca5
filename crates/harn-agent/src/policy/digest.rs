//! A short name for a long text.

use sha2::{Digest, Sha256};

const PREFIX: &str = "sha256:";

/// `sha256:` and hexadecimal digits. State keeps this in place of arguments and results: those
/// may be whole files, and a digest means the same after a restart, also on another machine.
pub(crate) fn digest(text: &str) -> String {
    let mut digits = [b'0'; 64];
    let digest = Sha256::digest(text.as_bytes());
    for (pair, byte) in digits.chunks_exact_mut(2).zip(digest) {
        let digit = |value: u8| b"0123456789abcdef"[usize::from(value)];
        pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
    }
    let digits = std::str::from_utf8(&digits).expect("digits are text");
    [PREFIX, digits].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_the_known_one() {
        let expected = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest("abc"), expected);
    }
}
