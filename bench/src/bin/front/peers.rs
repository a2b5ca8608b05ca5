//! The parsers of other languages, which are programs of their own.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use harn_bench::time;
use tempfile::TempDir;

/// Reads the file it is given, then parses its text once for every line on its input and
/// says how many nanoseconds that took. As in `timeit`, the collector of garbage rests.
const PYTHON: &str = "
import ast, gc, sys, time
text = open(sys.argv[1]).read()
gc.disable()
for _ in sys.stdin:
    start = time.perf_counter_ns()
    tree = ast.parse(text)
    print(time.perf_counter_ns() - start, flush=True)
    del tree
";

/// A Python process that parses a file again and again.
pub(crate) struct Python {
    process: Child,
    /// Each line asks for one round.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Python {
    pub(crate) fn start(file: &Path) -> Result<Self, String> {
        let mut command = Command::new("python3");
        command.arg("-c").arg(PYTHON).arg(file);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command
            .spawn()
            .map_err(|why| missing("python3", "python3", &why))?;
        let requests = process.stdin.take();
        let answers = process.stdout.take().expect("its output is piped");
        Ok(Self {
            process,
            requests,
            answers: BufReader::new(answers),
        })
    }

    /// How long `ast.parse` takes for the whole file.
    pub(crate) fn parse(&mut self) -> Duration {
        let requests = self.requests.as_mut().expect("its input is open");
        writeln!(requests).expect("it is waiting for us");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("it answers");
        let nanoseconds = answer.trim().parse();
        Duration::from_nanos(nanoseconds.expect("`ast.parse` reads the program"))
    }
}

impl Drop for Python {
    /// It ends with its input.
    fn drop(&mut self) {
        self.requests = None;
        self.process.wait().ok();
    }
}

/// What `node --check` needs for a file, without what it needs for an empty one.
pub(crate) struct Node {
    file: PathBuf,
    empty: PathBuf,
}

impl Node {
    pub(crate) fn find(folder: &TempDir, file: &Path) -> Result<Self, String> {
        let version = Command::new("node").arg("--version").output();
        version.map_err(|why| missing("node", "nodejs", &why))?;
        let empty = folder.path().join("empty.js");
        fs::write(&empty, "").map_err(|why| format!("cannot write {}: {why}", empty.display()))?;
        Ok(Self {
            file: file.to_owned(),
            empty,
        })
    }

    pub(crate) fn parse(&self) -> Duration {
        check(&self.file).saturating_sub(check(&self.empty))
    }
}

fn check(file: &Path) -> Duration {
    time(|| {
        let status = Command::new("node").arg("--check").arg(file).status();
        assert!(
            status.expect("it was there before").success(),
            "node reads the program"
        );
    })
}

fn missing(program: &str, package: &str, why: &std::io::Error) -> String {
    format!("cannot start `{program}`: {why}; it is in the Debian package `{package}`")
}
