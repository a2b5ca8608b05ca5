//! Where an event log is. Looking for one makes nothing.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use harn_log::{EventLogBackend, EventLogConfig, NatsConfig};

use super::super::failure::Failure;
use crate::commands::project::{base_of, manifest_here};
use crate::environment;

/// What every SQLite file begins with.
const SQLITE_START: &[u8; 16] = b"SQLite format 3\0";

/// Where an event log is.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In this SQLite file.
    Sqlite(PathBuf),
    /// In files below this folder.
    Files(PathBuf),
    /// On a NATS server.
    Nats(Box<NatsConfig>),
}

impl Place {
    /// The log at a path, of whichever backend it is.
    pub(super) fn named(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        let kind = std::fs::metadata(path)
            .map_err(|error| Failure::Told(format!("there is no event log at {shown}: {error}")))?;
        if kind.is_dir() {
            return match has_topics(path) {
                true => Ok(Self::Files(path.to_owned())),
                false => Err(Failure::Told(format!(
                    "{shown} is no event log: a folder that is one has a folder `topics`; \
                     for the log of a project, use --base"
                ))),
            };
        }
        match is_sqlite(path) {
            Ok(true) => Ok(Self::Sqlite(path.to_owned())),
            Ok(false) => Err(Failure::Told(not_a_log(path))),
            Err(error) => Err(Failure::Told(format!("cannot read {shown}: {error}"))),
        }
    }

    /// The log that is configured for a folder, or for the current one.
    pub(super) fn configured(base: Option<&Path>) -> Result<Self, Failure> {
        let base = match base {
            Some(base) => base.to_owned(),
            None => base_of(manifest_here().as_deref()),
        };
        let config = EventLogConfig::for_base_dir_in(&base, &environment::variable)?;
        let (files, sqlite) = (config.file_dir, config.sqlite_path);
        match config.backend {
            EventLogBackend::Sqlite if sqlite.is_file() => Ok(Self::Sqlite(sqlite)),
            EventLogBackend::File if has_topics(&files) => Ok(Self::Files(files)),
            EventLogBackend::Sqlite => {
                let other = has_topics(&files).then_some(&*files);
                Err(nothing_at("the SQLite file", &sqlite, other))
            }
            EventLogBackend::File => {
                let other = sqlite.is_file().then_some(&*sqlite);
                Err(nothing_at("the folder", &files, other))
            }
            EventLogBackend::Nats => Ok(Self::Nats(Box::new(config.nats))),
            EventLogBackend::Memory => Err(Failure::Told(
                "the event log is configured to be in memory, where only the program that \
                 writes it can read it"
                    .to_owned(),
            )),
            EventLogBackend::Postgres => Err(Failure::Told(
                "the event log is configured to be in Postgres, which only its host can open"
                    .to_owned(),
            )),
        }
    }
}

fn nothing_at(what: &str, path: &Path, other: Option<&Path>) -> Failure {
    let mut text = format!(
        "there is no event log here; looked for {what} {}",
        path.display()
    );
    if let Some(other) = other {
        text += &format!(
            ". There is one of another backend: --log {}",
            other.display()
        );
    }
    Failure::Told(text)
}

fn not_a_log(path: &Path) -> String {
    let shown = path.display();
    let root = path.parent().filter(|folder| folder.ends_with("topics"));
    match root.and_then(Path::parent) {
        Some(root) if has_topics(root) => {
            let root = match root.as_os_str().is_empty() {
                true => Path::new("."),
                false => root,
            };
            format!(
                "{shown} is one topic of a log; use --log {}",
                root.display()
            )
        }
        _ => format!(
            "{shown} is no event log: neither a SQLite file nor a folder of the file backend. \
             `harn events check` reads JSONL logs"
        ),
    }
}

fn has_topics(root: &Path) -> bool {
    root.join("topics").is_dir()
}

fn is_sqlite(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    let bytes = SQLITE_START.len() as u64;
    File::open(path)?.take(bytes).read_to_end(&mut start)?;
    Ok(start == SQLITE_START)
}
