//! A short name for a long text.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// `sha256:` and hexadecimal digits. State keeps this in place of arguments and results: those
/// may be whole files, and a digest means the same after a restart, also on another machine.
pub(crate) fn digest(text: &str) -> String {
    let mut out = String::from("sha256:");
    for byte in Sha256::digest(text.as_bytes()) {
        write!(out, "{byte:02x}").expect("a string takes all that is written to it");
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
