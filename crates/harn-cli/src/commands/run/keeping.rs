//! Where the sessions of a program are kept.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use harn_log::{
    AnyEventLog, EventLogBackend, EventLogConfig, install_active_event_log, open_event_log,
};
use harn_vm::AgentOptions;
use harn_vm::agent::real_path::read_text;
use harn_vm::agent::{OpenLog, SessionStorage};
use harn_vm::llm::catalog::ProjectTrust;
use harn_vm::project::JudgedProject;

use super::interruption::Interruption;
use super::screen::Screen;
use crate::commands::mcp::Logins;
use crate::commands::project::base_of;
use crate::commands::{tool_servers, trust};
use crate::environment;
use crate::output::Untrusted;

/// Whether the manifest of a project may say where its sessions are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum LogPlace {
    /// It may.
    AsManifestSays,
    /// It may not: they are beside the rest of its state.
    BesideState,
}

impl LogPlace {
    /// For a project.
    pub(in crate::commands) fn of(judged: &JudgedProject) -> Self {
        match trust::may_place_log(judged) {
            true => Self::AsManifestSays,
            false => Self::BesideState,
        }
    }

    /// For the program of a file, with the manifest of its project. One without a manifest keeps
    /// its sessions where we are, and that may be another project, which was not named.
    pub(in crate::commands) fn of_file(manifest: Option<&Path>) -> Self {
        match manifest {
            Some(_) => Self::AsManifestSays,
            None => Self::of(&trust::here(&trust::projects())),
        }
    }

    /// What is configured for a folder.
    fn config(self, base: &Path) -> harn_log::Result<EventLogConfig> {
        match self {
            Self::AsManifestSays => EventLogConfig::for_base_dir_in(base, &environment::variable),
            Self::BesideState => EventLogConfig::without_manifest_in(base, &environment::variable),
        }
    }
}

/// Opens the log that is configured for a folder, when the first session begins: a program
/// without agents makes no file and starts no thread. Without a log the program goes on.
/// As long as somebody has it open, whoever else asks gets the same one.
pub(super) fn opener(
    base: PathBuf,
    place: LogPlace,
    screen: Screen,
    interruption: Interruption,
) -> OpenLog {
    let known: Mutex<Weak<AnyEventLog>> = Mutex::default();
    Arc::new(move || {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = known.upgrade() {
            return Some(log);
        }
        if let Err(error) = interruption.listen() {
            screen.say(&format!(
                "warning: Ctrl-C ends the program at once: {error}"
            ));
        }
        if let Some(told) = narrowed(&base) {
            screen.say(&format!("warning: {}", Untrusted(told)));
        }
        match open(&base, place) {
            Ok(log) => {
                *known = Arc::downgrade(&log);
                Some(install_active_event_log(log))
            }
            Err(why) => {
                screen.say(&format!(
                    "warning: sessions are not kept: {}",
                    Untrusted(why)
                ));
                None
            }
        }
    })
}

/// Whether somebody has said which log a project has. Programs add their own events only to
/// such a log; what they add is otherwise gone when they end.
pub(super) fn is_configured(base: &Path, place: LogPlace) -> bool {
    let variables = ["HARN_EVENT_LOG_BACKEND", "HARN_EVENT_LOG_SQLITE_PATH"];
    let is_set = |name| environment::variable(name).is_some_and(|value| !value.trim().is_empty());
    if variables.into_iter().any(is_set) {
        return true;
    }
    if place == LogPlace::BesideState {
        return false;
    }
    let manifest = read_text(&base.join("harn.toml")).unwrap_or_default();
    let manifest = manifest.parse::<toml::Table>().unwrap_or_default();
    manifest.contains_key("event_log")
}

/// Whether other processes find what is in the log of a project.
pub(super) fn is_shared(base: &Path, place: LogPlace) -> bool {
    let config = place.config(base);
    config.is_ok_and(|config| config.backend != EventLogBackend::Memory)
}

/// Opens the log, or says why it cannot be opened.
pub(in crate::commands) fn open(base: &Path, place: LogPlace) -> Result<Arc<AnyEventLog>, String> {
    let config = place.config(base).map_err(|error| error.to_string())?;
    open_event_log(&config).map_err(|error| {
        let description = config.describe();
        let place = description.location.unwrap_or_default();
        let backend = description.backend;
        format!("cannot open the {backend} log {place}: {error}")
    })
}

/// Takes from other users what they may do with the state of a project; what to tell about it.
pub(in crate::commands) fn narrowed(base: &Path) -> Option<String> {
    let state = harn_log::state_root(base, &environment::variable);
    let narrowed = harn_log::narrow_private_folder(&state)?;
    Some(format!(
        "other users could read {}; now only its owner can",
        narrowed.display()
    ))
}

/// Where events go that no log takes: to files in the folder that `HARN_EVENT_LOG_DIR` names,
/// if it names one.
pub(in crate::commands) fn files(base: &Path) -> Arc<SessionStorage> {
    Arc::new(SessionStorage::in_environment(base, &environment::variable))
}

/// For programs that are tried out: tests and what is typed at a prompt would fill a log that
/// people read. Only who asks for files gets them.
pub(in crate::commands) fn only_where_asked_for(
    manifest: Option<&Path>,
    trust: ProjectTrust,
) -> AgentOptions {
    let mut agents = AgentOptions {
        storage: Some(files(&base_of(manifest))),
        ..AgentOptions::default()
    };
    // What is wrong with the manifest is told by whoever runs the program for good.
    let _told_elsewhere =
        tool_servers::add_to(&mut agents, manifest, trust, None, Logins::Unwanted);
    agents
}
