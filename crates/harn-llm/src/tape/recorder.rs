//! Writes exchanges to a tape.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::Secret;
use crate::wire::{HttpRequest, Wire};

use super::Error;
use super::exchange::{
    Chunk, Failure, RecordedExchange, RecordedRequest, RecordedResponse, VERSION,
};
use super::reader::{Tape, Torn};
use super::redaction::Redaction;

/// How much of one body is kept. What comes after it is left out, and the exchange is marked
/// as failed, because its answer cannot be played to the end.
pub const EXCHANGE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The headers of a response that are kept.
const HEADERS_KEPT: [&str; 5] = [
    "content-type",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "x-request-id",
];

/// The headers of a request whose values are secrets by their nature.
const HEADERS_SECRET: [&str; 5] = [
    "api-key",
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "x-goog-api-key",
];

/// Writes exchanges to a tape, one line and one write each.
pub struct TapeRecorder {
    file: Box<dyn Write + Send>,
    redaction: Redaction,
}

impl fmt::Debug for TapeRecorder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("TapeRecorder");
        shown.field("redaction", &self.redaction).finish()
    }
}

/// An exchange that goes on. It is kept in memory and written when it is over, so that two
/// that overlap do not mix their lines.
#[derive(Debug)]
pub struct OpenExchange {
    exchange: RecordedExchange,
    redaction: Redaction,
    bytes: usize,
}

impl TapeRecorder {
    /// Records into `file`. What `redaction` finds is not written, nor are the keys that the
    /// requests carry.
    pub fn new(file: impl Write + Send + 'static, redaction: Redaction) -> Self {
        Self {
            file: Box::new(file),
            redaction,
        }
    }

    /// Goes on with the tape at `path`, or begins one. A torn last line is cut off and
    /// reported. The file is read once to find that out.
    ///
    /// # Errors
    /// The file cannot be opened, or is something else than a tape.
    pub fn open(path: &Path, redaction: Redaction) -> Result<(Self, Option<Torn>), Error> {
        let at = |source: io::Error| Error::File {
            file: path.display().to_string(),
            source,
        };
        let mut options = OpenOptions::new();
        let file = options.append(true).create(true).open(path).map_err(at)?;
        let torn = mend(&file, path, &at)?;
        Ok((Self::new(file, redaction), torn))
    }

    /// Begins an exchange: this is asked now.
    pub fn begin(&self, wire: Wire, request: &HttpRequest) -> OpenExchange {
        let redaction = with_keys(&self.redaction, request);
        let exchange = RecordedExchange {
            tape: VERSION,
            wire: wire.name().to_owned(),
            request: recorded_request(request, &redaction),
            response: None,
            failure: None,
        };
        OpenExchange {
            exchange,
            redaction,
            bytes: 0,
        }
    }

    /// Writes an exchange that is over.
    ///
    /// # Errors
    /// It could not be written; its line may be torn.
    pub fn exchange(&mut self, open: OpenExchange) -> io::Result<()> {
        let mut line = serde_json::to_vec(&open.finish())?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.file.flush()
    }
}

impl OpenExchange {
    /// The provider answers with that status and those headers.
    pub fn response<'a>(
        &mut self,
        status: u16,
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        let headers = headers.into_iter().filter_map(|(name, value)| {
            let name = name.to_ascii_lowercase();
            let is_kept = HEADERS_KEPT.contains(&name.as_str());
            is_kept.then(|| (name, self.redaction.text(value)))
        });
        self.exchange.response = Some(RecordedResponse {
            status,
            headers: headers.collect(),
            chunks: Vec::new(),
        });
    }

    /// A piece of the body came, so long after the request.
    pub fn chunk(&mut self, at_ms: u64, bytes: &[u8]) {
        let Some(response) = &mut self.exchange.response else {
            return;
        };
        let room = EXCHANGE_BYTES_MAX - self.bytes;
        let kept = &bytes[..bytes.len().min(room)];
        self.bytes += kept.len();
        if !kept.is_empty() {
            let bytes = kept.to_vec();
            response.chunks.push(Chunk { at_ms, bytes });
        }
        if kept.len() < bytes.len() && self.exchange.failure.is_none() {
            self.exchange.failure = Some(Failure {
                category: "generic".to_owned(),
                message: format!("the tape kept only {EXCHANGE_BYTES_MAX} bytes of the answer"),
            });
        }
    }

    /// The exchange failed, before or after what was recorded so far.
    pub fn failed(&mut self, error: &crate::Error) {
        self.exchange.failure = Some(Failure {
            category: error.category.word().to_owned(),
            message: self.redaction.text(&error.message),
        });
    }

    /// The exchange as it is written, without secrets.
    pub fn finish(mut self) -> RecordedExchange {
        if let Some(response) = &mut self.exchange.response {
            let chunks = std::mem::take(&mut response.chunks);
            response.chunks = self.redaction.chunks(chunks);
        }
        self.exchange
    }
}

/// The redaction with the keys that a request carries.
pub(super) fn with_keys(redaction: &Redaction, request: &HttpRequest) -> Redaction {
    let is_key = |name: &str| HEADERS_SECRET.contains(&name.to_ascii_lowercase().as_str());
    let keys = request.headers.iter().filter(|(name, _)| is_key(name));
    keys.fold(
        redaction.clone(),
        |redaction, (_, key): &(String, Secret)| redaction.with_secret(key),
    )
}

/// A request as a tape has it.
pub(super) fn recorded_request(request: &HttpRequest, redaction: &Redaction) -> RecordedRequest {
    let mut headers: Vec<String> = request
        .headers
        .iter()
        .map(|(name, _)| name.to_ascii_lowercase())
        .collect();
    headers.sort();
    RecordedRequest {
        url: redaction.text(&request.url),
        headers,
        body: redaction.value(&request.body),
    }
}

/// Makes the file end with a whole line, so that the next one begins on its own.
fn mend(
    mut file: &File,
    path: &Path,
    at: &dyn Fn(io::Error) -> Error,
) -> Result<Option<Torn>, Error> {
    let bytes = std::fs::read(path).map_err(at)?;
    let tape = Tape::read(&path.display().to_string(), &bytes)?;
    if tape.torn.is_some() && tape.exchanges.is_empty() {
        // Half a line could be the beginning of anything, and cutting it would lose that.
        return Err(Error::Line {
            file: path.display().to_string(),
            line: 1,
            reason: "the file holds no whole exchange, so it may be no tape".to_owned(),
        });
    }
    if let Some(torn) = tape.torn {
        let whole = (bytes.len() - torn.bytes) as u64;
        file.set_len(whole).map_err(at)?;
    } else if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        file.write_all(b"\n").map_err(at)?;
    }
    Ok(tape.torn)
}

#[cfg(test)]
mod tests;
