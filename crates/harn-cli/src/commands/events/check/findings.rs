//! What was found in the logs. The structs are the JSON form as well, so their
//! field names are a promise.

use std::path::Path;

use harn_events::{
    Damage, InferredEnd, IterationBase, LoadError, LoadedLog, SessionLog, load_directory, load_file,
};
use serde::Serialize;

/// The answer.
#[derive(Debug, Serialize)]
pub(super) struct Findings {
    /// Whether there is no problem.
    pub(super) ok: bool,
    pub(super) paths: Vec<PathFindings>,
}

/// What is at one of the paths.
#[derive(Debug, Default, Serialize)]
pub(super) struct PathFindings {
    pub(super) path: String,
    /// Why it could not be read.
    pub(super) error: Option<String>,
    /// By session id.
    pub(super) sessions: Vec<SessionFindings>,
    /// Records that name no session.
    pub(super) homeless_records: usize,
    pub(super) damage: Vec<DamageFinding>,
}

/// What is there of one session.
#[derive(Debug, Serialize)]
pub(super) struct SessionFindings {
    pub(super) session_id: String,
    pub(super) records: usize,
    pub(super) is_dense: bool,
    pub(super) is_complete: bool,
    /// First and last index of each hole.
    pub(super) missing: Vec<(u64, u64)>,
    pub(super) duplicates: Vec<u64>,
    pub(super) opaque: u64,
    pub(super) adapted: u64,
    pub(super) nulls_as_zero: u64,
    /// The number of the first iteration, if there is one.
    pub(super) iteration_base: Option<usize>,
    pub(super) inferred_ends: Vec<InferredEndFinding>,
}

/// An iteration without an end record.
#[derive(Debug, Serialize)]
pub(super) struct InferredEndFinding {
    pub(super) iteration: usize,
    /// It is over after this many records.
    pub(super) position: usize,
}

/// A line that is not a record.
#[derive(Debug, Serialize)]
pub(super) struct DamageFinding {
    pub(super) path: String,
    pub(super) line: u64,
    pub(super) offset: u64,
    pub(super) reason: String,
    pub(super) is_torn_tail: bool,
}

impl Findings {
    pub(super) fn of(paths: Vec<PathFindings>) -> Self {
        let ok = paths.iter().all(|path| path.problems() == 0);
        Self { ok, paths }
    }
}

impl PathFindings {
    /// Reads the log or the folder of logs at a path.
    pub(super) fn of(path: &Path) -> Self {
        let findings = match load(path) {
            Ok(log) => Self::of_log(log),
            Err(error) => Self {
                error: Some(error.to_string()),
                ..Self::default()
            },
        };
        Self {
            path: path.display().to_string(),
            ..findings
        }
    }

    fn of_log(log: LoadedLog) -> Self {
        Self {
            sessions: log.sessions.into_iter().map(SessionFindings::of).collect(),
            homeless_records: log.homeless.len(),
            damage: log.damage.into_iter().map(DamageFinding::of).collect(),
            ..Self::default()
        }
    }

    /// How many things are wrong: holes, indexes that are there twice, damaged
    /// lines, and a path that cannot be read. A torn tail is what a crash leaves
    /// behind, and the next writer cuts it off.
    pub(super) fn problems(&self) -> usize {
        let of_session = |one: &SessionFindings| one.missing.len() + one.duplicates.len();
        let in_sessions: usize = self.sessions.iter().map(of_session).sum();
        let in_lines = self.damage.iter().filter(|one| !one.is_torn_tail).count();
        in_sessions + in_lines + usize::from(self.error.is_some())
    }
}

fn load(path: &Path) -> Result<LoadedLog, LoadError> {
    if path.is_dir() {
        load_directory(path)
    } else {
        load_file(path)
    }
}

impl SessionFindings {
    fn of((session_id, log): (String, SessionLog)) -> Self {
        let report = log.report;
        let end = |one: &InferredEnd| InferredEndFinding {
            iteration: one.iteration,
            position: one.position,
        };
        Self {
            session_id,
            records: log.records.len(),
            is_dense: report.is_dense(),
            is_complete: report.is_complete,
            inferred_ends: report.inferred_ends.iter().map(end).collect(),
            missing: report.missing,
            duplicates: report.duplicates,
            opaque: report.opaque,
            adapted: report.adapted,
            nulls_as_zero: report.nulls_as_zero,
            iteration_base: report.runs.first().map(|run| match run.base {
                IterationBase::Zero => 0,
                IterationBase::One => 1,
                IterationBase::Other(number) => number,
            }),
        }
    }
}

impl DamageFinding {
    fn of(damage: Damage) -> Self {
        Self {
            path: damage.path.display().to_string(),
            line: damage.line,
            offset: damage.offset,
            reason: damage.reason,
            is_torn_tail: damage.is_torn_tail,
        }
    }
}
