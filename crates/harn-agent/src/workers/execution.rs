//! Where a worker works: a folder, an environment, a worktree of its own.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use harn_llm::desk::Thrown;
use harn_llm::options::value::display;
use serde_json::{Value, json};

use super::places::WorkerPlaces;
use crate::fence::refused;
use crate::process_guard::{self, PipeMark};
use crate::runtime::Runtime;

/// A worktree, as it was asked for, with everything filled in.
struct Worktree {
    repository: String,
    path: PathBuf,
    branch: String,
    base: String,
    is_removed: bool,
}

/// Where the code of a worker runs: its folder, and what is set in its environment.
pub(crate) fn surroundings(places: &WorkerPlaces, worker_id: &str, execution: &Value) -> Value {
    let folder = match &execution["cwd"] {
        Value::String(folder) => Some(folder.clone()),
        _ => {
            let tree = Worktree::read(places, worker_id, execution).ok().flatten();
            tree.map(|tree| tree.path.display().to_string())
        }
    };
    json!({"cwd": folder, "env": execution["env"]})
}

/// Makes the worktree of a worker, unless it is there; gives what the worker tells about where
/// it works.
///
/// # Errors
/// There is no repository, or git refuses.
pub(crate) fn prepare(
    runtime: &Runtime,
    worker_id: &str,
    execution: &Value,
) -> Result<Value, Thrown> {
    let places = runtime.workers.places();
    let Some(tree) = Worktree::read(&places, worker_id, execution)? else {
        return Ok(execution.clone());
    };
    let path = runtime.folder.join(&tree.path);
    runtime.fence.run("git").map_err(refused)?;
    runtime.fence.write(&path).map_err(refused)?;
    if !path.exists() {
        let words = ["worktree", "add", "-B", &tree.branch];
        git(
            &runtime.folder.join(&tree.repository),
            &words,
            &path,
            Some(&tree.base),
        )
        .map_err(|error| Thrown::Runtime(format!("worker worktree add failed: {error}")))?;
    }
    let mut told = execution.clone();
    told["worktree"]["path"] = json!(path);
    told["worktree"]["branch"] = json!(tree.branch);
    told["worktree"]["base_ref"] = json!(tree.base);
    if told["cwd"].is_null() {
        told["cwd"] = json!(path);
    }
    Ok(told)
}

/// Removes the worktree of a worker after a run, if it is to be removed.
pub(crate) fn clean_up(runtime: &Runtime, worker_id: &str, execution: &Value) {
    let tree = Worktree::read(&runtime.workers.places(), worker_id, execution);
    let Some(tree) = tree.ok().flatten().filter(|tree| tree.is_removed) else {
        return;
    };
    let path = runtime.folder.join(&tree.path);
    let repository = runtime.folder.join(&tree.repository);
    let removed = git(&repository, &["worktree", "remove", "--force"], &path, None);
    if let Err(error) = removed {
        let text = format!("the worktree {} is left behind: {error}", path.display());
        runtime.warn("agent.workers", &text);
    }
}

impl Worktree {
    fn read(
        places: &WorkerPlaces,
        worker_id: &str,
        execution: &Value,
    ) -> Result<Option<Self>, Thrown> {
        let asked = &execution["worktree"];
        if asked.is_null() {
            return Ok(None);
        }
        let text = |key: &str| {
            let given = Some(&asked[key]).filter(|value| !value.is_null());
            given.map(display).filter(|text| !text.trim().is_empty())
        };
        let Some(repository) = text("repo") else {
            let problem = "worker execution.worktree.repo must not be empty";
            return Err(Thrown::Runtime(problem.to_owned()));
        };
        let path = text("path").map(PathBuf::from);
        Ok(Some(Self {
            path: path.unwrap_or_else(|| places.worktree(&repository, worker_id)),
            branch: text("branch").unwrap_or_else(|| format!("harn-{worker_id}")),
            base: text("base_ref").unwrap_or_else(|| "HEAD".to_owned()),
            is_removed: text("cleanup").as_deref() == Some("remove"),
            repository,
        }))
    }
}

fn git(repository: &Path, words: &[&str], path: &Path, base: Option<&str>) -> Result<(), String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(repository).args(words);
    // What follows is never taken for an option.
    command.arg("--").arg(path).args(base);
    match complaint(command) {
        Ok(None) => Ok(()),
        Ok(Some(complaint)) => Err(complaint),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs a command to its end; gives what it complained of if it failed.
fn complaint(mut command: Command) -> io::Result<Option<String>> {
    let (mut complaints, writer) = io::pipe()?;
    let mark = PipeMark::of(&writer)?;
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(writer);
    let (mut child, guarded) = process_guard::start(&mut command, mark)?;
    // It holds the end of the pipe that is written to.
    drop(command);
    let mut text = Vec::new();
    let read = complaints.read_to_end(&mut text);
    guarded.wait_for_leader();
    drop(guarded);
    let status = child.wait()?;
    read?;
    let text = || String::from_utf8_lossy(&text).trim().to_owned();
    Ok((!status.success()).then(text))
}
