//! Processes, each watched by a thread of its own.
//!
//! ```text
//! thread ── writes its input, reads its outputs, until both are closed or its time is over
//!    └───── waits for its end, takes its number out of `running`, and only then reaps it
//! cancel ── kills what is in `running`
//! ```
//!
//! A process leads a group of its own, so that what it starts is ended together with it.
//! Its number is given to nobody else before it is reaped, so no stranger is ever hit.
//!
//! What it leaves in the background when it ends by itself lives on. Where Harn is killed while
//! the program runs, the watchdog of [`process_guard`] ends that too.

pub(crate) mod words;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use harn_agent::process_guard::{self, GuardedGroup, GuardedRest, PipeMark};
use harn_machine::{Answer, EffectId, Outside, ProcessEnd, ProcessRequest};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use crate::policy::can_be_run;
use crate::world::failed;

/// How much a process may write to each of its outputs.
const OUTPUT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What the system says of a file that is no program.
const NOT_A_PROGRAM: i32 = rustix::io::Errno::NOEXEC.raw_os_error();

/// How long we listen to what a killed process may have left in its pipes.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// The longest time between two looks at a process that has closed its outputs.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The processes that a program has begun.
pub(crate) struct Processes {
    outside: Outside,
    running: Running,
    leftovers: Leftovers,
    /// Whether there was one.
    has_begun: Cell<bool>,
}

/// What runs, by what was begun: who leads its group. `None`: it is about to start.
type Running = Arc<Mutex<BTreeMap<EffectId, Option<Pid>>>>;

/// What processes that have ended have left in the background. It ends when we are killed, and
/// lives on when the program ends.
type Leftovers = Arc<Mutex<Vec<GuardedRest>>>;

fn kill_group(leader: Pid) {
    let _all_may_have_ended = rustix::process::kill_process_group(leader, Signal::KILL);
}

/// A process to start.
pub(crate) struct Start {
    pub(crate) request: ProcessRequest,
    /// The file that is run, if it must be a certain one.
    pub(crate) file: Option<PathBuf>,
    /// The variables of the environment, unless the request wants none of them.
    pub(crate) environment: BTreeMap<String, String>,
}

impl Processes {
    pub(crate) fn new(outside: Outside) -> Self {
        Self {
            outside,
            running: Running::default(),
            leftovers: Leftovers::default(),
            has_begun: Cell::new(false),
        }
    }

    /// Whether none was begun so far.
    pub(crate) fn is_new(&self) -> bool {
        !self.has_begun.get()
    }

    /// Says that an effect is done.
    pub(crate) fn answer(&self, id: EffectId, answer: Answer) {
        self.outside.complete(id, answer);
    }

    /// Starts a process.
    pub(crate) fn begin(&self, id: EffectId, start: Start) {
        self.has_begun.set(true);
        let outside = self.outside.clone();
        let watch = Watch {
            id,
            running: self.running.clone(),
            leftovers: self.leftovers.clone(),
        };
        locked(&watch.running).insert(id, None);
        let watcher = thread::Builder::new().name("harn-process".to_owned());
        let watcher = watcher.spawn(move || {
            let end = watch.run(start);
            let answer = end.map_or_else(|error| failed(&error), Answer::Process);
            outside.complete(id, answer);
        });
        if let Err(error) = watcher {
            self.answer(id, failed(&error));
        }
    }

    /// Ends a process that nobody waits for, with all that it started.
    pub(crate) fn cancel(&self, id: EffectId) {
        let mut running = locked(&self.running);
        if let Some(Some(leader)) = running.remove(&id) {
            kill_group(leader);
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        let mut running = locked(&self.running);
        while let Some((_, leader)) = running.pop_first() {
            leader.into_iter().for_each(kill_group);
        }
        // Threads may have them as well, and are not waited for.
        locked(&self.leftovers).clear();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One process, as its thread sees it.
struct Watch {
    id: EffectId,
    running: Running,
    leftovers: Leftovers,
}

/// A process that was started, and our ends of its pipes.
struct Started {
    child: Child,
    guarded: GuardedGroup,
    outputs: [PipeReader; 2],
}

impl Watch {
    fn run(&self, start: Start) -> io::Result<ProcessEnd> {
        let started = Instant::now();
        let Started {
            mut child,
            guarded,
            outputs,
        } = self.start(&start)?;
        let pid = Pid::from_child(&child);
        let input = start.request.input.unwrap_or_default();
        let until = start.request.timeout;
        let until = until.and_then(|timeout| started.checked_add(Duration::from_millis(timeout)));
        let talked = Talk::with(child.stdin.take(), input, outputs).and_then(|mut talk| {
            let end = talk.until(until)?;
            let end = match end {
                Talked::Closed => wait(pid, until)?,
                other => other,
            };
            if end != Talked::Closed {
                kill_group(pid);
                talk.until(Instant::now().checked_add(LAST_WORDS))?;
            }
            Ok((talk, end))
        });
        if talked.is_err() {
            kill_group(pid);
        }
        // Nobody may kill the group once its number can belong to somebody else.
        wait(pid, None)?;
        locked(&self.running).remove(&self.id);
        let rest = guarded.without_leader();
        let status = child.wait()?;
        self.leave(rest);
        let (talk, end) = talked?;
        let [output, errors] = talk.heard;
        if end == Talked::TooMuch {
            let limit = OUTPUT_BYTES_MAX / (1024 * 1024);
            let reason = format!("it wrote more than {limit} MiB and was ended");
            return Err(io::Error::other(reason));
        }
        Ok(ProcessEnd {
            pid: child.id(),
            status: status.code(),
            output,
            errors,
            timed_out: end == Talked::TimeOver,
            took: i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX),
        })
    }

    /// Starts the process, unless it was given up in the meantime.
    fn start(&self, start: &Start) -> io::Result<Started> {
        let file = start.file.clone().or_else(|| start.found());
        let mut running = locked(&self.running);
        let Some(leader) = running.get_mut(&self.id) else {
            return Err(io::Error::other("nobody waits for it"));
        };
        let started = Started::of(command(start, file.as_deref()));
        let started = started.or_else(|error| match error.raw_os_error() {
            // A script that does not say what runs it; only the slow way tries a shell then.
            Some(NOT_A_PROGRAM) if start.file.is_none() => Started::of(command(start, None)),
            _ => Err(error),
        });
        match &started {
            Ok(started) => *leader = Some(Pid::from_child(&started.child)),
            Err(_) => drop(running.remove(&self.id)),
        }
        started
    }

    /// Notes what a process that was reaped has left, if it has left something.
    fn leave(&self, rest: GuardedRest) {
        let mut leftovers = locked(&self.leftovers);
        leftovers.retain(GuardedRest::has_members);
        if rest.has_members() {
            leftovers.push(rest);
        }
    }
}

impl Started {
    fn of(mut command: Command) -> io::Result<Self> {
        let (output, writes) = io::pipe()?;
        let (errors, complains) = io::pipe()?;
        let mark = PipeMark::of(&writes)?;
        command.stdout(writes).stderr(complains);
        let (child, guarded) = process_guard::start(&mut command, mark)?;
        Ok(Self {
            child,
            guarded,
            outputs: [output, errors],
        })
    }
}

impl Start {
    /// The file that a name stands for. Whoever names a file is started without copying our
    /// memory first, which costs more the more of it we use. `None`: the system has to look.
    fn found(&self) -> Option<PathBuf> {
        let program = &self.request.program;
        if program.is_empty() || program.contains('/') {
            return None;
        }
        let mut given = self.request.environment.iter().rev();
        let given = given.find(|(name, _)| name == "PATH").map(|(_, path)| path);
        let inherited = || {
            self.environment
                .get("PATH")
                .filter(|_| !self.request.clear_environment)
        };
        let folders = given.or_else(inherited)?.split(':').map(Path::new);
        // What starts at the folder of the process is left to the system.
        let mut absolute = folders.take_while(|folder| folder.is_absolute());
        absolute.find_map(|folder| Some(folder.join(program)).filter(|file| can_be_run(file)))
    }
}

fn command(start: &Start, file: Option<&Path>) -> Command {
    let request = &start.request;
    let mut command = match file {
        Some(file) => Command::new(file),
        None => Command::new(&request.program),
    };
    if file.is_some() {
        command.arg0(&request.program);
    }
    command.args(&request.arguments);
    command.stdin(match request.input {
        Some(_) => Stdio::piped(),
        None => Stdio::null(),
    });
    if let Some(folder) = &request.folder {
        command.current_dir(folder);
    }
    command.env_clear();
    if !request.clear_environment {
        command.envs(&start.environment);
    }
    command.envs(request.environment.iter().cloned());
    command
}

/// Waits until a process has ended, but leaves it to be reaped.
fn wait(process: Pid, until: Option<Instant>) -> io::Result<Talked> {
    let mut options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    if until.is_some() {
        options |= WaitIdOptions::NOHANG;
    }
    let mut pause = Duration::from_micros(200);
    loop {
        match rustix::process::waitid(WaitId::Pid(process), options) {
            Ok(Some(_)) => return Ok(Talked::Closed),
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
            Ok(None) => {}
        }
        let left = until.map_or(pause, |until| {
            until.saturating_duration_since(Instant::now())
        });
        if left.is_zero() {
            return Ok(Talked::TimeOver);
        }
        // It has closed its outputs and goes on, which is rare: nothing tells us of its end.
        let _nothing_to_hear = poll(&mut [], Some(&timespec(pause.min(left))));
        pause = (pause * 2).min(LOOK_AGAIN);
    }
}

/// How talking with a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Talked {
    /// It has closed its outputs.
    Closed,
    /// Its time was over before.
    TimeOver,
    /// It wrote more than anybody wants to keep.
    TooMuch,
}

/// Talks with a process: gives it what it reads and takes what it writes, at the same time,
/// because it may wait for either.
struct Talk {
    input: Option<ChildStdin>,
    left: Vec<u8>,
    /// How much of that it has.
    given: usize,
    outputs: [Option<PipeReader>; 2],
    heard: [Vec<u8>; 2],
    buffer: Vec<u8>,
}

impl Talk {
    fn with(
        pipe: Option<ChildStdin>,
        input: Vec<u8>,
        outputs: [PipeReader; 2],
    ) -> io::Result<Self> {
        let pipe = pipe.filter(|_| !input.is_empty());
        if let Some(pipe) = &pipe {
            let flags = rustix::fs::fcntl_getfl(pipe)?;
            rustix::fs::fcntl_setfl(pipe, flags | OFlags::NONBLOCK)?;
        }
        Ok(Self {
            input: pipe,
            left: input,
            given: 0,
            outputs: outputs.map(Some),
            heard: Default::default(),
            buffer: vec![0; 64 * 1024],
        })
    }

    fn until(&mut self, until: Option<Instant>) -> io::Result<Talked> {
        while self.outputs.iter().any(Option::is_some) {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(Talked::TimeOver);
            }
            let ready = self.wait(left)?;
            if ready[2] {
                self.give();
            }
            for (at, _) in ready[..2].iter().enumerate().filter(|(_, ready)| **ready) {
                if self.hear(at)? > OUTPUT_BYTES_MAX {
                    return Ok(Talked::TooMuch);
                }
            }
        }
        Ok(Talked::Closed)
    }

    /// Which outputs have something to read, and whether the input has room.
    fn wait(&self, left: Option<Duration>) -> io::Result<[bool; 3]> {
        let ends: [Option<BorrowedFd<'_>>; 3] = [
            self.outputs[0].as_ref().map(|pipe| pipe.as_fd()),
            self.outputs[1].as_ref().map(|pipe| pipe.as_fd()),
            self.input.as_ref().map(AsFd::as_fd),
        ];
        let kinds = [PollFlags::IN, PollFlags::IN, PollFlags::OUT];
        let open = ends.iter().zip(kinds);
        let open = open.filter_map(|(end, kind)| Some(PollFd::from_borrowed_fd((*end)?, kind)));
        let mut open: Vec<_> = open.collect();
        match poll(&mut open, left.map(timespec).as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut ready = open.iter().map(|end| !end.revents().is_empty());
        Ok(ends.map(|end| end.is_some() && ready.next().unwrap_or(false)))
    }

    fn give(&mut self) {
        let Some(pipe) = &mut self.input else {
            return;
        };
        match pipe.write(&self.left[self.given..]) {
            Ok(count) => self.given += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // It does not want all of it.
            Err(_) => self.given = self.left.len(),
        }
        if self.given == self.left.len() {
            self.input = None;
        }
    }

    /// Takes what is there and gives how much there is now.
    fn hear(&mut self, at: usize) -> io::Result<usize> {
        let Some(pipe) = &mut self.outputs[at] else {
            return Ok(0);
        };
        match pipe.read(&mut self.buffer) {
            Ok(0) => self.outputs[at] = None,
            Ok(count) => self.heard[at].extend_from_slice(&self.buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(self.heard[at].len())
    }
}

fn timespec(time: Duration) -> Timespec {
    // Times beyond a year end in a year.
    let seconds = time.as_secs().min(365 * 24 * 3600);
    Timespec {
        tv_sec: i64::try_from(seconds).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}

#[cfg(test)]
mod tests;
