//! The process that ends what this one leaves.

use std::io::{self, PipeWriter};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::table::{Table, Watched};

/// Runs the script. Every POSIX system has it there.
const SHELL: &str = "/bin/sh";

const SCRIPT: &str = include_str!("watchdog.sh");

/// Where the script finds what it calls.
const PATH: &str = "/usr/bin:/bin";

/// The watchdog of this process. It is one for all programs in it, because it is about the
/// process and not about programs: a second one would do the same at the same moment, and none
/// of them can notice another's entries.
static WATCHDOG: Mutex<Watchdog> = Mutex::new(Watchdog::new());

/// Adds an entry to the table of the watchdog, which is started if there is none.
pub(super) fn enter(watched: Watched) -> Entry {
    let mut watchdog = locked();
    if watchdog.has_failed {
        return Entry(None);
    }
    let entered = watchdog.enter(watched);
    if let Err(error) = &entered {
        watchdog.has_failed = true;
        tracing::warn!("what is started from here may outlive this process: {error}");
    }
    Entry(entered.ok())
}

fn locked() -> MutexGuard<'static, Watchdog> {
    WATCHDOG.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An entry of the table; it is removed when this is dropped. None: there is no watchdog.
#[derive(Debug)]
pub(super) struct Entry(Option<usize>);

impl Entry {
    pub(super) fn change(&self, watched: Watched) {
        let watchdog = locked();
        if let (Some(place), Some(table)) = (self.0, &watchdog.table) {
            complain(table.change(place, watched));
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut watchdog = locked();
        if let (Some(place), Some(table)) = (self.0, &mut watchdog.table) {
            complain(table.remove(place));
        }
    }
}

/// Writing over bytes in memory that are there already has no reason to fail.
fn complain(written: io::Result<()>) {
    if let Err(error) = written {
        tracing::warn!("the table of running processes cannot be written: {error}");
    }
}

#[derive(Debug)]
struct Watchdog {
    table: Option<Table>,
    process: Option<Running>,
    /// Whether it could not be started; then it is not tried for every child.
    has_failed: bool,
}

/// A watchdog that was started.
#[derive(Debug)]
struct Running {
    child: Child,
    /// It breaks when this process ends. Children do not get it.
    _lifeline: PipeWriter,
}

impl Watchdog {
    const fn new() -> Self {
        Self {
            table: None,
            process: None,
            has_failed: false,
        }
    }

    fn enter(&mut self, watched: Watched) -> io::Result<usize> {
        let table = match self.table.take() {
            Some(table) => table,
            None => Table::new()?,
        };
        let table = self.table.insert(table);
        if !self.process.as_mut().is_some_and(Running::is_alive) {
            self.process = Some(Running::start(table)?);
        }
        table.add(watched)
    }
}

impl Running {
    fn start(table: &Table) -> io::Result<Self> {
        let (end, lifeline) = io::pipe()?;
        let process = std::process::id().to_string();
        let mut command = Command::new(SHELL);
        command.args(["-c", SCRIPT, "harn-watchdog", &process]);
        command.env_clear().env("PATH", PATH).env("LC_ALL", "C");
        // Of our terminal, our outputs and our group it must have nothing, or it would end with
        // what it has to survive, and keep open what others wait for.
        command
            .stdin(end)
            .stdout(Stdio::null())
            .stderr(table.file()?);
        let child = command.process_group(0).spawn()?;
        Ok(Self {
            child,
            _lifeline: lifeline,
        })
    }

    /// Nothing but a person or a system out of memory ends it.
    fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

#[cfg(test)]
mod tests;
