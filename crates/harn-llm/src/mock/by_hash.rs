//! One file per request, found again by its hash.
//!
//! `harn --record` keeps every answer in a file named after what was asked, and
//! `harn --replay` finds it again, in whatever order calls are made:
//!
//! ```text
//! (model, messages, system) ─► compact JSON ─► FNV-1a, 64 bits ─► 16 hex digits ─► HASH.json
//! ```
//!
//! The hash must never change: recordings lie in other people's repositories. It is the
//! FNV-1a hash with the usual 64-bit offset and prime over the bytes of the JSON array
//! `[model, messages, system]` without spaces, keys sorted, a missing system prompt as
//! `null`. Only names of files depend on it, so it need not withstand an attacker, but a file
//! whose request is another one is refused all the same.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::tape::Redaction;
use crate::{Category, Error, Reply, Request, sorted_json, sorted_json_pretty};

use super::Answer;

/// Where recordings are when nobody says otherwise.
pub const FOLDER_DEFAULT: &str = ".harn-fixtures";

/// The version of the files written here.
const VERSION: u32 = 1;

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// Where recordings are kept.
pub trait Store {
    /// The text of the file of that name; `None` if there is none.
    ///
    /// # Errors
    /// It is there and cannot be read.
    fn read(&self, name: &str) -> io::Result<Option<String>>;

    /// Writes that file, replacing an earlier one.
    ///
    /// # Errors
    /// It cannot be written.
    fn write(&mut self, name: &str, text: &str) -> io::Result<()>;
}

/// A folder of recordings.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder at `path`, which is made when the first recording is.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }
}

impl Store for Folder {
    fn read(&self, name: &str) -> io::Result<Option<String>> {
        match std::fs::read_to_string(self.path.join(name)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&mut self, name: &str, text: &str) -> io::Result<()> {
        std::fs::create_dir_all(&self.path)?;
        // Renamed into place, so that a replay never reads half a recording.
        let unfinished = self.path.join(format!("{name}.tmp"));
        std::fs::write(&unfinished, text)?;
        std::fs::rename(&unfinished, self.path.join(name))
    }
}

/// A file: what was asked, for people and for the check, and what was answered.
#[derive(Debug, Serialize, Deserialize)]
struct Recording {
    version: u32,
    hash: String,
    provider: String,
    request: Value,
    reply: Reply,
}

/// The 16 hex digits that stand for what is asked.
pub fn request_hash(request: &Request) -> String {
    hash(&asked(request))
}

/// The 16 hex digits that stand for a call of a tool: the hash of `[name, arguments]`.
pub fn tool_hash(name: &str, arguments: &Value) -> String {
    hash(&json!([name, arguments]))
}

/// Keeps an answer for replay. Secrets are taken out of what is written, not out of what the
/// file is found by.
///
/// # Errors
/// The file cannot be written.
pub fn record(
    store: &mut dyn Store,
    request: &Request,
    answer: &Answer,
    redaction: &Redaction,
) -> Result<(), Error> {
    let hash = request_hash(request);
    let reply = serde_json::to_value(&answer.reply).expect("a reply is plain data");
    let file = json!({
        "version": VERSION,
        "hash": hash,
        "provider": answer.provider,
        "request": redaction.value(&json!({
            "model": request.model,
            "messages": request.messages,
            "system": request.system,
        })),
        "reply": redaction.value(&reply),
    });
    let name = file_name(&hash);
    store
        .write(&name, &format!("{}\n", sorted_json_pretty(&file)))
        .map_err(|error| failure(format!("could not write the fixture {name}: {error}")))
}

/// The answer that was recorded for what is asked.
///
/// # Errors
/// There is none, or its file is damaged.
pub fn replay(store: &dyn Store, request: &Request) -> Result<Answer, Error> {
    let hash = request_hash(request);
    let name = file_name(&hash);
    let text = store
        .read(&name)
        .map_err(|error| failure(format!("could not read the fixture {name}: {error}")))?;
    let text = text.ok_or_else(|| {
        failure(format!(
            "No fixture found for LLM call (hash: {hash}). Run with --record first."
        ))
    })?;
    let recording: Recording = serde_json::from_str(&text)
        .map_err(|error| failure(format!("the fixture {name} is damaged: {error}")))?;
    if recording.version != VERSION {
        let version = recording.version;
        return Err(failure(format!(
            "the fixture {name} has version {version}; this program reads version {VERSION}"
        )));
    }
    if recording.hash != hash {
        let other = recording.hash;
        return Err(failure(format!(
            "the fixture {name} is for another call (hash: {other})"
        )));
    }
    Ok(Answer {
        reply: recording.reply,
        provider: recording.provider,
    })
}

fn asked(request: &Request) -> Value {
    json!([request.model, request.messages, request.system])
}

fn file_name(hash: &str) -> String {
    format!("{hash}.json")
}

/// The 16 hex digits that stand for a JSON value.
pub(crate) fn hash(value: &Value) -> String {
    let text = sorted_json(value);
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
    format!("{:016x}", text.bytes().fold(FNV_OFFSET, step))
}

fn failure(message: String) -> Error {
    Error::new(Category::Generic, message)
}

#[cfg(test)]
mod tests;
