//! From what was typed to the logs that were meant.

use std::path::{Path, PathBuf};

/// The paths in order, each once, with segments replaced by the log they belong
/// to. `harn events check logs/*.jsonl` names every segment, and a segment read
/// as a log of its own would look as if everything before it were missing.
pub(super) fn named_by(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut logs: Vec<PathBuf> = Vec::new();
    for path in paths {
        let base = base_of_segment(path).filter(|base| base.is_file());
        let log = base.unwrap_or_else(|| path.clone());
        if !logs.contains(&log) {
            logs.push(log);
        }
    }
    logs
}

/// `event_log-x.jsonl` for `event_log-x-000001.jsonl`.
fn base_of_segment(path: &Path) -> Option<PathBuf> {
    let (base, digits) = path.file_stem()?.to_str()?.rsplit_once('-')?;
    let is_number = digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let extension = path.extension()?.to_str()?;
    is_number.then(|| path.with_file_name(format!("{base}.{extension}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_leads_to_its_base() {
        for (path, base) in [
            (
                "logs/event_log-x-000001.jsonl",
                Some("logs/event_log-x.jsonl"),
            ),
            ("event_log-x-1000000.jsonl", Some("event_log-x.jsonl")),
            ("event_log-x.jsonl", None),
            ("event_log-x-12.jsonl", None),
            ("event_log-x%2D000001.jsonl", None),
            ("logs", None),
        ] {
            let found = base_of_segment(Path::new(path));
            assert_eq!(found.as_deref(), base.map(Path::new), "{path}");
        }
    }
}
