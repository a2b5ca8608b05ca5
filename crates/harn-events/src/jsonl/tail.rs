//! The end of a log file.
//!
//! Opening a log must not cost more the longer it is, so the file is read from
//! its end, block by block, until a complete record turns up.

use std::io::{self, SeekFrom};

use super::storage::ReadSeek;
use crate::record::StoredRecord;

const BLOCK_BYTES: u64 = 64 * 1024;

/// What the end of a file says.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// Bytes up to and including the last newline.
    pub(super) complete_bytes: u64,
    /// Bytes behind it: a record that a crash has torn.
    pub(super) torn_bytes: u64,
    /// The last record that can be read.
    pub(super) last: Option<StoredRecord>,
}

/// Reads the end of a file.
pub(super) fn read_tail(file: &mut dyn ReadSeek) -> io::Result<Tail> {
    let len = file.seek(SeekFrom::End(0))?;
    let mut blocks = BackwardBlocks { file, start: len };
    let mut text = Vec::new();
    let mut tail = Tail::default();
    let mut is_first_newline = true;
    // `text` holds the file from `blocks.start` to the newline found last.
    loop {
        while let Some(at) = text.iter().rposition(|&byte| byte == b'\n') {
            let line = text.split_off(at + 1);
            text.pop();
            if is_first_newline {
                tail.torn_bytes = line.len() as u64;
                tail.complete_bytes = len - tail.torn_bytes;
                is_first_newline = false;
            } else if let Some(record) = decode_line(&line) {
                tail.last = Some(record);
                return Ok(tail);
            }
        }
        if blocks.start == 0 {
            break;
        }
        blocks.prepend_to(&mut text)?;
    }
    if is_first_newline {
        tail.torn_bytes = len;
    } else {
        tail.last = decode_line(&text);
    }
    Ok(tail)
}

fn decode_line(line: &[u8]) -> Option<StoredRecord> {
    StoredRecord::decode(std::str::from_utf8(line).ok()?).ok()
}

struct BackwardBlocks<'a> {
    file: &'a mut dyn ReadSeek,
    /// Everything from here on has been read.
    start: u64,
}

impl BackwardBlocks<'_> {
    /// Puts the block before `start` in front of `text`. The block grows with the
    /// text, so that a very long line is not copied once per block.
    fn prepend_to(&mut self, text: &mut Vec<u8>) -> io::Result<()> {
        let size = BLOCK_BYTES.max(text.len() as u64).min(self.start);
        self.start -= size;
        self.file.seek(SeekFrom::Start(self.start))?;
        let mut block = vec![0; size as usize];
        self.file.read_exact(&mut block)?;
        block.append(text);
        *text = block;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn line(index: u64, padding: usize) -> String {
        let content = "x".repeat(padding);
        format!(
            "{{\"index\":{index},\"emitted_at_ms\":1,\"frame_depth\":null,\"type\":\
             \"agent_message_chunk\",\"session_id\":\"s\",\"content\":\"{content}\"}}\n"
        )
    }

    #[track_caller]
    fn check(text: &str, complete: usize, torn: usize, last: Option<u64>) {
        let tail = read_tail(&mut Cursor::new(text.as_bytes().to_vec())).unwrap();
        assert_eq!(tail.complete_bytes, complete as u64, "complete");
        assert_eq!(tail.torn_bytes, torn as u64, "torn");
        assert_eq!(tail.last.map(|record| record.index), last, "last index");
    }

    #[test]
    fn the_last_record_is_found() {
        let text = line(0, 10) + &line(1, 10);
        check(&text, text.len(), 0, Some(1));
    }

    #[test]
    fn an_empty_file_has_neither_record_nor_tear() {
        check("", 0, 0, None);
    }

    #[test]
    fn a_torn_line_is_measured() {
        let whole = line(0, 10);
        check(&(whole.clone() + "{\"index\":1,"), whole.len(), 11, Some(0));
        check("{\"index\":0,", 0, 11, None);
        check(&(whole.clone() + "\0\0\0"), whole.len(), 3, Some(0));
    }

    #[test]
    fn a_damaged_line_is_passed_over() {
        let text = line(7, 10) + "not json\n\n";
        check(&text, text.len(), 0, Some(7));
    }

    #[test]
    fn lines_longer_than_a_block_are_read() {
        let text = line(0, 10) + &line(1, 3 * BLOCK_BYTES as usize);
        check(&text, text.len(), 0, Some(1));
        let torn = &text[..text.len() - 1];
        check(
            torn,
            line(0, 10).len(),
            text.len() - line(0, 10).len() - 1,
            Some(0),
        );
    }
}
