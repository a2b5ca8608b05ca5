//! Servers that must have a certain key.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, OtherError, SignatureScheme};
use sha2::{Digest, Sha256};

/// Trusts whom another trusts, if the server also has one of these keys.
#[derive(Debug)]
pub(super) struct Pinned {
    pub(super) trusted: Arc<WebPkiServerVerifier>,
    pub(super) digests: Vec<[u8; 32]>,
}

/// The server has another key.
#[derive(Debug)]
struct Mismatch;

impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TLS SPKI pin mismatch")
    }
}

impl Error for Mismatch {}

/// Whether an error is because of the wrong key.
pub(super) fn is_mismatch(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<Mismatch>() {
            return true;
        }
        // An error of input or output shows only what is below the error it wraps.
        let inner = error.downcast_ref::<std::io::Error>();
        let inner = inner.and_then(std::io::Error::get_ref);
        cause = match inner {
            Some(inner) => Some(inner),
            None => error.source(),
        };
        if let Some(rustls::Error::Other(OtherError(other))) = error.downcast_ref::<rustls::Error>()
        {
            return other.is::<Mismatch>();
        }
    }
    false
}

/// A digest as programs write it: in hexadecimal digits or base64, maybe after `sha256/`.
pub(super) fn digest(text: &str) -> Option<[u8; 32]> {
    let text = text.trim();
    let text = text.strip_prefix("sha256/").unwrap_or(text);
    let digits = text.replace(':', "");
    let octets = match digits.len() == 64 && digits.bytes().all(|one| one.is_ascii_hexdigit()) {
        true => (0..64)
            .step_by(2)
            .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok())
            .collect::<Option<Vec<u8>>>(),
        false => STANDARD
            .decode(text)
            .or_else(|_| STANDARD_NO_PAD.decode(text))
            .ok(),
    };
    octets?.try_into().ok()
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let trusted = self.trusted.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        )?;
        let digest = public_key(end_entity).map(|key| <[u8; 32]>::from(Sha256::digest(key)));
        match digest.is_some_and(|digest| self.digests.contains(&digest)) {
            true => Ok(trusted),
            false => Err(rustls::Error::Other(OtherError(Arc::new(Mismatch)))),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.trusted
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.trusted
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.trusted.supported_verify_schemes()
    }
}

/// The public key of a certificate with what kind it is, as it stands there.
///
/// ```text
/// certificate { signed { [0] version?, serial, algorithm, issuer, validity, subject, key … } … }
/// ```
fn public_key(certificate: &[u8]) -> Option<&[u8]> {
    let (certificate, _) = inside(certificate)?;
    let (mut fields, _) = inside(certificate)?;
    if fields.first() == Some(&0xa0) {
        fields = inside(fields)?.1;
    }
    for _before_the_key in 0..5 {
        fields = inside(fields)?.1;
    }
    let (_, after) = inside(fields)?;
    Some(&fields[..fields.len() - after.len()])
}

/// What is inside the first element of a text in DER, and what comes after it.
fn inside(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_tag, rest) = der.split_first()?;
    let (first, mut rest) = rest.split_first()?;
    let length = match usize::from(*first) {
        short @ 0..0x80 => short,
        long => {
            let count = long - 0x80;
            if count == 0 || count > 4 {
                return None;
            }
            let (digits, after) = rest.split_at_checked(count)?;
            rest = after;
            digits
                .iter()
                .fold(0, |length, digit| length << 8 | usize::from(*digit))
        }
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_written_in_two_ways() {
        let zeros = [0; 32];
        assert_eq!(digest(&"00".repeat(32)), Some(zeros));
        assert_eq!(
            digest(&format!("sha256/{}", STANDARD.encode(zeros))),
            Some(zeros)
        );
        assert_eq!(digest(&STANDARD_NO_PAD.encode(zeros)), Some(zeros));
        assert_eq!(digest("abc"), None);
    }

    #[test]
    fn what_is_no_certificate_has_no_key() {
        for octets in [
            &[][..],
            &[0x30],
            &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
            &[0x30, 0x80],
        ] {
            assert_eq!(public_key(octets), None);
        }
    }
}
