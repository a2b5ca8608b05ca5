//! Octets and the texts that stand for them.
//!
//! ```text
//! encodings   base64, base32, hex, URLs: text ─► text
//! bytes       the same for octets, and what can be done with them
//! digests     SHA, MD5, BLAKE3, HMAC
//! uuids       names that nobody else has
//! ```

mod base32;
mod bytes;
mod digests;
pub(crate) mod hex;
mod texts;
pub(crate) mod url;
mod uuids;

pub use uuids::uuid_of_time;

use harn_machine::{Registry, Value};

pub(crate) fn register(registry: &mut Registry) {
    bytes::register(registry);
    digests::register(registry);
    texts::register(registry);
    uuids::register(registry);
}

/// The octets of a value: its own, or those of the text it is shown as.
pub(crate) fn octets(value: &Value) -> Vec<u8> {
    match value {
        Value::Bytes(bytes) => bytes.to_vec(),
        value => value.to_text().as_bytes().to_vec(),
    }
}

/// Whether octets are equal, in a time that tells nothing but their length.
pub(crate) fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differences = std::iter::zip(one, other).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && std::hint::black_box(differences) == 0
}
