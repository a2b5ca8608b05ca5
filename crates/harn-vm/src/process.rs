//! Processes, each watched by threads of its own.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use harn_machine::{Answer, EffectId, Outside, ProcessEnd, ProcessRequest};

use crate::world::failed;

/// How long a process may take that is given no time: a year.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// The processes that a program has begun.
pub(crate) struct Processes {
    outside: Outside,
    running: Running,
}

/// The numbers of the processes that run.
type Running = Arc<Mutex<BTreeMap<EffectId, rustix::process::Pid>>>;

impl Processes {
    pub(crate) fn new(outside: Outside) -> Self {
        Self {
            outside,
            running: Running::default(),
        }
    }

    /// Says that an effect is done.
    pub(crate) fn answer(&self, id: EffectId, answer: Answer) {
        self.outside.complete(id, answer);
    }

    /// Starts a process.
    pub(crate) fn begin(
        &self,
        id: EffectId,
        request: ProcessRequest,
        environment: BTreeMap<String, String>,
    ) {
        let (outside, running) = (self.outside.clone(), self.running.clone());
        thread::spawn(move || {
            let end = run(id, request, environment, &running);
            locked(&running).remove(&id);
            let answer = end.map_or_else(|error| failed(&error), Answer::Process);
            outside.complete(id, answer);
        });
    }

    /// Ends a process that nobody waits for.
    pub(crate) fn cancel(&self, id: EffectId) {
        if let Some(pid) = locked(&self.running).remove(&id) {
            let _may_be_over = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        let ids: Vec<_> = locked(&self.running).keys().copied().collect();
        ids.into_iter().for_each(|id| self.cancel(id));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(
    id: EffectId,
    request: ProcessRequest,
    environment: BTreeMap<String, String>,
    running: &Running,
) -> io::Result<ProcessEnd> {
    let started = Instant::now();
    let mut command = command(&request);
    if !request.clear_environment {
        command
            .env_clear()
            .envs(environment)
            .envs(request.environment.iter().cloned());
    }
    let mut child = command.spawn()?;
    let pid = child.id();
    if let Ok(raw) = i32::try_from(pid)
        && let Some(pid) = rustix::process::Pid::from_raw(raw)
    {
        locked(running).insert(id, pid);
    }
    feed(&mut child, request.input);
    let timeout = request.timeout.map_or(FOREVER, Duration::from_millis);
    let (output, errors, timed_out) = listen(&mut child, timeout)?;
    let status = child.wait()?;
    Ok(ProcessEnd {
        pid,
        status: status.code(),
        output,
        errors,
        timed_out,
        took: i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX),
    })
}

fn command(request: &ProcessRequest) -> Command {
    let mut command = Command::new(&request.program);
    command.args(&request.arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.stdin(match request.input {
        Some(_) => Stdio::piped(),
        None => Stdio::null(),
    });
    if let Some(folder) = &request.folder {
        command.current_dir(folder);
    }
    if request.clear_environment {
        command
            .env_clear()
            .envs(request.environment.iter().cloned());
    }
    command
}

/// Gives a process what it reads, from a thread: it may write before it has read everything.
fn feed(child: &mut Child, input: Option<Vec<u8>>) {
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
        thread::spawn(move || {
            let _it_may_not_want_all = pipe.write_all(&input);
        });
    }
}

/// What a process writes, until it ends or its time is over.
fn listen(child: &mut Child, timeout: Duration) -> io::Result<(Vec<u8>, Vec<u8>, bool)> {
    let (sender, receiver) = channel();
    let mut pipes: Vec<Box<dyn Read + Send>> = Vec::new();
    pipes.extend(
        child
            .stdout
            .take()
            .map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    );
    pipes.extend(
        child
            .stderr
            .take()
            .map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    );
    for (at, mut pipe) in pipes.into_iter().enumerate() {
        let sender = sender.clone();
        thread::spawn(move || {
            let mut text = Vec::new();
            let read = pipe.read_to_end(&mut text).map(|_| text);
            let _nobody_listens = sender.send((at, read));
        });
    }
    drop(sender);
    let until = Instant::now() + timeout;
    let mut written = [Vec::new(), Vec::new()];
    let mut timed_out = false;
    loop {
        match receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok((at, text)) => written[at] = text?,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                timed_out = true;
                child.kill()?;
                // What its own children hold open does not keep us.
                while let Ok((at, text)) = receiver.recv_timeout(Duration::from_millis(100)) {
                    written[at] = text?;
                }
                break;
            }
        }
    }
    let [output, errors] = written;
    Ok((output, errors, timed_out))
}
