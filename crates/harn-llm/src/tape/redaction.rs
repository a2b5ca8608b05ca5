//! Takes secrets out of what is written down.
//!
//! Two things are taken out: what the redaction of the host finds, which knows how secrets
//! look, and every secret we know by value, which need not look like one. The latter is also
//! looked for as JSON and URLs write it, and without the word before it in `Bearer …`.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::Secret;

use super::exchange::Chunk;

/// What stands in place of a secret.
const PLACEHOLDER: &str = "[redacted]";

/// A secret after a word like `Bearer` is looked for alone if it has at least so many bytes;
/// below that it would be found in innocent text.
const ALONE_BYTES_MIN: usize = 8;

/// What takes secrets out. Cheap to clone.
#[derive(Clone)]
pub struct Redaction {
    host: Arc<dyn Fn(&str) -> String + Send + Sync>,
    /// Every form of every known secret, the longest first, so that a secret within another
    /// one does not leave half of it behind.
    known: Vec<String>,
}

impl fmt::Debug for Redaction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.known.len();
        formatter.debug_tuple("Redaction").field(&count).finish()
    }
}

impl Redaction {
    /// What `host` finds is taken out.
    pub fn new(host: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self {
            host: Arc::new(host),
            known: Vec::new(),
        }
    }

    /// Nothing but known secrets is taken out.
    pub fn none() -> Self {
        Self::new(str::to_owned)
    }

    /// Takes out what `host` finds instead of what another one found.
    pub fn with_host(self, host: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self {
            host: Arc::new(host),
            ..self
        }
    }

    /// A line of JSON without secrets. It stays JSON, also where a secret looks like part of it.
    pub fn json_line(&self, line: &str) -> String {
        match serde_json::from_str::<Value>(line) {
            Ok(value) if self.text(line) != line => self.value(&value).to_string(),
            Ok(_) => line.to_owned(),
            Err(_) => self.text(line),
        }
    }

    /// Takes that secret out as well, wherever it appears.
    pub fn with_secret(mut self, secret: &Secret) -> Self {
        self.known.extend(forms(secret.expose()));
        self.known.sort_by(|a, b| (b.len(), a).cmp(&(a.len(), b)));
        self.known.dedup();
        self
    }

    /// A text without secrets.
    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.known {
            if text.contains(secret) {
                text = text.replace(secret, PLACEHOLDER);
            }
        }
        (self.host)(&text)
    }

    /// A JSON value without secrets, neither in its texts nor in its keys.
    pub fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, field)| (self.text(key), self.value(field)))
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// A body without secrets, also those that lie in more than one chunk. A line without
    /// secrets keeps its boundaries; one that had some moves into the chunk that completed it.
    pub(super) fn chunks(&self, chunks: Vec<Chunk>) -> Vec<Chunk> {
        let whole = join(&chunks);
        if self.bytes(&whole) == whole {
            return chunks;
        }
        let redacted = self.line_by_line(&whole, &chunks);
        // What spans lines is found only now. It is rare enough to give up the boundaries.
        let joined = join(&redacted);
        let again = self.bytes(&joined);
        match chunks.last() {
            Some(last) if again != joined => vec![Chunk {
                at_ms: last.at_ms,
                bytes: again,
            }],
            _ => redacted,
        }
    }

    fn line_by_line(&self, whole: &[u8], chunks: &[Chunk]) -> Vec<Chunk> {
        let mut redacted: Vec<Chunk> = chunks.iter().map(emptied).collect();
        let mut ends = Vec::with_capacity(chunks.len());
        let mut end = 0;
        for chunk in chunks {
            end += chunk.bytes.len();
            ends.push(end);
        }
        let mut at = 0;
        let mut owner = 0;
        for line in whole.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let stop = at + line.len();
            let clean = self.bytes(line);
            if clean == line {
                while at < stop {
                    while ends[owner] <= at {
                        owner += 1;
                    }
                    let until = ends[owner].min(stop);
                    redacted[owner].bytes.extend_from_slice(&whole[at..until]);
                    at = until;
                }
            } else {
                while ends[owner] < stop {
                    owner += 1;
                }
                redacted[owner].bytes.extend_from_slice(&clean);
                at = stop;
            }
        }
        redacted.retain(|chunk| !chunk.bytes.is_empty());
        redacted
    }

    fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(bytes);
        let redacted = self.text(&text);
        // Only where something was found may bytes that are no text be lost.
        if redacted == text {
            return bytes.to_vec();
        }
        redacted.into_bytes()
    }
}

fn join(chunks: &[Chunk]) -> Vec<u8> {
    let bytes = chunks.iter().flat_map(|chunk| chunk.bytes.iter());
    bytes.copied().collect()
}

fn emptied(chunk: &Chunk) -> Chunk {
    Chunk {
        at_ms: chunk.at_ms,
        bytes: Vec::new(),
    }
}

/// The ways in which a secret may be written.
fn forms(secret: &str) -> Vec<String> {
    let alone = secret.split_once(' ').map(|(_, rest)| rest);
    let alone = alone.filter(|alone| alone.len() >= ALONE_BYTES_MIN);
    [Some(secret), alone]
        .into_iter()
        .flatten()
        .filter(|secret| !secret.is_empty())
        .flat_map(|secret| [secret.to_owned(), in_json(secret), in_url(secret)])
        .collect()
}

fn in_json(secret: &str) -> String {
    let quoted = Value::from(secret).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn in_url(secret: &str) -> String {
    let mut url = String::new();
    for byte in secret.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn chunk(at_ms: u64, text: &str) -> Chunk {
        Chunk {
            at_ms,
            bytes: text.as_bytes().to_vec(),
        }
    }

    #[test]
    fn known_secrets_are_taken_out_in_every_form() {
        let redaction = Redaction::none()
            .with_secret(&Secret::new(""))
            .with_secret(&Secret::new("Bearer sk-1/2\"345"))
            .with_secret(&Secret::new("key"))
            .with_secret(&Secret::new("keyring"));
        let rows = [
            ("a Bearer sk-1/2\"345.", "a [redacted]."),
            ("a sk-1/2\"345.", "a [redacted]."),
            ("{\"a\":\"sk-1/2\\\"345\"}", "{\"a\":\"[redacted]\"}"),
            ("?k=sk-1%2F2%22345&b", "?k=[redacted]&b"),
            ("keyring", "[redacted]"),
            ("nothing", "nothing"),
        ];
        for (text, expected) in rows {
            assert_eq!(redaction.text(text), expected);
        }
    }

    #[test]
    fn a_value_is_searched_everywhere() {
        let redaction = Redaction::new(|text| text.replace("sk-", "***"));
        let value = json!({"a sk-": ["sk-1", {"b": "x sk-2"}], "n": 1});
        let expected = json!({"a ***": ["***1", {"b": "x ***2"}], "n": 1});
        assert_eq!(redaction.value(&value), expected);
    }

    #[test]
    fn chunks_without_secrets_stay_as_they_came() {
        let redaction = Redaction::none().with_secret(&Secret::new("hidden"));
        let chunks = vec![
            chunk(1, "da"),
            Chunk {
                at_ms: 2,
                bytes: b"ta \xc3".to_vec(),
            },
            chunk(3, ""),
        ];
        assert_eq!(redaction.chunks(chunks.clone()), chunks);
        assert_eq!(redaction.chunks(Vec::new()), []);
    }

    #[test]
    fn a_secret_in_two_chunks_is_found_and_other_lines_keep_their_boundaries() {
        let redaction = Redaction::none().with_secret(&Secret::new("hidden"));
        let chunks = vec![
            chunk(1, "one\ntwo "),
            chunk(2, "more\nx hid"),
            chunk(3, "den y\nla"),
            chunk(4, "st"),
        ];
        let expected = [
            chunk(1, "one\ntwo "),
            chunk(2, "more\n"),
            chunk(3, "x [redacted] y\nla"),
            chunk(4, "st"),
        ];
        assert_eq!(redaction.chunks(chunks), expected);
    }

    #[test]
    fn a_secret_over_several_lines_costs_the_boundaries() {
        let redaction = Redaction::none().with_secret(&Secret::new("hid\nden"));
        let chunks = vec![chunk(1, "a hid\n"), chunk(2, "den b")];
        assert_eq!(redaction.chunks(chunks), [chunk(2, "a [redacted] b")]);
    }

    proptest! {
        #[test]
        fn no_cut_hides_a_secret(pieces in proptest::collection::vec("[a\nhiden]{0,3}|hid|den\n", 0..12)) {
            let redaction = Redaction::none().with_secret(&Secret::new("hidden"));
            let chunks: Vec<Chunk> = (0..).zip(&pieces).map(|(at, text)| chunk(at, text)).collect();
            let redacted = join(&redaction.chunks(chunks));
            let expected = pieces.concat().replace("hidden", "[redacted]");
            prop_assert_eq!(String::from_utf8(redacted).unwrap(), expected);
        }
    }
}
