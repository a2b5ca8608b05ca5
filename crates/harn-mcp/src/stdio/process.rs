//! The process of a server, and how it comes to its end.
//!
//! ```text
//! waiter ──── sleeps until the process has ended, but leaves it to be reaped
//! guardian ── told to close, or hears of the end ─► 5 s ─► TERM ─► 2 s ─► KILL ─► reap
//!                                                    └── `Patience` ──┘
//! ```
//!
//! Signals go to the whole group, and only as long as its leader was not reaped: until then its
//! number belongs to nobody else, so no stranger is hit. Where this process is killed itself, the
//! watchdog of [`process_guard`] ends the group.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use harn_agent::process_guard::{self, GuardedGroup, PipeMark};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::sync::watch;

/// How long a server has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// By itself, when its input is closed.
    pub after_closing: Duration,
    /// When it was asked to terminate. Then it is killed.
    pub after_terminating: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            after_closing: Duration::from_secs(5),
            after_terminating: Duration::from_secs(2),
        }
    }
}

/// The threads that see servers to their end.
#[derive(Clone, Default)]
pub(crate) struct Guardians(Arc<Watch>);

/// When the last who could start a server is gone, all servers are seen to their end.
#[derive(Default)]
struct Watch(Mutex<Vec<Guardian>>);

struct Guardian {
    orders: Sender<News>,
    thread: JoinHandle<()>,
}

impl Guardians {
    /// Ends all servers and waits until they have ended.
    pub(crate) fn join(&self) {
        self.0.join();
    }

    fn add(&self, guardian: Guardian) {
        let mut guardians = self.0.lock();
        guardians.retain(|guardian| !guardian.thread.is_finished());
        guardians.push(guardian);
    }
}

impl Watch {
    fn join(&self) {
        let guardians = std::mem::take(&mut *self.lock());
        for guardian in &guardians {
            let _it_may_have_ended = guardian.orders.send(News::Close);
        }
        for guardian in guardians {
            let _it_has_reported_its_panic = guardian.thread.join();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Guardian>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.join();
    }
}

/// A process that is ended when this is dropped.
pub(super) struct Process {
    orders: Sender<News>,
    ended: watch::Receiver<Option<ExitStatus>>,
}

/// What a guardian hears.
enum News {
    /// The process has ended and waits to be reaped.
    Ended,
    /// Its input is closed; nobody needs it any more.
    Close,
}

impl Process {
    /// Starts a process, as the leader of a group.
    pub(super) fn start(
        command: &mut Command,
        patience: Patience,
        guardians: &Guardians,
    ) -> io::Result<(Self, Pipes)> {
        let (output, writer) = io::pipe()?;
        let mark = PipeMark::of(&writer)?;
        let (mut child, guarded) = process_guard::start(command.stdout(writer), mark)?;
        // The command holds the end of the pipe that is written to.
        command.stdout(Stdio::null());
        let pipes = Pipes {
            stdin: child.stdin.take(),
            stdout: ChildStdout::from(OwnedFd::from(output)),
            stderr: child.stderr.take(),
        };
        let server = Server { child, guarded };
        let (orders, news) = channel();
        let (tell, ended) = watch::channel(None);
        let leader = pid_of(&server.child);
        let waiter_orders = orders.clone();
        let waiter = thread::Builder::new().name("harn-mcp-wait".to_owned());
        waiter.spawn(move || {
            wait_for(leader);
            let _nobody_may_listen = waiter_orders.send(News::Ended);
        })?;
        let guardian = thread::Builder::new().name("harn-mcp-guard".to_owned());
        let thread = guardian.spawn(move || guard(server, leader, patience, &news, &tell))?;
        guardians.add(Guardian {
            orders: orders.clone(),
            thread,
        });
        Ok((Self { orders, ended }, pipes))
    }

    /// How the process ended, once it has.
    pub(super) fn ended(&self) -> watch::Receiver<Option<ExitStatus>> {
        self.ended.clone()
    }

    /// Its input is closed; it has some time to end by itself.
    pub(super) fn close(&self) {
        let _it_may_have_ended = self.orders.send(News::Close);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.close();
    }
}

/// The ends of the pipes that are ours.
pub(super) struct Pipes {
    pub(super) stdin: Option<std::process::ChildStdin>,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: Option<std::process::ChildStderr>,
}

fn pid_of(child: &Child) -> Pid {
    let raw = i32::try_from(child.id()).expect("a process has a number that is a pid");
    Pid::from_raw(raw).expect("a child is never the process 0")
}

/// Sleeps until a process has ended and leaves it to be reaped.
fn wait_for(process: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(process), options) {}
}

/// A process that was started.
struct Server {
    child: Child,
    guarded: GuardedGroup,
}

fn guard(
    mut server: Server,
    leader: Pid,
    patience: Patience,
    news: &Receiver<News>,
    tell: &watch::Sender<Option<ExitStatus>>,
) {
    if let Ok(News::Close) | Err(_) = news.recv() {
        end(leader, patience, news);
    }
    // What it started does not outlive it.
    let _all_may_have_ended = kill_process_group(leader, Signal::KILL);
    drop(server.guarded);
    tell.send_replace(server.child.wait().ok());
}

/// Sees to it that a process ends.
fn end(leader: Pid, patience: Patience, news: &Receiver<News>) {
    for (time, signal) in [
        (patience.after_closing, Signal::TERM),
        (patience.after_terminating, Signal::KILL),
    ] {
        match until_ended(news, time) {
            true => return,
            false => {
                let _all_may_have_ended = kill_process_group(leader, signal);
            }
        }
    }
    while !matches!(news.recv(), Ok(News::Ended) | Err(_)) {}
}

/// Whether it ends in that time.
fn until_ended(news: &Receiver<News>, time: Duration) -> bool {
    loop {
        match news.recv_timeout(time) {
            Ok(News::Ended) | Err(RecvTimeoutError::Disconnected) => return true,
            Err(RecvTimeoutError::Timeout) => return false,
            // It was said twice.
            Ok(News::Close) => {}
        }
    }
}
