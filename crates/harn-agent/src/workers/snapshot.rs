//! The file of a worker.

use std::path::{Path, PathBuf};

use harn_events::Completeness;
use harn_llm::desk::Thrown;
use serde_json::Value;

use super::worker::Worker;
use crate::fence::refused;
use crate::real_path::read_text;
use crate::runtime::Runtime;

/// Writes the file of a worker, if it is to have one. A reader finds the old one or the new
/// one: it is replaced as a whole.
///
/// # Errors
/// Why it cannot be written.
pub(crate) fn keep(runtime: &Runtime, worker: &Worker) -> Result<(), String> {
    if !worker.carry.persist_state {
        return Ok(());
    }
    let mut snapshot = worker.snapshot();
    let policy = runtime.bus.redaction_policy();
    policy.redact_value(&mut snapshot, Completeness::Whole);
    write(Path::new(&worker.snapshot_path), &snapshot)
        .map_err(|error| format!("worker snapshot write error: {error}"))
}

fn write(place: &Path, snapshot: &Value) -> std::io::Result<()> {
    if let Some(folder) = place.parent() {
        harn_log::create_private_folder(folder)?;
    }
    let text = serde_json::to_string_pretty(snapshot)?;
    let mut temporary = place.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    let mut options = harn_log::private_options();
    let mut file = options
        .write(true)
        .create(true)
        .truncate(true)
        .open(&temporary)?;
    std::io::Write::write_all(&mut file, text.as_bytes())?;
    std::fs::rename(&temporary, place)
}

/// Reads the file of a worker, by its id or by a path.
///
/// # Errors
/// It is not there, may not be read, or is none.
pub(crate) fn read(runtime: &Runtime, named: &str) -> Result<Value, Thrown> {
    let place = place(runtime, named);
    let unreadable = |error: &dyn std::fmt::Display| {
        Thrown::Runtime(format!("worker snapshot read error: {error}"))
    };
    let text = read_text(&place).map_err(|error| unreadable(&error));
    let text = match is_own(runtime, &place) {
        true => text?,
        false => {
            runtime.fence.read(&place).map_err(refused)?;
            text?
        }
    };
    let parsed: Result<Value, _> = serde_json::from_str(&text);
    let failed = |error: String| Thrown::Runtime(format!("worker snapshot parse error: {error}"));
    match parsed {
        Ok(snapshot) if snapshot["_type"] == "worker_snapshot" => Ok(snapshot),
        Ok(_) => Err(failed("it is no snapshot of a worker".to_owned())),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// The file of a worker that is started here.
pub(crate) fn path(runtime: &Runtime, id: &str) -> String {
    let file = runtime.workers.places().snapshot(id);
    let file = file.map(|file| runtime.folder.join(file));
    file.unwrap_or_default().display().to_string()
}

/// Where a worker that was read may be written. A file must not decide what is overwritten.
///
/// # Errors
/// That may not be written.
pub(crate) fn check_place(runtime: &Runtime, place: &Path) -> Result<(), Thrown> {
    match is_own(runtime, place) {
        true => Ok(()),
        false => runtime.fence.write(place).map_err(refused),
    }
}

/// The file of a worker: where its id says, or the path itself.
fn place(runtime: &Runtime, named: &str) -> PathBuf {
    let is_path = named.contains('/') || named.ends_with(".json");
    let by_id = runtime.workers.places().snapshot(named);
    let place = by_id.filter(|_| !is_path);
    let place = place.unwrap_or_else(|| PathBuf::from(named));
    runtime.folder.join(place)
}

/// Whether a file lies where workers are kept.
fn is_own(runtime: &Runtime, place: &Path) -> bool {
    let own = runtime.folder.join(&runtime.workers.places().state);
    place.parent() == Some(&*own)
}
