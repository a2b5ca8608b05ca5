//! One test, in an interpreter of its own.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use harn_check::modules::Workspace;
use harn_check::refusals;
use harn_vm::llm::catalog::ProjectTrust;
use harn_vm::machine::{Entry, Failure, FaultKind, Stream};
use harn_vm::{Outcome as Ended, Program, RunOptions, Sink, WorldOptions, runtime_error};

use super::super::answers;
use super::super::run::keeping;
use super::runner::Settings;

/// What came of a test.
#[derive(Debug)]
pub(super) struct Ran {
    /// Why it failed, if it did.
    pub(super) error: Option<String>,
    /// What it wrote.
    pub(super) output: String,
    pub(super) took: Duration,
    /// How often lines of files have run, if they are counted.
    pub(super) counted: Vec<(String, BTreeMap<u32, u64>)>,
}

impl Ran {
    /// A test that could not even begin.
    fn refused(why: String, started: Instant) -> Self {
        Self {
            error: Some(why),
            output: String::new(),
            took: started.elapsed(),
            counted: Vec::new(),
        }
    }
}

/// Runs a pipeline of a file.
pub(super) fn run(
    workspace: &mut Workspace,
    path: &Path,
    pipeline: &str,
    settings: &Settings,
) -> Ran {
    let started = Instant::now();
    let models = match answers::beside(path, &settings.models) {
        Ok(models) => models,
        Err(why) => return Ran::refused(why, started),
    };
    let manifest = models.manifest.clone();
    let options = RunOptions {
        world: WorldOptions {
            environment: settings.environment.clone(),
            models,
            agents: keeping::only_where_asked_for(manifest.as_deref(), ProjectTrust::Trusted),
            policy: settings.policy.clone(),
            ..WorldOptions::default()
        },
        folder: folder_of(path),
        is_detached: true,
        timeout: Some(settings.timeout),
        counts_lines: settings.counts_lines,
        entry: Entry::Named(pipeline.to_owned()),
        ..RunOptions::default()
    };
    let kept = Kept::default();
    if let Some(message) = refusal(workspace, path) {
        return Ran::refused(format!("Compile error: {message}"), started);
    }
    let loaded = Program::new(workspace, path).load(&options, Box::new(kept.clone()));
    let (error, counted) = match loaded {
        Err(error) => (Some(format!("Compile error: {error}")), Vec::new()),
        Ok(mut program) => {
            let error = error_of(program.run(), settings.timeout);
            (error, program.counted_lines())
        }
    };
    Ran {
        error,
        output: kept.0.take(),
        took: started.elapsed(),
        counted,
    }
}

/// Why a file cannot be compiled.
fn refusal(workspace: &mut Workspace, path: &Path) -> Option<String> {
    let file = workspace.parsed(path).ok()?;
    let refusal = refusals(&file.parsed.module).into_iter().next();
    refusal.map(|refusal| refusal.message)
}

/// Why a test fails that has ended like this.
fn error_of(ended: Ended, timeout: Duration) -> Option<String> {
    match ended {
        Ended::Ended(Ok(_)) => None,
        Ended::Ended(Err(failure)) => failed(&failure),
        Ended::Interrupted => Some("interrupted".to_owned()),
        Ended::TimedOut => Some(format!("timed out after {}ms", timeout.as_millis())),
    }
}

/// Where a test of a file works.
fn folder_of(path: &Path) -> Option<PathBuf> {
    let path = fs::canonicalize(path).ok()?;
    path.parent().map(Path::to_owned)
}

/// What is told of a failure. Leaving early is none if the status says that all is well.
fn failed(failure: &Failure) -> Option<String> {
    match failure.kind {
        FaultKind::Exit(0) => None,
        FaultKind::Exit(status) => Some(format!("error: it ended with exit({status})")),
        _ => Some(runtime_error(failure).to_string().trim_end().to_owned()),
    }
}

/// Keeps what a program writes.
#[derive(Clone, Default)]
struct Kept(Rc<RefCell<String>>);

impl Sink for Kept {
    fn write(&mut self, _stream: Stream, text: &str) {
        self.0.borrow_mut().push_str(text);
    }

    fn flush(&mut self) {}
}
