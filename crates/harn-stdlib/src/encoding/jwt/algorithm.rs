//! How tokens are signed.

use p256::ecdsa::signature::{Signer, Verifier};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::elliptic_curve::pkcs8::{
    DecodePrivateKey, DecodePublicKey, ObjectIdentifier, SubjectPublicKeyInfoRef,
};
use ring::rand::SystemRandom;
use ring::signature::{
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey,
};

use super::pem;
use crate::encoding::digests::hmac_sha256;
use crate::encoding::is_equal;

/// Which signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// A secret that both sides know.
    Hs256,
    /// ECDSA with the curve P-256.
    Es256,
    /// RSA as PKCS #1 first had it.
    Rs256,
}

impl Algorithm {
    /// The algorithm that tokens call by that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "HS256" => Some(Self::Hs256),
            "ES256" => Some(Self::Es256),
            "RS256" => Some(Self::Rs256),
            _ => None,
        }
    }
}

/// What a key is called that is not what it should be.
const NO_KEY: &str = "InvalidKeyFormat";

/// A key that signs.
pub(super) enum Signing {
    Es256(SigningKey),
    Rs256(Box<RsaKeyPair>),
}

impl Signing {
    /// The private key of a text in PEM.
    pub(super) fn read(algorithm: Algorithm, text: &str) -> Result<Self, String> {
        let (label, octets) = pem::read(text).ok_or(NO_KEY)?;
        match (algorithm, label) {
            (Algorithm::Es256, "PRIVATE KEY") => {
                let key = SigningKey::from_pkcs8_der(&octets);
                key.map(Self::Es256).map_err(|_| NO_KEY.to_owned())
            }
            (Algorithm::Es256, "EC PRIVATE KEY") => {
                let key = p256::SecretKey::from_sec1_der(&octets);
                key.map(|key| Self::Es256(key.into()))
                    .map_err(|_| NO_KEY.to_owned())
            }
            (Algorithm::Rs256, "PRIVATE KEY") => rsa(RsaKeyPair::from_pkcs8(&octets)),
            (Algorithm::Rs256, "RSA PRIVATE KEY") => rsa(RsaKeyPair::from_der(&octets)),
            _ => Err(NO_KEY.to_owned()),
        }
    }

    /// The signature of a message. It depends on nothing else: RSA uses chance only to hide
    /// how long it takes.
    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, &'static str> {
        match self {
            Self::Es256(key) => {
                let signature: Signature = key.sign(message);
                Ok(signature.to_vec())
            }
            Self::Rs256(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                let chance = SystemRandom::new();
                key.sign(&RSA_PKCS1_SHA256, &chance, message, &mut signature)
                    .map_err(|_| "RsaFailedSigning")?;
                Ok(signature)
            }
        }
    }
}

/// A key of RSA, or why it is none: it may be too small, for example.
fn rsa(key: Result<RsaKeyPair, ring::error::KeyRejected>) -> Result<Signing, String> {
    key.map(|key| Signing::Rs256(Box::new(key)))
        .map_err(|error| format!("InvalidRsaKey: {error}"))
}

/// A key that checks signatures.
pub(super) enum Check {
    Hs256(Vec<u8>),
    Es256(VerifyingKey),
    Rs256(Vec<u8>),
}

impl Check {
    /// The public key of a text in PEM, or a secret as it is.
    pub(super) fn read(algorithm: Algorithm, text: &str) -> Result<Self, &'static str> {
        if algorithm == Algorithm::Hs256 {
            return Ok(Self::Hs256(text.as_bytes().to_vec()));
        }
        let (label, octets) = pem::read(text).ok_or(NO_KEY)?;
        match (algorithm, label) {
            (Algorithm::Es256, "PUBLIC KEY") => {
                let key = VerifyingKey::from_public_key_der(&octets);
                key.map(Self::Es256).map_err(|_| NO_KEY)
            }
            (Algorithm::Rs256, "PUBLIC KEY") => rsa_public(&octets).map(Self::Rs256).ok_or(NO_KEY),
            (Algorithm::Rs256, "RSA PUBLIC KEY") => Ok(Self::Rs256(octets)),
            _ => Err(NO_KEY),
        }
    }

    /// Whether a signature is that of a message.
    pub(super) fn is_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Hs256(secret) => is_equal(&hmac_sha256(secret, message), signature),
            Self::Es256(key) => Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify(message, &signature).is_ok()),
            Self::Rs256(key) => UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key)
                .verify(message, signature)
                .is_ok(),
        }
    }
}

/// The key of RSA inside of a public key that says what it is.
fn rsa_public(octets: &[u8]) -> Option<Vec<u8>> {
    const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
    let key = SubjectPublicKeyInfoRef::try_from(octets).ok()?;
    let is_rsa = key.algorithm.oid == RSA;
    is_rsa.then(|| key.subject_public_key.raw_bytes().to_vec())
}
