//! What is between the fields of a form.

use harn_machine::Value;
use sha2::{Digest, Sha256};

/// How many boundaries are tried before we give up.
const TRIES_MAX: u32 = 1000;

/// Whether a boundary can be used.
pub(super) fn check(boundary: &str) -> Result<(), String> {
    if boundary.is_empty() {
        return Err("boundary must not be empty".to_owned());
    }
    if boundary.len() > 70 {
        return Err("boundary must be at most 70 bytes".to_owned());
    }
    if !boundary.bytes().all(is_allowed) || boundary.ends_with(' ') {
        let problem = "boundary contains a character that is not valid in multipart/form-data";
        return Err(problem.to_owned());
    }
    Ok(())
}

fn is_allowed(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&octet)
}

/// A boundary that depends on nothing but the fields, and is in none of their contents.
pub(super) fn generate(fields: &[Value], contents: &[&[u8]]) -> Result<String, String> {
    let mut digest = Sha256::new();
    for field in fields {
        digest.update(field.show());
        digest.update([0]);
    }
    let digits = digest.finalize()[..8]
        .iter()
        .map(|octet| format!("{octet:02x}"))
        .collect::<String>();
    let first = format!("----harn-boundary-{digits}");
    let more = (1..TRIES_MAX).map(|number| format!("{first}-{number}"));
    std::iter::once(first.clone())
        .chain(more)
        .find(|boundary| {
            let is_in = |content: &&[u8]| find(content, boundary.as_bytes()).is_some();
            !contents.iter().any(is_in)
        })
        .ok_or_else(|| "could not generate a boundary absent from field content".to_owned())
}

/// Where a sequence of octets begins.
pub(super) fn find(octets: &[u8], sequence: &[u8]) -> Option<usize> {
    let first = *sequence.first()?;
    let mut at = 0;
    loop {
        at += octets[at..].iter().position(|octet| *octet == first)?;
        if octets[at..].starts_with(sequence) {
            return Some(at);
        }
        at += 1;
    }
}
