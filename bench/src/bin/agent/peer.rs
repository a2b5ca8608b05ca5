//! Frameworks for Python, doing the same work in a process of their own.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A Python process that does one kind of work, as often as it is asked.
pub(crate) struct Peer {
    process: Child,
    /// Each line says how often.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts a peer; `work` is one of those that `peers.py` knows.
    pub(crate) fn start(work: &str, file: Option<&Path>) -> Result<Self, String> {
        let mut command = Command::new(installed("agents/bin/python")?);
        command.args(["-W", "ignore", "-c", include_str!("peers.py"), work]);
        command.args(file);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|why| format!("Python: {why}"))?;
        let requests = process.stdin.take();
        let answers = process.stdout.take().expect("its output is piped");
        Ok(Self {
            process,
            requests,
            answers: BufReader::new(answers),
        })
    }

    /// How long it takes for that many.
    pub(crate) fn time(&mut self, count: usize) -> Duration {
        Duration::from_nanos(self.ask(count))
    }

    /// What it says when it has done that many.
    pub(crate) fn ask(&mut self, count: usize) -> u64 {
        let requests = self.requests.as_mut().expect("its input is open");
        writeln!(requests, "{count}").expect("it is waiting for us");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("it answers");
        answer.trim().parse().expect("the peer does the work")
    }
}

impl Drop for Peer {
    /// It ends with its input.
    fn drop(&mut self) {
        self.requests = None;
        self.process.wait().ok();
    }
}

/// Something that `cargo xtask peers` installs beside the folder of this program.
fn installed(path: &str) -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|why| format!("who am I? {why}"))?;
    let target = program.ancestors().nth(2).unwrap_or(&program);
    let file = target.join("peers").join(path);
    if file.exists() {
        return Ok(file);
    }
    let file = file.display();
    Err(format!(
        "{file} is missing; `cargo xtask peers` installs it"
    ))
}
