//! The official SDKs, decoding the same streams.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use harn_llm::wire::Wire;
use tempfile::TempDir;

use crate::streams::Stream;

/// A Python process that decodes a stream again and again.
pub(crate) struct Sdk {
    process: Child,
    /// Each line asks for one round.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// Where the stream is.
    _folder: TempDir,
}

/// The package that is the peer of a wire.
pub(crate) fn package(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "anthropic",
        Wire::Chat | Wire::Responses => "openai",
        Wire::Gemini => "google-genai",
        Wire::Ollama => "ollama",
    }
}

impl Sdk {
    pub(crate) fn start(stream: &Stream) -> Result<Self, String> {
        let folder = TempDir::new().map_err(|why| format!("cannot make a folder: {why}"))?;
        let file = folder.path().join("stream");
        std::fs::write(&file, &stream.bytes).map_err(|why| format!("cannot write: {why}"))?;
        let python = installed("models/bin/python")?;
        let mut command = Command::new(python);
        command.args(["-W", "ignore", "-c", include_str!("decode.py")]);
        command.arg(stream.wire.name()).arg(file);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|why| format!("Python: {why}"))?;
        let requests = process.stdin.take();
        let answers = process.stdout.take().expect("its output is piped");
        Ok(Self {
            process,
            requests,
            answers: BufReader::new(answers),
            _folder: folder,
        })
    }

    /// How long the SDK takes for the whole stream.
    pub(crate) fn decode(&mut self) -> Duration {
        let requests = self.requests.as_mut().expect("its input is open");
        writeln!(requests).expect("it is waiting for us");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("it answers");
        let nanoseconds = answer.trim().parse();
        Duration::from_nanos(nanoseconds.expect("the SDK reads the stream"))
    }
}

impl Drop for Sdk {
    /// It ends with its input.
    fn drop(&mut self) {
        self.requests = None;
        self.process.wait().ok();
    }
}

/// Something that `cargo xtask bench llm` installs beside the folder of this program.
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
