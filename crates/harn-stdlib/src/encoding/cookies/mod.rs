//! Cookies, and sessions that are kept in them.
//!
//! ```text
//! parse       Cookie: a=1; b=2        ─► names and values
//! attributes  Path, Max-Age, SameSite … of a cookie that is set
//! serialize   a name and a value      ─► Set-Cookie: a=1; Path=/
//! signed      values and sessions that nobody else can have written
//! round_trip  Set-Cookie              ─► what a browser would send next
//! ```

mod attributes;
mod parse;
mod round_trip;
mod serialize;
mod signed;

use harn_machine::{Failure, Fault, Registry, Value};

pub(super) fn register(registry: &mut Registry) {
    parse::register(registry);
    round_trip::register(registry);
    serialize::register(registry);
    signed::register(registry);
}

/// What all functions here fail with.
fn fail<T>(reason: impl std::fmt::Display) -> Result<T, Failure> {
    Err(Fault::runtime(format!("cookie: {reason}")))
}

/// Fails if there are too few arguments.
fn require(function: &str, arguments: &[Value], count: usize) -> Result<(), Failure> {
    match arguments.len() < count {
        true => fail(format!("{function} requires {count} arguments")),
        false => Ok(()),
    }
}

/// Whether a text can be the name of a cookie: a token of HTTP.
fn is_name(name: &str) -> bool {
    let is_token = |octet: u8| octet.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&octet);
    !name.is_empty() && name.bytes().all(is_token)
}

/// Whether a text can be the value of a cookie as it is.
fn is_value(value: &str) -> bool {
    let is_bad =
        |letter: char| letter.is_control() || matches!(letter, ';' | ',' | '\\' | '"' | ' ');
    !value.contains(is_bad)
}

/// The value of a header, whatever the case of its name.
fn header<'a>(headers: &'a harn_machine::value::Dict, name: &str) -> Option<&'a Value> {
    let mut named = headers
        .iter()
        .filter(|(key, _)| key.eq_ignore_ascii_case(name));
    named.next().map(|(_, value)| value)
}
