//! Whether a file is what somebody signed.
//!
//! ```text
//! SKILL.md.sig: {schema, signer_fingerprint, ed25519_sig_base64, skill_sha256, …}
//!      ├─ digest of SKILL.md ─► signed
//!      └─ <fingerprint>.pub ─► key ─► signature is right, signer is wanted ─► trusted
//! ```

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::{Signature, VerifyingKey};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{Means, SkillPlaces};
use crate::skills::library::read_bounded;
use crate::skills::provenance::Provenance;

const SCHEMA: &str = "harn-skill-sig/v1";

/// How the description of an Ed25519 key begins: the algorithm, and 32 bytes that follow.
const KEY_HEAD: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

/// What stands beside a file that was signed.
#[derive(Deserialize)]
struct Signed {
    schema: String,
    signer_fingerprint: String,
    ed25519_sig_base64: String,
    skill_sha256: String,
}

/// Whose signatures count, and where their keys are.
pub(super) struct Signers {
    /// Keys that the user has put there.
    own: Option<PathBuf>,
    /// Keys of everybody else.
    registry: Option<Registry>,
    /// Keys that were looked for already: many skills have one signer.
    known: RefCell<HashMap<String, Option<VerifyingKey>>>,
}

enum Registry {
    Folder(PathBuf),
    Url(String),
}

impl Signers {
    pub(super) fn new(places: &SkillPlaces) -> Self {
        let home = places.home.as_ref();
        let here = PathBuf::new();
        let registry = places.signer_registry.as_deref().map(|url| (url, &here));
        let root = places.root.as_ref().unwrap_or(&here);
        let of_manifest = places.manifest.signer_registry_url.as_deref();
        let registry = registry.or(of_manifest.map(|url| (url, root)));
        Self {
            own: home.map(|home| home.join(".harn/trusted-signers")),
            registry: registry
                .filter(|(url, _)| !url.is_empty())
                .map(|(url, base)| Registry::read(url, base)),
            known: RefCell::default(),
        }
    }

    /// Who signed a file with these bytes.
    pub(super) fn provenance(
        &self,
        path: &Path,
        bytes: &[u8],
        wanted: &[String],
        means: &Means<'_>,
    ) -> Provenance {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".sig");
        let beside = PathBuf::from(beside);
        if !beside.exists() {
            return Provenance::default();
        }
        match read(&beside, bytes) {
            Err(error) => Provenance {
                error: Some(error),
                ..Provenance::default()
            },
            Ok(signed) => {
                let fingerprint = signed.signer_fingerprint.clone();
                let is_wanted = wanted.is_empty() || wanted.contains(&fingerprint);
                let is_right = || {
                    let key = self.key(&fingerprint, means);
                    key.is_some_and(|key| is_signature(&signed, &key, bytes))
                };
                Provenance {
                    signed: true,
                    trusted: is_wanted && is_right(),
                    signer_fingerprint: Some(fingerprint),
                    error: None,
                }
            }
        }
    }

    /// The key with a fingerprint, if somebody has it.
    fn key(&self, fingerprint: &str, means: &Means<'_>) -> Option<VerifyingKey> {
        // It becomes part of a path.
        let is_hex = |one: u8| one.is_ascii_digit() || (b'a'..=b'f').contains(&one);
        if fingerprint.len() != 64 || !fingerprint.bytes().all(is_hex) {
            return None;
        }
        if let Some(known) = self.known.borrow().get(fingerprint) {
            return *known;
        }
        let name = format!("{fingerprint}.pub");
        let own = self.own.iter().find_map(|own| read_text(&own.join(&name)));
        let pem = own.or_else(|| match self.registry.as_ref()? {
            Registry::Folder(folder) => read_text(&folder.join(&name)),
            Registry::Url(url) => {
                let place = format!("{}/{name}", url.trim_end_matches('/'));
                let fetched = (means.fetch)(&place);
                let told = |why: &String| (means.warn)(&format!("skills: {place}: {why}"));
                fetched.inspect_err(told).ok()
            }
        });
        let key = pem.and_then(|pem| public_key(&pem, fingerprint));
        self.known.borrow_mut().insert(fingerprint.to_owned(), key);
        key
    }
}

impl Registry {
    fn read(url: &str, base: &Path) -> Self {
        if let Some(path) = url.strip_prefix("file:") {
            let path = path.strip_prefix("//localhost").unwrap_or(path);
            let path = match path.strip_prefix("//") {
                Some(path) => path,
                None => path,
            };
            return Self::Folder(base.join(path));
        }
        match url.starts_with("http://") || url.starts_with("https://") {
            true => Self::Url(url.to_owned()),
            false => Self::Folder(base.join(url)),
        }
    }
}

fn read(beside: &Path, bytes: &[u8]) -> Result<Signed, String> {
    let text =
        read_bounded(beside).map_err(|error| format!("cannot read the signature: {error}"))?;
    let signed: Signed = serde_json::from_slice(&text)
        .map_err(|error| format!("the signature is not readable: {error}"))?;
    if signed.schema != SCHEMA {
        return Err(format!(
            "the signature has the schema '{}', expected '{SCHEMA}'",
            signed.schema
        ));
    }
    match signed.skill_sha256 == hex(&Sha256::digest(bytes)) {
        true => Ok(signed),
        false => Err("the file is not the one that was signed: its digest differs".to_owned()),
    }
}

fn is_signature(signed: &Signed, key: &VerifyingKey, bytes: &[u8]) -> bool {
    let signature = BASE64.decode(&signed.ed25519_sig_base64).ok();
    let signature = signature.and_then(|bytes| Signature::from_slice(&bytes).ok());
    signature.is_some_and(|signature| key.verify_strict(bytes, &signature).is_ok())
}

/// The key of a PEM file, if it is the one with that fingerprint.
fn public_key(pem: &str, fingerprint: &str) -> Option<VerifyingKey> {
    let inner = pem.split_once("-----BEGIN PUBLIC KEY-----")?.1;
    let inner = inner.split_once("-----END PUBLIC KEY-----")?.0;
    let inner: String = inner.split_whitespace().collect();
    let described = BASE64.decode(inner).ok()?;
    let key: [u8; 32] = described.strip_prefix(&KEY_HEAD)?.try_into().ok()?;
    let is_right = hex(&Sha256::digest(key)) == fingerprint;
    is_right.then(|| VerifyingKey::from_bytes(&key).ok())?
}

fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(read_bounded(path).ok()?).ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
