//! Requests that are signed.
//!
//! Whoever shares a key with us signs these lines with HMAC-SHA-256:
//!
//! ```text
//! HARN-HMAC-SHA256
//! POST
//! /acp?trace=1
//! agents.example
//! 1790000000
//! 0f3a…            a nonce, 16 to 64 letters, digits, `-` and `_`
//! e3b0c44298fc…    the SHA-256 of the body
//! ```
//!
//! and sends `Authorization: HARN-HMAC-SHA256 key=…,time=…,nonce=…,body=…,signature=…`. The
//! time must be near ours and the nonce new, so that a request which somebody saw cannot be
//! sent again; the body is held against its digest before anybody reads it.

use axum::http::header::HOST;
use axum::http::{HeaderMap, Method, Uri};
use ring::digest::{SHA256, digest};
use ring::hmac;

use crate::Secret;
use crate::secret::hex;

/// The word that begins the header of a signed request.
pub const SCHEME: &str = "HARN-HMAC-SHA256";

const NONCE_LENGTHS: std::ops::RangeInclusive<usize> = 16..=64;

/// What of a request is signed besides its body.
pub(crate) struct Head<'a> {
    pub(crate) method: &'a Method,
    pub(crate) uri: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
}

/// What a signed request says of itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) key: String,
    pub(crate) time_secs: i64,
    pub(crate) nonce: String,
    body: Vec<u8>,
    signature: Vec<u8>,
}

impl Signature {
    /// Reads the header after its first word.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (mut key, mut time, mut nonce, mut body, mut signature) =
            (None, None, None, None, None);
        for part in text.split(',') {
            let (name, value) = part.trim().split_once('=')?;
            let place = match name {
                "key" => &mut key,
                "time" => &mut time,
                "nonce" => &mut nonce,
                "body" => &mut body,
                "signature" => &mut signature,
                _ => return None,
            };
            if place.replace(value).is_some() {
                return None;
            }
        }
        let nonce = nonce.filter(|nonce| is_nonce(nonce))?;
        Some(Self {
            key: key?.to_owned(),
            time_secs: time?.parse().ok()?,
            nonce: nonce.to_owned(),
            body: unhex(body?)?,
            signature: unhex(signature?)?,
        })
    }

    /// Whether the key signed this head. Takes the same time wherever they differ.
    pub(crate) fn fits(&self, key: &Secret, head: &Head<'_>) -> bool {
        let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let text = canonical(
            head.method.as_str(),
            path,
            host.unwrap_or_default(),
            self.time_secs,
            &self.nonce,
            &hex(&self.body),
        );
        let key = hmac::Key::new(hmac::HMAC_SHA256, key.bytes());
        hmac::verify(&key, text.as_bytes(), &self.signature).is_ok()
    }

    /// Whether the body is the one that was signed.
    pub(crate) fn fits_body(&self, body: &[u8]) -> bool {
        digest(&SHA256, body).as_ref() == self.body
    }
}

/// The `Authorization` of a request that is signed with `key`, whose name is `name`.
#[expect(
    clippy::too_many_arguments,
    reason = "each is one line of what is signed"
)]
pub fn sign(
    name: &str,
    key: &Secret,
    method: &str,
    path: &str,
    host: &str,
    time_secs: i64,
    nonce: &str,
    body: &[u8],
) -> String {
    let body = hex(digest(&SHA256, body).as_ref());
    let text = canonical(method, path, host, time_secs, nonce, &body);
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.bytes());
    let signature = hex(hmac::sign(&key, text.as_bytes()).as_ref());
    format!("{SCHEME} key={name},time={time_secs},nonce={nonce},body={body},signature={signature}")
}

fn canonical(method: &str, path: &str, host: &str, time: i64, nonce: &str, body: &str) -> String {
    format!("{SCHEME}\n{method}\n{path}\n{host}\n{time}\n{nonce}\n{body}")
}

fn is_nonce(text: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    NONCE_LENGTHS.contains(&text.len()) && text.bytes().all(is_fit)
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let pairs = text.as_bytes().chunks(2);
    let is_digest = text.len() == 64;
    let byte = |pair: &[u8]| Some(digit(&pair[0])? << 4 | digit(&pair[1])?);
    is_digest.then(|| pairs.map(byte).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_the_canonical_text() {
        // By hand: printf 'HARN-HMAC-SHA256\nPOST\n/acp\nlocalhost\n1790000000\n…' | openssl dgst
        let header = sign(
            "ci",
            &Secret::new("0123456789abcdef"),
            "POST",
            "/acp",
            "localhost",
            1_790_000_000,
            "aaaaaaaaaaaaaaaa",
            b"",
        );
        assert_eq!(
            header,
            "HARN-HMAC-SHA256 key=ci,time=1790000000,nonce=aaaaaaaaaaaaaaaa,\
             body=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855,\
             signature=c456189a89b0eb177e6fc5e38e57e9c6903452149d3589ef709da6b10991cfba"
        );
    }

    #[test]
    fn a_header_with_anything_odd_is_none() {
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let good = format!("key=a,time=1,nonce=aaaaaaaaaaaaaaaa,body={digest},signature={digest}");
        assert!(Signature::read(&good).is_some());
        for (part, odd) in [
            ("time=1", "time=x"),
            ("time=1", "time=1,time=2"),
            ("key=a,", ""),
            ("key=a", "kee=a"),
            ("nonce=aaaaaaaaaaaaaaaa", "nonce=short"),
            ("nonce=aaaaaaaaaaaaaaaa", "nonce=aaaaaaaaaaaaaaa\u{a0}"),
            ("body=e3", "body="),
            ("body=e3", "body=zz"),
        ] {
            assert_eq!(Signature::read(&good.replacen(part, odd, 1)), None, "{odd}");
        }
    }
}
