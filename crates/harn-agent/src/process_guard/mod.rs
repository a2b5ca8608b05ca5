//! Processes that end with this one, however it ends.
//!
//! ```text
//! this process ─── starts ──► child, leads a group ──► grandchild, in the same group
//!   │      │                        ▲      ▲               ▲
//!   │      └─ table of what runs    └──────┴── TERM, 2 s, KILL
//!   │             │ read                   │
//!   └─ pipe ──► watchdog: waits for the end of the pipe
//! ```
//!
//! A process that is killed with `kill -9` can do nothing any more, so another one has to end
//! what it leaves: the *watchdog*, a small shell script that is started with the first child. It
//! holds one end of a pipe whose other end nobody but this process has; when that breaks, it
//! reads in the [`table`] which groups there are and ends them, and then itself. Until then it
//! sleeps and costs nothing: the table is a file that lives in memory only, and that both have
//! open.
//!
//! While a child is being started, its number is not known. So the table first names a pipe that
//! the child will have as its output; where a watchdog finds such an entry, it looks in `/proc`
//! for the processes that hold the pipe. What is not found is a child that was born in the very
//! moment in which this process was killed, if it has ended already and has left something behind
//! that has no part of its output; and where there is no `/proc`, any child of that moment.
//!
//! A process that makes itself the leader of another group or session is not in the group any
//! more and lives on, as it does when its command ends in good order.

mod closed;
mod table;
mod watchdog;

use std::io::{self, PipeWriter};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::process::{Pid, WaitId, WaitIdOptions};

pub use closed::close_to_other_processes;

use table::Watched;
use watchdog::Entry;

/// Tells a pipe from all others that are open. A child that is being started is known by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipeMark(u64);

impl PipeMark {
    /// The mark of the pipe that a child is going to write to. Nobody else may get this end.
    ///
    /// # Errors
    /// The system does not say which pipe it is.
    pub fn of(output: &PipeWriter) -> io::Result<Self> {
        Ok(Self(rustix::fs::fstat(output)?.st_ino))
    }
}

/// Starts a command as the leader of a group that ends with this process. `mark`: of the pipe
/// that is its output.
///
/// # Errors
/// It cannot be started.
pub fn start(command: &mut Command, mark: PipeMark) -> io::Result<(Child, GuardedGroup)> {
    start_leader(command.process_group(0), mark)
}

/// Starts a command that makes itself the leader of a group before it runs.
///
/// # Errors
/// It cannot be started.
pub fn start_leader(command: &mut Command, mark: PipeMark) -> io::Result<(Child, GuardedGroup)> {
    let entry = watchdog::enter(Watched::Pipe(mark.0));
    let child = command.spawn()?;
    let leader = Pid::from_child(&child);
    entry.change(Watched::Group(leader));
    Ok((child, GuardedGroup { entry, leader }))
}

/// A group whose leader was not reaped yet. When this is dropped, the group does not end with
/// this process any more; that has to be before the leader is reaped, because from then on its
/// number can be given to a stranger.
#[must_use = "a group that is not guarded outlives this process"]
#[derive(Debug)]
pub struct GuardedGroup {
    entry: Entry,
    leader: Pid,
}

impl GuardedGroup {
    /// Waits until the leader has ended, and leaves it to be reaped.
    pub fn wait_for_leader(&self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) =
            rustix::process::waitid(WaitId::Pid(self.leader), options)
        {}
    }

    /// Goes on guarding what the leader has started. To be called when the leader has ended, and
    /// before it is reaped.
    pub fn without_leader(self) -> GuardedRest {
        self.entry.change(Watched::Rest(self.leader));
        GuardedRest(self)
    }
}

/// What is left of a group whose leader was reaped. When this is dropped, it does not end with
/// this process any more.
#[derive(Debug)]
pub struct GuardedRest(GuardedGroup);

impl GuardedRest {
    /// Whether there is anything left, now that the leader was reaped.
    pub fn has_members(&self) -> bool {
        let asked = rustix::process::test_kill_process_group(self.0.leader);
        asked != Err(rustix::io::Errno::SRCH)
    }
}
