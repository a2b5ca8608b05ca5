//! The mark of a topic: what its writers leave for each other in the lock file.
//!
//! ```text
//! change 00000000000000000042 writer 000000005f2c1a7b79d3e410 shape 00000000000000000003
//! synced 00000000000000000001 up to 00000000000000031337 crc 9be1c0de
//! ```
//!
//! *Change* and *writer* say who wrote last, so that whoever watches can tell the
//! writes of others from its own. *Shape* counts up when segments come or go, so that
//! writers know that what they remember of them is old. *Synced* says how much of
//! which segment would survive a power cut. It is what tells a torn end from damage:
//! what comes after it nobody was ever promised, and what comes before it was.
//!
//! Only the first mark of a segment is synced itself. That is safe because each line is
//! written after what it speaks of: a mark that is old promises less, never more.

use std::io;

use crate::name::EventId;

use super::disk::{DiskFile, read_full_at, write_all_at};
use super::line::checksum;

const CHANGE_BYTES: usize = 87;
const SYNCED_BYTES: usize = 68;

/// Who wrote last, and how often segments have come or gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) number: u64,
    pub(super) writer: u64,
    pub(super) shape: u64,
}

impl Change {
    /// What is there. Anything unreadable is as good as nothing.
    pub(super) fn read(file: &dyn DiskFile) -> io::Result<Self> {
        let mut text = [0; CHANGE_BYTES];
        let read = read_full_at(file, &mut text, 0)?;
        Ok(Self::parse(&text[..read]).unwrap_or_default())
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let mut words = std::str::from_utf8(text).ok()?.split_ascii_whitespace();
        let mut number = |name| match words.next() {
            Some(word) if word == name => words.next()?.parse().ok(),
            _ => None,
        };
        Some(Self {
            number: number("change")?,
            writer: number("writer")?,
            shape: number("shape")?,
        })
    }

    pub(super) fn write(&self, file: &dyn DiskFile) -> io::Result<()> {
        let Self {
            number,
            writer,
            shape,
        } = self;
        let text = format!("change {number:020} writer {writer:024} shape {shape:020}\n");
        write_all_at(file, text.as_bytes(), 0)
    }
}

/// How much of which segment would survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Synced {
    /// The first id of the segment. The segments before it are safe.
    pub(super) segment: EventId,
    pub(super) up_to: u64,
}

impl Synced {
    /// What is there; `None` if it cannot be read.
    pub(super) fn read(file: &dyn DiskFile) -> io::Result<Option<Self>> {
        let mut text = [0; SYNCED_BYTES];
        let read = read_full_at(file, &mut text, CHANGE_BYTES as u64)?;
        Ok(Self::parse(&text[..read]))
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let (summed, sum) = text.split_at_checked(SYNCED_BYTES - 9)?;
        if sum.strip_suffix(b"\n")? != checksum(summed) {
            return None;
        }
        let mut words = std::str::from_utf8(summed).ok()?.split_ascii_whitespace();
        let segment = words.nth(1)?.parse().ok()?;
        let up_to = words.nth(2)?.parse().ok()?;
        Some(Self { segment, up_to })
    }

    pub(super) fn write(&self, file: &dyn DiskFile) -> io::Result<()> {
        let Self { segment, up_to } = self;
        let mut text = format!("synced {segment:020} up to {up_to:020} crc ").into_bytes();
        let sum = checksum(&text);
        text.extend(sum);
        text.push(b'\n');
        write_all_at(file, &text, CHANGE_BYTES as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::disk::{Disk, OpenFile, RealDisk};
    use super::*;

    #[test]
    fn a_mark_reads_back_and_damage_makes_it_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = RealDisk
            .open(&folder.path().join("t.lock"), OpenFile::Write)
            .unwrap();
        assert_eq!(Change::read(&*file).unwrap(), Change::default());
        assert_eq!(Synced::read(&*file).unwrap(), None);
        let change = Change {
            number: u64::MAX,
            writer: u64::MAX,
            shape: 3,
        };
        let synced = Synced {
            segment: 1,
            up_to: u64::MAX,
        };
        change.write(&*file).unwrap();
        synced.write(&*file).unwrap();
        assert_eq!(Change::read(&*file).unwrap(), change);
        assert_eq!(Synced::read(&*file).unwrap(), Some(synced));
        assert_eq!(file.len().unwrap(), (CHANGE_BYTES + SYNCED_BYTES) as u64);

        for at in CHANGE_BYTES..CHANGE_BYTES + SYNCED_BYTES {
            let mut byte = [0];
            file.read_at(&mut byte, at as u64).unwrap();
            file.write_at(&[byte[0] ^ 4], at as u64).unwrap();
            assert_eq!(Synced::read(&*file).unwrap(), None, "byte {at}");
            file.write_at(&byte, at as u64).unwrap();
        }
    }
}
