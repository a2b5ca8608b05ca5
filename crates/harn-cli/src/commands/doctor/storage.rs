//! What is looked at about folders that programs write to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use harn_log::{EventLogBackend, EventLogConfig};
use rustix::fs::{Access, access};

use super::Finding;

/// The variable that says where calls to models are written down.
const TRANSCRIPTS: &str = "HARN_LLM_TRANSCRIPT_DIR";

pub(super) fn findings(environment: &BTreeMap<String, String>) -> Vec<Finding> {
    let mut findings = vec![event_log(environment)];
    let transcripts = environment.get(TRANSCRIPTS);
    let transcripts = transcripts.filter(|folder| !folder.trim().is_empty());
    findings.extend(transcripts.map(|folder| {
        folder_finding(
            "transcripts",
            Path::new(folder),
            &format!("set {TRANSCRIPTS} to a folder that can be written"),
        )
    }));
    findings
}

fn event_log(environment: &BTreeMap<String, String>) -> Finding {
    const AREA: &str = "event log";
    let variable = |name: &str| environment.get(name).cloned();
    let config = match EventLogConfig::for_base_dir_in(Path::new(""), &variable) {
        Ok(config) => config,
        Err(error) => {
            return Finding::broken(
                AREA,
                error.to_string(),
                "correct that setting in harn.toml or the environment",
            );
        }
    };
    let next = "set HARN_STATE_DIR to a folder that can be written";
    match config.backend {
        EventLogBackend::File => folder_finding(AREA, &config.file_dir, next),
        EventLogBackend::Sqlite => {
            let folder = config.sqlite_path.parent().unwrap_or(Path::new(""));
            folder_finding(AREA, folder, next)
        }
        EventLogBackend::Memory | EventLogBackend::Nats | EventLogBackend::Postgres => {
            Finding::ok(AREA, "is not kept in files")
        }
    }
}

/// Whether a folder can be written, or made.
fn folder_finding(area: &'static str, folder: &Path, next: &str) -> Finding {
    let shown = folder.display();
    let there = nearest(folder);
    let found = there.display();
    if !there.is_dir() {
        return Finding::broken(area, format!("{found} is no folder"), next);
    }
    match access(&there, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => Finding::ok(area, format!("{shown} can be written")),
        Err(error) => Finding::broken(area, format!("{found} cannot be written: {error}"), next),
    }
}

/// The folder, or what is there of the way to it.
fn nearest(folder: &Path) -> PathBuf {
    let here = |path: &Path| match path.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => path.to_owned(),
    };
    let mut way = folder.ancestors().map(here);
    way.find(|path| path.exists()).unwrap_or_else(|| ".".into())
}
