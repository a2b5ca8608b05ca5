//! Which log to open, and how.
//!
//! Three places say so, the later ones overriding the earlier: the defaults, the
//! table `[event_log]` of `harn.toml` in the base directory, and the environment.
//!
//! ```toml
//! [event_log]
//! backend = "sqlite"            # memory, file, sqlite, nats
//! sqlite_path = "state/events.sqlite"
//! queue_depth = 256
//!
//! [event_log.nats]
//! url = "nats://localhost:4222" # or a list of them
//! prefix = "harn.log"
//! replicas = 1
//! monitor_url = "http://localhost:8222"
//! accept_unsynced = false
//! credentials_file = "nats.creds"
//!
//! [[event_log.retention]]
//! topics = "observability.*"
//! max_age_days = 30
//! max_bytes = 1_000_000_000
//! max_count = 1_000_000
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use crate::any::AnyEventLog;
use crate::error::LogError;
use crate::file::FileEventLog;
use crate::log::{EventLogDescription, Result};
use crate::memory::MemoryEventLog;
#[cfg(feature = "nats")]
use crate::nats::{NatsConfig, NatsEventLog, NatsTable, URL_DEFAULT};
use crate::retention::{Retention, keep};
#[cfg(feature = "sqlite")]
use crate::sqlite::SqliteEventLog;

/// Records a reader takes at once, unless somebody says otherwise.
pub const DEFAULT_QUEUE_DEPTH: usize = 128;

/// Where a log is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventLogBackend {
    /// Nowhere but in memory.
    Memory,
    /// In files.
    File,
    /// In a SQLite file.
    #[default]
    Sqlite,
    /// On NATS JetStream, for more than one machine.
    Nats,
    /// In a Postgres database that the host opens.
    Postgres,
}

impl std::str::FromStr for EventLogBackend {
    type Err = LogError;

    fn from_str(name: &str) -> Result<Self> {
        match name.trim().to_ascii_lowercase().as_str() {
            "memory" => Ok(Self::Memory),
            "file" => Ok(Self::File),
            "sqlite" => Ok(Self::Sqlite),
            "nats" => Ok(Self::Nats),
            "postgres" => Ok(Self::Postgres),
            _ => Err(LogError::Config(format!(
                "unsupported event log backend '{name}'"
            ))),
        }
    }
}

/// Where a project in `base_dir` keeps its state.
pub fn state_root(base_dir: &Path, environment: &Environment<'_>) -> PathBuf {
    let given = environment("HARN_STATE_DIR").filter(|value| !value.trim().is_empty());
    base_dir.join(given.unwrap_or_else(|| ".harn".to_owned()))
}

/// Which log to open, and how.
#[derive(Clone, Debug)]
pub struct EventLogConfig {
    /// Where it is kept.
    pub backend: EventLogBackend,
    /// The folder of the file backend.
    pub file_dir: PathBuf,
    /// The file of the SQLite backend.
    pub sqlite_path: PathBuf,
    /// How to reach the NATS backend.
    #[cfg(feature = "nats")]
    pub nats: NatsConfig,
    /// How many records a reader takes at once.
    pub queue_depth: usize,
    /// What to keep of which topics.
    pub retention: Vec<Retention>,
}

impl EventLogConfig {
    /// What holds for programs that run in `base_dir`: the defaults, `harn.toml` and
    /// the environment of this process.
    ///
    /// # Errors
    /// One of them makes no sense.
    pub fn for_base_dir(base_dir: &Path) -> Result<Self> {
        Self::for_base_dir_in(base_dir, &process_environment)
    }

    /// The same in an environment of one's own.
    ///
    /// # Errors
    /// As for [`for_base_dir`](Self::for_base_dir).
    pub fn for_base_dir_in(base_dir: &Path, environment: &Environment<'_>) -> Result<Self> {
        Self::at_state_root_in(&state_root(base_dir, environment), base_dir, environment)
    }

    /// The same without `harn.toml`, where what it says is not trusted.
    ///
    /// # Errors
    /// The environment makes no sense.
    pub fn without_manifest_in(base_dir: &Path, environment: &Environment<'_>) -> Result<Self> {
        let mut config = Self::plain(&state_root(base_dir, environment));
        config.read_environment(base_dir, environment)?;
        Ok(config)
    }

    /// What holds when the state is kept in `state_root`.
    pub(crate) fn at_state_root_in(
        state_root: &Path,
        base_dir: &Path,
        environment: &Environment<'_>,
    ) -> Result<Self> {
        let mut config = Self::plain(state_root);
        config.read_manifest(base_dir)?;
        config.read_environment(base_dir, environment)?;
        Ok(config)
    }

    /// What holds where nothing is said.
    fn plain(state_root: &Path) -> Self {
        Self {
            backend: EventLogBackend::default(),
            file_dir: state_root.join("events"),
            sqlite_path: state_root.join("events.sqlite"),
            #[cfg(feature = "nats")]
            nats: NatsConfig::new(URL_DEFAULT),
            queue_depth: DEFAULT_QUEUE_DEPTH,
            retention: Vec::new(),
        }
    }

    fn read_manifest(&mut self, base_dir: &Path) -> Result<()> {
        let path = base_dir.join("harn.toml");
        // A pipe would make us wait.
        if std::fs::metadata(&path).is_ok_and(|facts| !facts.is_file()) {
            return Err(unreadable(&path, &"it is not a file"));
        }
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(unreadable(&path, &error)),
        };
        let manifest: Manifest =
            toml::from_str(&text).map_err(|error| unreadable(&path, &error))?;
        let table = manifest.event_log;
        if let Some(name) = table.backend {
            self.backend = name.parse()?;
        }
        if let Some(dir) = table.dir {
            self.file_dir = base_dir.join(dir);
        }
        if let Some(file) = table.sqlite_path {
            self.sqlite_path = base_dir.join(file);
        }
        if let Some(depth) = table.queue_depth {
            self.queue_depth = depth.max(1);
        }
        #[cfg(feature = "nats")]
        if let Some(nats) = table.nats {
            nats.apply(&mut self.nats, base_dir)?;
        }
        self.retention = table.retention;
        Ok(())
    }

    fn read_environment(&mut self, base_dir: &Path, environment: &Environment<'_>) -> Result<()> {
        let value = |name| environment(name).filter(|value| !value.trim().is_empty());
        if let Some(name) = value("HARN_EVENT_LOG_BACKEND") {
            self.backend = name.parse()?;
        }
        if let Some(dir) = value("HARN_EVENT_LOG_DIR") {
            self.file_dir = base_dir.join(dir);
        }
        if let Some(file) = value("HARN_EVENT_LOG_SQLITE_PATH") {
            self.sqlite_path = base_dir.join(file);
        }
        if let Some(depth) = value("HARN_EVENT_LOG_QUEUE_DEPTH") {
            let depth = depth.trim().parse::<usize>();
            self.queue_depth = depth.map_or(DEFAULT_QUEUE_DEPTH, |depth| depth.max(1));
        }
        #[cfg(feature = "nats")]
        {
            self.nats.read_environment(environment)?;
            self.nats.queue_depth = self.queue_depth;
        }
        Ok(())
    }

    /// What the log would be, without opening it.
    pub fn describe(&self) -> EventLogDescription {
        let (backend, path) = match self.backend {
            EventLogBackend::Memory => ("memory", None),
            EventLogBackend::File => ("file", Some(&self.file_dir)),
            EventLogBackend::Sqlite => ("sqlite", Some(&self.sqlite_path)),
            EventLogBackend::Nats => ("nats", None),
            EventLogBackend::Postgres => ("postgres", None),
        };
        let location = match self.backend {
            #[cfg(feature = "nats")]
            EventLogBackend::Nats => Some(self.nats.location()),
            _ => path.map(|path| path.display().to_string()),
        };
        EventLogDescription {
            backend,
            location,
            size_bytes: path.and_then(|path| size_of(path).ok()),
            queue_depth: self.queue_depth,
        }
    }
}

/// Opens the log that is configured.
///
/// # Errors
/// It cannot be opened, or not by us.
pub fn open_event_log(config: &EventLogConfig) -> Result<Arc<AnyEventLog>> {
    let depth = config.queue_depth;
    let log = match config.backend {
        EventLogBackend::Memory => AnyEventLog::Memory(MemoryEventLog::new(depth)),
        EventLogBackend::File => AnyEventLog::File(FileEventLog::open(&config.file_dir, depth)?),
        #[cfg(feature = "sqlite")]
        EventLogBackend::Sqlite => {
            AnyEventLog::Sqlite(SqliteEventLog::open(&config.sqlite_path, depth)?)
        }
        #[cfg(not(feature = "sqlite"))]
        EventLogBackend::Sqlite => return Err(left_out("sqlite")),
        #[cfg(feature = "nats")]
        EventLogBackend::Nats => AnyEventLog::Nats(NatsEventLog::open(config.nats.clone())?),
        #[cfg(not(feature = "nats"))]
        EventLogBackend::Nats => return Err(left_out("nats")),
        EventLogBackend::Postgres => {
            return Err(LogError::Config(
                "postgres event logs are host-provided; the built-in event log factory supports \
                 memory, file, and sqlite"
                    .to_owned(),
            ));
        }
    };
    let log = Arc::new(log);
    keep(&log, &config.retention)?;
    Ok(log)
}

/// The error when a backend was not built.
#[cfg(not(all(feature = "sqlite", feature = "nats")))]
fn left_out(backend: &str) -> LogError {
    LogError::Config(format!(
        "this program was built without the {backend} event log"
    ))
}

/// Looks up a variable.
pub type Environment<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// The environment of this process. What is not Unicode cannot be meant for us.
pub(crate) fn process_environment(name: &str) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the public functions of this crate are defined to read the environment"
    )]
    std::env::var(name).ok()
}

#[derive(Deserialize, Default)]
struct Manifest {
    #[serde(default)]
    event_log: Table,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Table {
    backend: Option<String>,
    dir: Option<PathBuf>,
    sqlite_path: Option<PathBuf>,
    queue_depth: Option<usize>,
    #[cfg(feature = "nats")]
    nats: Option<NatsTable>,
    /// For who shares the manifest and can open it.
    #[cfg(not(feature = "nats"))]
    #[serde(rename = "nats")]
    _nats: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    retention: Vec<Retention>,
}

pub(crate) fn unreadable(path: &Path, problem: &dyn std::fmt::Display) -> LogError {
    LogError::Config(format!("{}: {problem}", path.display()))
}

/// What a file or everything in a folder comes to.
fn size_of(path: &Path) -> std::io::Result<u64> {
    let metadata = std::fs::symlink_metadata(path)?;
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    let mut size = 0;
    for entry in std::fs::read_dir(path)? {
        size += size_of(&entry?.path())?;
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(variables: &[(&str, &str)]) -> Result<EventLogConfig> {
        config_in(Path::new("/base"), variables)
    }

    fn config_in(base_dir: &Path, variables: &[(&str, &str)]) -> Result<EventLogConfig> {
        EventLogConfig::for_base_dir_in(base_dir, &|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn by_default_it_is_sqlite_below_the_state_root() {
        let config = config(&[]).unwrap();
        assert_eq!(config.backend, EventLogBackend::Sqlite);
        assert_eq!(config.file_dir, Path::new("/base/.harn/events"));
        assert_eq!(config.sqlite_path, Path::new("/base/.harn/events.sqlite"));
        assert_eq!(config.queue_depth, 128);
    }

    #[test]
    fn the_state_root_can_be_elsewhere() {
        for (state_dir, expected) in [("/s", "/s/events.sqlite"), ("s", "/base/s/events.sqlite")] {
            let config = config(&[("HARN_STATE_DIR", state_dir)]).unwrap();
            assert_eq!(config.sqlite_path, Path::new(expected));
        }
    }

    #[test]
    fn backends_are_trimmed_and_in_any_case() {
        for (name, expected) in [
            (" Memory ", EventLogBackend::Memory),
            ("FILE", EventLogBackend::File),
            ("sqlite\n", EventLogBackend::Sqlite),
            ("postgres", EventLogBackend::Postgres),
            ("Nats", EventLogBackend::Nats),
        ] {
            let config = config(&[("HARN_EVENT_LOG_BACKEND", name)]).unwrap();
            assert_eq!(config.backend, expected);
        }
        let error = config(&[("HARN_EVENT_LOG_BACKEND", "redis")]).unwrap_err();
        assert_eq!(error.to_string(), "unsupported event log backend 'redis'");
    }

    #[test]
    fn paths_are_relative_to_the_base_directory_unless_absolute() {
        let config = config(&[
            ("HARN_EVENT_LOG_DIR", "/elsewhere"),
            ("HARN_EVENT_LOG_SQLITE_PATH", "db/e.sqlite"),
        ])
        .unwrap();
        assert_eq!(config.file_dir, Path::new("/elsewhere"));
        assert_eq!(config.sqlite_path, Path::new("/base/db/e.sqlite"));
    }

    #[test]
    fn a_queue_holds_at_least_one_and_nonsense_is_the_default() {
        for (text, depth) in [("7", 7), ("0", 1), ("many", 128), ("-1", 128), (" 9 ", 9)] {
            let config = config(&[("HARN_EVENT_LOG_QUEUE_DEPTH", text)]).unwrap();
            assert_eq!(config.queue_depth, depth, "{text}");
        }
    }

    #[test]
    fn the_manifest_comes_before_the_environment() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = r#"
            [package]
            name = "unknown to us"

            [event_log]
            backend = "file"
            dir = "log"
            queue_depth = 9

            [[event_log.retention]]
            topics = "observability.*"
            max_count = 3
        "#;
        std::fs::write(folder.path().join("harn.toml"), manifest).unwrap();
        let config = config_in(folder.path(), &[("HARN_EVENT_LOG_QUEUE_DEPTH", "5")]).unwrap();
        assert_eq!(config.backend, EventLogBackend::File);
        assert_eq!(config.file_dir, folder.path().join("log"));
        assert_eq!(config.queue_depth, 5);
        assert_eq!(config.retention[0].max_count, Some(3));
    }

    #[test]
    fn a_wrong_manifest_says_where() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("harn.toml");
        for (manifest, problem) in [
            ("[event_log]\nbackand = \"file\"", "backand"),
            ("[event_log]\nqueue_depth = \"x\"", "queue_depth"),
            ("[event_log", "line 1"),
        ] {
            std::fs::write(&path, manifest).unwrap();
            let error = config_in(folder.path(), &[]).unwrap_err().to_string();
            assert!(error.starts_with(&path.display().to_string()), "{error}");
            assert!(error.contains(problem), "{error}");
        }
    }

    #[cfg(not(feature = "nats"))]
    #[test]
    fn a_backend_that_was_left_out_can_be_named_but_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = "[event_log]\nbackend = \"nats\"\n[event_log.nats]\nurl = \"x\"\n";
        std::fs::write(folder.path().join("harn.toml"), manifest).unwrap();
        let config = config_in(folder.path(), &[]).unwrap();
        assert_eq!(config.backend, EventLogBackend::Nats);
        let error = open_event_log(&config).err().unwrap();
        let expected = "this program was built without the nats event log";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn postgres_is_for_the_host_to_open() {
        let config = config(&[("HARN_EVENT_LOG_BACKEND", "postgres")]).unwrap();
        let Err(error) = open_event_log(&config) else {
            panic!("it opened");
        };
        assert_eq!(
            error.to_string(),
            "postgres event logs are host-provided; the built-in event log factory supports memory, file, and sqlite"
        );
    }
}
