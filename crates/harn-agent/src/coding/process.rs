//! A command with a time limit, and everything it starts.
//!
//! ```text
//! controller ── waits until it ended or its time is over, kills the group, reaps the shell
//!   ├─ waiter ── sleeps until the shell has ended, but leaves it to be reaped
//!   └─ reader ── takes what is written, until told to stop
//! leash ── in the hands of whoever wants the result; kills the group when dropped too early
//! ```
//!
//! The shell leads a session, and so a process group, of its own. Whatever the reason for the end, the whole group
//! is killed *before* the shell is reaped: until then its number cannot be given to somebody
//! else, so no stranger is hit. Where this process is killed itself, the watchdog of
//! [`process_guard`] ends the group. A process that makes itself the leader of another session is
//! not in the group any more and lives on; nobody waits for it, though.

use std::io::{self, PipeReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use super::capture::Capture;
use crate::process_guard::{self, GuardedGroup, PipeMark};

/// What may still be in the pipe when everybody who could write is gone. Larger than a pipe.
const REST_BYTES_MAX: usize = 2 * 1024 * 1024;

/// What `timeout` of the shell gives.
const TIMED_OUT: i32 = 124;

/// How a command ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct End {
    /// The code that the shell gave, or would give for a signal.
    pub(super) exit_code: i32,
    /// Whether it was stopped because its time was over.
    pub(super) timed_out: bool,
    /// What was written, to both outputs in the order of writing.
    pub(super) output: String,
}

/// Runs a command to its end. `None`: the leash was pulled before it began.
pub(super) fn run(
    mut command: Command,
    timeout: Duration,
    output_bytes_max: usize,
    leash: &Leash,
) -> io::Result<Option<End>> {
    let (reader, writer) = io::pipe()?;
    let mark = PipeMark::of(&writer)?;
    command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    give_a_session(&mut command);
    let reading = Reading::start(reader, output_bytes_max)?;
    let Some((mut child, guarded)) = leash.start(&mut command, mark)? else {
        return Ok(None);
    };
    let group = Group::of(&child);
    // It holds the ends of the pipe that are written to, and would keep the pipe open.
    drop(command);
    let timed_out = group.wait(timeout);
    group.kill();
    leash.let_go();
    drop(guarded);
    let status = child.wait()?;
    let (timed_out, output) = (timed_out?, reading.finish()?);
    Ok(Some(End {
        exit_code: if timed_out {
            TIMED_OUT
        } else {
            exit_code(status)
        },
        timed_out,
        output,
    }))
}

/// Makes a command the leader of a session, and so of a group. A session of its own has no
/// terminal: whoever asks for a password there is told at once that there is none, instead of
/// waiting for somebody who does not see the question, and nobody writes on the screen.
#[expect(
    unsafe_code,
    reason = "the standard library has no other way to do something between fork and exec"
)]
fn give_a_session(command: &mut Command) {
    let lead = || match rustix::process::setsid() {
        Ok(_) => Ok(()),
        Err(error) => Err(io::Error::from(error)),
    };
    // SAFETY: until the command runs, only what a signal handler may do is allowed. `setsid` is
    // such a call, and neither it nor its error takes memory or locks.
    unsafe {
        command.pre_exec(lead);
    }
}

/// Ends a command from outside, at once: after a pull its processes are as good as gone, even
/// if this process ends in the next moment.
#[derive(Clone, Default)]
pub(super) struct Leash(Arc<Mutex<Held>>);

#[derive(Default)]
enum Held {
    #[default]
    NotBegun,
    Running(Group),
    /// It was pulled, or the shell is about to be reaped and its number worth nothing.
    Over,
}

impl Leash {
    /// Kills the command with all it started, or keeps it from starting.
    pub(super) fn pull(&self) {
        let mut held = self.held();
        if let Held::Running(group) = *held {
            group.kill();
        }
        *held = Held::Over;
    }

    /// Starts a command. Whoever pulls meanwhile waits until there is something to kill.
    fn start(
        &self,
        command: &mut Command,
        mark: PipeMark,
    ) -> io::Result<Option<(Child, GuardedGroup)>> {
        let mut held = self.held();
        if let Held::Over = *held {
            return Ok(None);
        }
        let (child, guarded) = process_guard::start_leader(command, mark)?;
        *held = Held::Running(Group::of(&child));
        Ok(Some((child, guarded)))
    }

    fn let_go(&self) {
        *self.held() = Held::Over;
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn exit_code(status: ExitStatus) -> i32 {
    let signal = status.signal().map(|signal| 128 + signal);
    status.code().or(signal).unwrap_or(-1)
}

/// The processes of a command, named by their leader.
#[derive(Clone, Copy)]
struct Group(Pid);

impl Group {
    fn of(child: &Child) -> Self {
        let raw = i32::try_from(child.id()).expect("a process has a number that is a pid");
        Self(Pid::from_raw(raw).expect("a child is never the process 0"))
    }

    /// Waits until the leader has ended, and gives whether the time was over before.
    fn wait(self, timeout: Duration) -> io::Result<bool> {
        let (ended, end) = channel();
        let waiter = thread::Builder::new().name("harn-run-end".to_owned());
        let waiter = waiter.spawn(move || {
            self.wait_for_leader();
            drop(ended);
        })?;
        let timed_out = is_over(&end, timeout);
        if timed_out {
            self.kill();
        }
        // The waiter must be done with the number of the shell before it is reaped.
        let joined = waiter.join();
        joined.map_err(|_| io::Error::other("waiting for the command failed"))?;
        Ok(timed_out)
    }

    /// Waits until the leader has ended and leaves it to be reaped.
    fn wait_for_leader(self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) =
            rustix::process::waitid(WaitId::Pid(self.0), options)
        {}
    }

    /// Kills all of them. The leader must not have been reaped.
    fn kill(self) {
        let _all_may_have_ended = rustix::process::kill_process_group(self.0, Signal::KILL);
    }
}

/// Whether the time is over before the other end is closed.
fn is_over(end: &Receiver<()>, timeout: Duration) -> bool {
    matches!(end.recv_timeout(timeout), Err(RecvTimeoutError::Timeout))
}

/// A thread that reads what a command writes.
struct Reading {
    thread: thread::JoinHandle<io::Result<Capture>>,
    /// Closing it tells the thread that nothing of interest will come any more.
    stop: io::PipeWriter,
}

impl Reading {
    fn start(pipe: PipeReader, bytes_max: usize) -> io::Result<Self> {
        let (stopped, stop) = io::pipe()?;
        let thread = thread::Builder::new().name("harn-run-output".to_owned());
        let thread = thread.spawn(move || read(pipe, &stopped, bytes_max))?;
        Ok(Self { thread, stop })
    }

    /// The output, with what is still in the pipe.
    fn finish(self) -> io::Result<String> {
        drop(self.stop);
        let capture = self.thread.join();
        let capture = capture.map_err(|_| io::Error::other("reading the output failed"))??;
        Ok(capture.text())
    }
}

fn read(mut pipe: PipeReader, stopped: &PipeReader, bytes_max: usize) -> io::Result<Capture> {
    let mut capture = Capture::new(bytes_max);
    let mut buffer = vec![0; 64 * 1024];
    let mut rest_bytes = REST_BYTES_MAX;
    loop {
        let mut ends = [
            PollFd::new(&pipe, PollFlags::IN),
            PollFd::new(stopped, PollFlags::IN),
        ];
        match poll(&mut ends, None) {
            Err(rustix::io::Errno::INTR) => continue,
            other => other?,
        };
        let [has_output, has_stopped] = ends.map(|end| !end.revents().is_empty());
        if !has_output || rest_bytes == 0 {
            return Ok(capture);
        }
        let count = pipe.read(&mut buffer)?;
        if count == 0 {
            return Ok(capture);
        }
        capture.push(&buffer[..count]);
        if has_stopped {
            rest_bytes = rest_bytes.saturating_sub(count);
        }
    }
}
