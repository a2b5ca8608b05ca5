//! Reads segments without the help of the log, to judge what it says about them.

/// What comes before the checksum of a line.
const SUM_START: &[u8] = b",\"crc\":\"";
/// From there to the end of the line.
const SUM_BYTES: usize = SUM_START.len() + 10;

/// Whether a line, given without its line break, is a record that nobody changed.
pub(super) fn is_record(line: &[u8]) -> bool {
    let Some(split) = line.len().checked_sub(SUM_BYTES) else {
        return false;
    };
    let (summed, end) = line.split_at(split);
    let sum = format!("{:08x}\"}}", crc32fast::hash(summed));
    end.strip_prefix(SUM_START) == Some(sum.as_bytes())
}

/// How many whole records there are in a piece of a segment.
pub(super) fn count_records(piece: &[u8]) -> u64 {
    let mut lines: Vec<&[u8]> = piece.split(|byte| *byte == b'\n').collect();
    lines.pop(); // What has no line break is no line.
    lines.iter().filter(|line| is_record(line)).count() as u64
}
