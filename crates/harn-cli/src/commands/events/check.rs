//! `harn events check`: whether logs are whole.
//!
//! ```text
//! paths ──► logs ──► load_file, load_directory ──► Findings ──► text or JSON
//! ```
//!
//! What is a problem is decided in `findings` and nowhere else, so that the
//! text, the JSON and the exit code cannot disagree.

mod findings;
mod logs;
mod text;

use std::io;
use std::path::PathBuf;

use clap::Args;

use super::super::{Form, Outcome};
use crate::arguments::after_help;
use crate::output::{Output, Untrusted};
use findings::{Findings, PathFindings};

const EXAMPLES: &str = "  \
  harn events check logs/                            All logs in a folder
  harn events check logs/event_log-demo.jsonl        One log and its segments
  harn events check logs/ --json | jq '.paths[].sessions[].missing'";

/// Check that event logs are whole
///
/// For each session: how many records there are, how they were read, how its
/// iterations are counted, whether the run is complete, and which indexes are
/// missing or there twice. Then the lines that are not records.
///
/// Missing and duplicate indexes, damaged lines and paths that cannot be read are
/// problems. A torn last line, records of other versions and a run without an
/// orderly ending are mentioned; they are no problems.
///
/// With --json the answer is {"ok", "paths": [PATH, …]}. PATH has path, error,
/// sessions, homeless_records and damage. Each session has session_id, records,
/// is_dense, is_complete, missing (pairs of first and last index), duplicates,
/// opaque, adapted, nulls_as_zero, iteration_base and inferred_ends (iteration,
/// position). Each damage has path, line, offset, reason and is_torn_tail.
#[derive(Debug, Args)]
#[command(after_help = after_help(EXAMPLES))]
pub(super) struct Arguments {
    /// A log's base file, or a folder of logs
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, form: Form, output: &mut Output) -> io::Result<Outcome> {
    let paths = logs::named_by(&arguments.paths);
    let findings = Findings::of(paths.iter().map(|path| PathFindings::of(path)).collect());
    match form {
        Form::Text => text::write(&findings, output)?,
        Form::Json => output.json(&findings)?,
    }
    for path in &findings.paths {
        if let Some(error) = &path.error {
            output.error(format_args!("{}", Untrusted(error)));
        }
    }
    if form == Form::Text {
        output.note(format_args!("{}", text::summary(&findings)));
    }
    Ok(match findings.ok {
        true => Outcome::Done,
        false => Outcome::Problems,
    })
}
