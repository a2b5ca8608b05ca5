//! One exchange with a provider, as a tape has it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Category, Error};

/// The version of the lines written here.
pub(super) const VERSION: u32 = 1;

/// What was asked and what came back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedExchange {
    /// The version of the line. First, so that a file can be told by its beginning.
    pub tape: u32,
    /// The language, by [`Wire::name`](crate::wire::Wire::name).
    pub wire: String,
    /// What was asked.
    pub request: RecordedRequest,
    /// What came back, if anything did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<RecordedResponse>,
    /// How it failed, after whatever came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedRequest {
    /// Where.
    pub url: String,
    /// The names of the headers. Their values are never kept.
    pub headers: Vec<String>,
    /// The body.
    pub body: Value,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedResponse {
    /// The status.
    pub status: u16,
    /// The few headers that matter, by their names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body in the pieces it came in.
    pub chunks: Vec<Chunk>,
}

/// A piece of a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ChunkText", into = "ChunkText")]
pub struct Chunk {
    /// When it came, counted from the request.
    pub at_ms: u64,
    /// What came.
    pub bytes: Vec<u8>,
}

/// How an exchange failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind, by [`Category::word`].
    pub category: String,
    /// What happened.
    pub message: String,
}

impl Failure {
    /// The error that the transport gave and a player gives again.
    pub fn to_error(&self) -> Error {
        let category = Category::from_word(&self.category).unwrap_or(Category::Generic);
        Error::new(category, self.message.clone())
    }
}

/// A chunk in a file: as text, or in hex where it is none.
#[derive(Clone, Serialize, Deserialize)]
struct ChunkText {
    at_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

impl From<Chunk> for ChunkText {
    fn from(chunk: Chunk) -> Self {
        let (text, hex) = match String::from_utf8(chunk.bytes) {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(to_hex(error.as_bytes()))),
        };
        Self {
            at_ms: chunk.at_ms,
            text,
            hex,
        }
    }
}

impl TryFrom<ChunkText> for Chunk {
    type Error = &'static str;

    fn try_from(chunk: ChunkText) -> Result<Self, Self::Error> {
        let bytes = match (chunk.text, chunk.hex) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(hex)) => from_hex(&hex).ok_or("`hex` of a chunk is not hexadecimal")?,
            _ => return Err("a chunk has either `text` or `hex`"),
        };
        Ok(Self {
            at_ms: chunk.at_ms,
            bytes,
        })
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    let byte = |pair: &[u32]| u8::try_from(pair[0] * 16 + pair[1]).ok();
    digits.chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_chunk_is_text_where_it_can_be() {
        let rows = [
            (
                &b"data: \xc3\xa9\n"[..],
                json!({"at_ms": 5, "text": "data: é\n"}),
            ),
            (&b"\xc3"[..], json!({"at_ms": 5, "hex": "c3"})),
            (&b"\xa9\n"[..], json!({"at_ms": 5, "hex": "a90a"})),
        ];
        for (bytes, expected) in rows {
            let chunk = Chunk {
                at_ms: 5,
                bytes: bytes.to_vec(),
            };
            assert_eq!(serde_json::to_value(&chunk).unwrap(), expected);
            assert_eq!(serde_json::from_value::<Chunk>(expected).unwrap(), chunk);
        }
    }

    #[test]
    fn a_chunk_that_is_none_is_refused() {
        let rows = [
            (json!({"at_ms": 1}), "a chunk has either `text` or `hex`"),
            (
                json!({"at_ms": 1, "text": "", "hex": ""}),
                "a chunk has either `text` or `hex`",
            ),
            (
                json!({"at_ms": 1, "hex": "abc"}),
                "`hex` of a chunk is not hexadecimal",
            ),
            (
                json!({"at_ms": 1, "hex": "zz"}),
                "`hex` of a chunk is not hexadecimal",
            ),
        ];
        for (chunk, expected) in rows {
            let error = serde_json::from_value::<Chunk>(chunk).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
