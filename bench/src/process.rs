//! Runs a program to its end, and not longer than it may take.

use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long one run may take before we give up on it. The slowest peer needs two seconds.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs its arguments, and writes how many seconds the processor was theirs. It is the shell
/// that gives up on them, because stopping the shell would not stop them.
const COUNTED: &str = "TIMEFORMAT='%3U %3S'; time timeout 60 \"$@\"";

/// A run that succeeded.
pub struct Run {
    /// What was asked for: from before the process was made until it was gone, or how long
    /// the processor was its.
    pub time: Duration,
    /// What it printed, without the white space at the end.
    pub output: String,
    /// The same of its standard error.
    talk: String,
}

/// Runs the command and takes its time.
pub fn run(mut command: Command) -> Result<Run, String> {
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let child = command
        .spawn()
        .map_err(|why| cannot_start(&command, &why))?;
    let watch = Watch::over(child.id());
    let finished = child.wait_with_output();
    let time = started.elapsed();
    let in_time = watch.end();
    let finished = finished.map_err(|why| format!("cannot wait for it: {why}"))?;
    if !in_time {
        return Err(format!("stopped after {} s", LIMIT.as_secs()));
    }
    let (output, talk) = (text(&finished.stdout), text(&finished.stderr));
    if !finished.status.success() {
        return Err(format!("{}\n{talk}", finished.status));
    }
    Ok(Run { time, output, talk })
}

/// Runs the command and counts the time of the processor, to the millisecond.
pub fn run_counting_processor_time(command: &Command) -> Result<Run, String> {
    let mut shell = Command::new("bash");
    shell.args(["-c", COUNTED, "bash"]).env("LC_NUMERIC", "C");
    shell.arg(command.get_program()).args(command.get_args());
    let run = run(shell)?;
    let last = run.talk.lines().last().unwrap_or_default();
    let seconds: Result<Vec<f64>, _> = last.split(' ').map(str::parse).collect();
    let seconds = seconds.map_err(|_| format!("the shell counted `{last}` seconds"))?;
    Ok(Run {
        time: Duration::from_secs_f64(seconds.iter().sum()),
        ..run
    })
}

/// Stops a process that takes too long.
struct Watch {
    done: mpsc::Sender<()>,
    thread: thread::JoinHandle<bool>,
}

impl Watch {
    fn over(id: u32) -> Self {
        let (done, waiting) = mpsc::channel();
        let thread = thread::spawn(move || {
            let in_time = waiting.recv_timeout(LIMIT) != Err(RecvTimeoutError::Timeout);
            let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
            if let (false, Some(pid)) = (in_time, pid) {
                kill_process(pid, Signal::KILL).ok();
            }
            in_time
        });
        Self { done, thread }
    }

    /// Whether the process ended by itself.
    fn end(self) -> bool {
        drop(self.done);
        self.thread.join().expect("waiting cannot panic")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_string()
}

fn cannot_start(command: &Command, why: &std::io::Error) -> String {
    let program = command.get_program().to_string_lossy();
    format!("cannot start `{program}`: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        command
    }

    #[test]
    fn what_a_program_prints_is_kept() {
        assert_eq!(run(shell("echo 7; echo loud >&2")).unwrap().output, "7");
    }

    #[test]
    fn a_failure_says_what_the_program_said() {
        let why = run(shell("echo oh >&2; exit 3")).err();
        assert_eq!(why.as_deref(), Some("exit status: 3\noh"));
    }

    #[test]
    fn the_time_of_the_processor_is_told_apart_from_what_the_program_says() {
        let run = run_counting_processor_time(&shell("echo loud >&2; echo 7")).unwrap();
        assert!(run.time < Duration::from_secs(1));
        assert_eq!(run.output, "7");
        let why = run_counting_processor_time(&shell("exit 3")).err().unwrap();
        assert!(why.starts_with("exit status: 3"));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let why = run(Command::new("no-such-program-here")).err().unwrap();
        assert!(why.starts_with("cannot start `no-such-program-here`: "));
    }
}
