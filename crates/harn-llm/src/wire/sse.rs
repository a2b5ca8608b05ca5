//! Cuts a stream of bytes into server-sent events.
//!
//! ```text
//! bytes ──► lines (\n, \r\n, \r) ──► fields ──► a frame at each blank line
//! ```
//!
//! The standard is followed to the letter, so a last event without its blank line is never
//! given out: nobody can know whether it was whole. Chunks may end anywhere, also inside a
//! character. Each byte is looked at once and copied at most twice.

use std::borrow::Cow;

use super::{Frame, words};
use crate::{Category, Error};

/// How large one event may become before the stream is given up.
pub const EVENT_BYTES_MAX: usize = 64 * 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Takes bytes as they come and gives out frames.
#[derive(Debug)]
pub struct SseDecoder {
    /// The beginning of a line whose end has not come yet.
    partial: Vec<u8>,
    /// The last byte was a `\r`, so a `\n` right after it belongs to it.
    after_return: bool,
    /// Nothing but the byte order mark may come before the first line.
    at_start: bool,
    event: String,
    /// The data lines so far, joined. Text is checked when the frame is whole.
    data: Vec<u8>,
    has_data: bool,
    last_id: String,
    retry_ms: Option<u64>,
    bytes_seen: u64,
    event_bytes_max: usize,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::with_event_bytes_max(EVENT_BYTES_MAX)
    }
}

impl SseDecoder {
    /// One that refuses events larger than that.
    pub fn with_event_bytes_max(event_bytes_max: usize) -> Self {
        Self {
            partial: Vec::new(),
            after_return: false,
            at_start: true,
            event: String::new(),
            data: Vec::new(),
            has_data: false,
            last_id: String::new(),
            retry_ms: None,
            bytes_seen: 0,
            event_bytes_max,
        }
    }

    /// How many bytes came so far. Comments count: they show that somebody is there.
    pub fn bytes_seen(&self) -> u64 {
        self.bytes_seen
    }

    /// The last `id` the server gave.
    pub fn last_id(&self) -> &str {
        &self.last_id
    }

    /// How long the server wants clients to wait before they connect again.
    pub fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    /// Takes the next bytes and calls `each` for every event they complete.
    ///
    /// # Errors
    /// An event is larger than allowed, or `each` failed. The stream is over then.
    pub fn push(
        &mut self,
        mut bytes: &[u8],
        mut each: impl FnMut(Frame<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.bytes_seen += bytes.len() as u64;
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = line_end(bytes) else {
                self.check_size(bytes.len())?;
                self.partial.extend_from_slice(bytes);
                return Ok(());
            };
            self.check_size(end)?;
            if let Some(data) = self.only_line(&bytes[..end], &bytes[end..]) {
                self.dispatch_line(data, &mut each)?;
                bytes = &bytes[end + 2..];
                continue;
            }
            self.after_return = bytes[end] == b'\r';
            if self.partial.is_empty() {
                self.line(&bytes[..end], &mut each)?;
            } else {
                let mut line = std::mem::take(&mut self.partial);
                line.extend_from_slice(&bytes[..end]);
                self.line(&line, &mut each)?;
                line.clear();
                self.partial = line;
            }
            bytes = &bytes[end + 1..];
        }
        Ok(())
    }

    /// The data of an event that is this line and nothing else. Nearly all are, and theirs is
    /// given out where it is.
    fn only_line<'a>(&self, line: &'a [u8], after: &[u8]) -> Option<&'a [u8]> {
        let is_alone = self.partial.is_empty() && !self.has_data && after.starts_with(b"\n\n");
        let value = line.strip_prefix(b"data:").filter(|_| is_alone)?;
        Some(value.strip_prefix(b" ").unwrap_or(value))
    }

    fn dispatch_line(
        &mut self,
        data: &[u8],
        each: &mut impl FnMut(Frame<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.at_start = false;
        let outcome = each(Frame {
            event: &self.event,
            data: &text(data),
        });
        self.event.clear();
        outcome
    }

    fn check_size(&self, more_bytes: usize) -> Result<(), Error> {
        let size_bytes = self.partial.len() + self.data.len() + more_bytes;
        if size_bytes <= self.event_bytes_max {
            return Ok(());
        }
        Err(too_large("an event of the stream", self.event_bytes_max))
    }

    fn line(
        &mut self,
        mut line: &[u8],
        each: &mut impl FnMut(Frame<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if std::mem::take(&mut self.at_start) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch(each);
        }
        let (name, value) = match line.iter().position(|&byte| byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => self.append_data(value),
            b"event" => text(value).as_ref().clone_into(&mut self.event),
            b"id" if !value.contains(&0) => text(value).as_ref().clone_into(&mut self.last_id),
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                self.retry_ms = text(value).parse().ok().or(self.retry_ms);
            }
            // A comment has no name; fields we do not know are to be ignored.
            _ => {}
        }
        Ok(())
    }

    fn append_data(&mut self, value: &[u8]) {
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
    }

    fn dispatch(
        &mut self,
        each: &mut impl FnMut(Frame<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let outcome = if self.has_data {
            each(Frame {
                event: &self.event,
                data: &text(&self.data),
            })
        } else {
            Ok(())
        };
        self.event.clear();
        self.data.clear();
        self.has_data = false;
        outcome
    }
}

/// The error of a frame that is larger than allowed.
pub(super) fn too_large(what: &str, bytes_max: usize) -> Error {
    Error::new(
        Category::Generic,
        format!("{what} is larger than {bytes_max} bytes"),
    )
}

/// Bytes as text; what is no UTF-8 becomes U+FFFD, as the standard has it.
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    // Nearly always it is, and finding that out is quicker than mending it.
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Where the first line of `bytes` ends.
fn line_end(bytes: &[u8]) -> Option<usize> {
    words::position(bytes, |word| {
        words::equal(word, b'\n') | words::equal(word, b'\r')
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All frames of a stream that comes in those chunks, as `(event, data)`.
    fn frames<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<(String, String)> {
        let mut decoder = SseDecoder::default();
        let mut frames = Vec::new();
        for chunk in chunks {
            let keep = |frame: Frame<'_>| {
                frames.push((frame.event.to_owned(), frame.data.to_owned()));
                Ok(())
            };
            decoder.push(chunk, keep).unwrap();
        }
        frames
    }

    #[track_caller]
    fn check(stream: &[u8], expected: &[(&str, &str)]) {
        let owned: Vec<(String, String)> = expected
            .iter()
            .map(|(event, data)| ((*event).to_owned(), (*data).to_owned()))
            .collect();
        assert_eq!(frames([stream]), owned);
        assert_eq!(frames(stream.chunks(1)), owned, "byte by byte");
    }

    /// A stream and the events and data it is made of.
    type Row = (&'static [u8], &'static [(&'static str, &'static str)]);

    #[test]
    fn fields_become_frames() {
        let rows: [Row; 16] = [
            (b"data: a\n\n", &[("", "a")]),
            (b"data: a\r\n\r\n", &[("", "a")]),
            (b"data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")]),
            (b"event: ping\ndata: {}\n\n", &[("ping", "{}")]),
            (b"event: ping\n\ndata: x\n\n", &[("", "x")]),
            (b"data: a\ndata:b\ndata:  c\n\n", &[("", "a\nb\n c")]),
            (b"data\n\n", &[("", "")]),
            (b"data:\ndata\n\n", &[("", "\n")]),
            (b": a comment\n\n:\n\ndata: a\n\n", &[("", "a")]),
            (b"\xEF\xBB\xBFdata: a\n\n", &[("", "a")]),
            (b"data: a\n\n\xEF\xBB\xBFdata: b\n\n", &[("", "a")]),
            (b"colour: red\ndata: a\n\n", &[("", "a")]),
            (b"data: a\n\ndata: cut off", &[("", "a")]),
            (b"data: a\n\ndata: no blank line\n", &[("", "a")]),
            ("data: häßlich 🦀\n\n".as_bytes(), &[("", "häßlich 🦀")]),
            (b"data: \xFF!\n\n", &[("", "\u{FFFD}!")]),
        ];
        for (stream, expected) in rows {
            check(stream, expected);
        }
    }

    #[test]
    fn id_retry_and_activity_are_remembered() {
        let mut decoder = SseDecoder::default();
        let ignore = |_: Frame<'_>| Ok(());
        decoder
            .push(
                b"id: 7\nretry: 250\n\nid: a\0b\nretry: soon\n: hi\n",
                ignore,
            )
            .unwrap();
        assert_eq!(
            (
                decoder.last_id(),
                decoder.retry_ms(),
                decoder.bytes_seen() > 0
            ),
            ("7", Some(250), true)
        );
    }

    #[test]
    fn an_event_without_end_is_given_up() {
        for stream in [
            "data: 0123456789",
            "data: 01234\ndata: 56789\n",
            ": 0123456789A\n",
        ] {
            let mut decoder = SseDecoder::with_event_bytes_max(12);
            let outcome = stream
                .as_bytes()
                .chunks(3)
                .try_for_each(|chunk| decoder.push(chunk, |_| Ok(())));
            let error = outcome.unwrap_err();
            assert_eq!(
                error.message,
                "an event of the stream is larger than 12 bytes"
            );
        }
    }

    #[test]
    fn a_failing_receiver_ends_the_stream() {
        let mut calls = 0;
        let outcome = SseDecoder::default().push(b"data: a\n\ndata: b\n\n", |_| {
            calls += 1;
            Err(Error::new(Category::Overloaded, "busy"))
        });
        assert_eq!(
            (outcome.unwrap_err().message, calls),
            ("busy".to_owned(), 1)
        );
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_frames(
            lines in prop::collection::vec("(data|event|id|)(: ?[aé🦀]{0,70})?(\n|\r\n|\r){1,2}", 0..20),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let stream = lines.concat().into_bytes();
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
            places.extend([0, stream.len()]);
            places.sort_unstable();
            let pieces = places.windows(2).map(|pair| &stream[pair[0]..pair[1]]);
            prop_assert_eq!(frames(pieces), frames([stream.as_slice()]));
        }

        #[test]
        fn no_bytes_make_it_panic(stream in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert_eq!(frames(stream.chunks(7)), frames([stream.as_slice()]));
        }
    }
}
