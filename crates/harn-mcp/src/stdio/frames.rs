//! Reads messages, one per line, without ever holding more than one that is allowed.

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};

/// How deep the values of a message may be nested.
const DEPTH_MAX: usize = 100;

/// How many lines in a row may be no messages.
const STRAY_LINES_MAX: u64 = 10_000;

/// How much is read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// The lines of a server.
pub(super) struct Frames<R> {
    input: R,
    /// What was read and not given.
    buffer: Vec<u8>,
    /// How much of it was looked at for an end of line.
    searched: usize,
    frame_bytes_max: usize,
    /// Lines in a row that were no messages.
    stray: u64,
    /// All lines that were no messages.
    pub(super) strays: u64,
}

/// What is wrong with what was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// A message is larger than allowed.
    TooLarge(usize),
    /// A message is nested deeper than allowed.
    TooDeep(usize),
    /// There is nothing but lines that are no messages.
    OnlyNoise(u64),
    /// It cannot be read.
    Unreadable(String),
}

impl Wrong {
    /// The rest of a sentence that begins with the server.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::TooLarge(limit) => {
                format!("sent a message of more than {limit} bytes and was disconnected")
            }
            Self::TooDeep(limit) => {
                format!("sent a message nested deeper than {limit} levels and was disconnected")
            }
            Self::OnlyNoise(lines) => {
                format!("wrote {lines} lines in a row that are no messages and was disconnected")
            }
            Self::Unreadable(error) => format!("cannot be read from: {error}"),
        }
    }
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(super) fn new(input: R, frame_bytes_max: usize) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            searched: 0,
            frame_bytes_max,
            stray: 0,
            strays: 0,
        }
    }

    /// The next message; `None` at the end.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub(super) async fn next(&mut self) -> Result<Option<Value>, Wrong> {
        loop {
            while let Some(line) = self.line() {
                match self.read(&line)? {
                    Some(message) => return Ok(Some(message)),
                    None => self.count()?,
                }
            }
            if self.buffer.len() > self.frame_bytes_max {
                return Err(Wrong::TooLarge(self.frame_bytes_max));
            }
            if self.fill().await? == 0 {
                return Ok(None);
            }
        }
    }

    /// Throws away what is still written, to the end.
    pub(super) async fn discard(&mut self) {
        self.buffer = Vec::new();
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            match self.input.read(&mut piece).await {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
    }

    /// A whole line, if there is one.
    fn line(&mut self) -> Option<Vec<u8>> {
        let end = self.buffer[self.searched..]
            .iter()
            .position(|byte| *byte == b'\n');
        let Some(end) = end else {
            self.searched = self.buffer.len();
            return None;
        };
        let end = self.searched + end;
        let rest = self.buffer.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.buffer, rest);
        line.pop();
        self.searched = 0;
        Some(line)
    }

    async fn fill(&mut self) -> Result<usize, Wrong> {
        let room = self.frame_bytes_max.saturating_sub(self.buffer.len());
        self.buffer.reserve(room.saturating_add(1).min(PIECE_BYTES));
        let read = self.input.read_buf(&mut self.buffer).await;
        match read {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(1),
            read => read.map_err(|error| Wrong::Unreadable(error.to_string())),
        }
    }

    /// The message that a line is; `None` for one that is none.
    fn read(&mut self, line: &[u8]) -> Result<Option<Value>, Wrong> {
        if line.len() > self.frame_bytes_max {
            return Err(Wrong::TooLarge(self.frame_bytes_max));
        }
        let line = line.trim_ascii();
        if line.first() != Some(&b'{') {
            return Ok(None);
        }
        if depth(line) > DEPTH_MAX {
            return Err(Wrong::TooDeep(DEPTH_MAX));
        }
        match serde_json::from_slice::<Value>(line) {
            Ok(message) if message["jsonrpc"] == json!("2.0") => {
                self.stray = 0;
                Ok(Some(message))
            }
            _ => Ok(None),
        }
    }

    /// A line was no message: somebody prints where messages go.
    fn count(&mut self) -> Result<(), Wrong> {
        self.stray += 1;
        self.strays += 1;
        match self.stray > STRAY_LINES_MAX {
            true => Err(Wrong::OnlyNoise(STRAY_LINES_MAX)),
            false => Ok(()),
        }
    }
}

/// How deep the brackets of a text go, leaving out those in strings.
fn depth(text: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut is_text, mut is_escaped) = (false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'{' | b'[' if !is_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(text: &str, frame_bytes_max: usize) -> (Vec<Value>, u64, Option<Wrong>) {
        let mut frames = Frames::new(text.as_bytes(), frame_bytes_max);
        let mut messages = Vec::new();
        loop {
            match frames.next().await {
                Ok(Some(message)) => messages.push(message["id"].clone()),
                Ok(None) => return (messages, frames.strays, None),
                Err(wrong) => return (messages, frames.strays, Some(wrong)),
            }
        }
    }

    fn message(id: u64) -> String {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n")
    }

    #[tokio::test]
    async fn lines_that_are_no_messages_are_skipped_and_counted() {
        let text = format!(
            "Starting…\n{}\n[1]\n{{\"a\": 1}}\n{{'python': True}}\n\u{0}\u{ff}\n{}last",
            message(1),
            message(2)
        );
        assert_eq!(all(&text, 1000).await, (vec![json!(1), json!(2)], 6, None));
    }

    #[tokio::test]
    async fn a_message_that_is_too_large_is_not_held() {
        let large = format!(
            "{}{{\"jsonrpc\":\"2.0\",\"x\":\"{}\"}}\n",
            message(1),
            "x".repeat(500)
        );
        let (messages, _, wrong) = all(&large, 200).await;
        assert_eq!(
            (messages, wrong),
            (vec![json!(1)], Some(Wrong::TooLarge(200)))
        );
        // Also one that never ends.
        let mut frames = Frames::new(tokio::io::repeat(b'x'), 100_000);
        assert_eq!(frames.next().await, Err(Wrong::TooLarge(100_000)));
        assert!(
            frames.buffer.capacity() < 300_000,
            "{}",
            frames.buffer.capacity()
        );
    }

    #[tokio::test]
    async fn nesting_has_an_end() {
        let deep = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}{}}}\n",
            "[".repeat(5000),
            "]".repeat(5000)
        );
        assert_eq!(all(&deep, 100_000).await.2, Some(Wrong::TooDeep(100)));
        let text = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"x\":\"{}\\\"\"}}\n",
            "[{".repeat(500)
        );
        assert_eq!(all(&text, 100_000).await, (vec![json!(1)], 0, None));
    }

    #[tokio::test]
    async fn noise_has_an_end() {
        let noise = "noise\n".repeat(10_001);
        assert_eq!(all(&noise, 1000).await.2, Some(Wrong::OnlyNoise(10_000)));
        let noise = "noise\n".repeat(9_999);
        let text = format!("{noise}{}{noise}", message(1));
        assert_eq!(all(&text, 1000).await, (vec![json!(1)], 19_998, None));
    }
}
