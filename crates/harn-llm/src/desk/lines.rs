//! Files that lines are added to.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use super::TakeLine;

/// The file in a folder in which every call is written down.
const TRANSCRIPT_FILE: &str = "llm_transcript.jsonl";

/// Opens the file of a folder in which every call is written down.
///
/// # Errors
/// The folder or the file cannot be made.
pub fn transcript_in(folder: &Path) -> Result<TakeLine, String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    lines_to(&folder.join(TRANSCRIPT_FILE))
}

/// Appends lines to a file, each with one write.
///
/// # Errors
/// It cannot be opened.
pub fn lines_to(path: &Path) -> Result<TakeLine, String> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let mut file = file.map_err(|error| format!("{}: {error}", path.display()))?;
    let name = path.display().to_string();
    Ok(Box::new(move |line: &str| {
        if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
            // A lost recording ends no run.
            tracing::warn!("{name}: {error}");
        }
    }))
}
