//! Certificates that servers make for themselves while somebody works on them.

use std::io;

use harn_machine::Answer;
use rcgen::{CertifiedKey, generate_simple_self_signed};

use crate::world::failed;

/// A certificate for hosts, which are a list in JSON, and its key. Nobody but its owner trusts
/// it.
pub(crate) fn certificate(hosts: &str) -> Answer {
    match make(hosts) {
        Ok(pairs) => Answer::Pairs(pairs),
        Err(error) => failed(&error),
    }
}

fn make(hosts: &str) -> io::Result<Vec<(String, String)>> {
    let hosts: Vec<String> = serde_json::from_str(hosts)?;
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(hosts).map_err(io::Error::other)?;
    Ok(vec![
        ("certificate".to_owned(), cert.pem()),
        ("key".to_owned(), signing_key.serialize_pem()),
    ])
}
