//! Values that must not be printed.

use std::hint::black_box;

use ring::digest::{SHA256, digest};

/// A credential. It cannot be printed: neither `Debug` nor `Display` exist for it, so that
/// whatever holds one cannot print it by accident either.
#[derive(Clone)]
pub struct Secret(Box<[u8]>);

impl Secret {
    /// Takes a value into care.
    pub fn new(value: impl Into<Vec<u8>>) -> Self {
        Self(value.into().into_boxed_slice())
    }

    /// Whether `other` is the same, in a time that says nothing about where they differ. The
    /// digests are compared, so that it says nothing about the length either.
    pub fn is(&self, other: &[u8]) -> bool {
        let (ours, theirs) = (digest(&SHA256, &self.0), digest(&SHA256, other));
        let differences = ours
            .as_ref()
            .iter()
            .zip(theirs.as_ref())
            .fold(0, |sum, (a, b)| black_box(sum | (a ^ b)));
        differences == 0
    }

    /// A mark by which people can tell secrets apart without learning them.
    pub fn fingerprint(&self) -> String {
        hex(&digest(&SHA256, &self.0).as_ref()[..4])
    }

    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is nothing to keep secret.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_itself_and_nothing_else() {
        let secret = Secret::new("open sesame");
        assert!(secret.is(b"open sesame"));
        for other in ["", "open", "open sesam", "open sesame ", "Open sesame"] {
            assert!(!secret.is(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_fingerprint_is_stable_and_not_the_secret() {
        // The digest of the empty text begins like this.
        assert_eq!(Secret::new("").fingerprint(), "e3b0c442");
    }

    /// Chooses the method of the first trait that is implemented: if `Secret` could be printed,
    /// this would not compile, because both would fit.
    #[test]
    fn a_secret_cannot_be_printed() {
        trait Unprintable<A> {
            fn check() {}
        }
        impl<T: ?Sized> Unprintable<()> for T {}
        struct CanPrint;
        impl<T: ?Sized + std::fmt::Debug> Unprintable<CanPrint> for T {}
        struct CanShow;
        impl<T: ?Sized + std::fmt::Display> Unprintable<(CanShow,)> for T {}
        <Secret as Unprintable<_>>::check();
    }
}
