//! Octets.

use std::ops::Deref;
use std::rc::Rc;

/// Immutable octets, cheap to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes(Rc<Vec<u8>>);

impl Bytes {
    /// Where they are in memory.
    pub fn address(&self) -> usize {
        Rc::as_ptr(&self.0).addr()
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(octets: Vec<u8>) -> Self {
        Self(Rc::new(octets))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
