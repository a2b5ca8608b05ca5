//! Digests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use harn_machine::{Context, Failure, Registry, Value, argument};
use md5::Md5;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512, Sha512_256};
use sha3::{Sha3_256, Sha3_512};

use super::arguments::Octets;
use super::{hex, is_equal};
use crate::expect::text;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("blake3", |context, arguments| {
            let mut hasher = blake3::Hasher::new();
            let octets = Octets::of(argument(arguments, 0));
            in_steps(context, &octets, |part| {
                hasher.update(part);
            })?;
            Ok(hasher.finalize().to_hex().as_str().into())
        }),
        ("constant_time_eq", |_, arguments| {
            let (one, other) = (text(arguments, 0), text(arguments, 1));
            Ok(is_equal(one.as_bytes(), other.as_bytes()).into())
        }),
        ("hmac_sha256", |_, arguments| {
            let (key, message) = (text(arguments, 0), text(arguments, 1));
            Ok(hex::encode(&hmac_sha256(key.as_bytes(), message.as_bytes())).into())
        }),
        ("hmac_sha256_base64", |_, arguments| {
            let (key, message) = (text(arguments, 0), text(arguments, 1));
            Ok(STANDARD
                .encode(hmac_sha256(key.as_bytes(), message.as_bytes()))
                .into())
        }),
        ("md5", of_text::<Md5>),
        ("sha224", of_text::<Sha224>),
        ("sha256", of_text::<Sha256>),
        ("sha384", of_text::<Sha384>),
        ("sha3_256", of_octets::<Sha3_256>),
        ("sha3_512", of_octets::<Sha3_512>),
        ("sha512", of_text::<Sha512>),
        ("sha512_256", of_text::<Sha512_256>),
    ]);
}

/// The digest of the text that a value is shown as, whatever it is.
fn of_text<Algorithm: Digest>(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    let Some(value) = arguments.first() else {
        return digest::<Algorithm>(context, b"");
    };
    let text = value.to_text_within(context.budget())?;
    digest::<Algorithm>(context, text.as_bytes())
}

/// The digest of a text or of octets.
fn of_octets<Algorithm: Digest>(
    context: &mut Context<'_>,
    arguments: &mut [Value],
) -> Result<Value, Failure> {
    digest::<Algorithm>(context, &Octets::of(argument(arguments, 0)))
}

fn digest<Algorithm: Digest>(context: &mut Context<'_>, octets: &[u8]) -> Result<Value, Failure> {
    let mut hasher = Algorithm::new();
    in_steps(context, octets, |part| hasher.update(part))?;
    Ok(hex::encode(&hasher.finalize()).into())
}

/// Reads octets in steps, because a program may have to stop before the last of them.
fn in_steps(
    context: &mut Context<'_>,
    octets: &[u8],
    mut read: impl FnMut(&[u8]),
) -> Result<(), Failure> {
    const STEP_BYTES: usize = 64 * 1024;
    for part in octets.chunks(STEP_BYTES) {
        context.budget().read(4 * part.len())?;
        read(part);
    }
    Ok(())
}

/// The HMAC of a message (RFC 2104).
pub(crate) fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    const BLOCK: usize = 64;
    let mut block = [0; BLOCK];
    match key.len() {
        0..=BLOCK => block[..key.len()].copy_from_slice(key),
        _ => block[..32].copy_from_slice(&Sha256::digest(key)),
    }
    let padded = |pad: u8| block.map(|octet| octet ^ pad);
    let inner = Sha256::new()
        .chain_update(padded(0x36))
        .chain_update(message);
    let outer = Sha256::new()
        .chain_update(padded(0x5c))
        .chain_update(inner.finalize());
    outer.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<Algorithm: Digest>(octets: &[u8]) -> String {
        hex::encode(&Algorithm::digest(octets))
    }

    #[test]
    fn digests_are_those_of_the_standards() {
        for (digest, expected) in [
            (of::<Md5>(b"abc"), "900150983cd24fb0d6963f7d28e17f72"),
            (
                of::<Sha256>(b"abc"),
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                of::<Sha3_256>(b"abc"),
                "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
            ),
            (
                of::<Sha512_256>(b"abc"),
                "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23",
            ),
        ] {
            assert_eq!(digest, expected);
        }
    }

    #[test]
    fn authentication_codes_are_those_of_rfc_4231() {
        let code = |key: &[u8], message: &[u8]| hex::encode(&hmac_sha256(key, message));
        assert_eq!(
            code(b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            code(
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First"
            ),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }
}
