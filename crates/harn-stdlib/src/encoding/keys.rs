//! Pairs of keys: signatures with Ed25519, secrets that two sides agree on with X25519.

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use harn_machine::{Context, Failure, Registry, Value, thrown};
use x25519_dalek::{PublicKey, StaticSecret};

use super::arguments::Octets;
use super::hex;
use crate::expect::text;
use crate::random::octets;

pub(super) fn register(registry: &mut Registry) {
    registry.plain(&[
        ("ed25519_keypair", |context, _| {
            let private = SigningKey::from_bytes(&octets(context));
            let public = private.verifying_key();
            Ok(pair(private.as_bytes(), public.as_bytes()))
        }),
        ("ed25519_sign", sign),
        ("ed25519_verify", |_, arguments| {
            Ok(is_signed(arguments).is_some().into())
        }),
        ("x25519_agree", agree),
        ("x25519_keypair", |context, _| {
            let private = StaticSecret::from(octets(context));
            let public = PublicKey::from(&private);
            Ok(pair(private.as_bytes(), public.as_bytes()))
        }),
    ]);
}

fn pair(private: &[u8], public: &[u8]) -> Value {
    Value::dict([
        ("private", hex::encode(private).into()),
        ("public", hex::encode(public).into()),
    ])
}

fn sign(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    let private = match hex::decode(&text(arguments, 0)) {
        Ok(private) => private,
        Err(reason) => {
            return thrown(format!("ed25519_sign: invalid hex private key: {reason}"));
        }
    };
    let Ok(private) = private.try_into() else {
        return thrown("ed25519_sign: private key must be 32 bytes");
    };
    let signature = SigningKey::from_bytes(&private).sign(&Octets::given(arguments, 2));
    Ok(hex::encode(&signature.to_bytes()).into())
}

/// Nothing if the signature is not that of the message, or if anything is malformed.
fn is_signed(arguments: &[Value]) -> Option<()> {
    let public = hex::decode(&text(arguments, 0)).ok()?.try_into().ok()?;
    let public = VerifyingKey::from_bytes(&public).ok()?;
    let signature = hex::decode(&text(arguments, 2)).ok()?;
    let signature = Signature::from_slice(&signature).ok()?;
    let message = Octets::given(arguments, 2);
    public.verify_strict(&message, &signature).ok()
}

fn agree(_: &mut Context<'_>, arguments: &mut [Value]) -> Result<Value, Failure> {
    if arguments.len() < 2 {
        return thrown("x25519_agree: expected (private_hex, peer_public_hex)");
    }
    let key = |at: usize, name: &str| -> Result<[u8; 32], Failure> {
        let octets = match hex::decode(&text(arguments, at)) {
            Ok(octets) => octets,
            Err(reason) => {
                return thrown(format!("x25519_agree: invalid {name} hex: {reason}"));
            }
        };
        let key = octets.try_into();
        key.or_else(|_| thrown(format!("x25519_agree: {name} must be 32 bytes")))
    };
    let private = StaticSecret::from(key(0, "private")?);
    let public = PublicKey::from(key(1, "public")?);
    let secret = private.diffie_hellman(&public);
    Ok(hex::encode(secret.as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_rfc_8032() {
        let private = "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7";
        let public = "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025";
        let expected = "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
                        18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a";
        let private = hex::decode(private).expect("it is hex");
        let key = SigningKey::from_bytes(&private.try_into().expect("it has 32 bytes"));
        let signature = key.sign(&[0xaf, 0x82]).to_bytes();
        assert_eq!(hex::encode(&signature), expected);
        let message = Value::Bytes(vec![0xaf, 0x82].into());
        let checked = |message: Value| is_signed(&[public.into(), message, expected.into()]);
        assert_eq!(checked(message), Some(()));
        assert_eq!(checked("x".into()), None);
    }

    #[test]
    fn secrets_are_those_of_rfc_7748() {
        let key = |digits: &str| -> [u8; 32] {
            let octets = hex::decode(digits).expect("it is hex");
            octets.try_into().expect("it has 32 bytes")
        };
        let alice = key("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
        let bob = key("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
        let secret = StaticSecret::from(bob).diffie_hellman(&PublicKey::from(alice));
        assert_eq!(
            hex::encode(secret.as_bytes()),
            "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
        );
    }
}
