//! A short name for a long text.

use sha2::{Digest, Sha256};

const PREFIX: &str = "sha256:";

/// `sha256:` and hexadecimal digits. State keeps this in place of arguments and results: those
/// may be whole files, and a digest means the same after a restart, also on another machine.
pub(crate) fn digest(text: &str) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    let mut out = String::with_capacity(PREFIX.len() + 64);
    out.push_str(PREFIX);
    for byte in Sha256::digest(text.as_bytes()) {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
    out
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
