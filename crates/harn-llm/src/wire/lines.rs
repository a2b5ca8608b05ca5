//! Cuts a stream of bytes into lines of JSON.
//!
//! Blank lines are skipped. Servers leave out the last newline, so what remains at the end is
//! a frame too, but only if it is whole JSON: a line that was cut off is none.

use serde::de::IgnoredAny;

use super::Frame;
use super::sse::{EVENT_BYTES_MAX, text, too_large};
use crate::Error;

/// Takes bytes as they come and gives out lines.
#[derive(Debug)]
pub struct LineDecoder {
    /// The beginning of a line whose end has not come yet.
    partial: Vec<u8>,
    bytes_seen: u64,
    line_bytes_max: usize,
}

impl Default for LineDecoder {
    fn default() -> Self {
        Self::with_line_bytes_max(EVENT_BYTES_MAX)
    }
}

impl LineDecoder {
    /// One that refuses lines longer than that.
    pub fn with_line_bytes_max(line_bytes_max: usize) -> Self {
        Self {
            partial: Vec::new(),
            bytes_seen: 0,
            line_bytes_max,
        }
    }

    /// How many bytes came so far. Blank lines count: they show that somebody is there.
    pub fn bytes_seen(&self) -> u64 {
        self.bytes_seen
    }

    /// Takes the next bytes and calls `each` for every line they complete.
    ///
    /// # Errors
    /// A line is longer than allowed, or `each` failed. The stream is over then.
    pub fn push(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(Frame<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.bytes_seen += bytes.len() as u64;
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            if self.partial.len() + piece.len() > self.line_bytes_max {
                return Err(too_large("a line of the stream", self.line_bytes_max));
            }
            if !piece.ends_with(b"\n") {
                self.partial.extend_from_slice(piece);
            } else if self.partial.is_empty() {
                give(piece, &mut each)?;
            } else {
                let mut line = std::mem::take(&mut self.partial);
                line.extend_from_slice(piece);
                give(&line, &mut each)?;
                line.clear();
                self.partial = line;
            }
        }
        Ok(())
    }

    /// The stream is at its end: gives out the last line if it is whole.
    ///
    /// # Errors
    /// `each` failed.
    pub fn finish(
        &mut self,
        mut each: impl FnMut(Frame<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let line = std::mem::take(&mut self.partial);
        if serde_json::from_slice::<IgnoredAny>(&line).is_err() {
            return Ok(());
        }
        give(&line, &mut each)
    }
}

fn give(line: &[u8], each: &mut impl FnMut(Frame<'_>) -> Result<(), Error>) -> Result<(), Error> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(());
    }
    each(Frame {
        event: "",
        data: &text(line),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frames<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut decoder = LineDecoder::default();
        let mut frames = Vec::new();
        let mut keep = |frame: Frame<'_>| {
            frames.push(frame.data.to_owned());
            Ok(())
        };
        for chunk in chunks {
            decoder.push(chunk, &mut keep).unwrap();
        }
        decoder.finish(&mut keep).unwrap();
        frames
    }

    #[test]
    fn lines_become_frames() {
        let rows: [(&str, &[&str]); 6] = [
            ("{\"a\":1}\n{\"b\":2}\n", &["{\"a\":1}", "{\"b\":2}"]),
            ("{}\r\n\r\n\n [] \n", &["{}", "[]"]),
            ("{\"a\":1}\n{\"b\":2}", &["{\"a\":1}", "{\"b\":2}"]),
            ("{\"a\":1}\n{\"b\":", &["{\"a\":1}"]),
            ("not json\n", &["not json"]),
            ("", &[]),
        ];
        for (stream, expected) in rows {
            assert_eq!(frames([stream.as_bytes()]), expected);
            assert_eq!(frames(stream.as_bytes().chunks(1)), expected);
        }
    }

    #[test]
    fn a_line_without_end_is_given_up() {
        let mut decoder = LineDecoder::with_line_bytes_max(4);
        decoder.push(b"[1,", |_| Ok(())).unwrap();
        let error = decoder.push(b"2]", |_| Ok(())).unwrap_err();
        assert_eq!(error.message, "a line of the stream is larger than 4 bytes");
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_lines(
            stream in "([{}é1]{0,9}\r?\n?){0,20}",
            size in 1..9_usize,
        ) {
            let stream = stream.as_bytes();
            prop_assert_eq!(frames(stream.chunks(size)), frames([stream]));
        }
    }
}
