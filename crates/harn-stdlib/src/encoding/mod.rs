//! Octets and the texts that stand for them.
//!
//! ```text
//! texts        base64, base32, hex, URLs: text ─► text
//! bytes        the same for octets, and what can be done with them
//! digests      SHA, MD5, BLAKE3, HMAC
//! keys, jwt    signatures, tokens, secrets that two sides agree on
//! compression  gzip, Zstandard, Brotli
//! archives     tar, zip
//! url_parts    URLs taken apart and put together; queries; URLs that are signed
//! cookies      cookies and the sessions in them
//! uuids        names that nobody else has
//! ```

#[cfg(feature = "compression")]
mod archives;
mod arguments;
mod base32;
mod bytes;
#[cfg(feature = "compression")]
mod compression;
mod cookies;
mod digests;
pub(crate) mod hex;
#[cfg(feature = "signatures")]
mod jwt;
#[cfg(feature = "signatures")]
mod keys;
mod queries;
mod signed_urls;
mod texts;
pub(crate) mod url;
mod url_parts;
mod uuids;

pub use uuids::uuid_of_time;

use harn_machine::{Registry, Value};

use arguments::Octets;

pub(crate) fn register(registry: &mut Registry) {
    bytes::register(registry);
    cookies::register(registry);
    digests::register(registry);
    queries::register(registry);
    signed_urls::register(registry);
    texts::register(registry);
    url_parts::register(registry);
    uuids::register(registry);
    #[cfg(feature = "compression")]
    {
        archives::register(registry);
        compression::register(registry);
    }
    #[cfg(feature = "signatures")]
    {
        jwt::register(registry);
        keys::register(registry);
    }
}

/// The octets of a value: its own, or those of the text it is shown as.
pub(crate) fn octets(value: &Value) -> Vec<u8> {
    Octets::of(value).to_vec()
}

/// Whether octets are equal, in a time that tells nothing but their length.
pub(crate) fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differences = std::iter::zip(one, other).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && std::hint::black_box(differences) == 0
}
