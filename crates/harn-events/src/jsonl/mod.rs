//! Events in files: one session, one folder, lines a person can read with `jq`.
//!
//! ```text
//! event_log-s1.jsonl            oldest      one JSON object per line, ended by \n
//! event_log-s1-000001.jsonl
//! event_log-s1-000002.jsonl     newest      the only one that is written to
//! ```
//!
//! A crash can tear the last line and nothing else, because every record is one
//! `write` to a file that is only appended to. Opening cuts a torn line off and
//! counts it; reading never trusts a line without its newline.
//!
//! | file       | what it holds                                      |
//! |------------|----------------------------------------------------|
//! | `naming`   | session id ⇄ file name, segments                   |
//! | `storage`  | the few file operations, as a port that tests fail |
//! | `tail`     | the end of a file: torn line, last record          |
//! | `sink`     | the writer                                         |
//! | `load`     | the reader                                         |
//! | `iterations` | what a log says about its runs and iterations    |

mod iterations;
mod load;
mod naming;
mod sink;
mod storage;
mod tail;

pub use iterations::{InferredEnd, IterationBase, RunStart};
pub use load::{Damage, LoadError, LoadReport, LoadedLog, SessionLog, load_directory, load_file};
pub use naming::{session_file_name, session_id_of_file_name};
pub use sink::{JsonlDirectory, JsonlEventSink, JsonlOptions};
pub use storage::{FileSystem, ReadSeek, SegmentFile, Storage};
