//! How much a tool may read, write, show and take.

use std::time::Duration;

/// How much a tool may read, write, show and take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Lines that `read` shows at once.
    pub read_lines_max: usize,
    /// Bytes that `read` shows at once. The lines after them are left for the next call.
    pub read_bytes_max: usize,
    /// Bytes of one line that `read` and `grep` show. The rest of the line is cut.
    pub line_bytes_max: usize,
    /// Bytes of a file that `write` makes or `edit` changes.
    pub file_bytes_max: usize,
    /// Entries that `list` shows, and paths that `glob` shows.
    pub entries_max: usize,
    /// Levels of folders that `list` shows.
    pub depth_max: usize,
    /// Lines that `grep` finds.
    pub matches_max: usize,
    /// Bytes of a file that `grep` looks into. A larger file is passed over.
    pub grep_bytes_max: u64,
    /// How long a command may take that asks for no time.
    pub run_timeout: Duration,
    /// How long a command may take that asks for more.
    pub run_timeout_max: Duration,
    /// Bytes of output that `run` shows: the first half and the last half of them.
    pub run_output_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            read_lines_max: 2000,
            read_bytes_max: 256 * 1024,
            line_bytes_max: 2000,
            file_bytes_max: 16 * 1024 * 1024,
            entries_max: 1000,
            depth_max: 10,
            matches_max: 1000,
            grep_bytes_max: 8 * 1024 * 1024,
            run_timeout: Duration::from_secs(120),
            run_timeout_max: Duration::from_secs(600),
            run_output_bytes_max: 64 * 1024,
        }
    }
}
